package server

import (
	"context"
	"fmt"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

type reachabilityArgs struct {
	From     string `json:"from_symbol" jsonschema:"Function to start from; name@path selects"`
	To       string `json:"to_symbol" jsonschema:"Function to reach; name@path selects"`
	MaxDepth int    `json:"max_depth,omitempty" jsonschema:"Longest chain, default 8"`
	shared
}

func reachability() tool {
	return query(tool{
		name:        "reachability",
		title:       "Reachability",
		description: "The shortest chain of static calls from one function to another, with file and line of every hop, or an honest no that says how far it looked.",
		onError:     []string{"find_callers", "find_callees"},
	}, answerReachability)
}

func answerReachability(ctx context.Context, view *nav.View, in reachabilityArgs) (*envelope, error) {
	chain, err := view.Reach(ctx, nav.ReachQuery{From: in.From, To: in.To, MaxDepth: in.MaxDepth})
	if err != nil {
		return nil, err
	}
	e := &envelope{
		Results: callChain{chain}, Total: len(chain.Hops), Message: chain.Reason,
		NextTools: []string{"get_symbol_body", "find_callers"},
	}
	if !chain.Found {
		e.NextTools = []string{"find_callers", "find_callees"}
	}
	return e, nil
}

type callChain struct{ nav.Chain }

func (c callChain) count() int { return len(c.Hops) }

func (c callChain) MarshalJSON() ([]byte, error) {
	type hop struct {
		Symbol string `json:"symbol"`
		Path   string `json:"path"`
		Line   int    `json:"line"`
		Calls  any    `json:"calls"`
		Sites  []int  `json:"call_sites"`
	}
	hops := make([]hop, len(c.Hops))
	for i, h := range c.Hops {
		sites := h.Sites
		if sites == nil {
			sites = []int{}
		}
		hops[i] = hop{h.Name, h.Path, h.Line, orNull(h.Calls), sites}
	}
	var w objectWriter
	w.field("from", c.From)
	w.field("to", c.To)
	w.field("path_found", c.Found)
	w.field("hops", hops)
	w.field("depth", c.Depth)
	w.field("nodes_explored", c.Explored)
	return w.bytes()
}

func (c callChain) lines(*envelope) []string {
	if !c.Found {
		return nil
	}
	out := []string{fmt.Sprintf("%s reaches %s in %s:", c.From, c.To, plural(c.Depth, "call"))}
	for _, h := range c.Hops {
		line := fmt.Sprintf("%s  %s:%d", h.Name, h.Path, h.Line)
		if h.Calls != "" {
			line += fmt.Sprintf("  calls %s at line %d%s", h.Calls, h.Sites[0], moreLines(h.Sites[1:]))
		}
		out = append(out, line)
	}
	return out
}
