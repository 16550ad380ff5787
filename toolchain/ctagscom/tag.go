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
// properties, operators); nobody can ask for those by a symbol's name. And a
// line in which the path occurs before its place would be read from there.
func writeTag(w *bufio.Writer, tag, path []byte) {
	kind, line, name, ok := parseTag(tag)
	if !ok {
		return
	}
	answer := make([]byte, 0, len("D   \n")+len(name)+len(line)+len(path)+1)
	answer = append(append(answer, kind, ' '), name...)
	answer = append(append(append(answer, ' '), line...), ' ')
	at := len(answer)
	answer = append(append(answer, path...), " \n"...)
	if bytes.Index(answer, path) == at {
		w.Write(answer) //nolint:errcheck // the writer's Flush reports it
	}
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
