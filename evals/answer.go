package evals

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Stand-ins for the path of a callee that has no place in the tree.
const (
	external = "external"
	indirect = "indirect"
)

// result is one row of an answer, whatever the tool.
type result struct {
	path   string
	lines  []int // its line; every call site of a caller
	last   int   // last line of a body
	symbol string
	text   string
}

func (r result) String() string {
	s := r.path
	if len(r.lines) > 0 {
		s += fmt.Sprintf(":%d", r.lines[0])
	}
	if r.last > 0 {
		s += fmt.Sprintf("-%d", r.last)
	}
	first, _, _ := strings.Cut(r.text, "\n")
	return strings.TrimSpace(s + " " + r.symbol + " " + strings.TrimSpace(first))
}

func (r result) is(p Place) bool {
	if r.path != p.Path || (p.Symbol != "" && r.symbol != p.Symbol) || !strings.Contains(r.text, p.Text) {
		return false
	}
	if p.Last != 0 && r.last != p.Last {
		return false
	}
	for _, line := range r.lines {
		if line == p.First {
			return true
		}
	}
	return p.First == 0
}

// answer is one JSON envelope.
type answer struct {
	results []result
	fields  map[string]any
}

// row has the keys of every shape of row that the contract names.
type row struct {
	Symbol, Caller string
	Path           string
	Line           int
	EndLine        int `json:"end_line"`
	Count          int
	Sites          []int
	CallSites      []int `json:"call_sites"`
	Snippet, Body  string
	Kind           string
	Scope          string
	Signature      string
	Guard          []string
}

func (r row) result() result {
	out := result{path: r.Path, last: r.EndLine, symbol: r.Symbol + r.Caller, lines: r.Sites}
	switch {
	case r.Count != 0:
		out.lines = []int{r.Count}
	case len(out.lines) == 0:
		out.lines = []int{r.Line}
	}
	guards := strings.Join(r.Guard, " && ")
	out.text = strings.Join([]string{r.Snippet + r.Body, r.Kind, r.Scope, r.Signature, guards}, "\n")
	return out
}

// grouped is the results of the tools that answer one object.
type grouped struct {
	InTree                  []row `json:"in_tree"`
	External, Indirect      []string
	Hops                    []row
	Added, Changed, Removed []string
}

func (g grouped) results() []result {
	var out []result
	for _, r := range append(g.InTree, g.Hops...) {
		out = append(out, r.result())
	}
	named := func(path string, symbols []string) {
		for _, s := range symbols {
			out = append(out, result{path: path, symbol: s})
		}
	}
	named(external, g.External)
	named(indirect, g.Indirect)
	done := func(what string, paths []string) {
		for _, p := range paths {
			out = append(out, result{path: p, symbol: what})
		}
	}
	done("added", g.Added)
	done("changed", g.Changed)
	done("removed", g.Removed)
	return out
}

// readAnswer reads the JSON rendering of an answer.
func readAnswer(text string) (answer, error) {
	var a answer
	var e struct{ Results json.RawMessage }
	if err := json.Unmarshal([]byte(text), &a.fields); err != nil {
		return a, fmt.Errorf("the answer is not JSON: %w", err)
	}
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return a, err
	}
	switch {
	case len(e.Results) == 0 || string(e.Results) == "null":
	case e.Results[0] == '[':
		var rows []row
		if err := json.Unmarshal(e.Results, &rows); err != nil {
			return a, fmt.Errorf("results: %w", err)
		}
		for _, r := range rows {
			a.results = append(a.results, r.result())
		}
	default:
		var g grouped
		if err := json.Unmarshal(e.Results, &g); err != nil {
			return a, fmt.Errorf("results: %w", err)
		}
		a.results = g.results()
		a.addFields(e.Results)
	}
	return a, nil
}

// addFields puts the scalar keys of a results object, such as path_found,
// beside those of the envelope.
func (a *answer) addFields(object json.RawMessage) {
	var inner map[string]any
	if json.Unmarshal(object, &inner) != nil {
		return
	}
	for key, value := range inner {
		if _, taken := a.fields[key]; !taken {
			a.fields[key] = value
		}
	}
}
