package evals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gtagsmcp/gtagsmcp/server"
)

// Asker answers tool calls; *server.Server is one.
type Asker interface {
	Call(ctx context.Context, tool string, arguments json.RawMessage, progress func(message string, done, total float64)) (server.Answer, error)
}

const (
	// callTimeout bounds one question, the first index of a large tree included.
	callTimeout = 15 * time.Minute
	retryPause  = 500 * time.Millisecond
)

// Run asks every question of a golden file about the tree at root.
func Run(ctx context.Context, asker Asker, g *Golden, root string) (*Report, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	report := &Report{Root: root, Cases: len(g.Cases)}
	for i := range g.Cases {
		c := &g.Cases[i]
		v, err := judgeCase(ctx, asker, c, root)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			v = c.failed(err)
		}
		report.add(c, v)
	}
	return report, nil
}

func judgeCase(ctx context.Context, asker Asker, c *Case, root string) (v verdict, err error) {
	if err := c.stale(root); err != nil {
		return v, fmt.Errorf("the case is stale: %w", err)
	}
	undo, err := edit(root, c.Edits)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, undo()) }()
	a, err := ask(ctx, asker, c, root)
	if err != nil {
		return v, err
	}
	return c.judge(a), nil
}

func ask(ctx context.Context, asker Asker, c *Case, root string) (answer, error) {
	arguments := map[string]any{"project_root": root, "format": "json"}
	maps.Copy(arguments, c.Arguments)
	raw, err := json.Marshal(arguments)
	if err != nil {
		return answer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	for {
		got, err := asker.Call(ctx, c.Tool, raw, func(string, float64, float64) {})
		if err != nil {
			return answer{}, err
		}
		if !got.Retry {
			return readAnswer(got.Text)
		}
		select {
		case <-ctx.Done():
			return answer{}, fmt.Errorf("no answer in %s; the last was: %s", callTimeout, got.Text)
		case <-time.After(retryPause):
		}
	}
}

// edit changes files of the tree and returns what puts them back.
func edit(root string, edits []Edit) (undo func() error, err error) {
	var undos []func() error
	undo = func() error {
		var errs []error
		for _, u := range slices.Backward(undos) {
			errs = append(errs, u())
		}
		return errors.Join(errs...)
	}
	for _, e := range edits {
		file := filepath.Join(root, filepath.FromSlash(e.Path))
		before, err := os.ReadFile(file)
		if err == nil && strings.Count(string(before), e.Replace) != 1 {
			err = fmt.Errorf("edit: %s holds %q not exactly once", e.Path, e.Replace)
		}
		if err == nil {
			undos = append(undos, func() error { return os.WriteFile(file, before, 0o644) })
			err = os.WriteFile(file, []byte(strings.Replace(string(before), e.Replace, e.With, 1)), 0o644)
		}
		if err != nil {
			return undo, errors.Join(err, undo())
		}
	}
	return undo, nil
}

// verdict is how one answer compares with its case.
type verdict struct {
	expected, found int
	judged, right   bool // does precision@1 count this case, and is it right
	miss            *Miss
}

// judge compares. Recall counts expected places and fields; precision@1 counts
// cases: result 1 is the one that was to be first, nothing unwanted is among
// the results, and nothing at all when there is nothing to find.
func (c *Case) judge(a answer) verdict {
	m := Miss{ID: c.ID, Tool: c.Tool, Arguments: c.Arguments, Known: c.KnownMiss, Missing: c.missing(a)}
	v := verdict{
		expected: len(c.wanted()) + len(c.Fields),
		judged:   !c.First.isZero() || len(c.Absent) > 0 || c.None,
	}
	v.found = v.expected - len(m.Missing)
	if len(a.results) > 0 {
		m.GotFirst = a.results[0].String()
	}
	if !c.First.isZero() && (len(a.results) == 0 || !a.results[0].is(c.First)) {
		m.First = c.First.String()
	}
	for _, r := range a.results {
		if c.None || slices.ContainsFunc(c.Absent, r.is) {
			m.Unwanted = append(m.Unwanted, r.String())
		}
	}
	if text, failed := a.fields["error"].(string); failed && c.Fields["error"] == nil {
		m.Error = text
	}
	v.right = m.First == "" && m.Unwanted == nil && m.Error == ""
	if !v.right || v.found < v.expected {
		v.miss = &m
	}
	return v
}

// missing lists the expected places and fields that an answer does not have.
func (c *Case) missing(a answer) []string {
	var out []string
	results := a.results
	if c.Within > 0 {
		results = results[:min(c.Within, len(results))]
	}
	for _, p := range c.wanted() {
		if !slices.ContainsFunc(results, func(r result) bool { return r.is(p) }) {
			out = append(out, p.String())
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.Fields)) {
		if !fieldHolds(a.fields[key], c.Fields[key]) {
			out = append(out, fmt.Sprintf("%s=%v, got %v", key, c.Fields[key], a.fields[key]))
		}
	}
	return out
}

// wanted are all places that must be found.
func (c *Case) wanted() []Place {
	if c.First.isZero() || slices.Contains(c.Expect, c.First) {
		return c.Expect
	}
	return append([]Place{c.First}, c.Expect...)
}

// failed is the verdict on a case that got no answer.
func (c *Case) failed(err error) verdict {
	return verdict{
		expected: len(c.wanted()) + len(c.Fields), judged: true,
		miss: &Miss{ID: c.ID, Tool: c.Tool, Arguments: c.Arguments, Known: c.KnownMiss, Error: err.Error()},
	}
}

func fieldHolds(got, want any) bool {
	if list, ok := got.([]any); ok {
		return slices.ContainsFunc(list, func(item any) bool { return fieldHolds(item, want) })
	}
	switch w := want.(type) {
	case int64:
		return got == float64(w)
	case string:
		if text, ok := got.(string); ok && strings.HasSuffix(w, "…") {
			return strings.HasPrefix(text, strings.TrimSuffix(w, "…"))
		}
	}
	return reflect.DeepEqual(got, want)
}
