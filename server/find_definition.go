package server

import (
	"context"
	"fmt"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

type findDefinitionArgs struct {
	Symbol          string `json:"symbol" jsonschema:"Exact name"`
	CaseInsensitive bool   `json:"case_insensitive,omitempty" jsonschema:"Ignore case"`
	PathPrefix      string `json:"path_prefix,omitempty" jsonschema:"Only below this folder or file"`
	paged
	shared
}

func findDefinition() tool {
	return define(tool{
		name:  "find_definition",
		title: "Find definition",
		description: "Where a symbol is defined: file:line, source line, kind, and a summary of its use. " +
			"Answers at once from an index of the whole tree, also when it does not compile; use it instead of grep for any name.",
		alwaysLoad: true,
		onError:    []string{"find_references", "list_file_symbols"},
	}, answerDefinition)
}

func answerDefinition(ctx context.Context, c *call, in findDefinitionArgs) (*envelope, error) {
	view, err := c.view(ctx)
	if err != nil {
		return nil, err
	}
	defer view.Release()
	found, err := view.Definitions(ctx, nav.DefinitionQuery{
		Symbol: in.Symbol, CaseInsensitive: in.CaseInsensitive, PathPrefix: in.PathPrefix,
		Page: nav.Page{Limit: in.Limit, Offset: in.Offset},
	})
	if err != nil {
		return nil, err
	}
	e := symbolEnvelope(view, in.Symbol, found.Sites, found.Total, in.paged)
	e.Definitions, e.GuardVariants = &found.Total, &found.GuardVariants
	e.use(found.Usage)
	e.NextTools = []string{"find_references", "list_file_symbols"}
	if found.Total == 0 {
		e.Definitions, e.GuardVariants = nil, nil
		e.miss("definition", in.Symbol, in.PathPrefix, found.Suggestions)
	}
	return e, nil
}

// symbolEnvelope is the envelope of every answer that is a page of records.
func symbolEnvelope(view *nav.View, symbol string, page []nav.Symbol, total int, p paged) *envelope {
	return &envelope{
		Symbol: symbol, Results: records(page), Total: total, Offset: p.Offset,
		Truncated: p.Offset+len(page) < total,
		Warning:   joinWarnings(view.Warnings()),
	}
}

// use puts the summary of a name's use into the envelope.
func (e *envelope) use(u nav.Usage) {
	e.References, e.Files, e.TopFiles = &u.References, &u.Files, u.Top
}

// miss makes an empty answer say why it is empty. It is no error: that nothing
// is there can be what the caller wanted to know.
func (e *envelope) miss(what, symbol, prefix string, suggestions []string) {
	e.Message = fmt.Sprintf("no %s of %s in the index", what, symbol)
	if prefix != "" {
		e.Message = fmt.Sprintf("no %s of %s below %s", what, symbol, prefix)
	}
	e.Suggestions = suggestions
}
