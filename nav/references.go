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

// Usage sums up the lines that use a name. A line counts once, however often
// the name stands on it.
type Usage struct {
	References int
	Files      int
	Top        []FileCount
}

// usage sums up the uses of one exact name.
func (v *View) usage(ctx context.Context, name string) (Usage, error) {
	files, err := v.used(ctx, name)
	if err != nil {
		return Usage{}, err
	}
	counts := countLines(files)
	u := Usage{Files: len(counts), Top: counts[:min(topFiles, len(counts))]}
	for _, c := range counts {
		u.References += c.Count
	}
	return u, nil
}

// used returns the lines that use a name: those that GNU Global recorded as such,
// with those that it took for definitions wrongly, and without the definitions
// that it took for uses.
func (v *View) used(ctx context.Context, name string) ([]gtagsdb.FileLines, error) {
	files, err := v.set.Occurrences(name)
	if err != nil {
		return nil, err
	}
	found, err := v.literal(ctx, name)
	if err != nil {
		return nil, err
	}
	defined := map[filePlace]bool{}
	for _, s := range found.sites {
		switch s.Kind {
		case "function", "macro", "struct", "union", "enum", "class":
			defined[filePlace{s.Path, s.Line}] = s.Family == ""
		}
	}
	files = slices.Clone(mergeLines(files, found.uses))
	for i, f := range files {
		isDefinition := func(line int) bool { return defined[filePlace{f.Path, line}] }
		if slices.ContainsFunc(f.Lines, isDefinition) {
			files[i].Lines = slices.DeleteFunc(slices.Clone(f.Lines), isDefinition)
		}
	}
	return slices.DeleteFunc(files, func(f gtagsdb.FileLines) bool { return len(f.Lines) == 0 }), nil
}

// countLines counts per file, most first.
func countLines(files []gtagsdb.FileLines) []FileCount {
	counts := make([]FileCount, len(files))
	for i, f := range files {
		counts[i] = FileCount{f.Path, len(f.Lines)}
	}
	slices.SortStableFunc(counts, func(a, b FileCount) int { return cmp.Compare(b.Count, a.Count) })
	return counts
}

// ReferenceQuery asks where a name is used.
type ReferenceQuery struct {
	Symbol          string
	CaseInsensitive bool
	Filter
	Page
}

// References is the answer: the lines of one page in order of path and line.
type References struct {
	Sites []Symbol
	Total int
	Files []FileCount // per file, most first
	// Fallback is set when the tree has no definition of the name: the lines
	// use a name that comes from elsewhere.
	Fallback bool
	// Filtered counts the lines that the configuration rules out.
	Filtered int
	// Suggestions are names like the one asked for, on a miss.
	Suggestions []string
}

// References finds the lines that use a symbol.
func (v *View) References(ctx context.Context, q ReferenceQuery) (References, error) {
	var a References
	keep, err := v.filter(q.Filter)
	if err != nil {
		return a, err
	}
	places, err := v.places(ctx, q.Symbol, q.CaseInsensitive, keep)
	if err != nil {
		return a, err
	}
	if keep.config != nil {
		a.Filtered = v.dropCompiledOut(places, keep)
	}
	files := make([]gtagsdb.FileLines, len(places))
	for i, p := range places {
		files[i] = p.FileLines
		a.Total += len(p.Lines)
	}
	a.Files = countLines(files)
	from, to, err := q.window(a.Total)
	if err != nil {
		return a, err
	}
	a.Sites = v.lines(places, from, to)
	if a.Total == 0 {
		a.Suggestions, err = v.suggest(q.Symbol)
		return a, err
	}
	found, err := v.resolve(ctx, places[0].name)
	a.Fallback = len(found.sites) == 0 || found.name != places[0].name
	return a, err
}

// place is the lines of one file that use one name.
type place struct {
	name string
	gtagsdb.FileLines
}

// places finds the lines below the prefix that use a name, spelled as it is or
// in any case, with the lines that GNU Global took for definitions wrongly.
func (v *View) places(ctx context.Context, symbol string, fold bool, keep *filter) ([]place, error) {
	name, _, err := v.selector(symbol)
	if err != nil {
		return nil, err
	}
	names, err := v.names(name, fold, gtagsdb.References|gtagsdb.OtherSymbols)
	if err != nil {
		return nil, err
	}
	var all []place
	for _, n := range names {
		files, err := v.used(ctx, n)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if keep.path(f.Path) {
				all = append(all, place{n, f})
			}
		}
	}
	return all, nil
}

// mergeLines adds extra lines to a list that is ordered by path.
func mergeLines(files, extra []gtagsdb.FileLines) []gtagsdb.FileLines {
	if len(extra) == 0 {
		return files
	}
	files = slices.Clone(files)
	for _, e := range extra {
		i, found := slices.BinarySearchFunc(files, e.Path, func(f gtagsdb.FileLines, path string) int { return cmp.Compare(f.Path, path) })
		if !found {
			files = slices.Insert(files, i, gtagsdb.FileLines{Path: e.Path})
		}
		lines := append(slices.Clone(files[i].Lines), e.Lines...)
		slices.Sort(lines)
		files[i].Lines = slices.Compact(lines)
	}
	return files
}

// dropCompiledOut removes the lines that the configuration rules out, and
// counts them.
func (v *View) dropCompiledOut(places []place, keep *filter) (dropped int) {
	for i, p := range places {
		f := v.facts(p.Path)
		if f == nil {
			continue
		}
		lines := slices.DeleteFunc(slices.Clone(p.Lines), func(line int) bool { return !keep.guards(f.guards(line)) })
		dropped += len(p.Lines) - len(lines)
		places[i].Lines = lines
	}
	return dropped
}

// lines makes the records from to to of all lines, reading only their files.
func (v *View) lines(places []place, from, to int) []Symbol {
	sites := make([]Symbol, 0, to-from)
	at := 0
	for _, p := range places {
		if at+len(p.Lines) <= from {
			at += len(p.Lines)
			continue
		}
		for _, line := range p.Lines {
			if at >= from && at < to {
				sites = append(sites, v.at(p.name, p.Path, line))
			}
			at++
		}
		if at >= to {
			break
		}
	}
	return sites
}

// ReferenceCounts is the answer to how often each file uses a name.
type ReferenceCounts struct {
	Files       []FileCount // of the page
	Total       int         // files
	References  int
	Suggestions []string
}

// CountReferences counts the lines of each file that use a symbol, most first.
func (v *View) CountReferences(ctx context.Context, q ReferenceQuery) (ReferenceCounts, error) {
	var a ReferenceCounts
	keep, err := v.filter(q.Filter)
	if err != nil {
		return a, err
	}
	places, err := v.places(ctx, q.Symbol, false, keep)
	if err != nil {
		return a, err
	}
	files := make([]gtagsdb.FileLines, len(places))
	for i, p := range places {
		files[i] = p.FileLines
		a.References += len(p.Lines)
	}
	counts := countLines(files)
	from, to, err := q.window(len(counts))
	if err != nil {
		return a, err
	}
	a.Files, a.Total = counts[from:to], len(counts)
	if a.Total == 0 {
		a.Suggestions, err = v.suggest(q.Symbol)
	}
	return a, err
}
