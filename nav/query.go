package nav

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"
)

// maxSymbol is the length from which GNU Global drops a name, in bytes.
const maxSymbol = 512

// SymbolError says why a text cannot be the name of a symbol.
type SymbolError struct{ Symbol, Reason string }

func (e *SymbolError) Error() string {
	shown := e.Symbol
	if len(shown) > 40 {
		shown = shown[:40] + "…"
	}
	return fmt.Sprintf("symbol %q %s", shown, e.Reason)
}

// checkSymbol refuses what can never stand in an index. Everything else is
// taken literally: quotes, operators and regular expression characters are
// part of names in some languages.
func checkSymbol(name string) error {
	switch {
	case name == "":
		return &SymbolError{name, "is empty; give the exact name of a function, type, macro or variable"}
	case len(name) >= maxSymbol:
		return &SymbolError{name, fmt.Sprintf("has %d bytes; names have less than %d", len(name), maxSymbol)}
	}
	for _, r := range name {
		if unicode.IsSpace(r) {
			return &SymbolError{name, "contains a blank; give one bare name, without keywords such as struct and without arguments"}
		}
		if unicode.IsControl(r) {
			return &SymbolError{name, "contains a control character"}
		}
	}
	return nil
}

// Page selects part of a long answer.
type Page struct {
	Limit, Offset int
}

// OffsetError says that a page begins behind the last result.
type OffsetError struct{ Offset, Total int }

func (e *OffsetError) Error() string {
	return fmt.Sprintf("offset %d is past the end: there are %d results, so the last offset is %d", e.Offset, e.Total, e.Total-1)
}

// window returns the bounds of the page within total results.
func (p Page) window(total int) (from, to int, err error) {
	switch {
	case p.Offset < 0 || p.Limit < 0:
		return 0, 0, errors.New("limit and offset cannot be negative")
	case p.Offset > 0 && p.Offset >= total && total > 0:
		return 0, 0, &OffsetError{p.Offset, total}
	}
	from = min(p.Offset, total)
	to = total
	if p.Limit > 0 && p.Limit < total-from {
		to = from + p.Limit
	}
	return from, to, nil
}

// prefixFilter returns a test for paths below prefix, which may name a folder
// ("fs/ext4", "fs/ext4/") or a file, relative to the root or absolute.
func (w *Workspace) prefixFilter(prefix string) (func(string) bool, error) {
	if prefix == "" {
		return func(string) bool { return true }, nil
	}
	rel, err := w.relative(prefix)
	if err != nil {
		return nil, fmt.Errorf("path_prefix: %w", err)
	}
	rel = path.Clean(rel)
	if rel == "." {
		return func(string) bool { return true }, nil
	}
	return func(p string) bool { return p == rel || strings.HasPrefix(p, rel+"/") }, nil
}
