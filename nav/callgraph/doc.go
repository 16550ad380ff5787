// Package callgraph walks call edges under limits.
package callgraph
