package semantic

import (
	"bytes"
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
)

const cParserName = "built-in C scanner"

// cParser reads C, C++ and assembly with the scanner that the index is made
// with: it keeps its footing where conditionals and macros make ctags lose it.
type cParser struct{}

func (cParser) Parse(ctx context.Context, files []File) ([]Parsed, error) {
	out := make([]Parsed, len(files))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, f := range files {
		group.Go(func() error {
			lang, _ := csource.LangOf(f.Path)
			out[i] = Parsed{Path: f.Path, Parser: cParserName}
			err := guarded(func() error {
				out[i].Declarations = fromScan(f.Content, csource.Scan(f.Content, lang).Symbols())
				return nil
			})
			if err != nil {
				out[i].Problems = []Problem{{Path: f.Path, Message: err.Error()}}
			}
			return ctx.Err()
		})
	}
	return out, group.Wait()
}

// fromScan nests the symbols of a file by their extents and scopes.
func fromScan(content []byte, symbols []csource.Symbol) []Declaration {
	symbols = slices.DeleteFunc(slices.Clone(symbols), func(s csource.Symbol) bool {
		return s.Kind == csource.Invocation || s.Local || s.Dead
	})
	slices.SortStableFunc(symbols, func(a, b csource.Symbol) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	t := scanTree{symbols: symbols, members: map[int][]int{}, byName: map[string][]int{}}
	for i := range symbols {
		if name := qualifiedSymbol(&symbols[i]); symbols[i].Kind != csource.Function {
			t.byName[name] = append(t.byName[name], i)
		}
	}
	for i := range symbols {
		outer := t.outer(&symbols[i])
		t.members[outer] = append(t.members[outer], i)
	}
	return t.build(bytes.SplitAfter(content, []byte("\n")), -1)
}

// scanTree is the nesting of the symbols of a file.
type scanTree struct {
	symbols []csource.Symbol
	byName  map[string][]int
	members map[int][]int // of each symbol, -1 for the file
}

// outer is the nearest symbol that a symbol is a member of, or -1. Extents alone do
// not tell: a variable declared behind a type's body has the extent of the type.
func (t *scanTree) outer(s *csource.Symbol) int {
	best := -1
	for _, i := range t.byName[s.Scope] {
		o := &t.symbols[i]
		if s.Scope != "" && o.Start <= s.Start && s.End <= o.End && (best < 0 || o.End-o.Start <= t.symbols[best].End-t.symbols[best].Start) {
			best = i
		}
	}
	return best
}

func (t *scanTree) build(lines [][]byte, outer int) (list []Declaration) {
	for _, i := range t.members[outer] {
		d := fromSymbol(lines, &t.symbols[i])
		d.Children = t.build(lines, i)
		list = append(list, d)
	}
	return list
}

func qualifiedSymbol(s *csource.Symbol) string {
	if s.Scope == "" {
		return s.Name
	}
	return s.Scope + "::" + s.Name
}

func fromSymbol(lines [][]byte, s *csource.Symbol) Declaration {
	d := Declaration{
		Name: s.Name, QualifiedName: qualifiedSymbol(s), Kind: s.Kind.String(), Line: s.Line, EndLine: s.End,
		Container: s.Scope, Signature: s.Signature, Modifiers: specifiers(lines, s),
	}
	switch {
	case s.Type == "" || s.Kind == csource.Macro:
	case s.Signature != "":
		d.Signature += " -> " + s.Type
	default:
		d.Signature = s.Type
	}
	return d
}

// specifiers are the words before a name that say how it is stored or linked.
func specifiers(lines [][]byte, s *csource.Symbol) (words []string) {
	switch s.Kind {
	case csource.Function, csource.Variable, csource.Prototype, csource.Extern, csource.Member:
	default:
		return nil
	}
	for n := s.Start; n <= s.Line && n <= len(lines) && n > 0; n++ {
		text := lines[n-1]
		if n == s.Line {
			text = text[:min(max(s.Col-1, 0), len(text))]
		}
		for word := range bytes.FieldsFuncSeq(text, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }) {
			switch w := strings.Trim(string(word), "_"); w {
			case "static", "inline", "extern", "virtual", "constexpr", "explicit", "friend":
				words = append(words, w)
			}
		}
	}
	return words
}
