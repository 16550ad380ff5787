package outline

import (
	"encoding/binary"
	"errors"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
)

// A block of symbols, in file order. Of each symbol:
//
//	byte     kind, and the flags shortForm, sameCol, nextLine, hasSignature
//	byte     more flags, with shortForm unset only
//	uvarint  bytes of the name shared with the symbol before in the block
//	uvarint  length of the rest, and the rest
//	uvarint  Start, minus that of the symbol before; unless nextLine, for 1
//	uvarint  Col; unless sameCol, for that of the symbol before
//	word     Signature, with hasSignature
//	word     Scope, with hasScope
//	word     Type, with hasType
//	varint   Line - Start, with offStart
//	varint   End - Start, with severalLines
//	varint   Body - Start, with hasBody
//
// In front of the first symbol of a block stands one with an empty name, start
// 0 and column 0. A word is a uvarint number of a word of this block, counted
// from 1, or 0, the uvarint length and the bytes of a new one.
//
// A header of a million register macros thus costs 4 bytes and the new part of
// the name for each.
const (
	kindMask     = 0x0f
	shortForm    = 0x10
	sameCol      = 0x20
	nextLine     = 0x40
	hasSignature = 0x80

	isLocal      = 0x01
	isDead       = 0x02
	hasScope     = 0x04
	hasType      = 0x08
	offStart     = 0x10
	severalLines = 0x20
	hasBody      = 0x40
)

var errOrder = errors.New("symbols are not in file order")

// symbolWriter encodes the blocks of one file after the other.
type symbolWriter struct {
	words words
	prev  *csource.Symbol
}

// block appends the encoding of up to blockSymbols symbols.
func (w *symbolWriter) block(b []byte, symbols []csource.Symbol) ([]byte, error) {
	from := len(b)
	b = append(b, 0, 0, 0, 0)
	w.words.reset()
	w.prev = &csource.Symbol{}
	for i := range symbols {
		s := &symbols[i]
		if s.Start < w.prev.Start {
			return b, errOrder
		}
		b = w.symbol(b, s)
		w.prev = s
	}
	seal(b, from)
	return b, nil
}

func (w *symbolWriter) symbol(b []byte, s *csource.Symbol) []byte {
	more := flag(s.Local, isLocal) | flag(s.Dead, isDead) | flag(s.Scope != "", hasScope) | flag(s.Type != "", hasType) |
		flag(s.Line != s.Start, offStart) | flag(s.End != s.Start, severalLines) | flag(s.Body != 0, hasBody)
	head := byte(s.Kind)&kindMask | flag(more == 0, shortForm) | flag(s.Col == w.prev.Col, sameCol) |
		flag(s.Start == w.prev.Start+1, nextLine) | flag(s.Signature != "", hasSignature)
	b = append(b, head)
	if more != 0 {
		b = append(b, more)
	}
	b = appendShared(b, w.prev.Name, s.Name)
	if head&nextLine == 0 {
		b = binary.AppendUvarint(b, uint64(s.Start-w.prev.Start))
	}
	if head&sameCol == 0 {
		b = binary.AppendUvarint(b, uint64(s.Col))
	}
	for _, f := range []struct {
		there byte
		word  string
	}{{head & hasSignature, s.Signature}, {more & hasScope, s.Scope}, {more & hasType, s.Type}} {
		if f.there != 0 {
			b = w.words.append(b, f.word)
		}
	}
	for _, f := range [...]struct {
		there byte
		line  int
	}{{offStart, s.Line}, {severalLines, s.End}, {hasBody, s.Body}} {
		if more&f.there != 0 {
			b = binary.AppendVarint(b, int64(f.line-s.Start))
		}
	}
	return b
}

func flag(set bool, bit byte) byte {
	if set {
		return bit
	}
	return 0
}

// appendShared appends name as what it shares with the name before and the rest.
func appendShared[S string | []byte](b []byte, before, name S) []byte {
	n := 0
	for n < len(before) && n < len(name) && before[n] == name[n] {
		n++
	}
	b = binary.AppendUvarint(b, uint64(n))
	b = binary.AppendUvarint(b, uint64(len(name)-n))
	return append(b, name[n:]...)
}

// shared reads the next name over the one before.
func (r *reader) shared(name []byte) []byte {
	name = name[:r.number(len(name)+1)]
	return append(name, r.bytes(r.uvarint())...)
}

// symbolReader reads the symbols of a block one by one. Its fields are those of
// the present symbol; the byte slices are valid until the next one.
type symbolReader struct {
	reader
	words                 words
	kind                  csource.Kind
	more                  byte
	name                  []byte
	signature, scope, typ []byte
	start, col            int
	line, end, body       int
}

// open starts to read the body of a block.
func (r *symbolReader) open(body []byte) {
	r.reader = reader{b: body}
	r.words.reset()
	r.name, r.start, r.col = r.name[:0], 0, 0
}

// next reads the next symbol; false means that the block is malformed.
func (r *symbolReader) next() bool {
	head := r.byte()
	r.kind, r.more = csource.Kind(head&kindMask), 0
	if head&shortForm == 0 {
		r.more = r.byte()
	}
	r.name = r.shared(r.name)
	if head&nextLine != 0 {
		r.start++
	} else {
		r.start += r.number(maxPlace)
	}
	if head&sameCol == 0 {
		r.col = r.number(maxPlace)
	}
	r.signature, r.scope, r.typ = nil, nil, nil
	if head&hasSignature != 0 {
		r.signature = r.words.read(&r.reader)
	}
	if r.more&hasScope != 0 {
		r.scope = r.words.read(&r.reader)
	}
	if r.more&hasType != 0 {
		r.typ = r.words.read(&r.reader)
	}
	r.line, r.end, r.body = r.start, r.start, 0
	if r.more&offStart != 0 {
		r.line += r.delta()
	}
	if r.more&severalLines != 0 {
		r.end += r.delta()
	}
	if r.more&hasBody != 0 {
		r.body = r.start + r.delta()
	}
	return !r.bad && r.start < maxPlace
}

// symbol copies the present symbol out of the store.
func (r *symbolReader) symbol() csource.Symbol {
	return csource.Symbol{
		Name: string(r.name), Kind: r.kind, Local: r.more&isLocal != 0, Dead: r.more&isDead != 0,
		Scope: string(r.scope), Signature: string(r.signature), Type: string(r.typ),
		Line: r.line, Col: r.col, Start: r.start, End: r.end, Body: r.body,
	}
}

// encloses reports whether the present symbol is of those that can enclose
// others, as csource.File.Enclosing has it.
func (r *symbolReader) encloses() bool {
	return encloses(r.kind, r.more&isLocal != 0)
}

func encloses(k csource.Kind, local bool) bool {
	return !local && k != csource.Namespace && k != csource.Member && k != csource.Enumerator
}
