package nav

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/callgraph"
)

const (
	// reachBudget is how many functions a search for a call chain looks at.
	reachBudget = 5000
	// reachTime is how long it looks, well below what a host waits.
	reachTime = 20 * time.Second
)

// ReachQuery asks for a chain of calls between two functions.
type ReachQuery struct {
	From, To string // with selectors, those definitions only
	MaxDepth int
}

// Hop is one function of a chain.
type Hop struct {
	Name, Path string
	Line       int
	Calls      string // the next function; "" in the last hop
	Sites      []int  // the lines of those calls
}

// Chain is the answer: the shortest chain, or why there is none.
type Chain struct {
	From, To string
	Found    bool
	Hops     []Hop
	Depth    int // calls in the chain, or how many were allowed
	Explored int
	// Reason says why there is no chain, and what may hide one.
	Reason string
}

// Reach finds the shortest chain of static calls.
func (v *View) Reach(ctx context.Context, q ReachQuery) (Chain, error) {
	a := Chain{From: q.From, To: q.To, Depth: q.MaxDepth}
	from, err := v.ends(ctx, q.From)
	if err != nil {
		return a, err
	}
	to, err := v.ends(ctx, q.To)
	if err != nil {
		return a, err
	}
	chain, err := callgraph.Path(ctx, edges{v: v}, nodesOf(from), nodesOf(to), callgraph.Limits{
		MaxDepth: q.MaxDepth, Budget: reachBudget, Time: reachTime, Workers: runtime.GOMAXPROCS(0),
	})
	if err != nil {
		return a, err
	}
	a.Explored, a.Found = chain.Explored, chain.Found()
	for _, h := range chain.Hops {
		a.Hops = append(a.Hops, Hop{h.Symbol, h.Path, h.Line, h.Calls, h.CallSites})
	}
	if a.Found {
		a.Depth = len(a.Hops) - 1
		return a, nil
	}
	a.Reason = noChain(&a, chain)
	return a, nil
}

// ends are the functions that an end of a chain may be.
func (v *View) ends(ctx context.Context, symbol string) ([]Symbol, error) {
	sites, _, err := v.sites(ctx, symbol, false)
	if err != nil {
		return nil, err
	}
	callable := slices.DeleteFunc(slices.Clone(sites), func(s Symbol) bool { return !s.callable() })
	if len(callable) > 0 {
		return callable, nil
	}
	if len(sites) > 0 {
		return nil, &SymbolError{symbol, fmt.Sprintf("is a %s, not a function: no chain of calls begins or ends there", sites[0].Kind)}
	}
	names, err := v.suggest(symbol)
	if err != nil {
		return nil, err
	}
	hint := ""
	if len(names) > 0 {
		hint = "; similar: " + strings.Join(names, ", ")
	}
	return nil, &SymbolError{symbol, "is not defined in this tree" + hint}
}

// noChain says in words why there is no chain.
func noChain(a *Chain, chain *callgraph.Chain) string {
	reason := map[callgraph.Reason]string{
		callgraph.Exhausted: "every static call was followed",
		callgraph.AtDepth:   fmt.Sprintf("none of at most %d calls; longer ones were not looked for", a.Depth),
		callgraph.AtBudget:  fmt.Sprintf("the search stopped after %d functions", reachBudget),
		callgraph.OutOfTime: fmt.Sprintf("the search stopped after %s", reachTime),
		callgraph.AllBroad:  "both ends are used too widely to follow",
	}[chain.Reason]
	text := fmt.Sprintf("no static call chain from %s to %s: %s (%d functions looked at)", a.From, a.To, reason, a.Explored)
	if len(chain.Taken) > 0 {
		text += "; the address is taken of " + someNodes(chain.Taken) + ", so calls through pointers may lead there"
	} else if len(chain.Indirect) > 0 {
		text += "; calls through pointers are not followed, " + someNodes(chain.Indirect) + " has some"
	}
	for i, b := range chain.Broad {
		if i == 3 {
			break
		}
		text += fmt.Sprintf("; %s is used in %d files and was not followed", b.Node.Symbol, b.Count)
	}
	return text
}

// someNodes names the first few functions of a list.
func someNodes(nodes []callgraph.Node) string {
	const shown = 3
	var names []string
	for _, n := range nodes {
		if len(names) == shown {
			names = append(names, "…")
			break
		}
		if !slices.Contains(names, n.Symbol) {
			names = append(names, n.Symbol)
		}
	}
	return strings.Join(names, ", ")
}
