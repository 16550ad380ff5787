package callgraph

import (
	"context"
	"slices"
)

// Reached is a function that Outward came to.
type Reached struct {
	Node
	Distance  int   // calls to the nearest start; 0 for a start
	Via       Node  // what it calls, one nearer to the start
	CallSites []int // where it calls Via
}

// Blast is the answer of Outward.
type Blast struct {
	Reached  []Reached // by distance, then by place
	Broad    []*TooBroadError
	Taken    []Node // functions whose address is taken, so that unknown ones may call them
	Explored int
	// Reason is AtDepth when callers further out were not looked for, Exhausted when
	// there are none, or the limit that ended the walk in the middle of a level.
	Reason Reason
}

// Outward finds the functions that call one of the start nodes, and their callers,
// up to the given number of calls away: 0 gives the start nodes alone. The callers
// of nodes that are too broad are left out. MaxDepth of the limits does not count.
func Outward(ctx context.Context, edges Edges, start []Node, depth int, limits Limits) (*Blast, error) {
	w := &walk{limits: limits.withDefaults(), seen: map[Node]bool{}}
	ctx, stop := w.start(ctx)
	defer stop()

	b := &Blast{}
	known := map[Node]bool{}
	frontier := newSide(nil, start).frontier
	for _, n := range frontier {
		known[n] = true
		b.Reached = append(b.Reached, Reached{Node: n})
	}
	for distance := 1; b.Reason == ""; distance++ {
		if len(frontier) == 0 {
			b.Reason = Exhausted
			break
		}
		if distance > depth {
			b.Reason = AtDepth
			break
		}
		answers, err := w.ask(ctx, edges.Callers, frontier)
		if b.Reason, err = w.reason(ctx, err); err != nil {
			return nil, err
		}
		frontier = b.callers(answers, frontier, known, distance)
	}
	b.Broad, b.Explored = w.broad, w.explored
	return b, nil
}

// callers adds the new nodes of one level, and returns them.
func (b *Blast) callers(answers [][]Edge, frontier []Node, known map[Node]bool, distance int) (level []Node) {
	first := len(b.Reached)
	for i, edges := range answers {
		for _, e := range edges {
			if e.Indirect {
				b.Taken = append(b.Taken, frontier[i])
			}
			if e.Indirect || known[e.Node] {
				continue
			}
			known[e.Node] = true
			b.Reached = append(b.Reached, Reached{e.Node, distance, frontier[i], e.CallSites})
			level = append(level, e.Node)
		}
	}
	slices.SortFunc(b.Reached[first:], func(x, y Reached) int { return compareNodes(x.Node, y.Node) })
	slices.SortFunc(level, compareNodes)
	return level
}
