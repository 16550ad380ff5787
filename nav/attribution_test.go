//go:build kernel

package nav

import (
	"math/rand/v2"
	"regexp"
	"strings"
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
		service, err := w.tagger(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tags, err := service.Tags(t.Context(), p.path, src.content)
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

// TestDefinitionsAreDefinitions looks at the text of the definitions answered
// for names that random files define, macros aside, until it has seen 10,000:
// each must be what its kind says, and no prototype, #undef, extern or use of a
// macro.
func TestDefinitionsAreDefinitions(t *testing.T) {
	const wanted, perFile = 10_000, 10
	w := benchWorkspace(t)
	v := benchView(t, w)
	draw := rand.New(rand.NewPCG(5, 6))
	var files []string
	for path := range v.set.Files() {
		if _, ok := csource.LangOf(path); ok {
			files = append(files, path)
		}
	}
	kinds := map[string]int{}
	total := 0
	for total < wanted {
		var names []string
		for _, s := range v.facts(files[draw.IntN(len(files))]).symbols() {
			if s.Name != "" && s.Kind.Definition() && s.Kind != csource.Macro {
				names = append(names, s.Name)
			}
		}
		draw.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names[:min(perFile, len(names))] {
			found, err := v.Definitions(t.Context(), DefinitionQuery{Symbol: name, Page: Page{Limit: perFile}})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range found.Sites {
				total++
				kinds[s.Kind]++
				src, err := w.files.read(s.Path)
				if err != nil {
					t.Fatal(err)
				}
				if reason := notDefined(src, &s); reason != "" {
					t.Errorf("%s:%d %s as a %s: %s: %s", s.Path, s.Line, s.Name, s.Kind, reason, s.Snippet)
				}
			}
		}
	}
	t.Logf("%d definitions, by kind %v", total, kinds)
}

var (
	defineLine = regexp.MustCompile(`^\s*#\s*define\s+(\w+)`)
	undefLine  = regexp.MustCompile(`^\s*#\s*undef`)
	externWord = regexp.MustCompile(`\bextern\b[^={]*$`)
)

// notDefined says why the text of a definition is none, or "".
func notDefined(src *source, s *Symbol) string {
	var text strings.Builder
	for n := s.Start; n <= s.End; n++ {
		text.WriteString(src.line(n))
		text.WriteByte('\n')
	}
	line := src.line(s.Line)
	if _, c := csource.LangOf(s.Path); !c {
		return ""
	}
	switch {
	case undefLine.MatchString(line):
		return "an #undef"
	case s.Family != "":
		return "" // minted: the name need not stand there
	case !strings.Contains(text.String(), s.Name):
		return "the name is not there"
	}
	switch s.Kind {
	case "macro":
		if m := defineLine.FindStringSubmatch(line); m == nil || m[1] != s.Name {
			return "no #define of the name"
		}
	case "function", "struct", "union", "enum", "class":
		if !strings.Contains(text.String(), "{") {
			return "no body"
		}
	case "variable":
		if externWord.MatchString(strings.TrimSpace(text.String())) {
			return "only declared"
		}
	case "typedef":
		if !strings.Contains(text.String(), "typedef") {
			return "no typedef"
		}
	}
	return ""
}
