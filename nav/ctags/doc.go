// Package ctags gets symbols and their extents from long-lived Universal Ctags
// processes.
//
// Call New once, Tags for every file, Close at the end. Tags takes the content
// as well as the path: the answer is about exactly these bytes, whatever happens
// to the file on disk meanwhile, and the path only selects the language. Answers
// are cached by content; the slices that Tags returns are shared, so callers
// only read them.
//
// Starting ctags costs about thirty times as much as parsing a file, hence the
// processes that stay. They start on first use and stop after a while of rest.
//
// Where ctags itself gives no end to a function or type (versions before 6 in
// JavaScript, Rust, shell and some more), the end of its block is found here.
//
// A file can make ctags crash, hang or eat the machine's memory. Each file
// therefore has a size cap and a time limit, each process a memory limit, and a
// content that failed is remembered so that it fails at once the next time. A
// failure costs that file's answer and one process, nothing else.
//
// # The protocol of ctags --_interactive
//
// On start the program writes one line of JSON:
//
//	{"_type": "program", "name": "Universal Ctags", "version": "5.9.0"}
//
// A request is one line of JSON and, right behind its newline, size bytes of
// content:
//
//	{"command":"generate-tags","filename":"x.c","size":11}
//	int x = 1;
//
// filename selects the language and is echoed; nothing is read from disk. The
// answer is any number of lines of type tag, lines of type error for warnings,
// and at last
//
//	{"_type": "completed", "command": "generate-tags"}
//
// There is no ping and no quit: closing standard input ends the program.
//
// What the protocol does not say, and this package heeds:
//
//   - The request line is read into 1,024 bytes; what does not fit is read as
//     further requests. So files go under a short made-up name.
//   - A name that is not UTF-8 makes the request invalid: the made-up name is ASCII.
//   - The answer to a bad request is an error line that is neither flushed nor
//     followed by completed; the next good answer pushes it out. After any error
//     line, or a line that is not JSON, this package asks for a file with one
//     symbol of an unheard-of name and reads on until that symbol and its
//     completed line come.
//   - A size too small turns content into requests. The size is that of the very
//     buffer that is sent.
//   - A NUL byte eats the rest of its line including the newline, so that all
//     later lines are numbered wrong: NULs are sent as blanks.
//   - The C and C++ parsers know no letters beyond ASCII: they cut café_func to
//     _func and lose über. Bytes that are not UTF-8 cut names in any language. So
//     letters beyond ASCII are sent as ASCII words, and turned back in the answer.
//   - Interpreter lines are not looked at in streamed content: a script without
//     an extension gets the one of its interpreter.
//   - Headers are parsed as C++, in which members called class, virtual or
//     template are lost and attribute macros become variables. A header without
//     any sign of C++ goes as C.
package ctags
