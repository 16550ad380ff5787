// Package golang is the front end for Go: a parser that needs nothing, and a
// resolver that asks the go command and the type checker.
//
// [New] makes a [Tool], which parses in process. Resolving happens in a child
// process, which is this very program in another role ([Serve]): type-checking a
// large module takes gigabytes, and a child can be bounded, killed with all that
// it started, and forgotten. The child keeps the last program that it loaded.
//
// # The protocol with the child
//
// Requests and answers are one line of JSON each, [request] and [response], in
// turn. The end of standard input ends the child.
//
// # What the go command may do
//
// It lists packages and nothing else: no network, no other toolchain, no cgo, no
// flags from the environment, from the user's settings or from the tree, no
// version control, no writing of go.mod and go.sum. Type checking is done here,
// from source, so that no compiler runs. The go command may write into its own
// build cache, never into the tree.
package golang
