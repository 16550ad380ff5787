package evals

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav"
	"github.com/gtagsmcp/gtagsmcp/nav/ctags"
	"github.com/gtagsmcp/gtagsmcp/nav/index"
	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
	"github.com/gtagsmcp/gtagsmcp/server"
)

// TestMiniKernel asks the golden questions about the fixture tree. A miss needs
// a known reason, and a known miss that is one no longer has to be unmarked.
func TestMiniKernel(t *testing.T) {
	golden, err := Load(filepath.Join("golden", "mini-kernel.toml"))
	if err != nil {
		t.Fatal(err)
	}
	root := committedCopy(t, filepath.Join("testdata", "mini-kernel"))
	report, err := Run(t.Context(), newServer(t), golden, root)
	if err != nil {
		t.Fatal(err)
	}
	var missed []string
	for _, m := range report.Misses {
		missed = append(missed, m.ID)
		if m.Known == "" {
			t.Error(m.text())
		}
	}
	for _, c := range golden.Cases {
		if c.KnownMiss != "" && !slices.Contains(missed, c.ID) {
			t.Errorf("case %s is answered rightly now; remove its known_miss", c.ID)
		}
	}
	if dirty := git(t, root, "status", "--porcelain"); dirty != "" {
		t.Errorf("the run left the tree changed:\n%s", dirty)
	}
}

// TestGoldenCoversEveryTool keeps a tool from being left out of the golden sets.
func TestGoldenCoversEveryTool(t *testing.T) {
	for file, least := range map[string]int{"linux-6.1.toml": 120, "mini-kernel.toml": 40} {
		golden, err := Load(filepath.Join("golden", file))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(golden.Cases); got < least {
			t.Errorf("%s has %d cases, want at least %d", file, got, least)
		}
		asked := map[string]bool{}
		for _, c := range golden.Cases {
			asked[c.Tool] = true
		}
		for _, name := range newServer(t).Tools() {
			// find_code answers about compilers' views, not the kernel's.
			if !asked[name] && name != "find_code" {
				t.Errorf("%s asks nothing of %s", file, name)
			}
		}
	}
}

func TestJudge(t *testing.T) {
	const envelope = `{"results":[
		{"symbol":"f","path":"a.c","line":3,"kind":"function","guard":["CONFIG_A"],"snippet":"int f(void)"},
		{"symbol":"f","path":"b.c","line":9,"guard":[],"snippet":"int f(int x)"}],
		"exported":"EXPORT_SYMBOL","suggestions":["g","h"],"definition_count":2}`
	a, err := readAnswer(envelope)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name            string
		c               Case
		found, expected int
		right           bool
	}{
		{"first", Case{First: place("a.c:3")}, 1, 1, true},
		{"first is second", Case{First: place("b.c:9")}, 1, 1, false},
		{"text", Case{First: place("a.c~CONFIG_A"), Expect: places("b.c~int x", "b.c~long")}, 2, 3, true},
		{"within", Case{First: place("a.c"), Expect: places("b.c"), Within: 1}, 1, 2, true},
		{"absent", Case{First: place("a.c"), Absent: places("b.c:9")}, 1, 1, false},
		{"absent and not there", Case{First: place("a.c"), Absent: places("b.c:10")}, 1, 1, true},
		{"none", Case{None: true}, 0, 0, false},
		{"fields", Case{Fields: map[string]any{"exported": "EXPORT_…", "suggestions": "h", "definition_count": int64(3)}}, 2, 3, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := test.c.judge(a)
			if v.found != test.found || v.expected != test.expected || v.right != test.right {
				t.Errorf("got %d of %d, right %v, want %d of %d, right %v", v.found, v.expected, v.right, test.found, test.expected, test.right)
			}
			if perfect := v.right && v.found == v.expected; perfect != (v.miss == nil) {
				t.Errorf("got miss %v with a perfect answer: %v", v.miss, perfect)
			}
		})
	}
}

func TestReadAnswerShapes(t *testing.T) {
	for text, want := range map[string]string{
		`{"results":[{"caller":"g","path":"a.c","line":5,"sites":[5,8]}]}`:                                         "a.c:8",
		`{"results":[{"path":"a.c","line":2,"end_line":4,"body":"int x"}]}`:                                        "a.c:2-4",
		`{"results":[{"path":"a.c","count":7}]}`:                                                                   "a.c:7",
		`{"results":{"in_tree":[],"external":["memcpy"],"indirect":["read"]}}`:                                     "indirect:read",
		`{"results":{"path_found":true,"hops":[{"symbol":"f","path":"a.c","line":2}]}}`:                            "a.c:f",
		`{"results":{"status":"ok","added":[],"changed":["a.c"],"removed":[]}}`:                                    "a.c:changed",
		`{"results":[{"symbol":"f","path":"a.c","line":2,"distance":1,"via":"g","call_sites":[4]}],"git_ref":"x"}`: "a.c:2",
	} {
		a, err := readAnswer(text)
		if err != nil || len(a.results) == 0 || !slices.ContainsFunc(a.results, func(r result) bool { return r.is(place(want)) }) {
			t.Errorf("%s: got %v, %v, want a result that is %s", text, a.results, err, want)
		}
	}
}

func TestLoadRefusesWhatCannotFail(t *testing.T) {
	const whole = "[[case]]\nid='a'\ncategory='c'\ntool='t'\nverified='read'\nfirst='a.c:1'\n"
	for name, test := range map[string]struct{ text, want string }{
		"no case":       {"tree='x'", "no [[case]]"},
		"twice":         {whole + whole, "twice"},
		"nothing":       {strings.Replace(whole, "first='a.c:1'", "", 1), "expects nothing"},
		"unverified":    {strings.Replace(whole, "verified='read'", "", 1), "verified"},
		"contradiction": {whole + "none=true\n", "contradicts"},
		"unknown key":   {whole + "frist='a.c'\n", "unknown key"},
		"empty text":    {whole + "expect=['a.c~']\n", "names no path or no text"},
	} {
		file := filepath.Join(t.TempDir(), "golden.toml")
		if err := os.WriteFile(file, []byte(test.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(file); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want one with %q", name, err, test.want)
		}
	}
}

// TestRunAnswersForItself covers cases that never reach a right answer: a place
// that the tree does not have, and an edit that does not apply.
func TestRunAnswersForItself(t *testing.T) {
	root := t.TempDir()
	navtest.Write(t, root, "a.c", "int f(void);\n")
	golden := &Golden{Cases: []Case{
		{ID: "right", Tool: "t", Expect: places("a.c~int f")},
		{ID: "stale", Tool: "t", Expect: places("a.c~int gone")},
		{ID: "no file", Tool: "t", First: place("b.c")},
		{ID: "edit", Tool: "t", Expect: places("a.c"), Edits: []Edit{{Path: "a.c", Replace: "no such text"}}},
		{ID: "edited", Tool: "t", Expect: places("a.c~int h"), Edits: []Edit{{Path: "a.c", Replace: "int f", With: "int h"}}},
	}}
	report, err := Run(t.Context(), reader{root}, golden, root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range report.Misses {
		got = append(got, m.ID)
	}
	if want := []string{"stale", "no file", "edit"}; !slices.Equal(got, want) {
		t.Errorf("got misses %v, want %v", got, want)
	}
	if src, _ := os.ReadFile(filepath.Join(root, "a.c")); string(src) != "int f(void);\n" {
		t.Errorf("the run left a.c as %q", src)
	}
	// What got no answer is wrong, in both ratios.
	if want := (Score{Expected: 5, Found: 2, Judged: 3, Right: 0}); report.Score != want {
		t.Errorf("got score %+v, want %+v", report.Score, want)
	}
}

// reader answers every call with the first line of a.c.
type reader struct{ root string }

func (r reader) Call(context.Context, string, json.RawMessage, func(string, float64, float64)) (server.Answer, error) {
	src, err := os.ReadFile(filepath.Join(r.root, "a.c"))
	text, _ := json.Marshal(map[string]any{"results": []map[string]any{{"path": "a.c", "line": 1, "snippet": string(src)}}})
	return server.Answer{Text: string(text)}, err
}

func place(s string) Place {
	var p Place
	if err := p.UnmarshalText([]byte(s)); err != nil {
		panic(err)
	}
	return p
}

func places(list ...string) []Place {
	var out []Place
	for _, s := range list {
		out = append(out, place(s))
	}
	return out
}

func newServer(t *testing.T) *server.Server {
	t.Helper()
	tools := navtest.Tools(t)
	toolchain := nav.Toolchain{
		Index: index.Tools{Gtags: tools.Gtags, Env: tools.Env, Fingerprint: tools.Fingerprint},
		Ctags: ctags.Command{Path: tools.Ctags, Env: tools.Env},
	}
	s := server.New(server.Config{
		Version: "test", Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler),
		Open: func(root string, _ server.Settings) (*nav.Workspace, error) {
			return nav.OpenWorkspace(root, nav.Options{
				Toolchain: func(context.Context) (nav.Toolchain, error) { return toolchain, nil },
			})
		},
	})
	t.Cleanup(func() { s.Close() })
	return s
}

// committedCopy puts a copy of a folder under git, everything committed.
func committedCopy(t *testing.T, folder string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(root, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	git(t, root, "init", "-q")
	git(t, root, "add", "-A")
	git(t, root, "-c", "user.name=test", "-c", "user.email=test@invalid", "commit", "-qm", "tree")
	return root
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}
