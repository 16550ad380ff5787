package server

import (
	"context"
	"fmt"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

type getSymbolBodyArgs struct {
	Symbol         string `json:"symbol" jsonschema:"Exact name; Scope::name and name@path[:line] select"`
	MaxDefinitions int    `json:"max_definitions,omitempty" jsonschema:"Definitions to show, default 3"`
	filtered
	shared
}

func getSymbolBody() tool {
	return query(tool{
		name:  "get_symbol_body",
		title: "Get symbol body",
		description: "The source of a symbol's definition alone: function, struct, enum, macro, variable. " +
			"Use it instead of opening the file. At most 300 lines a body.",
		alwaysLoad: true,
		onError:    []string{"find_definition", "find_references"},
	}, answerBody)
}

func answerBody(ctx context.Context, view *nav.View, in getSymbolBodyArgs) (*envelope, error) {
	found, err := view.Bodies(ctx, nav.BodyQuery{Symbol: in.Symbol, MaxDefinitions: in.MaxDefinitions, Filter: in.filter()})
	if err != nil {
		return nil, err
	}
	e := &envelope{
		Symbol: in.Symbol, Results: bodies(found.Bodies), Total: found.Total,
		ResolvedVia: found.Via,
		NextTools:   []string{"find_callers", "find_callees"},
		Extra:       []field{{"omitted_definitions", found.Total - len(found.Bodies)}},
	}
	e.filteredBy(in.filtered, found.Filtered)
	if found.Total == 0 {
		e.miss("definition", in.Symbol, in.filtered, found.Suggestions)
		e.NextTools = []string{"find_references"}
	}
	return e, nil
}

type bodies []nav.Body

func (b bodies) count() int { return len(b) }

func (b bodies) MarshalJSON() ([]byte, error) {
	type body struct {
		Path string `json:"path"`
		Line int    `json:"line"`
		End  int    `json:"end_line"`
		Body string `json:"body"`
	}
	list := make([]body, len(b))
	for i, one := range b {
		list[i] = body{one.Path, one.First, one.LastOfAll, one.Text}
	}
	return marshal(list)
}

func (b bodies) lines(e *envelope) []string {
	var out []string
	for _, one := range b {
		via := ""
		if e.ResolvedVia != "" {
			via = " (resolved via " + e.ResolvedVia + ")"
		}
		out = append(out, fmt.Sprintf("%s:%d-%d%s%s", one.Path, one.First, one.LastOfAll, tags(one.Symbol), via))
		out = append(out, strings.TrimSuffix(one.Text, "\n"))
		if rest := one.LastOfAll - one.Last; rest > 0 {
			out = append(out, fmt.Sprintf("[%d more lines, up to line %d]", rest, one.LastOfAll))
		}
	}
	if omitted := e.Total - len(b); omitted > 0 {
		out = append(out, fmt.Sprintf("[%s more: raise max_definitions, or select one with %s@path]", plural(omitted, "definition"), e.Symbol))
	}
	return out
}
