package callgraph

import (
	"context"
	"slices"
)

// Chain is the answer of Path.
type Chain struct {
	Hops     []Hop  // from the first function to the last; empty when there is no chain
	Reason   Reason // why there is none; empty when there is one
	Explored int    // functions whose callers or callees were looked at

	// What may hide a chain, among the functions looked at: those that call through
	// pointers, those whose address is taken, and those whose callers are too many
	// to be followed.
	Indirect []Node
	Taken    []Node
	Broad    []*TooBroadError
	// DeadEnd tells, when the reason is Exhausted, which end it is where nothing
	// more could be followed: true when nothing else calls the target by name.
	DeadEnd bool
}

// Found reports whether there is a chain.
func (c *Chain) Found() bool { return len(c.Hops) > 0 }

// Hop is one function of a chain.
type Hop struct {
	Node
	Calls     string // the symbol of the next hop; empty in the last one
	CallSites []int  // where this function calls it
}

// Path finds a shortest chain of calls from one of the from nodes to one of the to
// nodes: several of them are the definitions of an ambiguous name. A node that is
// both is a chain of no calls.
//
// The search goes forward from the one end and backward from the other, a level at
// a time, on the side with the smaller frontier, until the two meet. A side's level
// is only taken over whole: that is what makes the first meeting a shortest chain.
// So when the callers of a node are too many, the backward side stays where it is
// and the forward side goes on alone.
func Path(ctx context.Context, edges Edges, from, to []Node, limits Limits) (*Chain, error) {
	s := &search{walk: walk{limits: limits.withDefaults(), seen: map[Node]bool{}}}
	s.forward = newSide(edges.Callees, from)
	s.backward = newSide(edges.Callers, to)
	ctx, stop := s.start(ctx)
	defer stop()

	c := &Chain{}
	meeting, found := s.firstMeeting(s.forward.frontier)
	for !found && c.Reason == "" {
		side := s.choose()
		switch {
		case s.forward.isDone() || s.backward.isDone():
			c.Reason, c.DeadEnd = Exhausted, s.backward.isDone()
		case side == nil:
			c.Reason = AllBroad
		case s.forward.depth+s.backward.depth >= s.limits.MaxDepth:
			c.Reason = AtDepth
		default:
			var err error
			meeting, found, err = s.expand(ctx, side)
			if c.Reason, err = s.reason(ctx, err); err != nil {
				return nil, err
			}
		}
	}
	if found {
		c.Reason = ""
		c.Hops = s.hops(meeting)
	}
	c.Explored, c.Broad = s.explored, s.broad
	c.Indirect, c.Taken = s.forward.indirect, s.backward.indirect
	return c, nil
}

type search struct {
	walk
	forward, backward *side
}

// side is one of the two searches: all nodes up to its depth are known.
type side struct {
	question func(context.Context, Node) ([]Edge, error)
	steps    map[Node]step
	frontier []Node // the nodes at depth
	depth    int
	frozen   bool   // one of the frontier is too broad
	indirect []Node // with edges whose other end nobody knows
}

// step is how a node was reached: from prev, nearer to the side's end.
type step struct {
	prev  Node
	sites []int
	end   bool // it is an end itself
}

func newSide(question func(context.Context, Node) ([]Edge, error), ends []Node) *side {
	s := &side{question: question, steps: map[Node]step{}}
	for _, n := range ends {
		if _, known := s.steps[n]; !known {
			s.steps[n] = step{end: true}
			s.frontier = append(s.frontier, n)
		}
	}
	slices.SortFunc(s.frontier, compareNodes)
	return s
}

func (s *side) isDone() bool { return len(s.frontier) == 0 }

// choose returns the side to expand, nil when neither can be. Backward goes first:
// a target that is only called through pointers is found out at once.
func (s *search) choose() *side {
	f, b := s.forward, s.backward
	switch {
	case f.frozen && b.frozen:
		return nil
	case b.frozen || !f.frozen && len(f.frontier) < len(b.frontier):
		return f
	}
	return b
}

// firstMeeting returns the first of the nodes that both sides know.
func (s *search) firstMeeting(nodes []Node) (Node, bool) {
	for _, n := range nodes {
		_, forward := s.forward.steps[n]
		_, backward := s.backward.steps[n]
		if forward && backward {
			return n, true
		}
	}
	return Node{}, false
}

// expand takes a side one level further, and returns the first node in which it
// meets the other.
func (s *search) expand(ctx context.Context, side *side) (meeting Node, found bool, err error) {
	refused := len(s.broad)
	answers, err := s.ask(ctx, side.question, side.frontier)
	var level []Node
	for i, edges := range answers {
		n := side.frontier[i]
		for _, e := range edges {
			if e.Indirect {
				side.indirect = append(side.indirect, n)
				continue
			}
			if _, known := side.steps[e.Node]; !known {
				side.steps[e.Node] = step{prev: n, sites: e.CallSites}
				level = append(level, e.Node)
			}
		}
	}
	// No shorter chain exists, or the sides would have met before: a meeting
	// counts even in a level that is not whole.
	if meeting, found = s.firstMeeting(level); found || err != nil {
		return meeting, found, err
	}
	if len(s.broad) > refused {
		for _, n := range level {
			delete(side.steps, n)
		}
		side.frozen = true
		return Node{}, false, nil
	}
	side.frontier = level
	side.depth++
	return Node{}, false, nil
}

// hops joins the two halves of a chain in the node where they meet.
func (s *search) hops(meeting Node) []Hop {
	hops := []Hop{{Node: meeting}}
	for n := meeting; ; {
		st := s.forward.steps[n]
		if st.end {
			break
		}
		hops = append(hops, Hop{Node: st.prev, Calls: n.Symbol, CallSites: st.sites})
		n = st.prev
	}
	slices.Reverse(hops)
	for n := meeting; ; {
		st := s.backward.steps[n]
		if st.end {
			return hops
		}
		last := &hops[len(hops)-1]
		last.Calls, last.CallSites = st.prev.Symbol, st.sites
		hops = append(hops, Hop{Node: st.prev})
		n = st.prev
	}
}
