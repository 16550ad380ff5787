package server

import (
	"context"
	"fmt"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

type findDefinitionArgs struct {
	Symbol          string `json:"symbol" jsonschema:"Exact name; Scope::name and name@path[:line] select"`
	CaseInsensitive bool   `json:"case_insensitive,omitempty" jsonschema:"Ignore case"`
	filtered
	paged
	shared
}

func findDefinition() tool {
	return query(tool{
		name:  "find_definition",
		title: "Find definition",
		description: "Where a symbol is defined: file:line, source line, kind, and a summary of its use. " +
			"Answers at once from an index of the whole tree, also when it does not compile; use it instead of grep for any name.",
		alwaysLoad: true,
		onError:    []string{"find_references", "list_file_symbols"},
	}, answerDefinition)
}

func answerDefinition(ctx context.Context, view *nav.View, in findDefinitionArgs) (*envelope, error) {
	found, err := view.Definitions(ctx, nav.DefinitionQuery{
		Symbol: in.Symbol, CaseInsensitive: in.CaseInsensitive, Filter: in.filter(), Page: in.page(),
	})
	if err != nil {
		return nil, err
	}
	e := symbolEnvelope(in.Symbol, found.Sites, found.Total, in.paged)
	e.filteredBy(in.filtered, found.Filtered)
	e.ResolvedVia = found.Via
	if found.Total == 0 {
		e.miss("definition", in.Symbol, in.filtered, found.Suggestions)
		e.NextTools = []string{"find_references"}
		return e, nil
	}
	e.Definitions, e.GuardVariants, e.Exported = &found.Total, &found.GuardVariants, found.Exported
	e.use(found.Usage)
	e.NextTools = []string{"get_symbol_body", "find_callers", "find_references"}
	if !found.Callable {
		e.NextTools = []string{"get_symbol_body", "find_references"}
	}
	return e, nil
}

// symbolEnvelope is the envelope of every answer that is a page of records.
func symbolEnvelope(symbol string, page []nav.Symbol, total int, p paged) *envelope {
	return &envelope{
		Symbol: symbol, Results: records(page), Total: total, Offset: p.Offset,
		Truncated: p.Offset+len(page) < total,
	}
}

// use puts the summary of a name's use into the envelope.
func (e *envelope) use(u nav.Usage) {
	e.References, e.Files, e.TopFiles = &u.References, &u.Files, u.Top
}

// miss makes an empty answer say why it is empty. It is no error: that nothing
// is there can be what the caller wanted to know.
func (e *envelope) miss(what, symbol string, f filtered, suggestions []string) {
	e.Message = fmt.Sprintf("no %s of %s in the index", what, symbol)
	if f.PathPrefix != "" {
		e.Message = fmt.Sprintf("no %s of %s below %s", what, symbol, f.PathPrefix)
	}
	if e.Filtered != nil && *e.Filtered > 0 {
		e.Message += fmt.Sprintf("; active_config rules out %d", *e.Filtered)
	}
	e.Suggestions = suggestions
}

// filteredBy records how many results a configuration ruled out.
func (e *envelope) filteredBy(f filtered, n int) {
	if f.ActiveConfig != "" {
		e.Filtered = &n
	}
}
