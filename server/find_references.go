package server

import (
	"context"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

type findReferencesArgs struct {
	Symbol          string `json:"symbol" jsonschema:"Exact name"`
	CaseInsensitive bool   `json:"case_insensitive,omitempty" jsonschema:"Ignore case"`
	filtered
	paged
	shared
}

func findReferences() tool {
	return query(tool{
		name:  "find_references",
		title: "Find references",
		description: "Every line that uses a symbol, in order of file and line. Counts all of them even when it shows one page. " +
			"Unlike grep it matches whole names only and skips comments and strings.",
		onError: []string{"find_definition", "list_file_symbols"},
	}, answerReferences)
}

func answerReferences(ctx context.Context, view *nav.View, in findReferencesArgs) (*envelope, error) {
	found, err := view.References(ctx, nav.ReferenceQuery{
		Symbol: in.Symbol, CaseInsensitive: in.CaseInsensitive, Filter: in.filter(), Page: in.page(),
	})
	if err != nil {
		return nil, err
	}
	e := symbolEnvelope(in.Symbol, found.Sites, found.Total, in.paged)
	e.Results = referenceRecords(found.Sites)
	e.filteredBy(in.filtered, found.Filtered)
	if found.Total == 0 {
		e.miss("reference", in.Symbol, in.filtered, found.Suggestions)
		e.NextTools = []string{"find_definition"}
		return e, nil
	}
	files := len(found.Files)
	e.References, e.Files, e.TopFiles = &found.Total, &files, found.Files[:min(3, files)]
	e.NextTools = []string{"find_definition", "find_callers"}
	if e.Truncated {
		e.NextTools = []string{"summarize_references", "find_callers"}
	}
	if found.Fallback {
		e.Fallback = "symbol_usages"
		e.Message = in.Symbol + " is not defined in this tree; these lines use the name"
	}
	return e, nil
}
