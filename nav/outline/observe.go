package outline

import (
	"bytes"
	"slices"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
)

// observer learns from one scan after the other what a record needs and
// csource.File tells by line only: where the conditions change and on which
// lines the innermost symbol is not the last one that reaches them. It asks at
// the few lines where an answer can change, and keeps what was answered.
type observer struct {
	text    []byte
	file    *csource.File
	symbols []csource.Symbol
	starts  []int // of the lines, in text
	ends    []int // lines on which symbols end
	guards  []guard
	lines   []crossing
	open    []int // the enclosing symbols of the line that sweep is at
}

func (o *observer) observe(text []byte, f *csource.File) error {
	o.text, o.file, o.symbols = text, f, f.Symbols()
	o.starts = append(o.starts[:0], 0)
	for i := 0; ; {
		nl := bytes.IndexByte(text[i:], '\n')
		if nl < 0 {
			break
		}
		i += nl + 1
		o.starts = append(o.starts, i)
	}
	o.findGuards()
	return o.findCrossings()
}

// line returns the text of a line, counted from 1.
func (o *observer) line(n int) []byte {
	if n < len(o.starts) {
		return o.text[o.starts[n-1] : o.starts[n]-1]
	}
	return o.text[o.starts[n-1]:]
}

// findGuards asks for the conditions around each line that may hold a
// conditional directive. They change on that line, where those of the arm before
// end, and behind its last one.
func (o *observer) findGuards() {
	o.guards = o.guards[:0]
	dead, conds := false, []string(nil)
	ask := func(n int) {
		if n > o.file.Lines() {
			return
		}
		d, c := o.file.Dead(n), o.file.Guards(n)
		if d != dead || !slices.Equal(c, conds) {
			o.guards = append(o.guards, guard{n, d, c})
			dead, conds = d, c
		}
	}
	line := 1
	asked := 0 // the last line that was asked for
	for pos := 0; ; pos++ {
		i := bytes.IndexByte(o.text[pos:], '#')
		if i < 0 {
			return
		}
		pos += i
		if !maybeConditional(o.text[pos+1:]) {
			continue
		}
		for line < len(o.starts) && o.starts[line] <= pos {
			line++
		}
		if line < asked {
			continue // within a directive or comment that was followed to its end
		}
		ask(line)
		asked = line
		for comment := false; asked < len(o.starts) && o.runsOn(asked, &comment); {
			asked++
			ask(asked)
		}
		asked++
		ask(asked)
	}
}

// maybeConditional reports whether the text behind a # may make it a conditional
// directive. A comment or a spliced newline can stand between.
func maybeConditional(text []byte) bool {
	for _, c := range text {
		switch c {
		case ' ', '\t', '\v', '\f', '\r':
		case 'i', 'e', '/', '\\':
			return true
		default:
			return false
		}
	}
	return false
}

// runsOn reports whether a directive may go on behind line n: a backslash or a
// comment carries it over. What looks like a comment in a string only adds
// questions.
func (o *observer) runsOn(n int, comment *bool) bool {
	line := bytes.TrimSuffix(o.line(n), []byte("\r"))
	for {
		mark := "/*"
		if *comment {
			mark = "*/"
		}
		i := bytes.Index(line, []byte(mark))
		if i < 0 {
			break
		}
		line, *comment = line[i+2:], !*comment
	}
	return *comment || bytes.HasSuffix(line, []byte(`\`))
}

// maxColumns is how much of a line is asked for; text further right counts as
// what stands at that column. Only generated one-line files have such lines.
const maxColumns = 1000

// meeting is a line on which enclosing symbols begin or end.
type meeting struct {
	line, count int
	begins      bool // one begins there
	ends        bool // that one ends there too
	macro       bool // and is a macro
}

// findCrossings looks at each line on which a symbol begins or ends.
func (o *observer) findCrossings() error {
	o.lines, o.open, o.ends = o.lines[:0], o.open[:0], o.ends[:0]
	for i := range o.symbols {
		if s := &o.symbols[i]; s.End > s.Start && encloses(s.Kind, s.Local) {
			o.ends = append(o.ends, s.End)
		}
	}
	slices.Sort(o.ends)
	ends := o.ends
	for i := 0; i < len(o.symbols) || len(ends) > 0; {
		var m meeting
		if i < len(o.symbols) {
			m.line = o.symbols[i].Start
		}
		if len(ends) > 0 && (i == len(o.symbols) || ends[0] < m.line) {
			m.line = ends[0]
		}
		for ; len(ends) > 0 && ends[0] == m.line; ends = ends[1:] {
			m.count++
		}
		for ; i < len(o.symbols) && o.symbols[i].Start == m.line; i++ {
			if s := &o.symbols[i]; encloses(s.Kind, s.Local) {
				o.open = append(o.open, i)
				m.begins, m.ends, m.macro = true, s.End == m.line, s.Kind == csource.Macro
				m.count++
			}
		}
		for len(o.open) > 0 && o.symbols[o.open[len(o.open)-1]].End < m.line {
			o.open = o.open[:len(o.open)-1]
		}
		if m.count == 0 {
			continue
		}
		if m.line < 1 || m.line > len(o.starts) {
			return errOrder
		}
		if text := bytes.TrimRight(o.line(m.line), " \t\r"); !o.plain(m, text) {
			o.crossing(m.line, text)
		}
	}
	return nil
}

// plain reports whether the innermost symbol that reaches a line, and none but
// it, encloses all of the line's text. It asks as little as it can, because most
// lines are plain.
func (o *observer) plain(m meeting, text []byte) bool {
	top := len(o.open) - 1
	switch {
	case m.count > 1:
		return false
	case !m.begins:
		// The last token of the symbol is on the line, so the first is its as well.
		return string(text) == "}" || o.find(top, m.line, min(len(text), maxColumns)) == top
	case !m.ends:
		return o.find(top, m.line, 0) == top
	case m.macro && bytes.HasPrefix(bytes.TrimLeft(text, " \t"), []byte("#")):
		return true // the line of a directive belongs to nothing else
	}
	return o.find(top, m.line, 0) == top && o.find(top, m.line, min(len(text), maxColumns)) == top
}

// crossing keeps the answers for a line.
func (o *observer) crossing(line int, text []byte) {
	c := crossing{line: line, symbol: o.index(o.find(len(o.open)-1, line, 0))}
	at := 0 // where the answer for the column before is in o.open
	last := -1
	for col := 1; col <= min(len(text), maxColumns); col++ {
		at = o.find(at, line, col)
		if symbol := o.index(at); symbol != last {
			c.steps = append(c.steps, step{col, symbol})
			last = symbol
		}
	}
	o.lines = append(o.lines, c)
}

// find returns the place in o.open of the symbol that encloses a line, or a
// column of it other than 0; -1 for none. It looks around place near first.
func (o *observer) find(near, line, col int) int {
	var s csource.Symbol
	var ok bool
	if col == 0 {
		s, ok = o.file.Enclosing(line)
	} else {
		s, ok = o.file.EnclosingAt(line, col)
	}
	if !ok {
		return -1
	}
	for d := 0; d <= len(o.open); d++ {
		if k := near + d; k >= 0 && k < len(o.open) && o.symbols[o.open[k]] == s {
			return k
		}
		if k := near - d; k >= 0 && k < len(o.open) && o.symbols[o.open[k]] == s {
			return k
		}
	}
	return -1
}

func (o *observer) index(place int) int {
	if place < 0 {
		return -1
	}
	return o.open[place]
}
