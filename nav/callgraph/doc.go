// Package callgraph walks call edges under limits: the shortest chain of calls
// from one function to another (Path), and everything that is affected by a
// function, outward by distance (Outward).
//
// A graph of the whole tree is never built. Callers and callees of one function at
// a time come from an Edges; the walks ask for as few as they can and say so when
// they stopped early.
//
// A Node is a definition, not a name: a static function is not its namesake in
// another file. The same graph and limits give the same answer, to the order of
// its parts.
package callgraph
