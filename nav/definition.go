package nav

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
)

// DefinitionQuery asks where a name is defined.
type DefinitionQuery struct {
	Symbol          string
	CaseInsensitive bool
	PathPrefix      string
	Page
}

// Definitions is the answer: the sites of one page, best first, and what is
// known about the name as a whole.
type Definitions struct {
	Sites         []Symbol
	Total         int
	GuardVariants int
	Usage         Usage
	// Suggestions are defined names like the one asked for, on a miss.
	Suggestions []string
}

// Definitions finds the definition sites of a symbol.
func (v *View) Definitions(ctx context.Context, q DefinitionQuery) (Definitions, error) {
	var a Definitions
	inPrefix, err := v.w.prefixFilter(q.PathPrefix)
	if err != nil {
		return a, err
	}
	names, err := v.names(q.Symbol, q.CaseInsensitive, gtagsdb.Definitions)
	if err != nil {
		return a, err
	}
	var sites []Symbol
	for _, name := range names {
		found, err := v.definitions(ctx, name)
		if err != nil {
			return a, err
		}
		sites = append(sites, found...)
	}
	sites = slices.DeleteFunc(sites, func(s Symbol) bool { return !inPrefix(s.Path) })
	from, to, err := q.window(len(sites))
	if err != nil {
		return a, err
	}
	a.Sites, a.Total = sites[from:to], len(sites)
	a.GuardVariants = guardVariants(sites)
	if a.Total == 0 {
		a.Suggestions, err = v.suggest(q.Symbol)
		return a, err
	}
	a.Usage, err = v.usage(q.Symbol)
	return a, err
}

// names returns the symbol itself, or all spellings of it that the index has
// when case does not matter.
func (v *View) names(symbol string, fold bool, from gtagsdb.Source) ([]string, error) {
	if err := checkSymbol(symbol); err != nil {
		return nil, err
	}
	if !fold {
		return []string{symbol}, nil
	}
	return v.set.FoldedNames(symbol, from)
}

// definitions returns every definition site of one exact name, best first.
func (v *View) definitions(ctx context.Context, name string) ([]Symbol, error) {
	records, err := v.set.Definitions(name)
	if err != nil {
		return nil, err
	}
	sites := make([]Symbol, 0, len(records))
	for i, r := range records {
		if i > 0 && r.Path == records[i-1].Path && r.Line == records[i-1].Line {
			continue // defined twice on one line
		}
		s := v.at(ctx, r.Name, r.Path, r.Line)
		v.describe(ctx, &s)
		sites = append(sites, s)
	}
	slices.SortStableFunc(sites, func(a, b Symbol) int { return cmp.Compare(rank(a), rank(b)) })
	return sites, nil
}

// rank orders definitions by how likely they are what was asked for: what has
// a body, then what only declares. Ties keep the order of paths and lines.
func rank(s Symbol) int {
	switch s.Kind {
	case "prototype", "externvar":
		return 2
	case "":
		return 1
	}
	return 0
}

func guardVariants(sites []Symbol) int {
	seen := map[string]bool{}
	for _, s := range sites {
		if len(s.Guards) > 0 {
			seen[strings.Join(s.Guards, "\x00")] = true
		}
	}
	return len(seen)
}
