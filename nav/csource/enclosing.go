package csource

import (
	"cmp"
	"slices"
	"sort"
)

// Enclosing returns the symbol whose extent holds the first token of a line,
// the innermost one: a function, a variable with its initializer, a macro, a
// type, a prototype or a macro invocation. Namespaces, members, enumerators and
// types local to a function do not count. ok is false at file scope.
func (f *File) Enclosing(line int) (Symbol, bool) {
	if line < 1 || line > len(f.lines) {
		return Symbol{}, false
	}
	pos := f.lines[line-1]
	for class[f.text[pos]] == cBlank && int(pos) < len(f.text)-1 {
		pos++
	}
	return f.enclosing(pos)
}

// EnclosingAt is Enclosing for a column, for lines that hold several symbols.
func (f *File) EnclosingAt(line, col int) (Symbol, bool) {
	if line < 1 || line > len(f.lines) || col < 1 {
		return Symbol{}, false
	}
	return f.enclosing(f.lines[line-1] + uint32(col-1))
}

func (f *File) enclosing(pos uint32) (Symbol, bool) {
	k := sort.Search(len(f.blocks), func(k int) bool { return f.symbols[f.blocks[k].symbol].from > pos }) - 1
	for k >= 0 {
		if s := &f.symbols[f.blocks[k].symbol]; pos < s.to {
			return *s, true
		}
		k = int(f.blocks[k].outer)
	}
	return Symbol{}, false
}

// A block is a symbol that can enclose others; outer is the index of the block
// around it, -1 at file scope.
type block struct {
	symbol, outer int32
}

// nest puts the symbols in file order, outer before inner, and links the ones
// that enclose others.
func (f *File) nest() {
	slices.SortStableFunc(f.symbols, func(a, b Symbol) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	f.blocks = f.blocks[:0]
	outer := int32(-1)
	for k := range f.symbols {
		s := &f.symbols[k]
		if s.Local || s.Kind == Namespace || s.Kind == Member || s.Kind == Enumerator {
			continue
		}
		for outer >= 0 && f.symbols[f.blocks[outer].symbol].to <= s.from {
			outer = f.blocks[outer].outer
		}
		f.blocks = append(f.blocks, block{int32(k), outer})
		outer = int32(len(f.blocks) - 1)
	}
}
