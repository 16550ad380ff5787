package outline

import (
	"github.com/gtagsmcp/gtagsmcp/nav/csource"
)

const (
	recordHead = 20 // bytes before the table of blocks
	blockEntry = 12
)

// recordWriter makes the record of one file after the other.
type recordWriter struct {
	observer observer
	blocks   symbolWriter
	words    words
	open     []int
	body     []byte
}

// append appends the record of a file, of which f is the scan of text.
func (w *recordWriter) append(b []byte, text []byte, f *csource.File) ([]byte, error) {
	if err := w.observer.observe(text, f); err != nil {
		return b, err
	}
	symbols := f.Symbols()
	from := len(b)
	b = append(b, make([]byte, recordHead)...)
	w.body, w.open = w.body[:0], w.open[:0]
	for i := 0; i < len(symbols); i += blockSymbols {
		block := symbols[i:min(i+blockSymbols, len(symbols))]
		start := block[0].Start
		outer := w.outer(symbols, start)
		var err error
		if w.body, err = w.blocks.block(w.body, block); err != nil {
			return b[:from], err
		}
		b = le.AppendUint32(b, uint32(len(w.body)))
		b = le.AppendUint32(b, uint32(start))
		b = le.AppendUint32(b, uint32(outer+1))
		w.enter(symbols, i, i+len(block))
	}
	head := len(b)
	b = append(b, w.body...)
	guards := len(b)
	b = appendGuards(b, w.observer.guards, &w.words)
	steps := len(b)
	b = appendSteps(b, w.observer.lines)
	le.PutUint32(b[from+4:], uint32(len(symbols)))
	le.PutUint32(b[from+8:], uint32(f.Lines()))
	le.PutUint32(b[from+12:], uint32(steps-guards))
	le.PutUint32(b[from+16:], uint32(len(b)-steps))
	le.PutUint32(b[from:], checksum(b[from+4:head]))
	return b, nil
}

// enter follows which symbols enclose what comes behind symbols[from:to].
func (w *recordWriter) enter(symbols []csource.Symbol, from, to int) {
	for i := from; i < to; i++ {
		if s := &symbols[i]; encloses(s.Kind, s.Local) {
			w.outer(symbols, s.Start)
			w.open = append(w.open, i)
		}
	}
}

// outer returns the innermost symbol so far whose last line is not above line.
func (w *recordWriter) outer(symbols []csource.Symbol, line int) int {
	for n := len(w.open); n > 0; n-- {
		if symbols[w.open[n-1]].End >= line {
			return w.open[n-1]
		}
		w.open = w.open[:n-1]
	}
	return -1
}

// record is the decoded head of a file's record.
type record struct {
	symbols, lines int
	table          []byte // an entry for each block
	blocks         []byte
	guards, steps  []byte // with their checksums
}

// openRecord checks and takes apart a record.
func openRecord(b []byte) (r record, err error) {
	if len(b) < recordHead {
		return r, errMalformed
	}
	r.symbols, r.lines = int(le.Uint32(b[4:])), int(le.Uint32(b[8:]))
	blocks := (uint64(le.Uint32(b[4:])) + blockSymbols - 1) / blockSymbols
	head := recordHead + blockEntry*blocks
	guards, steps := uint64(le.Uint32(b[12:])), uint64(le.Uint32(b[16:]))
	size := uint64(len(b))
	if head+guards+steps > size {
		return r, errMalformed
	}
	if le.Uint32(b) != checksum(b[4:head]) {
		return r, errChecksum
	}
	r.table = b[recordHead:head]
	r.blocks = b[head : size-guards-steps]
	r.guards = b[size-guards-steps : size-steps]
	r.steps = b[size-steps:]
	return r, nil
}

func (r *record) entry(block int) []byte { return r.table[block*blockEntry:] }

// start is the line on which the first symbol of a block starts.
func (r *record) start(block int) int {
	return int(le.Uint32(r.entry(block)[4:]))
}

// outer is the innermost symbol that encloses the beginning of a block, -1 for none.
func (r *record) outer(block int) int {
	return int(le.Uint32(r.entry(block)[8:])) - 1
}

// block returns the body of a block.
func (r *record) block(i int) ([]byte, error) {
	from, to := 0, int(le.Uint32(r.entry(i)))
	if i > 0 {
		from = int(le.Uint32(r.entry(i - 1)))
	}
	if from > to || to > len(r.blocks) {
		return nil, errMalformed
	}
	return checked(r.blocks[from:to])
}

// count is the number of symbols in a block.
func (r *record) count(block int) int {
	return min(blockSymbols, r.symbols-block*blockSymbols)
}

// seek reads block up to and including the symbol with that index.
func (r *record) seek(index int, s *symbolReader) error {
	if index < 0 || index >= r.symbols {
		return errMalformed
	}
	body, err := r.block(index / blockSymbols)
	if err != nil {
		return err
	}
	s.open(body)
	for range index%blockSymbols + 1 {
		if !s.next() {
			return errMalformed
		}
	}
	return nil
}
