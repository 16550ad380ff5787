package callgraph

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// graph is a small Edges. Nodes are named by their symbol and, when there are
// namesakes, their file.
type graph struct {
	callees  map[Node][]Edge
	callers  map[Node][]Edge
	broad    map[Node]int
	broken   map[Node]error
	slow     time.Duration
	shuffled *rand.Rand
}

func node(s string) Node {
	symbol, path, found := strings.Cut(s, "@")
	if !found {
		path = "f.c"
	}
	return Node{symbol, path, 1 + int(symbol[0])}
}

func nodes(s string) (all []Node) {
	for _, f := range strings.Fields(s) {
		all = append(all, node(f))
	}
	return all
}

// parse reads "a>b a>c b>*  *>c": calls, calls through pointers, and functions
// whose address is taken. The call sites are numbered from 1.
func parse(calls string) *graph {
	g := &graph{callees: map[Node][]Edge{}, callers: map[Node][]Edge{}, broad: map[Node]int{}, broken: map[Node]error{}}
	for i, c := range strings.Fields(calls) {
		from, to, _ := strings.Cut(c, ">")
		site := []int{i + 1}
		switch {
		case to == "*":
			g.callees[node(from)] = append(g.callees[node(from)], Edge{Indirect: true, CallSites: site})
		case from == "*":
			g.callers[node(to)] = append(g.callers[node(to)], Edge{Indirect: true, CallSites: site})
		default:
			g.callees[node(from)] = append(g.callees[node(from)], Edge{Node: node(to), CallSites: site})
			g.callers[node(to)] = append(g.callers[node(to)], Edge{Node: node(from), CallSites: site})
		}
	}
	return g
}

func (g *graph) answer(edges []Edge) []Edge {
	edges = slices.Clone(edges)
	if g.shuffled != nil {
		g.shuffled.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
	}
	return edges
}

func (g *graph) Callees(ctx context.Context, n Node) ([]Edge, error) {
	if g.slow > 0 {
		select {
		case <-time.After(g.slow):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return g.answer(g.callees[n]), g.broken[n]
}

func (g *graph) Callers(ctx context.Context, n Node) ([]Edge, error) {
	if count := g.broad[n]; count > 0 {
		return nil, fmt.Errorf("refused: %w", &TooBroadError{n, count})
	}
	return g.answer(g.callers[n]), g.broken[n]
}

// show writes a chain as "a:1 b:2,3 c".
func show(c *Chain) string {
	if !c.Found() {
		return "no: " + string(c.Reason)
	}
	var out []string
	for i, h := range c.Hops {
		s := h.Symbol
		if i+1 < len(c.Hops) {
			s += ":" + strings.ReplaceAll(strings.Trim(fmt.Sprint(h.CallSites), "[]"), " ", ",")
			if h.Calls != c.Hops[i+1].Symbol {
				s += "!" + h.Calls
			}
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func symbols(ns []Node) string {
	var out []string
	for _, n := range ns {
		out = append(out, n.Symbol)
	}
	return strings.Join(out, " ")
}

func TestPath(t *testing.T) {
	for _, c := range []struct {
		what, calls, from, to string
		limits                Limits
		broad                 string
		want                  string
	}{
		{what: "one call", calls: "a>b", from: "a", to: "b", want: "a:1 b"},
		{what: "itself", calls: "a>a", from: "a", to: "a", want: "a"},
		{what: "several sites", calls: "a>b a>b b>c", from: "a", to: "c", want: "a:1,2 b:3 c"},
		{what: "the shorter of two", calls: "a>b b>c c>d a>x x>d", from: "a", to: "d", want: "a:4 x:5 d"},
		{what: "wrong direction", calls: "a>b", from: "b", to: "a", want: "no: exhausted"},
		{what: "circle", calls: "a>b b>a b>c", from: "a", to: "c", want: "a:1 b:3 c"},
		{what: "only through a pointer", calls: "a>* *>d", from: "a", to: "d", want: "no: exhausted"},
		{what: "a static is not its namesake", calls: "main>probe@b.c probe@a.c>target", from: "main", to: "target", want: "no: exhausted"},
		{what: "nor the other way", calls: "main>probe@a.c probe@a.c>target", from: "main", to: "target", want: "main:1 probe:2 target"},
		{what: "any of the definitions", calls: "x@b.c>y y>z", from: "x@a.c x@b.c", to: "z q", want: "x:1 y:2 z"},
		{what: "as deep as allowed", calls: "a>b b>c c>d", from: "a", to: "d", limits: Limits{MaxDepth: 3}, want: "a:1 b:2 c:3 d"},
		{what: "too deep", calls: "a>b b>c c>d", from: "a", to: "d", limits: Limits{MaxDepth: 2}, want: "no: depth"},
		{what: "nothing there, at the depth", calls: "a>b b>c", from: "a", to: "d", limits: Limits{MaxDepth: 2}, want: "no: exhausted"},
		{what: "budget", calls: "a>b b>c c>d d>e", from: "a", to: "e", limits: Limits{Budget: 2}, want: "no: budget"},
		{what: "budget just enough", calls: "a>b b>c", from: "a", to: "c", limits: Limits{Budget: 2}, want: "a:1 b:2 c"},
		{what: "no budget", calls: "a>b", from: "a", to: "b", limits: Limits{Budget: -1}, want: "no: budget"},
		{what: "around a broad target", calls: "a>b b>k x>k y>k", from: "a", to: "k", broad: "k", want: "a:1 b:2 k"},
		{what: "around a broad one between", calls: "a>b b>k k>t z>k", from: "a", to: "t", broad: "k", want: "a:1 b:2 k:3 t"},
		{what: "broad, and no chain", calls: "a>b z>k", from: "a", to: "k", broad: "k", want: "no: exhausted"},
		{what: "no nodes", calls: "a>b", from: "", to: "b", want: "no: exhausted"},
	} {
		g := parse(c.calls)
		for _, n := range nodes(c.broad) {
			g.broad[n] = 1000
		}
		chain, err := Path(t.Context(), g, nodes(c.from), nodes(c.to), c.limits)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		if got := show(chain); got != c.want {
			t.Errorf("%s: got %s, want %s", c.what, got, c.want)
		}
		if got, want := len(chain.Broad), len(nodes(c.broad)); got != want {
			t.Errorf("%s: %d broad nodes reported, want %d", c.what, got, want)
		}
	}
}

func TestHonestNo(t *testing.T) {
	for _, c := range []struct {
		what, calls, from, to string
		indirect, taken       string
		deadEnd               bool
	}{
		{"the target is called through pointers alone", "vfs_read>* *>ext4_read", "vfs_read", "ext4_read", "", "ext4_read", true},
		{"so is its caller", "vfs_read>* do_read>ext4_read *>do_read", "vfs_read", "ext4_read", "", "do_read", true},
		{"the start calls through pointers alone", "vfs_read>* p>ext4_read q>ext4_read r>p", "vfs_read", "ext4_read", "vfs_read", "", false},
	} {
		chain, err := Path(t.Context(), parse(c.calls), nodes(c.from), nodes(c.to), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if chain.Found() || chain.Reason != Exhausted || chain.DeadEnd != c.deadEnd {
			t.Errorf("%s: got %s, dead end %v", c.what, show(chain), chain.DeadEnd)
		}
		if symbols(chain.Indirect) != c.indirect || symbols(chain.Taken) != c.taken {
			t.Errorf("%s: got calls through pointers in %q, addresses taken of %q", c.what, symbols(chain.Indirect), symbols(chain.Taken))
		}
	}
}

func TestErrorsNameTheNode(t *testing.T) {
	g := parse("a>b b>c c>d")
	cause := errors.New("file is gone")
	g.broken[node("b")] = cause
	if _, err := Path(t.Context(), g, nodes("a"), nodes("d"), Limits{}); !errors.Is(err, cause) || !strings.Contains(err.Error(), "b (f.c:99)") {
		t.Errorf("Path: got %v", err)
	}
	if _, err := Outward(t.Context(), g, nodes("b"), 1, Limits{}); !errors.Is(err, cause) {
		t.Errorf("Outward: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Path(ctx, g, nodes("b"), nodes("d"), Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

func TestTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := parse("a>b b>c c>d d>e")
		g.slow = time.Minute
		for _, n := range nodes("e") {
			g.broad[n] = 1 // so that the slow side has to go
		}
		for _, c := range []struct {
			limit time.Duration
			want  string
		}{{90 * time.Second, "no: time"}, {time.Hour, "a:1 b:2 c:3 d:4 e"}, {0, "a:1 b:2 c:3 d:4 e"}} {
			chain, err := Path(t.Context(), g, nodes("a"), nodes("e"), Limits{Time: c.limit})
			if err != nil {
				t.Fatal(err)
			}
			if got := show(chain); got != c.want {
				t.Errorf("limit %v: got %s, want %s", c.limit, got, c.want)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := Path(ctx, g, nodes("a"), nodes("e"), Limits{Time: time.Hour}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the caller's own deadline: got %v", err)
		}
	})
}

func TestOutward(t *testing.T) {
	for _, c := range []struct {
		what, calls, start string
		depth              int
		limits             Limits
		broad              string
		want               string
	}{
		{what: "callers by distance", calls: "b>a c>b d>b d>a", start: "a", depth: 3, want: "a0 b1>a d1>a c2>b: exhausted"},
		{what: "start alone", calls: "b>a", start: "a", depth: 0, want: "a0: depth"},
		{what: "more further out", calls: "b>a c>b", start: "a", depth: 1, want: "a0 b1>a: depth"},
		{what: "circle", calls: "b>a a>b", start: "a", depth: 5, want: "a0 b1>a: exhausted"},
		{what: "two starts", calls: "c>a c>b d>b", start: "b a", depth: 1, want: "a0 b0 c1>a d1>b: depth"},
		{what: "statics of two files", calls: "m>probe@a.c n>probe@b.c o>probe@c.c", start: "probe@a.c probe@b.c", depth: 1, want: "probe0 probe0 m1>probe n1>probe: depth"},
		{what: "broad", calls: "b>a c>b k>a d>k", start: "a", depth: 3, broad: "k", want: "a0 b1>a k1>a c2>b: exhausted"},
		{what: "budget", calls: "b>a c>b d>c", start: "a", depth: 3, limits: Limits{Budget: 2}, want: "a0 b1>a c2>b: budget"},
		{what: "nothing", calls: "a>b", start: "", depth: 3, want: ": exhausted"},
	} {
		g := parse(c.calls)
		for _, n := range nodes(c.broad) {
			g.broad[n] = 1000
		}
		b, err := Outward(t.Context(), g, nodes(c.start), c.depth, c.limits)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		var out []string
		for _, r := range b.Reached {
			s := fmt.Sprint(r.Symbol, r.Distance)
			if r.Distance > 0 {
				s += ">" + r.Via.Symbol
			}
			out = append(out, s)
		}
		if got := strings.Join(out, " ") + ": " + string(b.Reason); got != c.want {
			t.Errorf("%s: got %s, want %s", c.what, got, c.want)
		}
		if got, want := len(b.Broad), len(nodes(c.broad)); got != want {
			t.Errorf("%s: %d broad nodes reported, want %d", c.what, got, want)
		}
	}
}

// random returns a graph of n nodes with about as many calls a node.
func random(r *rand.Rand, n, calls int) (*graph, []Node) {
	var text strings.Builder
	var all []Node
	name := func(i int) string { return fmt.Sprintf("%c%d", 'a'+i%26, i) }
	for i := range n {
		all = append(all, node(name(i)))
		for range calls {
			if r.IntN(3) > 0 {
				fmt.Fprintf(&text, "%s>%s ", name(i), name(r.IntN(n)))
			}
		}
	}
	g := parse(text.String())
	g.shuffled = r
	return g, all
}

// distances is the slow twin: plain breadth-first search over one map.
func distances(edges map[Node][]Edge, start []Node) map[Node]int {
	dist := map[Node]int{}
	queue := slices.Clone(start)
	for _, n := range start {
		dist[n] = 0
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, e := range edges[n] {
			if _, known := dist[e.Node]; !known && !e.Indirect {
				dist[e.Node] = dist[n] + 1
				queue = append(queue, e.Node)
			}
		}
	}
	return dist
}

// checkWalks compares both walks over a random graph with the slow twin.
func checkWalks(t *testing.T, r *rand.Rand) {
	g, all := random(r, 2+r.IntN(60), 1+r.IntN(3))
	for range r.IntN(4) {
		g.broad[all[r.IntN(len(all))]] = 1
	}
	from, to := all[r.IntN(len(all))], all[r.IntN(len(all))]
	limits := Limits{MaxDepth: 1 + r.IntN(9), Workers: 1 + r.IntN(3)}
	if limits.Workers > 1 {
		g.shuffled = nil // rand.Rand is for one goroutine
	}
	chain, err := Path(t.Context(), g, []Node{from}, []Node{to}, limits)
	if err != nil {
		t.Fatal(err)
	}
	dist, reachable := distances(g.callees, []Node{from})[to]
	switch {
	case reachable && dist <= limits.MaxDepth && !chain.Found():
		t.Fatalf("no chain from %v to %v (%s), there is one of %d calls", from, to, chain.Reason, dist)
	case chain.Found() && (!reachable || len(chain.Hops)-1 != dist):
		t.Fatalf("a chain of %d calls, want %d (reachable %v)", len(chain.Hops)-1, dist, reachable)
	case chain.Found():
		checkChain(t, g, chain, from, to)
	case !reachable && chain.Reason != Exhausted && chain.Reason != AtDepth:
		t.Fatalf("reason %s", chain.Reason)
	case reachable && chain.Reason != AtDepth:
		t.Fatalf("reason %s for a chain that is too long (%d > %d)", chain.Reason, dist, limits.MaxDepth)
	}
	again, err := Path(t.Context(), g, []Node{from}, []Node{to}, limits)
	if err != nil || !reflect.DeepEqual(again, chain) {
		t.Fatalf("the second time: %v, %v; the first time: %v", again, err, chain)
	}
	checkOutward(t, r, g, all)
}

func checkChain(t *testing.T, g *graph, chain *Chain, from, to Node) {
	t.Helper()
	if chain.Hops[0].Node != from || chain.Hops[len(chain.Hops)-1].Node != to {
		t.Fatalf("the chain goes from %v to %v", chain.Hops[0].Node, chain.Hops[len(chain.Hops)-1].Node)
	}
	for i, h := range chain.Hops[:len(chain.Hops)-1] {
		next := chain.Hops[i+1].Node
		var sites []int
		for _, e := range g.callees[h.Node] {
			if e.Node == next {
				sites = append(sites, e.CallSites...)
			}
		}
		slices.Sort(sites)
		if h.Calls != next.Symbol || !slices.Equal(h.CallSites, sites) || len(sites) == 0 {
			t.Fatalf("hop %+v to %v, want the call sites %v", h, next, sites)
		}
	}
}

func checkOutward(t *testing.T, r *rand.Rand, g *graph, all []Node) {
	t.Helper()
	start, depth := []Node{all[r.IntN(len(all))], all[r.IntN(len(all))]}, r.IntN(5)
	b, err := Outward(t.Context(), g, start, depth, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	open := map[Node][]Edge{}
	for n, edges := range g.callers {
		if g.broad[n] == 0 {
			open[n] = edges
		}
	}
	want := distances(open, start)
	for n, d := range want {
		if d > depth {
			delete(want, n)
		}
	}
	last := Reached{}
	for _, reached := range b.Reached {
		if d, in := want[reached.Node]; !in || d != reached.Distance {
			t.Fatalf("%v at distance %d, want %d (reached at all: %v)", reached.Node, reached.Distance, d, in)
		}
		if reached.Distance < last.Distance || reached.Distance == last.Distance && last.Symbol != "" && compareNodes(last.Node, reached.Node) >= 0 {
			t.Fatalf("%v after %v", reached, last)
		}
		if reached.Distance > 0 && want[reached.Via] != reached.Distance-1 {
			t.Fatalf("%v by way of %v", reached.Node, reached.Via)
		}
		last = reached
	}
	if len(b.Reached) != len(want) {
		t.Fatalf("%d functions reached, want %d", len(b.Reached), len(want))
	}
}

func TestAgainstSlowTwin(t *testing.T) {
	for seed := range uint64(1500) {
		checkWalks(t, rand.New(rand.NewPCG(seed, 7)))
	}
}

func FuzzWalks(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) { checkWalks(t, rand.New(rand.NewPCG(a, b))) })
}

func BenchmarkPath(b *testing.B) {
	g, all := random(rand.New(rand.NewPCG(1, 1)), 20_000, 6)
	g.shuffled = nil
	for b.Loop() {
		if _, err := Path(b.Context(), g, all[:1], all[len(all)-1:], Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
