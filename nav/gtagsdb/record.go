package gtagsdb

import "bytes"

// A tag record is text that ends in NUL:
//
//	<fid> SP <name> SP <line> SP <image> NUL       standard: one a definition
//	<fid> SP <name> SP <list> NUL                  compact: one a file and name
//
// The name is compressed against the key, nearly always to `@n`. The image is the
// source line. A list is a line number followed by any of
//
//	,<delta>    the line that many further on
//	-<count>    the next that many lines, one by one
//
// so `3,2-4,10` is 3, 5 to 9, 19. Without COMPLINE all numbers are absolute. A
// list of more than 2 KB goes on in another record, which begins absolutely.
type record struct {
	fid  int
	name []byte // compressed
	line int    // the only or the first one
	rest []byte // the compressed image, or the rest of the list
}

const (
	// maxNumber bounds file numbers, line numbers and counts, far above what exists.
	maxNumber = 1 << 26
	// maxLines bounds the lines of one name: ten bytes can ask for gigabytes. The
	// most frequent name of the Linux kernel has 255,000.
	maxLines = 1 << 24
)

// number reads the digits at the begin of s.
func number(s []byte) (n int, rest []byte, ok bool) {
	i := 0
	for ; i < len(s) && s[i]-'0' <= 9; i++ {
		if n = n*10 + int(s[i]-'0'); n > maxNumber {
			return 0, nil, false
		}
	}
	return n, s[i:], i > 0
}

func parseRecord(data []byte, compact bool) (r record, ok bool) {
	s, ok := text(data)
	if !ok {
		return r, false
	}
	if r.fid, s, ok = number(s); !ok || len(s) == 0 || s[0] != ' ' {
		return r, false
	}
	s = s[1:]
	blank := bytes.IndexByte(s, ' ')
	if blank <= 0 {
		return r, false
	}
	r.name = s[:blank]
	if r.line, s, ok = number(s[blank+1:]); !ok || r.line == 0 {
		return r, false
	}
	if !compact {
		if len(s) == 0 || s[0] != ' ' {
			return r, false
		}
		s = s[1:]
	}
	r.rest = s
	return r, true
}

// text cuts the NUL that ends a string and refuses another one.
func text(data []byte) ([]byte, bool) {
	end := bytes.IndexByte(data, 0)
	if end < 0 || end != len(data)-1 {
		return nil, false
	}
	return data[:end], true
}

// appendLines unfolds the list of a compact record. With deltas the numbers are
// differences and ranges.
func (r *record) appendLines(dst []int, deltas bool) ([]int, bool) {
	line, s := r.line, r.rest
	dst = append(dst, line)
	for len(s) > 0 {
		n, rest, ok := number(s[1:])
		if !ok || n == 0 {
			return dst, false
		}
		switch {
		case s[0] == ',' && deltas:
			line += n
			dst = append(dst, line)
		case s[0] == ',' && n > line:
			line = n
			dst = append(dst, line)
		case s[0] == '-' && deltas && len(dst)+n <= maxLines:
			for range n {
				line++
				dst = append(dst, line)
			}
		default:
			return dst, false
		}
		if line > maxNumber || len(dst) > maxLines {
			return dst, false
		}
		s = rest
	}
	return dst, true
}
