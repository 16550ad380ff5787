package outline

import "encoding/binary"

// What encloses a line is found from the first and last lines of the symbols.
// Steps are the answers for the lines on which that does not suffice, because
// several symbols meet there or one begins or ends amid other text. In line order:
//
//	uvarint  line, minus that of the entry before
//	uvarint  1 + the symbol that encloses the line, 0 for none
//	uvarint  number of columns where the answer changes, and for each
//	uvarint  column, minus that of the one before
//	uvarint  1 + the symbol that encloses the text from there on, 0 for none
//
// A column before the first has no enclosing symbol.

// crossing is one such line. Symbols are indices, -1 for none.
type crossing struct {
	line, symbol int
	steps        []step
}

type step struct{ col, symbol int }

// appendSteps appends the crossings with their checksum, nothing if there are none.
func appendSteps(b []byte, lines []crossing) []byte {
	if len(lines) == 0 {
		return b
	}
	from := len(b)
	b = append(b, 0, 0, 0, 0)
	line := 0
	for _, c := range lines {
		b = binary.AppendUvarint(b, uint64(c.line-line))
		b = binary.AppendUvarint(b, uint64(c.symbol+1))
		b = binary.AppendUvarint(b, uint64(len(c.steps)))
		line = c.line
		col := 0
		for _, s := range c.steps {
			b = binary.AppendUvarint(b, uint64(s.col-col))
			b = binary.AppendUvarint(b, uint64(s.symbol+1))
			col = s.col
		}
	}
	seal(b, from)
	return b
}

// readSteps decodes the crossings of a file of n symbols.
func readSteps(body []byte, n int) ([]crossing, error) {
	var lines []crossing
	r := reader{b: body}
	line := 0
	for len(r.b) > 0 {
		line += r.number(maxPlace)
		c := crossing{line: line, symbol: r.number(n+1) - 1}
		count := r.uvarint()
		if count > uint64(len(r.b)) || line > maxPlace {
			return nil, errMalformed
		}
		c.steps = make([]step, count)
		col := 0
		for i := range c.steps {
			col += r.number(maxPlace)
			if col > maxPlace {
				return nil, errMalformed
			}
			c.steps[i] = step{col, r.number(n+1) - 1}
		}
		lines = append(lines, c)
	}
	if r.bad {
		return nil, errMalformed
	}
	return lines, nil
}

// at gives the symbol that encloses a column.
func (c crossing) at(col int) int {
	symbol := -1
	for _, s := range c.steps {
		if s.col > col {
			break
		}
		symbol = s.symbol
	}
	return symbol
}
