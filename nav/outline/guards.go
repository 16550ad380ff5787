package outline

import (
	"encoding/binary"
	"sort"
)

// Guards are the places where the conditions of the lines change, in line order:
//
//	uvarint  line, minus that of the change before
//	uvarint  2 * number of conditions, + 1 if the lines are dead
//	word     each condition, outermost first; words as in a block of symbols
//
// Lines above the first change have no condition.

// A guard says what holds from a line on.
type guard struct {
	line  int
	dead  bool
	conds []string
}

// appendGuards appends the guards with their checksum, nothing if there are none.
func appendGuards(b []byte, guards []guard, w *words) []byte {
	if len(guards) == 0 {
		return b
	}
	from := len(b)
	b = append(b, 0, 0, 0, 0)
	w.reset()
	line := 0
	for _, g := range guards {
		b = binary.AppendUvarint(b, uint64(g.line-line))
		b = binary.AppendUvarint(b, uint64(2*len(g.conds))|uint64(flag(g.dead, 1)))
		for _, c := range g.conds {
			b = w.append(b, c)
		}
		line = g.line
	}
	seal(b, from)
	return b
}

// readGuards decodes the guards of a file.
func readGuards(body []byte) ([]guard, error) {
	var guards []guard
	var w words
	var texts []string // of the words so far
	r := reader{b: body}
	line := 0
	for len(r.b) > 0 {
		line += r.number(maxPlace)
		n := r.uvarint()
		if n/2 > uint64(len(r.b)) || line > maxPlace {
			return nil, errMalformed
		}
		g := guard{line: line, dead: n&1 != 0}
		for range n / 2 {
			k := r.number(len(w.spans) + 1)
			if k == 0 {
				s := r.bytes(r.uvarint())
				w.spans = append(w.spans, s)
				texts = append(texts, string(s))
				k = len(texts)
			}
			g.conds = append(g.conds, texts[k-1])
		}
		guards = append(guards, g)
	}
	if r.bad {
		return nil, errMalformed
	}
	return guards, nil
}

// guardAt finds what holds on a line.
func guardAt(guards []guard, line int) guard {
	i := sort.Search(len(guards), func(i int) bool { return guards[i].line > line })
	if i == 0 {
		return guard{}
	}
	return guards[i-1]
}
