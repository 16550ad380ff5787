package nav

import (
	"bytes"
	"strings"
)

// counted turns lines as GNU Global counts them into lines of the file. They
// are the same but below a NUL byte: GNU Global then takes the line that holds
// it and the next for one. Where that leaves a choice, all lines that hold the
// name are returned.
func (s *source) counted(name string, lines []int) []int {
	if bytes.IndexByte(s.content, 0) < 0 {
		return lines
	}
	var found []int
	recorded, i := 1, 0
	for n := 1; n <= len(s.starts); n++ {
		for i < len(lines) && lines[i] < recorded {
			i++
		}
		text := s.line(n)
		if i < len(lines) && lines[i] == recorded && column(text, name) > 0 {
			found = append(found, n)
		}
		if strings.IndexByte(text, 0) < 0 {
			recorded++
		}
	}
	return found
}
