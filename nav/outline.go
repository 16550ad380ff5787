package nav

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// OutlineQuery asks what a file defines.
type OutlineQuery struct {
	Path string
	Page
}

// Outline is the answer: every symbol of the page in line order.
type Outline struct {
	Path    string
	Symbols []Symbol
	Total   int
}

// ErrNoParser says that a file cannot be outlined because the parser for its
// language is not on this machine.
var ErrNoParser = errors.New("no parser: outlines of this file need universal-ctags; gtagsmcp doctor says what is missing")

// Outline lists the symbols that the file defines, as it is now.
func (v *View) Outline(ctx context.Context, q OutlineQuery) (Outline, error) {
	src, err := v.w.file(q.Path)
	if err != nil {
		return Outline{}, err
	}
	all, parsed, err := v.symbols(ctx, src)
	if err != nil {
		return Outline{}, &PathError{src.path, err.Error()}
	}
	if !parsed {
		return Outline{}, ErrNoParser
	}
	all = slices.DeleteFunc(all, func(s Symbol) bool { return s.Declares })
	all = append(all, v.mintedBy(src, all)...)
	slices.SortStableFunc(all, func(a, b Symbol) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col)) })
	from, to, err := q.window(len(all))
	if err != nil {
		return Outline{}, err
	}
	return Outline{Path: src.path, Symbols: all[from:to], Total: len(all)}, nil
}
