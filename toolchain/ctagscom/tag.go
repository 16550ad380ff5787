package ctagscom

import (
	"bufio"
	"bytes"
	"cmp"
	"slices"
	"strconv"
)

// xformat asks ctags for one tag a line: D or R, the line number, the name. The
// name stands last, so that it may hold blanks.
const xformat = "--_xformat=%R %n %N"

// maxName bounds a name: gtags drops longer ones with a warning each.
const maxName = 511

// tag is one line of the answer.
type tag struct {
	kind byte // 'D' or 'R'
	reference
}

// writeTag writes the tag, or nothing when gtags could not read it: a line in which
// the path occurs before its place would be read from there.
func writeTag(w *bufio.Writer, t tag, path []byte) {
	answer := make([]byte, 0, len("D  999999999  \n")+len(t.name)+len(path))
	answer = append(append(answer, t.kind, ' '), t.name...)
	answer = append(strconv.AppendInt(append(answer, ' '), int64(t.line), 10), ' ')
	at := len(answer)
	answer = append(append(answer, path...), " \n"...)
	if bytes.Index(answer, path) == at {
		w.Write(answer) //nolint:errcheck // the writer's Flush reports it
	}
}

// parseTags reads the lines of ctags: the definitions, then the references.
func parseTags(said []byte) []tag {
	var tags []tag
	for line := range bytes.Lines(said) {
		if t, ok := parseTag(line); ok {
			tags = append(tags, t)
		}
	}
	slices.SortStableFunc(tags, func(a, b tag) int { return cmp.Compare(a.kind, b.kind) })
	return tags
}

// parseTag reads a line of the form of xformat. ctags reports names with blanks
// (headings, quoted properties, operators); nobody can ask for those by a symbol's
// name, and gtags could not read them.
func parseTag(said []byte) (tag, bool) {
	said = bytes.TrimSuffix(said, []byte("\n"))
	if len(said) < 5 || said[0] != 'D' && said[0] != 'R' || said[1] != ' ' {
		return tag{}, false
	}
	number, name, ok := bytes.Cut(said[2:], []byte(" "))
	line, isNumber := lineNumber(number)
	if !ok || !isNumber || len(name) == 0 || len(name) > maxName || bytes.ContainsFunc(name, isBlank) {
		return tag{}, false
	}
	return tag{said[0], reference{string(name), line}}, true
}

// lineNumber reads a number from 1 on that fits gtags' int.
func lineNumber(b []byte) (int, bool) {
	if len(b) == 0 || len(b) > 9 || b[0] == '0' {
		return 0, false
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
}

func isBlank(r rune) bool { return r <= ' ' || r == 0x7f }
