package nav

import (
	"cmp"
	"context"
	"slices"

	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
)

// topFiles is how many of the files that use a name most a summary names.
const topFiles = 3

// FileCount is how often a name is used in one file.
type FileCount struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
}

// Usage sums up the references to a name. A line counts once, however often
// the name stands on it.
type Usage struct {
	References int
	Files      int
	Top        []FileCount
	// Undefined is set when nothing in the tree defines the name: the lines are
	// uses of a name that comes from elsewhere.
	Undefined bool
}

// usage sums up the occurrences of one exact name.
func (v *View) usage(name string) (Usage, error) {
	files, err := v.set.Occurrences(name)
	if err != nil {
		return Usage{}, err
	}
	defined, err := v.set.Defined(name)
	if err != nil {
		return Usage{}, err
	}
	u := summarize(files)
	u.Undefined = !defined
	return u, nil
}

func summarize(files []gtagsdb.FileLines) Usage {
	u := Usage{Files: len(files)}
	counts := make([]FileCount, len(files))
	for i, f := range files {
		counts[i] = FileCount{f.Path, len(f.Lines)}
		u.References += len(f.Lines)
	}
	slices.SortStableFunc(counts, func(a, b FileCount) int { return cmp.Compare(b.Count, a.Count) })
	u.Top = counts[:min(topFiles, len(counts))]
	return u
}

// ReferenceQuery asks where a name is used.
type ReferenceQuery struct {
	Symbol          string
	CaseInsensitive bool
	PathPrefix      string
	Page
}

// References is the answer: the lines of one page in order of path and line.
type References struct {
	Sites []Symbol
	Total int
	Usage Usage
	// Suggestions are names like the one asked for, on a miss.
	Suggestions []string
}

// References finds the lines that use a symbol. A name that nothing in the
// tree defines is answered from the other uses that the index recorded, and
// Usage.Undefined says so.
func (v *View) References(ctx context.Context, q ReferenceQuery) (References, error) {
	var a References
	inPrefix, err := v.w.prefixFilter(q.PathPrefix)
	if err != nil {
		return a, err
	}
	names, err := v.names(q.Symbol, q.CaseInsensitive, gtagsdb.References|gtagsdb.OtherSymbols)
	if err != nil {
		return a, err
	}
	var places []place
	var kept []gtagsdb.FileLines
	undefined := true
	for _, name := range names {
		files, err := v.set.Occurrences(name)
		if err != nil {
			return a, err
		}
		defined, err := v.set.Defined(name)
		if err != nil {
			return a, err
		}
		undefined = undefined && !defined
		for _, f := range files {
			if inPrefix(f.Path) {
				kept = append(kept, f)
				places = append(places, place{name, f})
			}
		}
	}
	a.Usage = summarize(kept)
	a.Usage.Undefined = undefined
	a.Total = a.Usage.References
	from, to, err := q.window(a.Total)
	if err != nil {
		return a, err
	}
	a.Sites = v.lines(ctx, places, from, to)
	if a.Total == 0 {
		a.Suggestions, err = v.suggest(q.Symbol)
	}
	return a, err
}

// place is the lines of one file that use one name.
type place struct {
	name string
	gtagsdb.FileLines
}

// lines makes the records from to to of all lines, reading only their files.
func (v *View) lines(ctx context.Context, places []place, from, to int) []Symbol {
	sites := make([]Symbol, 0, to-from)
	at := 0
	for _, p := range places {
		for _, line := range p.Lines {
			if at >= from && at < to {
				sites = append(sites, v.at(ctx, p.name, p.Path, line))
			}
			at++
		}
		if at >= to {
			break
		}
	}
	return sites
}
