package nav

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/callgraph"
	"github.com/gtagsmcp/gtagsmcp/nav/index"
)

const (
	blastBudget = 5000
	blastTime   = 20 * time.Second
)

// BlastQuery asks what a change affects.
type BlastQuery struct {
	GitRef string // the working tree is compared with it; "" means HEAD
	Depth  int    // calls to follow outward
	Page
}

// Reached is something that a change touches, or that uses what it touches.
type Reached struct {
	Name, Path string
	Line       int
	Distance   int    // uses to the nearest change; 0 for the change itself
	Via        string // what it uses, one nearer to the change
	Sites      []int  // the lines of those uses
	Removed    bool   // the change removed it; Line is in the old file
}

// Blast is the answer, nearest first.
type Blast struct {
	Reached          []Reached
	Total            int
	GitRef           string
	ChangedFiles     int
	ChangedFunctions int
	SkippedBroad     []string // used too widely to follow
}

// Blast finds the functions, variables, types and macros whose own lines a diff
// touches, and what uses them.
func (v *View) Blast(ctx context.Context, q BlastQuery) (Blast, error) {
	a := Blast{GitRef: cmp.Or(q.GitRef, "HEAD")}
	diffs, commit, err := v.changes(ctx, a.GitRef)
	if err != nil {
		return a, err
	}
	a.ChangedFiles = len(diffs)
	var changed []Reached
	for _, d := range diffs {
		found, err := v.touched(ctx, commit, d)
		if err != nil {
			return a, err
		}
		changed = append(changed, found...)
	}
	a.ChangedFunctions = len(changed)
	all, err := v.outward(ctx, changed, q.Depth, &a)
	if err != nil {
		return a, err
	}
	from, to, err := q.window(len(all))
	if err != nil {
		return a, err
	}
	a.Reached, a.Total = all[from:to], len(all)
	return a, nil
}

// outward follows the uses of what changed.
func (v *View) outward(ctx context.Context, changed []Reached, depth int, a *Blast) ([]Reached, error) {
	removed := map[callgraph.Node]bool{}
	start := make([]callgraph.Node, len(changed))
	for i, c := range changed {
		start[i] = callgraph.Node{Symbol: c.Name, Path: c.Path, Line: c.Line}
		removed[start[i]] = c.Removed
	}
	blast, err := callgraph.Outward(ctx, edges{v: v, uses: true}, start, depth, callgraph.Limits{
		Budget: blastBudget, Time: blastTime, Workers: runtime.GOMAXPROCS(0),
	})
	if err != nil {
		return nil, err
	}
	for _, b := range blast.Broad {
		a.SkippedBroad = append(a.SkippedBroad, b.Node.Symbol)
	}
	all := make([]Reached, len(blast.Reached))
	for i, r := range blast.Reached {
		all[i] = Reached{
			Name: r.Symbol, Path: r.Path, Line: r.Line, Distance: r.Distance,
			Via: r.Via.Symbol, Sites: r.CallSites, Removed: removed[r.Node],
		}
	}
	return all, nil
}

// touched finds what the diff of one file touches: in the new file what holds
// a changed line, and what only the old file has.
func (v *View) touched(ctx context.Context, commit string, d fileDiff) ([]Reached, error) {
	var found []Reached
	kept := map[string]bool{}
	if d.newPath != "" {
		src, err := v.w.files.read(d.newPath)
		if err != nil {
			v.unreadable(d.newPath, err)
			return nil, nil
		}
		all, _, err := v.symbols(ctx, src)
		if Temporary(err) {
			return nil, err
		}
		if err != nil {
			return nil, nil // no program: nothing in it can be used
		}
		for _, s := range all {
			kept[s.Name] = true
		}
		for _, s := range holdersOf(all, d.newLines, len(src.starts)) {
			found = append(found, Reached{Name: s.Name, Path: s.Path, Line: s.Line})
		}
	}
	if d.oldPath == "" || len(d.oldLines) == 0 {
		return found, nil
	}
	text, err := index.Git(ctx, v.w.root, "cat-file", "blob", commit+":./"+d.oldPath)
	if err != nil {
		return nil, err
	}
	old := newSource(d.oldPath, text)
	all, err := v.oldSymbols(ctx, old)
	if err != nil {
		return found, nil
	}
	for _, s := range holdersOf(all, d.oldLines, len(old.starts)) {
		if !kept[s.Name] {
			found = append(found, Reached{Name: s.Name, Path: cmp.Or(d.newPath, d.oldPath), Line: s.Line, Removed: true})
		}
	}
	return found, nil
}

// oldSymbols parses a file as it was in a commit.
func (v *View) oldSymbols(ctx context.Context, old *source) ([]Symbol, error) {
	if scan := old.scan(); scan != nil {
		return scanSymbols(old, scannedFacts{scan}), nil
	}
	all, _, err := v.symbols(ctx, old)
	return all, err
}

// holdersOf returns the innermost symbols that hold one of the lines. Members
// and enumerators belong to their type: to change one is to change it.
func holdersOf(all []Symbol, ranges []lineRange, lines int) []Symbol {
	whole := slices.DeleteFunc(slices.Clone(all), func(s Symbol) bool {
		switch s.Kind {
		case "member", "enumerator", "field", "namespace", "package", "module":
			return true
		}
		return s.Declares || s.local || s.Start < 1
	})
	slices.SortStableFunc(whole, func(a, b Symbol) int { return cmp.Compare(b.End-b.Start, a.End-a.Start) })
	holder := make([]int, lines+2) // of each line: 1 + index in whole, 0 for none
	for i := range whole {
		for n := whole[i].Start; n <= min(whole[i].End, lines); n++ {
			holder[n] = i + 1
		}
	}
	var found []Symbol
	add := func(i int) {
		if i > 0 && !slices.ContainsFunc(found, func(s Symbol) bool { return s.Line == whole[i-1].Line && s.Name == whole[i-1].Name }) {
			found = append(found, whole[i-1])
		}
	}
	for _, r := range ranges {
		if r.last < r.first { // lines were deleted behind r.first
			if next := r.first + 1; r.first >= 0 && next < len(holder) && holder[r.first] == holder[next] {
				add(holder[next])
			}
			continue
		}
		for n := max(r.first, 1); n <= min(r.last, lines); n++ {
			add(holder[n])
		}
	}
	slices.SortFunc(found, func(a, b Symbol) int { return cmp.Compare(a.Line, b.Line) })
	return found
}
