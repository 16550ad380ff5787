package outline

import (
	"slices"

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
}

// append appends the record of a file, of which f is the scan of text.
func (w *recordWriter) append(b []byte, text []byte, f *csource.File) ([]byte, error) {
	if err := w.observer.observe(text, f); err != nil {
		return b, err
	}
	symbols := f.Symbols()
	from, head := len(b), recordHead+blockEntry*blockCount(len(symbols))
	b = slices.Grow(b, head+16*len(symbols))[:from+head]
	b, err := w.appendBlocks(b, from, symbols)
	if err != nil {
		return b, err
	}
	guards := len(b)
	b = appendGuards(b, w.observer.guards, &w.words)
	steps := len(b)
	b = appendSteps(b, w.observer.lines)
	le.PutUint32(b[from+4:], uint32(len(symbols)))
	le.PutUint32(b[from+8:], uint32(f.Lines()))
	le.PutUint32(b[from+12:], uint32(steps-guards))
	le.PutUint32(b[from+16:], uint32(len(b)-steps))
	le.PutUint32(b[from:], checksum(b[from+4:from+head]))
	return b, nil
}

// appendBlocks appends the blocks of the record that begins at from, and fills
// in their entries.
func (w *recordWriter) appendBlocks(b []byte, from int, symbols []csource.Symbol) ([]byte, error) {
	first, entry := len(b), from+recordHead
	w.open = w.open[:0]
	for i := 0; i < len(symbols); i += blockSymbols {
		block := symbols[i:min(i+blockSymbols, len(symbols))]
		le.PutUint32(b[entry+4:], uint32(block[0].Start))
		le.PutUint32(b[entry+8:], uint32(w.outer(symbols, block[0].Start)+1))
		var err error
		if b, err = w.blocks.block(b, block); err != nil {
			return b, err
		}
		le.PutUint32(b[entry:], uint32(len(b)-first))
		w.enter(symbols, i, i+len(block))
		entry += blockEntry
	}
	return b, nil
}

func blockCount(symbols int) int { return (symbols + blockSymbols - 1) / blockSymbols }

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
	head := recordHead + blockEntry*((uint64(le.Uint32(b[4:]))+blockSymbols-1)/blockSymbols)
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
