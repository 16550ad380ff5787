package outline

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
)

// posting is one definition of a name.
type posting struct {
	file   uint32
	symbol uint32 // its index in the file
	kind   csource.Kind
	family uint32 // 1 + that of a minted name, 0 for what the file spells out
}

const maxNumber = 1<<31 - 1 // of files and families

// appendPosting appends a posting that follows before, of the same name.
func appendPosting(b []byte, before, p posting) []byte {
	b = binary.AppendUvarint(b, uint64(p.file-before.file))
	symbol := uint64(p.symbol)
	if p.file == before.file {
		symbol -= uint64(before.symbol)
	}
	symbol = symbol<<5 | uint64(p.kind)<<1
	if p.family == 0 {
		return binary.AppendUvarint(b, symbol)
	}
	b = binary.AppendUvarint(b, symbol|1)
	return binary.AppendUvarint(b, uint64(p.family-1))
}

// posting reads the posting that follows before.
func (r *reader) posting(before posting) posting {
	p := posting{file: before.file + uint32(r.number(maxNumber))}
	n := r.uvarint()
	if n >= 1<<37 {
		r.fail()
	}
	p.symbol, p.kind = uint32(n>>5), csource.Kind(n>>1&kindMask)
	if p.file == before.file {
		p.symbol += before.symbol
	}
	if n&1 != 0 {
		p.family = uint32(r.number(maxNumber)) + 1
	}
	return p
}

func readPostings(list []posting, b []byte) ([]posting, bool) {
	r := reader{b: b}
	var p posting
	for len(r.b) > 0 {
		p = r.posting(p)
		list = append(list, p)
	}
	return list, !r.bad
}

// A runBuffer holds names with one posting each until they are sorted. They
// stand in one piece of memory, each with its posting behind it, and refs,
// which have no pointers, are what is sorted. Of equal names the one that was
// added first comes first.
type runBuffer struct {
	arena []byte
	refs  []ref
	spare []ref // for sorting
}

type ref struct {
	key      uint64 // the eight bytes of the name that are compared now
	off, end uint32 // the name in the arena
}

const refSize = 16

func (b *runBuffer) size() int { return len(b.arena) + refSize*len(b.refs) }

func (b *runBuffer) add(name string, p posting) {
	if name == "" || strings.IndexByte(name, 0) >= 0 {
		return // no name; and the sort needs NUL to mark the end
	}
	off := len(b.arena)
	b.arena = append(b.arena, name...)
	b.refs = append(b.refs, ref{off: uint32(off), end: uint32(len(b.arena))})
	b.arena = appendPosting(b.arena, posting{}, p)
}

func (b *runBuffer) name(r ref) []byte { return b.arena[r.off:r.end] }

// key returns up to 8 bytes of a name, so that comparing keys compares the bytes.
func (b *runBuffer) key(r ref, depth uint32) uint64 {
	if from := r.off + depth; from+8 <= r.end {
		return binary.BigEndian.Uint64(b.arena[from:])
	} else if from < r.end {
		var k [8]byte
		copy(k[:], b.arena[from:r.end])
		return binary.BigEndian.Uint64(k[:])
	}
	return 0
}

// sort sorts refs, whose names agree in the first depth bytes. Comparing eight bytes that lie in the ref itself, and the next
// eight only among those that agree, is several times as fast as comparing the
// names: register macros share long beginnings.
func (b *runBuffer) sort(refs []ref, depth uint32) {
	for i := range refs {
		refs[i].key = b.key(refs[i], depth)
	}
	if len(refs) < 512 {
		slices.SortFunc(refs, compareRefs)
	} else {
		radixSort(refs, b.spare)
	}
	for from := 0; from < len(refs); {
		to := from + 1
		for to < len(refs) && refs[to].key == refs[from].key {
			to++
		}
		if to-from > 1 && refs[from].key&0xff != 0 {
			b.sort(refs[from:to], depth+8)
		}
		from = to
	}
}

func compareRefs(x, y ref) int {
	switch {
	case x.key < y.key:
		return -1
	case x.key > y.key:
		return 1
	}
	return cmp.Compare(x.off, y.off)
}

// radixSort sorts by key, one byte after the other from the last, and leaves
// equal keys in their order. It is four times as fast as comparing.
func radixSort(refs, spare []ref) {
	var counts [8][256]uint32
	for _, r := range refs {
		for i := range counts {
			counts[i][byte(r.key>>(8*i))]++
		}
	}
	from, to := refs, spare[:len(refs)]
	for i := range counts {
		count, shift := &counts[i], 8*i
		if count[byte(from[0].key>>shift)] == uint32(len(from)) {
			continue // all alike
		}
		at := uint32(0)
		for c, n := range count {
			count[c] = at
			at += n
		}
		for _, r := range from {
			c := byte(r.key >> shift)
			to[count[c]] = r
			count[c]++
		}
		from, to = to, from
	}
	if &from[0] != &refs[0] {
		copy(refs, from)
	}
}

// spill is the scratch file of the sorted runs. It has no name, so that it goes
// with the process.
type spill struct {
	mu   sync.Mutex
	file *os.File
	size int64
	runs []int64 // where each begins
}

func newSpill(dir string) (*spill, error) {
	f, err := os.CreateTemp(dir, storeName+"-run-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return &spill{file: f}, nil
}

// write sorts the names of b, appends them as a run and empties b. A run is a
// sequence of names as in the store.
func (s *spill) write(b *runBuffer) error {
	b.spare = slices.Grow(b.spare[:0], len(b.refs))[:len(b.refs)]
	b.sort(b.refs, 0)
	s.mu.Lock()
	defer s.mu.Unlock()
	w := bufio.NewWriterSize(io.NewOffsetWriter(s.file, s.size), 1<<18)
	size := s.size
	var rec, list, before []byte
	for from := 0; from < len(b.refs); {
		name := b.name(b.refs[from])
		list = list[:0]
		var last posting
		to := from
		for ; to < len(b.refs) && bytes.Equal(b.name(b.refs[to]), name); to++ {
			p := (&reader{b: b.arena[b.refs[to].end:]}).posting(posting{})
			list = appendPosting(list, last, p)
			last = p
		}
		rec = appendName(rec[:0], before, name, list)
		if _, err := w.Write(rec); err != nil {
			return err
		}
		size += int64(len(rec))
		before, from = name, to
	}
	s.runs = append(s.runs, s.size)
	s.size = size
	b.arena, b.refs = b.arena[:0], b.refs[:0]
	return w.Flush()
}

// appendName appends a name and its postings, as runs and the store have them.
func appendName(b, before, name, postings []byte) []byte {
	b = appendShared(b, before, name)
	b = binary.AppendUvarint(b, uint64(len(postings)))
	return append(b, postings...)
}
