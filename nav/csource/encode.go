package csource

import (
	"encoding/binary"
	"fmt"
)

// The format of an encoded outline, all numbers as unsigned varints:
//
//	version   1
//	count     of the symbols
//	symbols   in file order
//
// and of a symbol:
//
//	kind<<2 | dead<<1 | local
//	name, scope, signature, type: string each
//	start     minus the start of the symbol before it, zigzag
//	line      minus start
//	end       minus start
//	body      minus start plus 1, or 0 without one
//	col
//
// A string is 0, its length and its bytes when it is met for the first time,
// else its number among those met before, from 1. Scopes and types repeat so
// often that this halves the size. The empty string is number 1 from the start.
const outlineVersion = 1

// Encode appends the encoded symbols to dst.
func Encode(dst []byte, symbols []Symbol) []byte {
	dst = binary.AppendUvarint(dst, outlineVersion)
	dst = binary.AppendUvarint(dst, uint64(len(symbols)))
	seen := map[string]uint64{"": 1}
	str := func(s string) {
		if n, ok := seen[s]; ok {
			dst = binary.AppendUvarint(dst, n)
			return
		}
		seen[s] = uint64(len(seen) + 1)
		dst = binary.AppendUvarint(dst, 0)
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		dst = append(dst, s...)
	}
	start := 0
	for i := range symbols {
		s := &symbols[i]
		dst = binary.AppendUvarint(dst, uint64(s.Kind)<<2|bit(s.Dead)<<1|bit(s.Local))
		str(s.Name)
		str(s.Scope)
		str(s.Signature)
		str(s.Type)
		dst = binary.AppendVarint(dst, int64(s.Start-start))
		dst = binary.AppendUvarint(dst, uint64(s.Line-s.Start))
		dst = binary.AppendUvarint(dst, uint64(s.End-s.Start))
		body := 0
		if s.Body > 0 {
			body = s.Body - s.Start + 1
		}
		dst = binary.AppendUvarint(dst, uint64(body))
		dst = binary.AppendUvarint(dst, uint64(s.Col))
		start = s.Start
	}
	return dst
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// Decode returns the symbols of an encoded outline. They answer everything but
// CallsOf, which needs the file that they were read from.
func Decode(data []byte) ([]Symbol, error) {
	d := decoder{data: data, strings: []string{""}}
	if v := d.number(); d.err == nil && v != outlineVersion {
		return nil, fmt.Errorf("outline: version %d, this program reads version %d", v, outlineVersion)
	}
	count := d.number()
	// A symbol takes ten bytes at least, so a count that the data cannot hold
	// does not get to allocate.
	if d.err == nil && count > uint64(len(data))/10 {
		return nil, fmt.Errorf("outline: %d symbols in %d bytes", count, len(data))
	}
	symbols := make([]Symbol, 0, count)
	start := 0
	for range count {
		s := d.symbol(start)
		if d.err != nil {
			return nil, fmt.Errorf("outline: symbol %d of %d at offset %d: %w", len(symbols), count, d.at, d.err)
		}
		symbols = append(symbols, s)
		start = s.Start
	}
	if d.err == nil && d.at != len(data) {
		d.err = fmt.Errorf("%d bytes behind the last symbol", len(data)-d.at)
	}
	if d.err != nil {
		return nil, fmt.Errorf("outline: %w", d.err)
	}
	return symbols, nil
}

type decoder struct {
	data    []byte
	at      int
	strings []string
	err     error
}

func (d *decoder) symbol(start int) Symbol {
	flags := d.number()
	s := Symbol{Kind: Kind(flags >> 2), Dead: flags&2 != 0, Local: flags&1 != 0}
	if flags>>2 == 0 || flags>>2 >= uint64(len(kindNames)) {
		d.fail("kind %d does not exist", flags>>2)
	}
	s.Name, s.Scope, s.Signature, s.Type = d.string(), d.string(), d.string(), d.string()
	delta := d.number()
	s.Start = start + int(int64(delta>>1)^-int64(delta&1))
	s.Line = s.Start + d.line()
	s.End = s.Start + d.line()
	if body := d.line(); body > 0 {
		s.Body = s.Start + body - 1
	}
	s.Col = d.line()
	if d.err == nil && (delta > 1<<32 || s.Start < 1 || s.Line > s.End || s.Body > s.End) {
		d.fail("impossible extent: lines %d to %d, name on %d, body on %d", s.Start, s.End, s.Line, s.Body)
	}
	return s
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.data[d.at:])
	if n <= 0 {
		d.fail("a number is cut off or too large")
		return 0
	}
	d.at += n
	return v
}

// line is a number that counts lines or columns.
func (d *decoder) line() int {
	v := d.number()
	if v > maxText {
		d.fail("%d is no line or column", v)
		return 0
	}
	return int(v)
}

func (d *decoder) string() string {
	n := d.number()
	if d.err != nil {
		return ""
	}
	if n > 0 {
		if n > uint64(len(d.strings)) {
			d.fail("string %d of %d", n, len(d.strings))
			return ""
		}
		return d.strings[n-1]
	}
	size := d.number()
	if d.err == nil && size > uint64(len(d.data)-d.at) {
		d.fail("a string of %d bytes with %d left", size, len(d.data)-d.at)
	}
	if d.err != nil {
		return ""
	}
	s := string(d.data[d.at : d.at+int(size)])
	d.at += int(size)
	d.strings = append(d.strings, s)
	return s
}
