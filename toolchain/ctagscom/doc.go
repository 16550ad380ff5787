// Package ctagscom answers the line protocol by which gtags asks an external
// parser for the names in one file. Our own binary plays that program, so no
// path of a script has to be baked into the configuration, the project's own
// .ctags.d is never read, names may be any bytes, and a file on which ctags
// hangs or crashes costs that file's names only.
//
// Definitions come from ctags. References come from a lexer in this process: every
// token that is a name, once a line, unless the line defines it. A lexer does not
// know what a name refers to; gtags keeps as references those that are defined
// somewhere in the project, and the others as "other symbols". What a name is in a
// language stands in dialect.go, and the limits that keep a hostile or generated
// file from costing more than its own references stand in lex.go.
//
// main dispatches to Main when it was started under the name Name: gtags finds
// the helper in PATH under that name and passes it on as argv[0].
//
// # The protocol
//
// gtags starts the helper once, on the first file that needs it, in the root of
// the project, with the arguments
//
//	--langmap=Language:.ext1.ext2(glob),Language2:…   always the first
//	--_xformat=… --extras=+r --fields=+r -xu --filter --filter-terminator=…   ignored
//
// The langmap holds gtags' own languages too, in lower case. Then, strictly one
// after the other:
//
//	request   the path of a file as gtags knows it, raw bytes, and a newline
//	answer    TYPE NAME LINE PATH, one line a name, then ###terminator### and a newline
//
// TYPE is D for a definition or R for a reference; any other byte ends gtags. gtags
// looks for the first occurrence of PATH in the line and reads backwards from
// there, so a NAME holds neither blanks nor the path. End of input means stop. A
// helper that stops earlier ends gtags with "unexpected EOF", which is right
// only when there is no ctags to ask at all: gtags would exit 0 without names.
//
// Since gtags waits for each answer before the next request, one core would work.
// Whoever starts gtags may name its list of files in the variable EnvFiles; the
// helper then lexes ahead on all cores.
package ctagscom
