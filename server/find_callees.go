package server

import (
	"context"
	"fmt"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

type findCalleesArgs struct {
	Symbol     string `json:"symbol" jsonschema:"Exact name; name@path[:line] selects one definition"`
	PathPrefix string `json:"path_prefix,omitempty" jsonschema:"Only a definition below this folder or file"`
	shared
}

func findCallees() tool {
	return query(tool{
		name:        "find_callees",
		title:       "Find callees",
		description: "What a function calls: names with the place of their definition, names from outside the tree, and calls through pointers apart.",
		onError:     []string{"find_definition", "get_symbol_body"},
	}, answerCallees)
}

func answerCallees(ctx context.Context, view *nav.View, in findCalleesArgs) (*envelope, error) {
	found, err := view.Callees(ctx, nav.CalleeQuery{Symbol: in.Symbol, PathPrefix: in.PathPrefix})
	if err != nil {
		return nil, err
	}
	e := &envelope{
		Symbol: in.Symbol, Results: callees{found}, Total: len(found.InTree) + len(found.External) + len(found.Indirect),
		NextTools: []string{"get_symbol_body", "find_callers"},
	}
	switch {
	case found.Definition == nil:
		e.miss("definition", in.Symbol, filtered{PathPrefix: in.PathPrefix}, found.Suggestions)
		e.NextTools = []string{"find_references"}
		return e, nil
	case found.NotCallable:
		e.Message = fmt.Sprintf("%s is a %s, not a function: it calls nothing", in.Symbol, found.Definition.Kind)
		e.NextTools = []string{"get_symbol_body", "find_references"}
	case e.Total == 0:
		e.Message = in.Symbol + " calls nothing"
	}
	e.Extra = []field{{"definition", placeOf(found.Definition)}}
	if len(found.Selectors) > 1 {
		e.Warning = fmt.Sprintf("%d functions share this name, this is the first; select another: %s",
			len(found.Selectors), some(found.Selectors[1:]))
	}
	return e, nil
}

// placeJSON is where something is defined.
type placeJSON struct {
	Path string `json:"path"`
	Line int    `json:"line"`
}

func placeOf(s *nav.Symbol) placeJSON { return placeJSON{s.Path, s.Line} }

type callees struct{ nav.Callees }

func (c callees) count() int { return len(c.InTree) + len(c.External) + len(c.Indirect) }

func (c callees) MarshalJSON() ([]byte, error) {
	type callee struct {
		Symbol string `json:"symbol"`
		Path   string `json:"path"`
		Line   int    `json:"line"`
	}
	inTree := make([]callee, len(c.InTree))
	for i, s := range c.InTree {
		inTree[i] = callee{s.Name, s.Path, s.Line}
	}
	var w objectWriter
	w.field("in_tree", inTree)
	w.field("external", orEmpty(c.External))
	w.field("indirect", orEmpty(c.Indirect))
	return w.bytes()
}

func orEmpty(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

func (c callees) lines(*envelope) []string {
	if c.Definition == nil {
		return nil
	}
	out := []string{fmt.Sprintf("%s:%d: %s", c.Definition.Path, c.Definition.Line, c.Definition.Snippet)}
	for _, s := range c.InTree {
		out = append(out, fmt.Sprintf(" %s  %s:%d", s.Name, s.Path, s.Line))
	}
	if len(c.External) > 0 {
		out = append(out, "external: "+strings.Join(c.External, ", "))
	}
	if len(c.Indirect) > 0 {
		out = append(out, "indirect (through a pointer): "+strings.Join(c.Indirect, ", "))
	}
	return out
}
