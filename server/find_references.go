package server

import (
	"context"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

type findReferencesArgs struct {
	Symbol          string `json:"symbol" jsonschema:"Exact name"`
	CaseInsensitive bool   `json:"case_insensitive,omitempty" jsonschema:"Ignore case"`
	PathPrefix      string `json:"path_prefix,omitempty" jsonschema:"Only below this folder or file"`
	paged
	shared
}

func findReferences() tool {
	return define(tool{
		name:  "find_references",
		title: "Find references",
		description: "Every line that uses a symbol, in order of file and line. Counts all of them even when it shows one page. " +
			"Unlike grep it matches whole names only and skips comments and strings.",
		onError: []string{"find_definition", "list_file_symbols"},
	}, answerReferences)
}

func answerReferences(ctx context.Context, c *call, in findReferencesArgs) (*envelope, error) {
	view, err := c.view(ctx)
	if err != nil {
		return nil, err
	}
	defer view.Release()
	found, err := view.References(ctx, nav.ReferenceQuery{
		Symbol: in.Symbol, CaseInsensitive: in.CaseInsensitive, PathPrefix: in.PathPrefix,
		Page: nav.Page{Limit: in.Limit, Offset: in.Offset},
	})
	if err != nil {
		return nil, err
	}
	e := symbolEnvelope(view, in.Symbol, found.Sites, found.Total, in.paged)
	e.Results = referenceRecords(found.Sites)
	e.use(found.Usage)
	e.NextTools = []string{"find_definition"}
	if found.Usage.Undefined && found.Total > 0 {
		e.Fallback = "symbol_usages"
		e.Message = in.Symbol + " is not defined in this tree; these lines use the name"
	}
	if found.Total == 0 {
		e.miss("reference", in.Symbol, in.PathPrefix, found.Suggestions)
	}
	return e, nil
}
