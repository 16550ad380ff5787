package server

import (
	"context"
	"fmt"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

type summarizeReferencesArgs struct {
	Symbol string `json:"symbol" jsonschema:"Exact name"`
	// PathPrefix narrows the count down; a configuration cannot, since that
	// would read every file that uses the name.
	PathPrefix string `json:"path_prefix,omitempty" jsonschema:"Only below this folder or file"`
	paged
	shared
}

func summarizeReferences() tool {
	return query(tool{
		name:        "summarize_references",
		title:       "Summarize references",
		description: "How many lines of each file use a symbol, most first. Use it before find_references on a hot symbol.",
		onError:     []string{"find_references"},
	}, answerSummary)
}

func answerSummary(ctx context.Context, view *nav.View, in summarizeReferencesArgs) (*envelope, error) {
	found, err := view.CountReferences(ctx, nav.ReferenceQuery{
		Symbol: in.Symbol, Filter: nav.Filter{PathPrefix: in.PathPrefix}, Page: in.page(),
	})
	if err != nil {
		return nil, err
	}
	e := &envelope{
		Symbol: in.Symbol, Results: fileCounts(found.Files), Total: found.Total, Offset: in.Offset,
		Truncated: in.Offset+len(found.Files) < found.Total,
		Extra:     []field{{"total_references", found.References}},
		NextTools: []string{"find_references", "find_callers"},
	}
	if found.Total == 0 {
		e.miss("reference", in.Symbol, filtered{PathPrefix: in.PathPrefix}, found.Suggestions)
		e.NextTools = []string{"find_definition"}
		return e, nil
	}
	e.References, e.Files = &found.References, &found.Total
	return e, nil
}

type fileCounts []nav.FileCount

func (f fileCounts) count() int { return len(f) }

func (f fileCounts) lines(*envelope) []string {
	out := make([]string, len(f))
	for i, c := range f {
		out[i] = fmt.Sprintf("%5d %s", c.Count, c.Path)
	}
	return out
}
