// Package csource reads C-like source files in one pass that knows comments,
// strings and preprocessor conditionals.
package csource
