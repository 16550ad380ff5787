package nav

import (
	"context"
	"slices"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
)

// DefinitionQuery asks where a name is defined.
type DefinitionQuery struct {
	Symbol          string
	CaseInsensitive bool
	Filter
	Page
}

// Definitions is the answer: the sites of one page, best first, and what is
// known about the name as a whole.
type Definitions struct {
	Sites         []Symbol
	Total         int
	GuardVariants int
	Usage         Usage
	// Exported is the macro that exports the symbol to modules, "" if none does.
	Exported string
	// Callable reports whether some site has a body that runs.
	Callable bool
	// Via says how the sites were found when not by the name itself.
	Via string
	// Filtered counts the sites that the configuration rules out.
	Filtered int
	// Suggestions are defined names like the one asked for, on a miss.
	Suggestions []string
}

// Definitions finds the definition sites of a symbol.
func (v *View) Definitions(ctx context.Context, q DefinitionQuery) (Definitions, error) {
	var a Definitions
	sites, via, filtered, err := v.kept(ctx, q.Symbol, q.CaseInsensitive, q.Filter)
	if err != nil {
		return a, err
	}
	a.Via, a.Filtered, a.Total, a.GuardVariants = via, filtered, len(sites), guardVariants(sites)
	from, to, err := q.window(len(sites))
	if err != nil {
		return a, err
	}
	a.Sites = sites[from:to]
	if a.Total == 0 {
		a.Suggestions, err = v.suggest(q.Symbol)
		return a, err
	}
	a.Callable = slices.ContainsFunc(sites, func(s Symbol) bool { return s.callable() })
	name := sites[0].Name
	if a.Exported, err = v.exported(name); err != nil {
		return a, err
	}
	a.Usage, err = v.usage(ctx, name)
	return a, err
}

// kept finds the definitions that a filter keeps, and counts those below its
// prefix that its configuration rules out.
func (v *View) kept(ctx context.Context, symbol string, fold bool, q Filter) (sites []Symbol, via string, filtered int, err error) {
	keep, err := v.filter(q)
	if err != nil {
		return nil, "", 0, err
	}
	sites, via, err = v.sites(ctx, symbol, fold)
	if err != nil {
		return nil, "", 0, err
	}
	sites = slices.DeleteFunc(sites, func(s Symbol) bool { return !keep.path(s.Path) })
	below := len(sites)
	sites = slices.DeleteFunc(sites, func(s Symbol) bool { return !keep.guards(s.Guards) })
	return sites, via, below - len(sites), nil
}

// sites finds the definitions of a name as a caller gave it: with any case, or
// with a selector behind it (name@path, name@path:line) that picks some.
func (v *View) sites(ctx context.Context, symbol string, fold bool) (sites []Symbol, via string, err error) {
	name, pick, err := v.selector(symbol)
	if err != nil {
		return nil, "", err
	}
	names, err := v.names(name, fold, gtagsdb.Definitions)
	if err != nil {
		return nil, "", err
	}
	for _, n := range names {
		r, err := v.resolve(ctx, n)
		if err != nil {
			return nil, "", err
		}
		sites, via = append(sites, r.sites...), r.via
	}
	return slices.DeleteFunc(sites, func(s Symbol) bool { return !pick(&s) }), via, nil
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

func guardVariants(sites []Symbol) int {
	seen := map[string]bool{}
	for _, s := range sites {
		if len(s.Guards) > 0 {
			seen[strings.Join(s.Guards, "\x00")] = true
		}
	}
	return len(seen)
}
