// Package semantic answers find_code from parser declarations and compiler
// front ends.
package semantic
