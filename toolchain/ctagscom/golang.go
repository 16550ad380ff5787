package ctagscom

import (
	"go/scanner"
	"go/token"
)

// goPredeclared are the types and constants that every Go file uses. Types are names
// where they convert, like a call; the functions always are.
var goPredeclared = words(`bool byte complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string
	uint uint8 uint16 uint32 uint64 uintptr any`)

var goConstants = words("true false iota nil")

// scanGo reads Go by the language's own scanner: the same names as by the lexer, many
// times faster. The names of package clauses are left out: every file of a package
// has one.
func scanGo(text string, found func(name string, line int)) {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), nil, 0) // errors are skipped, as by a lexer
	pending, pendingLine, last := "", 0, token.ILLEGAL
	for {
		pos, tok, name := s.Scan()
		line := file.PositionFor(pos, false).Line // whatever a //line comment says
		if pending != "" && tok == token.LPAREN {
			found(pending, pendingLine)
		}
		pending = ""
		switch {
		case tok == token.EOF:
			return
		case tok != token.IDENT || last == token.PACKAGE || goConstants[name]:
		case goPredeclared[name]:
			pending, pendingLine = name, line
		default:
			found(name, line)
		}
		last = tok
	}
}
