package callgraph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// Node is one definition of a function. Two nodes are the same when all fields
// are.
type Node struct {
	Symbol string
	Path   string
	Line   int
}

func (n Node) String() string { return fmt.Sprintf("%s (%s:%d)", n.Symbol, n.Path, n.Line) }

func compareNodes(a, b Node) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Symbol, b.Symbol))
}

// Edge leads to the function at its other end: the caller when callers were asked
// for, the callee when callees were.
type Edge struct {
	Node
	CallSites []int // lines of the calls, in the caller's file
	// Indirect is a call whose other end nobody knows; Node is empty. Among callees
	// it is a call through a pointer, among callers it says that the function's
	// address is taken, so that others may call it through a pointer.
	Indirect bool
}

// Edges knows who calls whom. Its methods are called by several goroutines at once
// when Limits.Workers says so. They may return edges in any order, and several to
// the same node.
type Edges interface {
	// Callers may refuse with a *TooBroadError.
	Callers(ctx context.Context, n Node) ([]Edge, error)
	Callees(ctx context.Context, n Node) ([]Edge, error)
}

// TooBroadError says that a function is called from so many places that following
// them makes no sense. A walk goes around the node and reports it.
type TooBroadError struct {
	Node  Node
	Count int // of what makes it broad
}

func (e *TooBroadError) Error() string {
	return fmt.Sprintf("%v is used in too many places (%d)", e.Node, e.Count)
}

// Limits of a walk.
type Limits struct {
	MaxDepth int           // calls in a chain; 0 means 8
	Budget   int           // functions whose callers or callees are asked for; 0 means 10,000
	Time     time.Duration // 0 means no limit but the context's
	Workers  int           // questions to Edges at a time; 0 means 1
}

func (l Limits) withDefaults() Limits {
	l.MaxDepth = cmp.Or(l.MaxDepth, 8)
	l.Budget = max(cmp.Or(l.Budget, 10_000), 0)
	l.Workers = max(l.Workers, 1)
	return l
}

// Reason is why a walk did not go on.
type Reason string

const (
	Exhausted Reason = "exhausted" // there was nothing more to follow
	AtDepth   Reason = "depth"     // longer chains were not looked at
	AtBudget  Reason = "budget"
	OutOfTime Reason = "time"
	AllBroad  Reason = "broad" // both ends are closed in by functions that are too broad
)

// walk is what both kinds of walk share: asking under limits.
type walk struct {
	limits   Limits
	explored int
	broad    []*TooBroadError
	seen     map[Node]bool // nodes reported in broad
}

var (
	errBudget = errors.New("budget spent")
	errTime   = errors.New("time is up")
)

// start applies the time limit.
func (w *walk) start(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.limits.Time == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, w.limits.Time, errTime)
}

// reason turns the error of a walk into why it stopped, if it was a limit.
func (w *walk) reason(ctx context.Context, err error) (Reason, error) {
	switch {
	case errors.Is(err, errBudget):
		return AtBudget, nil
	case err != nil && errors.Is(context.Cause(ctx), errTime):
		return OutOfTime, nil
	}
	return "", err
}

// ask gets the edges of all the nodes, in their order, each list sorted and without
// doubles. A node that is too broad has none and is reported.
func (w *walk) ask(ctx context.Context, question func(context.Context, Node) ([]Edge, error), nodes []Node) ([][]Edge, error) {
	spent := len(nodes) > w.limits.Budget-w.explored
	if spent {
		nodes = nodes[:w.limits.Budget-w.explored]
	}
	w.explored += len(nodes)
	answers, refusals := make([][]Edge, len(nodes)), make([]*TooBroadError, len(nodes))
	group, asking := errgroup.WithContext(ctx)
	group.SetLimit(w.limits.Workers)
	for i, n := range nodes {
		group.Go(func() error {
			if asking.Err() != nil {
				return asking.Err()
			}
			edges, err := question(asking, n)
			if errors.As(err, &refusals[i]) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("calls of %v: %w", n, err)
			}
			answers[i] = tidy(edges)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i, r := range refusals {
		if r != nil && !w.seen[nodes[i]] {
			w.seen[nodes[i]] = true
			w.broad = append(w.broad, r)
		}
	}
	if spent {
		return answers, errBudget
	}
	return answers, nil
}

// tidy sorts edges and joins those that lead to the same node.
func tidy(edges []Edge) []Edge {
	edges = slices.Clone(edges)
	slices.SortStableFunc(edges, func(a, b Edge) int { return compareNodes(a.Node, b.Node) })
	joined := edges[:0]
	for _, e := range edges {
		if n := len(joined); n > 0 && joined[n-1].Node == e.Node && joined[n-1].Indirect == e.Indirect {
			joined[n-1].CallSites = slices.Concat(joined[n-1].CallSites, e.CallSites)
		} else {
			joined = append(joined, e)
		}
	}
	for i := range joined {
		sites := slices.Clone(joined[i].CallSites)
		slices.Sort(sites)
		joined[i].CallSites = slices.Compact(sites)
	}
	return joined
}
