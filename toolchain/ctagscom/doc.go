// Package ctagscom answers the line protocol by which gtags asks an external
// parser for the names in one file. Our own binary plays that program, so no
// path of a script has to be baked into the configuration.
package ctagscom
