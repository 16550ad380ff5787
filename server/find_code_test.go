package server

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav"
	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
	"github.com/gtagsmcp/gtagsmcp/nav/semantic/golang"
	"github.com/gtagsmcp/gtagsmcp/nav/semantic/java"
)

// goTree is a module with a fault in it, for the tools that answer about Go.
const goTree = `
-- go.mod --
module example.com/twice
go 1.21
-- twice.go --
package twice

type Twice struct{ n missing }
-- broken.go --
package twice

func Broken( {
`

// TestFindCodeArguments holds every argument on every route against the
// contract: what the route takes, what it needs, and what it refuses.
func TestFindCodeArguments(t *testing.T) {
	root := navtest.Tree(t, smallTree)
	session := connect(t, newTestServer(t, nil), eras[0], nil)
	values := map[string]any{
		"path": "lib/map.c", "query": "map_page", "kind": "function", "file": "lib/map.c", "module": "m", "scope": "main", "limit": 5, "cursor": "x",
	}
	needed := map[string]string{"structure": "path", "symbols": "query", "resolve": "query"}
	takes := map[string]string{
		"structure": "path limit cursor",
		"symbols":   "query kind file module limit cursor",
		"resolve":   "query kind module scope limit cursor",
	}
	for route, list := range takes {
		for name, value := range values {
			arguments := map[string]any{"project_root": root, "route": route, needed[route]: values[needed[route]], name: value}
			got, _ := ask(t, session, "find_code", arguments)
			refused := strings.Contains(got, fmt.Sprintf("argument %s does not go with the route %s; it goes with", name, route))
			if taken := slices.Contains(strings.Fields(list), name); taken == refused {
				t.Errorf("%s with %s: want taken=%v, got\n%s", route, name, taken, got)
			}
		}
		got, failed := ask(t, session, "find_code", map[string]any{"project_root": root, "route": route})
		if want := fmt.Sprintf("argument %s is missing; the route %s needs it", needed[route], route); !failed || !strings.Contains(got, want) {
			t.Errorf("%s alone: failed=%v, got\n%s\nwant\n%s", route, failed, got, want)
		}
	}
	for _, test := range []struct {
		arguments map[string]any
		want      string
	}{
		{map[string]any{}, "argument route is missing; it takes structure or symbols or resolve"},
		{map[string]any{"route": "outline"}, "argument route takes structure or symbols or resolve"},
		{map[string]any{"route": "symbols", "query": "x", "limit": 501}, "argument limit takes a whole number from 1 to 500"},
		{map[string]any{"route": "symbols", "query": "x", "limit": 0}, "argument limit takes a whole number from 1 to 500"},
		{map[string]any{"route": "resolve", "query": "x", "scope": "both"}, "argument scope takes main or test"},
		{map[string]any{"route": "symbols", "query": "x", "offset": 1}, `argument "offset" is unknown`},
		{map[string]any{"route": "symbols", "query": "a\nb"}, "argument query contains a control character"},
		{map[string]any{"route": "symbols", "query": strings.Repeat("x", 2000)}, "argument query has 2000 bytes"},
		{map[string]any{"route": "symbols", "query": "x", "module": "m"}, "argument module names no module of this tree"},
		{map[string]any{"route": "symbols", "query": "x", "file": "no.c"}, "argument file no.c is no source file of this tree"},
		{map[string]any{"route": "symbols", "query": "x", "file": "../no.c"}, "argument file ../no.c: outside the project root"},
		{map[string]any{"route": "symbols", "query": "x", "cursor": "x"}, "cursor is none that this tool gave"},
		{map[string]any{"route": "structure", "path": "no.c"}, "argument path no.c: no such file"},
		{map[string]any{"route": "structure", "path": "/etc/passwd"}, "argument path /etc/passwd: outside the project root"},
		{map[string]any{"route": "structure", "path": "lib"}, "argument path lib is not a regular file"},
		{map[string]any{"route": "resolve", "query": "x"}, "route resolve needs a compiler front end, and there is none for C, only for Go and Java"},
	} {
		test.arguments["project_root"] = root
		got, failed := ask(t, session, "find_code", test.arguments)
		if !failed || !strings.Contains(got, test.want) || !strings.Contains(got, "\nnext: find_definition") {
			t.Errorf("%.100v: failed=%v, got\n%.300s\nwant an error that says\n%s", test.arguments, failed, got, test.want)
		}
	}
}

// page is what a test reads of one page of find_code.
type page struct {
	Results struct {
		Declarations []struct {
			Key, Name, Path string
			Line            int
		}
		Pagination struct {
			NextCursor               *string
			Truncated, OutputLimited bool
			Returned                 int
		}
	}
	Total int
	Error string
}

// TestFindCodePages follows the cursor to the end, and uses it where it is no
// longer good.
func TestFindCodePages(t *testing.T) {
	root := navtest.Tree(t, smallTree)
	session := connect(t, newTestServer(t, nil), eras[0], nil)
	asked := func(arguments map[string]any) (p page) {
		t.Helper()
		arguments["project_root"], arguments["format"] = root, "json"
		got, _ := ask(t, session, "find_code", arguments)
		if err := json.Unmarshal([]byte(got), &p); err != nil {
			t.Fatalf("%v in %s", err, got)
		}
		return p
	}
	all := asked(map[string]any{"route": "symbols", "query": "e"})
	if all.Total < 5 || all.Results.Pagination.NextCursor != nil || all.Results.Pagination.Returned != all.Total {
		t.Fatalf("all at once: got %+v", all)
	}
	first := asked(map[string]any{"route": "symbols", "query": "e", "limit": 2})
	got := first.Results.Declarations
	for next := first.Results.Pagination.NextCursor; next != nil; {
		p := asked(map[string]any{"route": "symbols", "query": "e", "limit": 2, "cursor": *next})
		got, next = append(got, p.Results.Declarations...), p.Results.Pagination.NextCursor
		if len(got) > all.Total || p.Error != "" {
			t.Fatalf("the pages do not end: %+v", p)
		}
	}
	if !slices.Equal(got, all.Results.Declarations) {
		t.Errorf("page by page:\n%v\nat once:\n%v", got, all.Results.Declarations)
	}
	cursor := *first.Results.Pagination.NextCursor
	for _, test := range []struct {
		change string
		with   map[string]any
		want   string
	}{
		{"limit", map[string]any{"query": "e", "limit": 3}, "belongs to a call with other arguments or another limit"},
		{"query", map[string]any{"query": "m", "limit": 2}, "belongs to a call with other arguments or another limit"},
		{"kind", map[string]any{"query": "e", "limit": 2, "kind": "function"}, "belongs to a call with other arguments or another limit"},
	} {
		test.with["route"], test.with["cursor"] = "symbols", cursor
		if p := asked(test.with); !strings.Contains(p.Error, test.want) {
			t.Errorf("the cursor with another %s: got %q", test.change, p.Error)
		}
	}
	navtest.Write(t, root, "lib/new.c", "int another;\n")
	p := asked(map[string]any{"route": "symbols", "query": "e", "limit": 2, "cursor": cursor})
	if !strings.Contains(p.Error, "belongs to an earlier state of the workspace") {
		t.Errorf("the cursor after a change: got %+v", p)
	}
	if p := asked(map[string]any{"route": "symbols", "query": "e"}); p.Total != all.Total+1 || p.Results.Declarations[0].Key == all.Results.Declarations[0].Key {
		t.Errorf("after a change: got %+v, want one declaration more and other keys", p)
	}
}

// TestFindCodeTextIsShort follows the cursors of text pages, which end before
// 12,000 characters.
func TestFindCodeTextIsShort(t *testing.T) {
	var tree strings.Builder
	tree.WriteString("-- long.c --\n")
	for i := range 250 {
		fmt.Fprintf(&tree, "int long_%03d(struct %s *first, struct %[2]s *second);\n", i, strings.Repeat("x", 60))
	}
	root := navtest.Tree(t, tree.String())
	session := connect(t, newTestServer(t, nil), eras[0], nil)
	seen := map[string]int{}
	arguments := map[string]any{"project_root": root, "route": "symbols", "query": "long_"}
	pages := 0
	for more := regexp.MustCompile(`cursor=(\S+) for more`); ; {
		got, failed := ask(t, session, "find_code", arguments)
		if failed || len(got) > 12_000 {
			t.Fatalf("failed=%v, %d bytes: %s", failed, len(got), tail(got))
		}
		for _, name := range regexp.MustCompile(`long_\d+`).FindAllString(got, -1) {
			seen[name]++
		}
		pages++
		next := more.FindStringSubmatch(got)
		if next == nil {
			break
		}
		arguments["cursor"] = next[1]
	}
	if len(seen) != 250 || pages < 4 {
		t.Errorf("saw %d of 250 on %d pages", len(seen), pages)
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("saw %s %d times", name, n)
		}
	}
}

// TestFrontEndsAreExamined is what doctor shows: both front ends of this machine
// answer, and say what they take.
func TestFrontEndsAreExamined(t *testing.T) {
	for i, f := range frontEnds(t).Examine(t.Context()) {
		if f.Missing || f.Language != []string{"Go", "Java"}[i] || !regexp.MustCompile(`; its process has \d+ MiB, .* at most$`).MatchString(f.Detail) {
			t.Errorf("got %+v", f)
		}
	}
	none := nav.NewFrontEnds(golang.Options{}, java.Options{Getenv: func(string) string { return "" }, Dir: t.TempDir()})
	t.Cleanup(none.Close)
	if f := none.Examine(t.Context())[0]; !f.Missing || !strings.Contains(f.Detail, "the go command is not available on this machine") {
		t.Errorf("without a go command: got %+v", f)
	}
}

// TestFindCodeDoesNotWaitForPipes has one where a source file and where a
// description of a build would be.
func TestFindCodeDoesNotWaitForPipes(t *testing.T) {
	root := navtest.Tree(t, "-- a.go --\npackage a\n\nfunc F() {}\n")
	for _, name := range []string{"b.go", "go.mod", "pom.xml"} {
		if err := syscall.Mkfifo(filepath.Join(root, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	session := connect(t, newTestServer(t, nil), eras[0], nil)
	for _, test := range []struct {
		arguments map[string]any
		want      string
	}{
		{map[string]any{"route": "structure", "path": "b.go"}, "argument path b.go is not a regular file"},
		{map[string]any{"route": "structure", "path": "a.go"}, "F()  [function]"},
		{map[string]any{"route": "symbols", "query": "F"}, "a.go:3: a.F()  [function]"},
	} {
		test.arguments["project_root"] = root
		if got, _ := ask(t, session, "find_code", test.arguments); !strings.Contains(got, test.want) {
			t.Errorf("%v: got\n%s\nwant\n%s", test.arguments, got, test.want)
		}
	}
}

// TestFindCodeInAFence answers from the files, and asks no compiler, which might
// read what lies outside.
func TestFindCodeInAFence(t *testing.T) {
	root := navtest.Tree(t, goTree)
	fence, err := nav.NewFence(root)
	if err != nil {
		t.Fatal(err)
	}
	tc, front := toolchain(t), frontEnds(t)
	session := connect(t, newTestServer(t, func(cfg *Config) {
		cfg.Fence = fence
		cfg.Open = func(root string, s Settings) (*nav.Workspace, error) {
			o := testOptions(tc)
			o.FrontEnds, o.Fence = front, fence
			return nav.OpenWorkspace(root, o)
		}
	}), eras[0], nil)
	got, failed := ask(t, session, "find_code", map[string]any{"project_root": root, "route": "resolve", "query": "Twice"})
	if !failed || !strings.Contains(got, "route resolve is off: this server answers from the folders that it was allowed alone") {
		t.Errorf("resolve: failed=%v, got %s", failed, got)
	}
	if got, _ := ask(t, session, "find_code", map[string]any{"project_root": root, "route": "symbols", "query": "Twice"}); !strings.Contains(got, "example.com/twice.Twice") {
		t.Errorf("symbols: got %s", got)
	}
}
