// Package guard evaluates preprocessor conditions three-valued against a
// configuration.
package guard
