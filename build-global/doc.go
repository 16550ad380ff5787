// Package buildglobal is the recipe for the prebuilt toolchain artifacts.
package buildglobal
