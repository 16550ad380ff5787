package server

//lint:file-ignore SA1019 Roots are deprecated, and clients use them.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gtagsmcp/gtagsmcp/nav"
	"github.com/gtagsmcp/gtagsmcp/nav/ctags"
	"github.com/gtagsmcp/gtagsmcp/nav/index"
	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

// eras are the protocol revisions that every behaviour is tested in: the last
// one with sessions, and the stateless one.
var eras = []string{"2025-11-25", "2026-07-28"}

// smallTree has a function with a declaration, uses, and a conditional twin.
const smallTree = `
-- include/map.h --
#ifndef MAP_H
#define MAP_H
struct page { int count; };
void *map_page(struct page *page, int flags);
#define PAGE_FLAG 1
#endif
-- lib/map.c --
#include "map.h"

void *map_page(struct page *page, int flags)
{
	return page->count ? page : 0;
}
-- lib/user.c --
#include "map.h"

int use(struct page *p)
{
	return map_page(p, PAGE_FLAG) != 0;
}

int use_twice(struct page *p)
{
	external_call(p);
	return map_page(p, 0) == map_page(p, PAGE_FLAG);
}
`

// toolchain is the real one, for every test that indexes.
func toolchain(t testing.TB) nav.Toolchain {
	tc := navtest.Tools(t)
	return nav.Toolchain{
		Index: index.Tools{Gtags: tc.Gtags, Env: tc.Env, Fingerprint: tc.Fingerprint},
		Ctags: ctags.Command{Path: tc.Ctags, Env: tc.Env},
	}
}

// testOptions are the options of a workspace in a test: no answer depends on how
// busy the machine is.
func testOptions(tc nav.Toolchain) nav.Options {
	return nav.Options{
		Toolchain: func(context.Context) (nav.Toolchain, error) { return tc, nil },
		FirstWait: time.Minute, CodeWait: time.Minute, AwaitOutline: true, Index: index.Options{CheckTimeout: time.Minute},
	}
}

func newTestServer(t testing.TB, change func(*Config)) *Server {
	tc, front := toolchain(t), frontEnds(t)
	cfg := Config{
		Version: "test", Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler),
		Open: func(root string, s Settings) (*nav.Workspace, error) {
			o := testOptions(tc)
			o.FrontEnds = front
			return nav.OpenWorkspace(root, o)
		},
	}
	if change != nil {
		change(&cfg)
	}
	s := New(cfg)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing the server: %v", err)
		}
	})
	return s
}

// connect joins a client to the server in memory.
func connect(t testing.TB, s *Server, era string, client *mcp.Client) *mcp.ClientSession {
	ours, theirs := mcp.NewInMemoryTransports()
	if _, err := s.MCP(t.Context()).Connect(t.Context(), ours, nil); err != nil {
		t.Fatal(err)
	}
	if client == nil {
		client = mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	}
	session, err := client.Connect(t.Context(), theirs, &mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// ask calls a tool and returns what the agent reads.
func ask(t testing.TB, session *mcp.ClientSession, name string, arguments map[string]any) (string, bool) {
	t.Helper()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s %v: %v", name, arguments, err)
	}
	if len(res.Content) != 1 || res.StructuredContent != nil {
		t.Fatalf("%s: got %d contents and structured content %v, want one text alone", name, len(res.Content), res.StructuredContent)
	}
	return res.Content[0].(*mcp.TextContent).Text, res.IsError
}

func TestToolsAnswer(t *testing.T) {
	root := navtest.Tree(t, smallTree)
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			session := connect(t, newTestServer(t, nil), era, nil)
			for _, test := range []struct {
				tool      string
				arguments map[string]any
				want      string
			}{
				{"find_definition", map[string]any{"symbol": "map_page"}, "lib/map.c:3: void *map_page(struct page *page, int flags)  [function]"},
				{"find_definition", map[string]any{"symbol": "map_page"}, "3 refs in 2 files"},
				{"find_definition", map[string]any{"symbol": "MAP_PAGE", "case_insensitive": true}, "lib/map.c:3:"},
				{"find_definition", map[string]any{"symbol": "map_pag"}, "no definition of map_pag in the index\nsimilar: map_page"},
				{"find_definition", map[string]any{"symbol": "map_page", "path_prefix": "include"}, "no definition of map_page below include"},
				{"find_references", map[string]any{"symbol": "map_page", "limit": 1}, "for more]"},
				{"find_references", map[string]any{"symbol": "map_page", "path_prefix": "lib/user.c"}, "lib/user.c:5: return map_page(p, PAGE_FLAG) != 0;"},
				{"find_references", map[string]any{"symbol": "external_call"}, "not defined in this tree"},
				{"list_file_symbols", map[string]any{"file_path": "lib/user.c"}, " 3: int use(struct page *p)  [function]\n 8: int use_twice"},
				{"list_file_symbols", map[string]any{"file_path": filepath.Join(root, "lib/map.c")}, "lib/map.c\n 3:"},
				{"update_index", nil, "index updated in"},
				{"update_index", map[string]any{"full": true}, "index rebuilt in"},
			} {
				arguments := map[string]any{"project_root": root}
				for k, v := range test.arguments {
					arguments[k] = v
				}
				got, failed := ask(t, session, test.tool, arguments)
				if failed || !strings.Contains(got, test.want) {
					t.Errorf("%s %v: failed=%v, got\n%s\nwant it to hold\n%s", test.tool, test.arguments, failed, got, test.want)
				}
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	root := navtest.Tree(t, smallTree)
	file := filepath.Join(root, "lib", "map.c")
	session := connect(t, newTestServer(t, nil), eras[0], nil)
	for _, test := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"find_definition", map[string]any{"symbol": "a", "symbl": 1}, `argument "symbl" is unknown; this tool takes symbol`},
		{"find_definition", map[string]any{"symbol": "a", "limit": -1}, "argument limit takes a whole number from 1"},
		{"find_definition", map[string]any{"symbol": "a", "limit": "x"}, "argument limit takes a whole number from 1"},
		{"find_definition", map[string]any{"symbol": ""}, "is empty"},
		{"find_definition", map[string]any{"symbol": "struct page"}, "contains a blank"},
		{"find_definition", map[string]any{"symbol": "a\x00b"}, "contains a control character"},
		{"find_definition", map[string]any{"symbol": strings.Repeat("x", 10<<10)}, "has 10240 bytes; names have less than 512"},
		{"find_definition", map[string]any{"symbol": "map_page", "offset": 7}, "offset 7 is past the end: there are 1 results"},
		{"find_references", map[string]any{"symbol": "map_page", "path_prefix": "../x"}, "outside the project root"},
		{"find_definition", map[string]any{"symbol": "a", "project_root": filepath.Join(root, "none")}, "no such folder"},
		{"find_definition", map[string]any{"symbol": "a", "project_root": file}, "is a file"},
		{"list_file_symbols", map[string]any{"file_path": "/etc/passwd"}, "outside the project root"},
		{"list_file_symbols", map[string]any{"file_path": "lib/none.c"}, "no such file"},
		{"list_file_symbols", map[string]any{"file_path": "lib"}, "not a regular file"},
		{"list_file_symbols", map[string]any{"file_path": "a\x00b"}, "not a file path"},
	} {
		arguments := map[string]any{"project_root": root}
		for k, v := range test.arguments {
			arguments[k] = v
		}
		got, failed := ask(t, session, test.tool, arguments)
		if !failed || !strings.HasPrefix(got, "Error: ") || !strings.Contains(got, test.want) || !strings.Contains(got, "\nnext: ") {
			t.Errorf("%s %.80v: failed=%v, got\n%.300s\nwant an error that says %q and what is next", test.tool, test.arguments, failed, got, test.want)
		}
	}
	// What cannot be a name in C can be one elsewhere: these are misses.
	for _, name := range []string{`"quoted"`, `a'b`, `.*`, `f(x)`, `[a-z]+`, `^main$`, `caf\xe9`, `operator<<`, `日本`} {
		got, failed := ask(t, session, "find_definition", map[string]any{"project_root": root, "symbol": name})
		if failed || !strings.Contains(got, "no definition of "+name) {
			t.Errorf("symbol %s: failed=%v, got %s", name, failed, got)
		}
	}
}

func TestTextAndJSONAgree(t *testing.T) {
	root := navtest.Tree(t, smallTree)
	session := connect(t, newTestServer(t, nil), eras[0], nil)
	text, _ := ask(t, session, "find_references", map[string]any{"project_root": root, "symbol": "map_page"})
	answer, _ := ask(t, session, "find_references", map[string]any{"project_root": root, "symbol": "map_page", "format": "json"})
	var e struct {
		Tool, Root, Symbol string
		Results            []struct {
			Symbol, Path, Snippet string
			Line, Col             int
		}
		Total, Offset int
		Truncated     bool
		NextTools     []string `json:"next_tools"`
		Warning       *string
	}
	if err := json.Unmarshal([]byte(answer), &e); err != nil {
		t.Fatalf("%v in %s", err, answer)
	}
	if e.Tool != "find_references" || e.Root != root || e.Symbol != "map_page" || e.Total != 3 || e.Truncated || len(e.NextTools) == 0 || e.Warning != nil {
		t.Errorf("got envelope %+v", e)
	}
	for _, r := range e.Results {
		if line := fmt.Sprintf("%s:%d: %s", r.Path, r.Line, r.Snippet); !strings.Contains(text, line) {
			t.Errorf("the text lacks %q:\n%s", line, text)
		}
	}
}

// TestRootsOfTheClient drives the question for roots in both eras: by a request
// of the server's, and by a call that comes again with the answer.
func TestRootsOfTheClient(t *testing.T) {
	root := navtest.Tree(t, smallTree)
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
			client.AddRoots(&mcp.Root{URI: "file://" + root})
			session := connect(t, newTestServer(t, nil), era, client)
			got, failed := ask(t, session, "find_definition", map[string]any{"symbol": "map_page"})
			if failed || !strings.Contains(got, "lib/map.c:3:") {
				t.Errorf("failed=%v, got %s", failed, got)
			}
		})
	}
}

func TestNoRootIsAnErrorThatSaysWhatToPass(t *testing.T) {
	session := connect(t, newTestServer(t, nil), eras[0], nil)
	got, failed := ask(t, session, "find_definition", map[string]any{"symbol": "x"})
	if !failed || !strings.Contains(got, "pass project_root") {
		t.Errorf("failed=%v, got %s", failed, got)
	}
}

func TestPanicIsThatCallsError(t *testing.T) {
	root := navtest.Tree(t, smallTree)
	fail := true
	s := newTestServer(t, func(cfg *Config) {
		open := cfg.Open
		cfg.Open = func(root string, settings Settings) (*nav.Workspace, error) {
			if fail {
				panic("on purpose")
			}
			return open(root, settings)
		}
	})
	session := connect(t, s, eras[0], nil)
	arguments := map[string]any{"project_root": root, "symbol": "map_page"}
	if got, failed := ask(t, session, "find_definition", arguments); !failed || !strings.Contains(got, "internal error") {
		t.Errorf("the panicking call: failed=%v, got %s", failed, got)
	}
	fail = false
	if got, failed := ask(t, session, "find_definition", arguments); failed {
		t.Errorf("the call after it: got %s", got)
	}
}

func TestBadProjectConfigIsAWarning(t *testing.T) {
	root := navtest.Tree(t, smallTree)
	session := connect(t, newTestServer(t, nil), eras[0], nil)
	arguments := map[string]any{"project_root": root, "symbol": "map_page"}
	if got, _ := ask(t, session, "find_definition", arguments); strings.Contains(got, "warning") {
		t.Errorf("without a config file: got %s", got)
	}
	navtest.Write(t, root, projectConfig, "nonsense = 1\n")
	got, failed := ask(t, session, "find_definition", arguments)
	if failed || !strings.Contains(got, "lib/map.c:3:") || !strings.Contains(got, `unknown key "nonsense"`) {
		t.Errorf("with a bad config file: failed=%v, got %s", failed, got)
	}
}

// TestSnapshots keeps what an agent is told of the tools under review. Run
// with UPDATE_SNAPSHOTS=1 to accept a change.
func TestSnapshots(t *testing.T) {
	session := connect(t, newTestServer(t, nil), eras[0], nil)
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != len(tools()) {
		t.Errorf("got %d tools, want %d", len(list.Tools), len(tools()))
	}
	for _, tool := range list.Tools {
		got, err := json.MarshalIndent(tool, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", "tools", tool.Name+".json")
		if os.Getenv("UPDATE_SNAPSHOTS") != "" {
			navtest.Write(t, ".", file, string(got)+"\n")
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(got)+"\n" != string(want) {
			t.Errorf("%s differs from %s; got\n%s", tool.Name, file, got)
		}
	}
}

// passing is a toolchain that is being installed.
type passing struct{ error }

func (passing) Temporary() bool { return true }

// TestInstallingIsAnAnswer asks while the toolchain is being installed: the
// call waits a little, says so through the error channel with progress on the
// way, and the next call after the install answers.
func TestInstallingIsAnAnswer(t *testing.T) {
	root := navtest.Tree(t, smallTree)
	tc := toolchain(t)
	var ready atomic.Bool
	s := newTestServer(t, func(cfg *Config) {
		cfg.Patience = 20 * time.Millisecond
		cfg.Open = func(root string, _ Settings) (*nav.Workspace, error) {
			return nav.OpenWorkspace(root, nav.Options{
				Toolchain: func(context.Context) (nav.Toolchain, error) {
					if !ready.Load() {
						return nav.Toolchain{}, passing{errors.New("the toolchain is being installed; retry in ~5 s")}
					}
					return tc, nil
				},
			})
		}
	})
	progress := make(chan string, 10)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{},
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			select {
			case progress <- req.Params.Message:
			default:
			}
		},
	})
	session := connect(t, s, eras[0], client)
	params := &mcp.CallToolParams{Name: "find_definition", Arguments: map[string]any{"project_root": root, "symbol": "map_page"}}
	params.SetProgressToken("p")
	res, err := session.CallTool(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	if text := res.Content[0].(*mcp.TextContent).Text; !res.IsError || !strings.HasPrefix(text, "Error: the toolchain is being installed; retry") {
		t.Errorf("while installing: isError=%v, got %s", res.IsError, text)
	}
	if got := <-progress; !strings.Contains(got, "being installed") {
		t.Errorf("progress: got %q", got)
	}
	ready.Store(true)
	if got, failed := ask(t, session, "find_definition", params.Arguments.(map[string]any)); failed || !strings.Contains(got, "lib/map.c:3:") {
		t.Errorf("after the install: failed=%v, got %s", failed, got)
	}
}

// TestParsersAreWaitedFor asks about a tree that has an index while the toolchain
// is being installed: only the parser knows which function holds a line of Python.
// Where there never will be one, nobody is named.
func TestParsersAreWaitedFor(t *testing.T) {
	root := navtest.Tree(t, "-- a.py --\ndef work():\n    return 1\n\ndef caller():\n    return work()\n")
	tc := toolchain(t)
	index := newTestServer(t, nil)
	callers := map[string]any{"project_root": root, "symbol": "work"}
	const want = "caller  a.py:5: return work()"
	if got, failed := ask(t, connect(t, index, eras[0], nil), "find_callers", callers); failed || !strings.Contains(got, want) {
		t.Fatalf("with the toolchain: failed=%v, got %s", failed, got)
	}
	var now atomic.Pointer[error]
	s := newTestServer(t, func(cfg *Config) {
		cfg.Patience = 20 * time.Millisecond
		cfg.Open = func(root string, _ Settings) (*nav.Workspace, error) {
			o := testOptions(tc)
			o.Toolchain = func(context.Context) (nav.Toolchain, error) {
				if err := now.Load(); err != nil {
					return nav.Toolchain{}, *err
				}
				return tc, nil
			}
			return nav.OpenWorkspace(root, o)
		}
	})
	session := connect(t, s, eras[0], nil)
	for _, test := range []struct {
		err          error
		tool         string
		want         string
		wantNotReady bool
	}{
		{errors.New("no rung of the ladder holds"), "find_callers", "(unknown)  a.py:5: return work()", false},
		{errors.New("no rung of the ladder holds"), "find_callers", "no parser", false},
		{passing{errors.New("being installed; retry in ~5 s")}, "find_callers", "being installed; retry", true},
		{passing{errors.New("being installed; retry in ~5 s")}, "find_definition", "being installed; retry", true},
	} {
		now.Store(&test.err)
		if got, failed := ask(t, session, test.tool, callers); failed != test.wantNotReady || !strings.Contains(got, test.want) {
			t.Errorf("%s while %v: failed=%v, got %s", test.tool, test.err, failed, got)
		}
	}
	now.Store(nil)
	if got, failed := ask(t, session, "find_callers", callers); failed || !strings.Contains(got, want) {
		t.Errorf("after the install: failed=%v, got %s", failed, got)
	}
}
