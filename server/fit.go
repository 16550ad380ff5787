package server

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

// maxText is the length in bytes of a text answer whose caller did not say how
// much it wants. One of the hosts cuts the middle out of everything that is
// longer than 12,000 characters, and no host says so to the model.
const maxText = 11_800

// choosesSize reports whether a caller said how many results it wants: it gets
// them, however long they are.
func choosesSize(arguments json.RawMessage) bool {
	var given map[string]json.RawMessage
	if json.Unmarshal(arguments, &given) != nil {
		return false
	}
	for _, name := range []string{"limit", "max_definitions"} {
		if value, ok := given[name]; ok && string(value) != "null" {
			return true
		}
	}
	return false
}

// cuttable are results of which the first few make sense alone. cut returns the
// first n of them, or of their rows when they have some, and what the text says about the rest; with "" it is the
// page that ended early, and its footer names the next one.
type cuttable interface {
	results
	cut(n int) (first results, rest string)
}

// fit cuts the results of an answer so that its text is at most limit bytes
// long. What is left out is said, and the next page begins with it.
func (e *envelope) fit(limit int) {
	all, ok := e.Results.(cuttable)
	if !ok || e.Error != "" || textLength(e) <= limit {
		return
	}
	whole := *e
	with := func(n int) envelope {
		part := whole
		part.Results, part.rest = all.cut(n)
		part.Truncated, part.early = true, true
		return part
	}
	rows := all.count()
	if long, ok := all.(interface{ rows() int }); ok {
		rows = long.rows()
	}
	n := sort.Search(rows, func(n int) bool {
		part := with(n + 1)
		return textLength(&part) > limit
	})
	*e = with(max(n, 1))
}

func textLength(e *envelope) (n int) {
	for _, line := range textLines(e) {
		n += len(line) + 1
	}
	return n
}

func (r records) cut(n int) (results, string)          { return r[:n], "" }
func (r referenceRecords) cut(n int) (results, string) { return r[:n], "" }
func (r outlineRecords) cut(n int) (results, string)   { return r[:n], "" }
func (r cards) cut(n int) (results, string) {
	return r[:n], fmt.Sprintf("[%d shown · find_definition lists all]", n)
}
func (c callers) cut(n int) (results, string)    { return c[:n], "" }
func (r impact) cut(n int) (results, string)     { return r[:n], "" }
func (f fileCounts) cut(n int) (results, string) { return f[:n], "" }

func (c callees) cut(n int) (results, string) {
	rest := fmt.Sprintf("[%d of %d, cut at 12,000 characters · format=json has all]", n, c.count())
	take := func(names []string) []string {
		k := min(n, len(names))
		n -= k
		return names[:k]
	}
	k := min(n, len(c.InTree))
	c.InTree, n = c.InTree[:k], n-k
	c.External, c.Indirect = take(c.External), take(c.Indirect)
	return c, rest
}

// rows of bodies are their lines: a body may be cut within.
func (b bodies) rows() int {
	n := 0
	for _, one := range b {
		n += one.Last - one.First + 1
	}
	return n
}

func (b bodies) cut(n int) (results, string) {
	rest := fmt.Sprintf("[cut at 12,000 characters · max_definitions=%d shows up to 300 lines of each]", len(b))
	var kept bodies
	for _, one := range b {
		if n <= 0 {
			break
		}
		if shown := one.Last - one.First + 1; n < shown {
			one = firstLines(one, n)
		}
		n -= one.Last - one.First + 1
		kept = append(kept, one)
	}
	return kept, rest
}

func firstLines(b nav.Body, n int) nav.Body {
	lines := strings.SplitAfterN(b.Text, "\n", n+1)
	b.Last, b.Text = b.First+n-1, strings.Join(lines[:min(n, len(lines))], "")
	return b
}

// some lists names, the first few of many.
func some(names []string) string {
	const shown = 20
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
