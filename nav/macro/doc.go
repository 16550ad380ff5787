// Package macro knows the families of macros that mint names.
package macro
