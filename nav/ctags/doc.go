// Package ctags gets symbols and their extents from a long-lived Universal Ctags
// process.
package ctags
