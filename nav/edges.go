package nav

import (
	"context"
	"errors"
	"slices"

	"github.com/gtagsmcp/gtagsmcp/nav/callgraph"
	"github.com/gtagsmcp/gtagsmcp/nav/csource"
)

// edges answers the questions of a walk over the call graph from the index.
type edges struct {
	v *View
	// uses makes every use of a symbol an edge, not only calls: what a change
	// affects, rather than what can run.
	uses bool
}

func nodeOf(s *Symbol) callgraph.Node {
	return callgraph.Node{Symbol: s.Name, Path: s.Path, Line: s.Line}
}

func nodesOf(sites []Symbol) []callgraph.Node {
	nodes := make([]callgraph.Node, len(sites))
	for i := range sites {
		nodes[i] = nodeOf(&sites[i])
	}
	return nodes
}

// Callers finds who calls one definition.
func (e edges) Callers(ctx context.Context, n callgraph.Node) ([]callgraph.Edge, error) {
	found, err := e.v.literal(ctx, n.Symbol)
	if err != nil {
		return nil, err
	}
	target := slices.DeleteFunc(slices.Clone(found.sites), func(s Symbol) bool { return s.Path != n.Path || s.Line != n.Line })
	if len(target) == 0 {
		target = []Symbol{{Name: n.Symbol, Path: n.Path, Line: n.Line}} // removed since: anybody may have meant it
	}
	callers, err := e.v.callersOf(ctx, n.Symbol, meaningOf(target), func(path string) bool {
		return reaches(path, target, found.sites)
	})
	var broad *TooBroadError
	if errors.As(err, &broad) {
		return nil, &callgraph.TooBroadError{Node: n, Count: broad.Files}
	}
	if err != nil {
		return nil, err
	}
	var out []callgraph.Edge
	for _, c := range callers {
		switch {
		case c.Line == 0, !e.uses && (!c.holder.callable() || !c.called):
			out = append(out, callgraph.Edge{Indirect: true, CallSites: c.Sites})
		default:
			out = append(out, callgraph.Edge{Node: nodeOf(&c.holder), CallSites: c.Sites})
		}
	}
	return out, nil
}

// Callees finds what one definition calls.
func (e edges) Callees(ctx context.Context, n callgraph.Node) ([]callgraph.Edge, error) {
	found, err := e.v.literal(ctx, n.Symbol)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(found.sites, func(s Symbol) bool { return s.Path == n.Path && s.Line == n.Line })
	if i < 0 {
		return nil, nil
	}
	calls, err := e.v.callsOf(ctx, found.sites[i])
	if err != nil {
		return nil, err
	}
	var out []callgraph.Edge
	for _, c := range calls {
		switch {
		case c.indirect:
			out = append(out, callgraph.Edge{Indirect: true, CallSites: c.lines})
		case c.target != nil:
			out = append(out, callgraph.Edge{Node: nodeOf(c.target), CallSites: c.lines})
		}
	}
	return out, nil
}

// callUse reports whether an occurrence calls, rather than mentions.
func callUse(use csource.Use) bool {
	return use == csource.Called || use == csource.CalledMember || use == csource.Invoked
}
