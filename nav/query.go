package nav

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/gtagsmcp/gtagsmcp/nav/guard"
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
		if unicode.IsSpace(r) && !(r == ' ' && wordOperator(name)) {
			return &SymbolError{name, "contains a blank; give one bare name, without keywords such as struct and without arguments"}
		}
		if unicode.IsControl(r) {
			return &SymbolError{name, "contains a control character"}
		}
	}
	return nil
}

// wordOperator reports whether a name is that of an operator that has a blank in
// it: "operator bool", "V::operator new".
func wordOperator(name string) bool {
	return strings.HasPrefix(name[strings.LastIndexByte(name, ':')+1:], "operator ")
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

// Filter narrows an answer down to part of the tree, or to what a
// configuration compiles. The zero value keeps everything.
type Filter struct {
	// PathPrefix is a folder ("fs/ext4", "fs/ext4/") or a file, relative to the
	// root or absolute.
	PathPrefix string
	// ActiveConfig is the path of a kernel .config, or a list of macros such as
	// CONFIG_SMP,BITS_PER_LONG=64,!CONFIG_DEBUG.
	ActiveConfig string
}

// filter is a Filter ready for use.
type filter struct {
	prefix string // relative; "" keeps everything
	config *guard.Config
}

// path reports whether a file is below the prefix.
func (f *filter) path(p string) bool {
	return f.prefix == "" || p == f.prefix || strings.HasPrefix(p, f.prefix+"/")
}

// guards reports whether a place may be compiled. Only what is certainly not
// is ruled out; unknown conditions are no reason.
func (f *filter) guards(conditions []string) bool {
	return f.config == nil || f.config.Eval(conditions) != guard.False
}

func (v *View) filter(q Filter) (*filter, error) {
	var f filter
	if q.PathPrefix != "" {
		rel, err := v.w.relative(q.PathPrefix)
		if err != nil {
			return nil, fmt.Errorf("path_prefix: %w", err)
		}
		if rel != "." {
			f.prefix = rel
		}
	}
	if q.ActiveConfig != "" {
		config, err := guard.ParseConfig(q.ActiveConfig, v.readConfig)
		if err != nil {
			return nil, err
		}
		f.config = config
	}
	return &f, nil
}

// maxConfig is the size of the largest configuration file that is read, in
// bytes. A kernel's has 300 kB.
const maxConfig = 8 << 20

// readConfig reads a configuration file, which may be outside the tree, in a
// build folder for instance.
func (v *View) readConfig(path string) ([]byte, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(v.w.root, path)
	}
	return v.w.opts.Fence.ReadFile(path, maxConfig)
}

// selector splits name@path and name@path:line into the name and a test for
// the definitions that the rest picks. The path may leave its beginning out.
func (v *View) selector(symbol string) (name string, pick func(*Symbol) bool, err error) {
	at := v.selectorAt(symbol)
	if at <= 0 || at == len(symbol)-1 {
		return symbol, func(*Symbol) bool { return true }, nil
	}
	name, where := symbol[:at], symbol[at+1:]
	line := 0
	if path, number, ok := cutLast(where, ":"); ok {
		if n, err := strconv.Atoi(number); err == nil && n > 0 {
			where, line = path, n
		}
	}
	if rel, err := v.w.relative(where); err == nil {
		where = rel
	}
	return name, func(s *Symbol) bool {
		return (s.Path == where || strings.HasSuffix(s.Path, "/"+where)) && (line == 0 || s.Line == line || s.contains(line))
	}, nil
}

// selectorAt is where the path of a selector begins, or -1: at the last @, or at
// an earlier one if the path itself has some.
func (v *View) selectorAt(symbol string) int {
	for at := range symbol {
		if symbol[at] != '@' || at == 0 {
			continue
		}
		path, _, _ := cutLast(symbol[at+1:]+":", ":")
		if rest, _, ok := cutLast(path, ":"); ok {
			path = rest
		}
		if _, err := v.w.files.root.Stat(filepath.FromSlash(path)); err == nil && path != "" {
			return at
		}
	}
	return strings.LastIndexByte(symbol, '@')
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
