//go:build kernel

package nav

import (
	"math/rand/v2"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
	"github.com/gtagsmcp/gtagsmcp/nav/ctags"
)

// TestAttribution compares, for 2,000 random references to random functions of
// a large tree, the function that we say holds the line with the one by the
// extents of Universal Ctags. It runs with -tags kernel on the tree that
// GTAGS_MCP_BENCH_TREE names; every disagreement is printed to be looked at.
func TestAttribution(t *testing.T) {
	const wanted = 2000
	w := benchWorkspace(t)
	v := benchView(t, w)
	draw := rand.New(rand.NewPCG(3, 4))
	type place struct {
		name, path string
		line       int
	}
	var sample []place
	seen := 0
	for sites, err := range v.set.AllDefinitions("") {
		if err != nil {
			t.Fatal(err)
		}
		name := sites[0].Name
		if draw.IntN(40) != 0 {
			continue
		}
		refs, err := v.outlines.Lookup(name, func(_ string, kind csource.Kind) bool { return kind == csource.Function })
		if err != nil {
			t.Fatal(err)
		}
		if len(refs) == 0 {
			continue
		}
		files, err := v.set.Occurrences(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if _, ok := csource.LangOf(f.Path); !ok {
				continue
			}
			for _, line := range f.Lines {
				p := place{name, f.Path, line}
				if seen++; len(sample) < wanted {
					sample = append(sample, p)
				} else if i := draw.IntN(seen); i < wanted {
					sample[i] = p
				}
			}
		}
	}
	agree := 0
	for _, p := range sample {
		src, err := w.files.read(p.path)
		if err != nil {
			t.Fatal(err)
		}
		tags, err := w.tagger(t.Context()).Tags(t.Context(), p.path, src.content)
		if err != nil {
			t.Errorf("ctags %s: %v", p.path, err)
			continue
		}
		theirs := functionAt(tags, p.line)
		ours := ""
		for _, col := range columns(src.line(p.line), p.name) {
			if s, ok := v.facts(p.path).enclosingAt(p.line, col); ok && (s.Kind == csource.Function || s.Kind == csource.Invocation && s.Body > 0) {
				ours = s.Name
			}
			break
		}
		if ours == theirs {
			agree++
			continue
		}
		t.Logf("%s:%d (%s): ours %q, ctags %q: %s", p.path, p.line, p.name, ours, theirs, snippet(src.line(p.line)))
	}
	t.Logf("%d of %d agree (%.2f %%)", agree, len(sample), 100*float64(agree)/float64(len(sample)))
}

// functionAt is the function whose extent holds the line, or "".
func functionAt(tags []ctags.Tag, line int) string {
	for _, tag := range tags {
		if tag.Kind == "function" && tag.Line <= line && line <= tag.End {
			return tag.Name
		}
	}
	return ""
}
