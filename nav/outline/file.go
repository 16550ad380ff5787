package outline

import (
	"sort"
	"sync"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
)

// File is what the store has of one file. Its methods read the store, so that
// they fail once that is closed. It is safe for concurrent use.
type File struct {
	store  *Store
	number int
	record record // used inside view only

	guards func() ([]guard, error)
	steps  func() ([]crossing, error)
}

// file makes the File of a number; ok is false if there is no record.
func (s *Store) file(number int) (f *File, ok bool, err error) {
	f = &File{store: s, number: number}
	err = s.view(func() (err error) {
		f.record, ok, err = s.record(number)
		return err
	})
	f.guards = sync.OnceValues(func() ([]guard, error) { return decode(f, f.record.guards, readGuards) })
	f.steps = sync.OnceValues(func() ([]crossing, error) {
		return decode(f, f.record.steps, func(b []byte) ([]crossing, error) { return readSteps(b, f.record.symbols) })
	})
	return f, ok, err
}

// decode reads a part of the record that may be empty.
func decode[T any](f *File, part []byte, read func([]byte) ([]T, error)) (list []T, err error) {
	err = f.view(func() error {
		if len(part) == 0 {
			return nil
		}
		body, err := checked(part)
		if err == nil {
			list, err = read(body)
		}
		return err
	})
	return list, err
}

// view runs fn with the store mapped; what it finds wrong is damage of the record.
func (f *File) view(fn func() error) error {
	return f.store.view(func() error {
		if err := fn(); err != nil {
			return f.store.corrupt(f.store.paths.offsets[f.number], err)
		}
		return nil
	})
}

// Path is the file's path below the root.
func (f *File) Path() string { return f.store.paths.path(f.number) }

// Lines is the number of lines.
func (f *File) Lines() int { return f.record.lines }

// Len is the number of symbols.
func (f *File) Len() int { return f.record.symbols }

// Symbols returns everything that the file defines or declares, in file order.
func (f *File) Symbols() ([]csource.Symbol, error) {
	var list []csource.Symbol
	err := f.view(func() error {
		var r symbolReader
		for b := 0; b*blockSymbols < f.record.symbols; b++ {
			body, err := f.record.block(b)
			if err != nil {
				return err
			}
			r.open(body)
			for range f.record.count(b) {
				if !r.next() {
					return errMalformed
				}
				list = append(list, r.symbol())
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Symbol returns the symbol with that index in Symbols.
func (f *File) Symbol(index int) (s csource.Symbol, err error) {
	err = f.view(func() error {
		var r symbolReader
		if err := f.record.seek(index, &r); err != nil {
			return err
		}
		s = r.symbol()
		return nil
	})
	return s, err
}

// Guards returns the conditions under which a line is compiled, as
// [csource.File.Guards] has them. The caller must not change them.
func (f *File) Guards(line int) ([]string, error) {
	guards, err := f.guards()
	if err != nil {
		return nil, err
	}
	if conds := guardAt(guards, line).conds; conds != nil {
		return conds, nil
	}
	return []string{}, nil
}

// Dead reports whether a line can never be compiled.
func (f *File) Dead(line int) (bool, error) {
	guards, err := f.guards()
	return guardAt(guards, line).dead, err
}

// Enclosing returns the symbol that holds the first token of a line, as
// [csource.File.Enclosing] has it.
func (f *File) Enclosing(line int) (csource.Symbol, bool, error) {
	return f.enclosing(line, crossing.whole)
}

// EnclosingAt is Enclosing for a column, for lines that hold several symbols.
func (f *File) EnclosingAt(line, col int) (csource.Symbol, bool, error) {
	return f.enclosing(line, func(c crossing) int { return c.at(col) })
}

func (c crossing) whole() int { return c.symbol }

func (f *File) enclosing(line int, pick func(crossing) int) (s csource.Symbol, ok bool, err error) {
	lines, err := f.steps()
	if err != nil || line < 1 || line > f.record.lines {
		return s, false, err
	}
	if i, found := sort.Find(len(lines), func(i int) int { return line - lines[i].line }); found {
		index := pick(lines[i])
		if index < 0 {
			return s, false, nil
		}
		s, err = f.Symbol(index)
		return s, err == nil, err
	}
	err = f.view(func() error {
		s, ok, err = f.record.enclosing(line)
		return err
	})
	return s, ok, err
}

// enclosing finds the last symbol, among those that can enclose others, whose
// lines hold line.
func (r *record) enclosing(line int) (found csource.Symbol, ok bool, err error) {
	blocks := len(r.table) / blockEntry
	block := sort.Search(blocks, func(b int) bool { return r.start(b) > line }) - 1
	limit := r.symbols
	var s symbolReader
	for block >= 0 {
		body, err := r.block(block)
		if err != nil {
			return found, false, err
		}
		s.open(body)
		for i := block * blockSymbols; i < min(limit, (block+1)*blockSymbols); i++ {
			if !s.next() {
				return found, false, errMalformed
			}
			if s.encloses() && s.start <= line && line <= s.end {
				found, ok = s.symbol(), true
			}
		}
		outer := r.outer(block)
		if ok || outer < 0 {
			return found, ok, nil
		}
		if outer >= block*blockSymbols {
			return found, false, errMalformed
		}
		block, limit = outer/blockSymbols, outer+1
	}
	return found, false, nil
}
