package nav

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
)

const (
	// maxSuggestions is how many names a miss offers.
	maxSuggestions = 8
	// nearbyNames bounds the names that are compared with a misspelt one.
	nearbyNames = 4000
)

// suggest offers defined names for one that nobody defines: first those that
// begin with it, then near spellings.
func (v *View) suggest(name string) ([]string, error) {
	found, err := v.set.Names(name, gtagsdb.Definitions, maxSuggestions+1)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(n string) bool { return n == name })
	near, err := v.nearSpellings(name)
	if err != nil {
		return nil, err
	}
	for _, n := range near {
		if len(found) < maxSuggestions && n != name && !slices.Contains(found, n) {
			found = append(found, n)
		}
	}
	return found[:min(len(found), maxSuggestions)], nil
}

// nearSpellings compares name with the defined names that share its beginning,
// and with those that differ in case or leading underscores only.
func (v *View) nearSpellings(name string) ([]string, error) {
	near, err := v.set.FoldedNames(name, gtagsdb.Definitions)
	if err != nil {
		return nil, err
	}
	bare := strings.TrimLeft(name, "_")
	for _, variant := range []string{bare, "_" + bare, "__" + bare} {
		defined, err := v.set.Defined(variant)
		if err != nil {
			return nil, err
		}
		if defined && variant != name {
			near = append(near, variant)
		}
	}
	stem := name[:(len(name)+1)/2]
	names, err := v.set.Names(stem, gtagsdb.Definitions, nearbyNames)
	if err != nil {
		return nil, err
	}
	allowed := 1 + len(name)/6
	type scored struct {
		name string
		far  int
	}
	var close []scored
	for _, n := range names {
		if far := editDistance(name, n, allowed); far <= allowed {
			close = append(close, scored{n, far})
		}
	}
	slices.SortStableFunc(close, func(a, b scored) int { return cmp.Compare(a.far, b.far) })
	for _, s := range close {
		near = append(near, s.name)
	}
	return near, nil
}

// editDistance is the number of inserted, deleted or replaced bytes between a
// and b, or some number above limit when there are more.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		best := row[0]
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
			best = min(best, row[j+1])
		}
		if best > limit {
			return limit + 1
		}
	}
	return row[len(b)]
}
