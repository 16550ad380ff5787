// Package navtest gives tests a real toolchain, installed by the program's own
// setup command, and real trees to index.
package navtest
