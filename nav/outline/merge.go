package outline

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// runReader reads one sorted run.
type runReader struct {
	r              *bufio.Reader
	name, postings []byte
}

// next reads the next name; io.EOF is the end of the run.
func (r *runReader) next() error {
	n, err := binary.ReadUvarint(r.r)
	if err != nil {
		return err
	}
	rest, err := binary.ReadUvarint(r.r)
	if err != nil || n > uint64(len(r.name)) {
		return cmp.Or(err, errMalformed)
	}
	if r.name, err = r.fill(r.name[:n], rest); err != nil {
		return err
	}
	size, err := binary.ReadUvarint(r.r)
	if err != nil {
		return err
	}
	r.postings, err = r.fill(r.postings[:0], size)
	return err
}

func (r *runReader) fill(b []byte, n uint64) ([]byte, error) {
	from := len(b)
	b = slices.Grow(b, int(n))[:from+int(n)]
	_, err := io.ReadFull(r.r, b[from:])
	return b, err
}

// runHeap has the run with the least name on top. All arrays of its size that
// are sorted are heaps, and it is small, so it only ever sifts down.
type runHeap []*runReader

func (h runHeap) down(i int) {
	for {
		k := 2*i + 1
		if k+1 < len(h) && bytes.Compare(h[k+1].name, h[k].name) < 0 {
			k++
		}
		if k >= len(h) || bytes.Compare(h[i].name, h[k].name) <= 0 {
			return
		}
		h[i], h[k] = h[k], h[i]
		i = k
	}
}

// open starts to read every run.
func (s *spill) open() (runHeap, error) {
	var h runHeap
	for i, from := range s.runs {
		to := s.size
		if i+1 < len(s.runs) {
			to = s.runs[i+1]
		}
		r := &runReader{r: bufio.NewReaderSize(io.NewSectionReader(s.file, from, to-from), 1<<16)}
		switch err := r.next(); {
		case err == nil:
			h = append(h, r)
		case err != io.EOF:
			return nil, err
		}
	}
	slices.SortFunc(h, func(a, b *runReader) int { return bytes.Compare(a.name, b.name) })
	return h, nil
}

// step moves the top to its next name.
func (h *runHeap) step() error {
	switch err := (*h)[0].next(); {
	case errors.Is(err, io.EOF):
		last := len(*h) - 1
		(*h)[0] = (*h)[last]
		*h = (*h)[:last]
	case err != nil:
		return err
	}
	h.down(0)
	return nil
}

// merge passes every name of the runs, in byte order and once, to put. The
// slices are put's until it returns.
func (s *spill) merge(put func(name, postings []byte) error) error {
	h, err := s.open()
	if err != nil {
		return err
	}
	var name, joined []byte
	var list []posting
	for len(h) > 0 {
		name = append(name[:0], h[0].name...)
		joined = append(joined[:0], h[0].postings...)
		if err := h.step(); err != nil {
			return err
		}
		several := false
		for ; len(h) > 0 && bytes.Equal(h[0].name, name); several = true {
			ok := true
			if !several {
				list, ok = readPostings(list[:0], joined)
			}
			if ok {
				list, ok = readPostings(list, h[0].postings)
			}
			if !ok {
				return errMalformed
			}
			if err := h.step(); err != nil {
				return err
			}
		}
		if several {
			joined = appendPostings(joined[:0], list)
		}
		if err := put(name, joined); err != nil {
			return err
		}
	}
	return nil
}

// appendPostings sorts and encodes the postings of a name.
func appendPostings(b []byte, list []posting) []byte {
	slices.SortFunc(list, func(a, b posting) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.symbol, b.symbol), cmp.Compare(a.family, b.family))
	})
	var before posting
	for _, p := range list {
		b = appendPosting(b, before, p)
		before = p
	}
	return b
}

// nameWriter writes the blocks of names.
type nameWriter struct {
	out     *output
	block   []byte
	names   int    // in the block
	before  []byte // the last of them
	index   []byte // u64 for each block
	blocks  uint32
	total   uint64
	scratch []byte
}

func (w *nameWriter) put(name, postings []byte) error {
	if w.names == 0 {
		w.before = w.before[:0]
	}
	w.block = appendName(w.block, w.before, name, postings)
	w.before = append(w.before[:0], name...)
	w.names++
	w.total++
	if w.names == blockNames || len(w.block) >= blockBytes {
		return w.flush()
	}
	return nil
}

func (w *nameWriter) flush() error {
	if w.names == 0 {
		return nil
	}
	w.index = binary.LittleEndian.AppendUint64(w.index, uint64(w.out.offset))
	w.blocks++
	b := binary.AppendUvarint(w.scratch[:0], uint64(len(w.block)))
	b = binary.LittleEndian.AppendUint32(b, checksum(w.block))
	b = append(b, w.block...)
	w.scratch, w.block, w.names = b, w.block[:0], 0
	return w.out.write(b)
}
