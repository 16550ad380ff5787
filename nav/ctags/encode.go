package ctags

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// encoded is a content that ctags reads right: the same lines, without NULs and
// without letters beyond ASCII. Each run of such letters, or of bytes that are
// not UTF-8, is sent as a mark, the number of the run and a "z": with the mark
// q0x, café_x goes as cafq0x0z_x. Other characters stay, such as the operators
// that some languages have beyond ASCII: they are no part of names.
type encoded struct {
	content []byte
	mark    string // a word that does not occur in the original content
	runs    []string
}

func encode(content []byte) *encoded {
	e := &encoded{content: bytes.ReplaceAll(content, []byte{0}, []byte{' '})}
	rest := e.content
	start, end := letters(rest)
	if start == end {
		return e
	}
	for i := 0; e.mark == "" || bytes.Contains(content, []byte(e.mark)); i++ {
		e.mark = "q" + strconv.Itoa(i) + "x" // cannot overlap itself
	}
	numbers := map[string]int{}
	out := make([]byte, 0, len(content)+len(content)/8)
	for ; start < end; start, end = letters(rest) {
		run := string(rest[start:end])
		n, known := numbers[run]
		if !known {
			n = len(e.runs)
			numbers[run] = n
			e.runs = append(e.runs, run)
		}
		out = append(append(out, rest[:start]...), e.mark...)
		out = append(strconv.AppendInt(out, int64(n), 10), 'z')
		rest = rest[end:]
	}
	e.content = append(out, rest...)
	return e
}

// letters finds the first run of letters beyond ASCII and of bytes that are not
// UTF-8. There is none when start equals end.
func letters(b []byte) (start, end int) {
	for start < len(b) {
		n, isLetter := letter(b[start:])
		if isLetter {
			break
		}
		start += n
	}
	for end = start; end < len(b); {
		n, isLetter := letter(b[end:])
		if !isLetter {
			break
		}
		end += n
	}
	return start, end
}

// letter is the length of the first character, and whether it is a letter beyond
// ASCII or no UTF-8.
func letter(b []byte) (n int, is bool) {
	if b[0] < utf8.RuneSelf {
		return 1, false
	}
	r, n := utf8.DecodeRune(b)
	return n, n == 1 || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// decode turns the marks of a string back.
func (e *encoded) decode(s string) string {
	if e.mark == "" {
		return s
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(s, e.mark)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		digits, rest, _ := strings.Cut(after, "z")
		if n, err := strconv.Atoi(digits); err == nil && 0 <= n && n < len(e.runs) {
			out.WriteString(e.runs[n])
			s = rest
		} else {
			s = after
		}
	}
}

// tidy brings the tags into the form that Tags promises: names as in the source,
// by line, C++ operators as people write them, ends where ctags gives none.
func (e *encoded) tidy(tags []Tag, path string, original []byte) []Tag {
	for i := range tags {
		t := &tags[i]
		for _, field := range []*string{&t.Name, &t.Scope, &t.Typeref, &t.Signature, &t.Inherits} {
			*field = strings.TrimSpace(e.decode(*field))
		}
		if t.Language == "C++" {
			t.Name, t.Scope = joinOperator(t.Name), joinOperator(t.Scope)
		}
	}
	tags = complete(tags, path, original)
	slices.SortStableFunc(tags, func(a, b Tag) int { return cmp.Compare(a.Line, b.Line) })
	return tags
}

// joinOperator makes "operator +" what people ask for, "operator+"; "operator new"
// stays.
func joinOperator(name string) string {
	const word = "operator "
	i := strings.LastIndex(name, word)
	if i < 0 || i > 0 && name[i-1] != ':' {
		return name
	}
	sign := name[i+len(word):]
	if sign == "" || isWord(sign[0]) {
		return name
	}
	return name[:i] + "operator" + sign
}
