package server

import (
	"context"
	"fmt"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

// infoSites is how many definitions the card of a symbol shows.
const infoSites = 5

type symbolInfoArgs struct {
	Symbol       string `json:"symbol" jsonschema:"Exact name; Scope::name and name@path[:line] select"`
	ActiveConfig string `json:"active_config,omitempty" jsonschema:"As in find_definition"`
	shared
}

func symbolInfo() tool {
	return query(tool{
		name:        "symbol_info",
		title:       "Symbol info",
		description: "One card on a symbol: definitions with signature and #if, how often and where it is used, whether it is exported.",
		onError:     []string{"find_definition", "find_references"},
	}, answerInfo)
}

func answerInfo(ctx context.Context, view *nav.View, in symbolInfoArgs) (*envelope, error) {
	narrowed := filtered{ActiveConfig: in.ActiveConfig}
	found, err := view.Definitions(ctx, nav.DefinitionQuery{
		Symbol: in.Symbol, Filter: narrowed.filter(), Page: nav.Page{Limit: infoSites},
	})
	if err != nil {
		return nil, err
	}
	e := symbolEnvelope(in.Symbol, found.Sites, found.Total, paged{})
	e.Results = cards(found.Sites)
	e.rest = fmt.Sprintf("[%d of %d · find_definition lists all]", len(found.Sites), found.Total)
	e.filteredBy(narrowed, found.Filtered)
	e.ResolvedVia, e.Exported = found.Via, found.Exported
	e.Definitions, e.GuardVariants = &found.Total, &found.GuardVariants
	if found.Total > 0 {
		e.use(found.Usage)
		e.NextTools = []string{"get_symbol_body", "find_callers"}
		return e, nil
	}
	return answerUndefined(ctx, view, in, e, found)
}

// answerUndefined completes the card of a name that the tree only uses.
func answerUndefined(ctx context.Context, view *nav.View, in symbolInfoArgs, e *envelope, found nav.Definitions) (*envelope, error) {
	e.miss("definition", in.Symbol, filtered{ActiveConfig: in.ActiveConfig}, found.Suggestions)
	e.NextTools = []string{"find_references"}
	uses, err := view.CountReferences(ctx, nav.ReferenceQuery{Symbol: in.Symbol, Page: nav.Page{Limit: 3}})
	if err != nil {
		return nil, err
	}
	e.References, e.Files, e.TopFiles = &uses.References, &uses.Total, uses.Files
	return e, nil
}

// cards are records whose text adds what find_definition leaves out.
type cards []nav.Symbol

func (c cards) count() int                   { return len(c) }
func (c cards) MarshalJSON() ([]byte, error) { return records(c).MarshalJSON() }

func (c cards) lines(e *envelope) []string {
	var out []string
	for i, line := range records(c).lines(e) {
		if c[i].Scope != "" {
			line += fmt.Sprintf(" in %s", c[i].Scope)
		}
		out = append(out, line)
	}
	return out
}
