package server

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

type findCallersArgs struct {
	Symbol     string `json:"symbol" jsonschema:"Exact name; name@path[:line] selects one definition"`
	PathPrefix string `json:"path_prefix,omitempty" jsonschema:"Only callers below this folder or file"`
	paged
	shared
}

func findCallers() tool {
	return query(tool{
		name:  "find_callers",
		title: "Find callers",
		description: "Which functions call or use a symbol: one row a function with the first line and the numbers of the others. " +
			"A use outside functions names the variable or macro it stands in.",
		alwaysLoad: true,
		onError:    []string{"find_references", "summarize_references"},
	}, answerCallers)
}

func answerCallers(ctx context.Context, view *nav.View, in findCallersArgs) (*envelope, error) {
	found, err := view.Callers(ctx, nav.CallerQuery{Symbol: in.Symbol, PathPrefix: in.PathPrefix, Page: in.page()})
	var broad *nav.TooBroadError
	if errors.As(err, &broad) {
		return nil, fmt.Errorf("%w; narrow it down with path_prefix, or see summarize_references and find_references", err)
	}
	if err != nil {
		return nil, err
	}
	e := &envelope{
		Symbol: in.Symbol, Results: callers(found.Callers), Total: found.Total, Offset: in.Offset,
		Truncated: in.Offset+len(found.Callers) < found.Total,
		NextTools: []string{"get_symbol_body", "reachability"},
	}
	if found.Total == 0 {
		e.miss("caller", in.Symbol, filtered{PathPrefix: in.PathPrefix}, found.Suggestions)
		e.NextTools = []string{"find_references", "find_definition"}
	}
	if len(found.Selectors) > 1 && found.Total > 0 {
		e.Message = fmt.Sprintf("%d definitions share this name; select one: %s", len(found.Selectors), some(found.Selectors))
	}
	return e, nil
}

type callers []nav.Caller

func (c callers) count() int { return len(c) }

func (c callers) MarshalJSON() ([]byte, error) {
	type row struct {
		Caller  string `json:"caller"`
		Path    string `json:"path"`
		Line    int    `json:"line"`
		Sites   []int  `json:"sites"`
		Snippet string `json:"snippet"`
	}
	list := make([]row, len(c))
	for i, one := range c {
		list[i] = row{one.Name, one.Path, one.Sites[0], one.Sites, one.Snippet}
	}
	return marshal(list)
}

func (c callers) lines(*envelope) []string {
	out := make([]string, len(c))
	for i, one := range c {
		out[i] = fmt.Sprintf("%s  %s:%d: %s%s", one.Name, one.Path, one.Sites[0], one.Snippet, moreLines(one.Sites[1:]))
	}
	return out
}

// moreLines names the further lines of a row, the first few of them.
func moreLines(lines []int) string {
	const shown = 8
	if len(lines) == 0 {
		return ""
	}
	numbers := make([]string, 0, shown+1)
	for _, line := range lines[:min(shown, len(lines))] {
		numbers = append(numbers, strconv.Itoa(line))
	}
	if len(lines) > shown {
		numbers = append(numbers, "…")
	}
	return fmt.Sprintf("  (+%d more: %s)", len(lines), strings.Join(numbers, ", "))
}
