package evals

import (
	"fmt"
	"slices"
	"strings"
)

// Report is the outcome of a run.
type Report struct {
	Root  string `json:"root"`
	Cases int    `json:"cases"`
	Score
	Tools      []Group `json:"tools"`
	Categories []Group `json:"categories"`
	Misses     []Miss  `json:"misses"`
}

// Score holds counts: the ratios follow from them.
type Score struct {
	Expected int `json:"expected"` // places and fields that must be there
	Found    int `json:"found"`
	Judged   int `json:"judged"` // cases that say what comes first, or what must not come
	Right    int `json:"right"`
}

// Group is the score of one tool or one category.
type Group struct {
	Name  string `json:"name"`
	Cases int    `json:"cases"`
	Score
	Recall       float64 `json:"recall"`
	PrecisionAt1 float64 `json:"precision_at_1"`
}

// Miss is a case that was not answered as it should be.
type Miss struct {
	ID        string         `json:"id"`
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
	Missing   []string       `json:"missing,omitempty"`
	First     string         `json:"first,omitempty"` // what should have been first
	GotFirst  string         `json:"got_first,omitempty"`
	Unwanted  []string       `json:"unwanted,omitempty"`
	Error     string         `json:"error,omitempty"`
	Known     string         `json:"known,omitempty"` // the reason, when it is known
}

// Recall is the share of what was expected that was found.
func (s Score) Recall() float64 { return ratio(s.Found, s.Expected) }

// PrecisionAt1 is the share of judged cases whose first result was right.
func (s Score) PrecisionAt1() float64 { return ratio(s.Right, s.Judged) }

// Reaches says whether both ratios are at least the threshold.
func (s Score) Reaches(threshold float64) bool {
	return s.Recall() >= threshold && s.PrecisionAt1() >= threshold
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

func (s *Score) add(v verdict) {
	s.Expected += v.expected
	s.Found += v.found
	if v.judged {
		s.Judged++
	}
	if v.judged && v.right {
		s.Right++
	}
}

func (r *Report) add(c *Case, v verdict) {
	r.Score.add(v)
	r.Tools = addToGroup(r.Tools, c.Tool, v)
	r.Categories = addToGroup(r.Categories, c.Category, v)
	if v.miss != nil {
		r.Misses = append(r.Misses, *v.miss)
	}
}

func addToGroup(groups []Group, name string, v verdict) []Group {
	i := slices.IndexFunc(groups, func(g Group) bool { return g.Name == name })
	if i < 0 {
		i = len(groups)
		groups = append(groups, Group{Name: name})
	}
	g := &groups[i]
	g.Cases++
	g.Score.add(v)
	g.Recall, g.PrecisionAt1 = g.Score.Recall(), g.Score.PrecisionAt1()
	return groups
}

// Text renders the report for people.
func (r *Report) Text() string {
	var b strings.Builder
	row := func(name string, cases int, s Score) {
		fmt.Fprintf(&b, "%-24s %5d  %4d/%-4d %6.2f %%  %4d/%-4d %6.2f %%\n", name, cases,
			s.Found, s.Expected, 100*s.Recall(), s.Right, s.Judged, 100*s.PrecisionAt1())
	}
	for _, part := range []struct {
		title  string
		groups []Group
	}{{"tool", r.Tools}, {"category", r.Categories}} {
		fmt.Fprintf(&b, "%-24s %5s  %18s  %18s\n", part.title, "cases", "recall", "precision@1")
		for _, g := range part.groups {
			row(g.Name, g.Cases, g.Score)
		}
		b.WriteString("\n")
	}
	row("all", r.Cases, r.Score)
	for _, m := range r.Misses {
		b.WriteString(m.text())
	}
	return b.String()
}

func (m *Miss) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nMISS %s: %s %v\n", m.ID, m.Tool, m.Arguments)
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-10s %s\n", label, text)
		}
	}
	for _, p := range m.Missing {
		line("missing", p)
	}
	line("expected 1", m.First)
	line("came first", m.GotFirst)
	for _, r := range m.Unwanted {
		line("unwanted", r)
	}
	line("error", m.Error)
	line("reason", m.Known)
	return b.String()
}
