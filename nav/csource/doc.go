// Package csource reads C, C++ and preprocessed assembly files without a
// compiler: which #if conditions hold on a line, what the file defines and from
// where to where, what a function calls, and what an identifier on a line is.
//
// Scan is the function to call first. Its File answers
//
//	Guards      the conditional stack of a line
//	Symbols     every definition, prototype and macro invocation, in file order
//	Enclosing   the function, initializer, macro or type that holds a line
//	Calls       the call expressions of a range of lines
//	Occurrences what each occurrence of a name on a line is
//
// A File owns a copy of its text and is safe for concurrent readers. A Scanner
// reuses its buffers from file to file; the File that it returns is valid until
// its next Scan. Encode and Decode keep a file's symbols in an index.
//
// # How a file is read
//
// The lexer (lex.go) turns the text into tokens in one pass: comments vanish,
// strings are single tokens, directives (directive.go) become records, and a
// conditional directive leaves a marker token so that later steps see the arms.
//
// The matcher (brackets.go) pairs brackets across conditional arms. It assumes
// that the text is well-formed in at least one configuration and follows one;
// where the file has none it falls back to the layout of the lines.
//
// The parser (declarations.go, declarator.go) walks declarations at file, type
// and namespace level and jumps over function bodies through the pairs.
//
// Every step is linear in the size of the file, whatever its content. Nothing
// is an error: text that is no program yields fewer symbols.
package csource
