package ctagscom

import (
	"bufio"
	"bytes"
)

// xformat asks ctags for one tag a line: D or R, the line number, the name. The
// name stands last, so that it may hold blanks.
const xformat = "--_xformat=%R %n %N"

// maxName bounds a name: gtags drops longer keys with a warning each.
const maxName = 255

// writeTag turns one line of ctags into one line of the answer, or nothing when
// gtags could not read it. ctags reports names with blanks (headings, quoted
// properties, operators); nobody can ask for those by a symbol's name.
func writeTag(w *bufio.Writer, line, path []byte) {
	kind, line, name, ok := parseTag(line)
	if !ok || bytes.Contains(name, path) {
		return
	}
	w.WriteByte(kind) //nolint:errcheck // the writer's Flush reports it
	for _, field := range [][]byte{name, line, path} {
		w.WriteByte(' ') //nolint:errcheck
		w.Write(field)   //nolint:errcheck
	}
	w.WriteString(" \n") //nolint:errcheck
}

// parseTag reads a line of the form of xformat.
func parseTag(tag []byte) (kind byte, line, name []byte, ok bool) {
	tag = bytes.TrimSuffix(tag, []byte("\n"))
	if len(tag) < 5 || tag[0] != 'D' && tag[0] != 'R' || tag[1] != ' ' {
		return 0, nil, nil, false
	}
	line, name, ok = bytes.Cut(tag[2:], []byte(" "))
	if !ok || !isLineNumber(line) || len(name) == 0 || len(name) > maxName || bytes.ContainsFunc(name, isBlank) {
		return 0, nil, nil, false
	}
	return tag[0], line, name, true
}

// isLineNumber demands a number from 1 on that fits gtags' int.
func isLineNumber(b []byte) bool {
	if len(b) == 0 || len(b) > 9 || b[0] == '0' {
		return false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

func isBlank(r rune) bool { return r <= ' ' || r == 0x7f }
