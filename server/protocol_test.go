package server

//lint:file-ignore SA1019 Roots are deprecated, and clients use them.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/gtagsmcp/gtagsmcp/nav"
	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

// everywhere runs a test over both transports in both eras.
func everywhere(t *testing.T, s *Server, client func() *mcp.Client, test func(t *testing.T, session *mcp.ClientSession)) {
	url := startHTTP(t, s, HTTPOptions{})
	for _, era := range eras {
		t.Run("memory, "+era, func(t *testing.T) { test(t, connect(t, s, era, client())) })
		t.Run("HTTP, "+era, func(t *testing.T) {
			session, err := client().Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url + Endpoint, MaxRetries: -1},
				&mcp.ClientSessionOptions{ProtocolVersion: era})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { session.Close() })
			test(t, session)
		})
	}
}

func clientAt(root string) func() *mcp.Client {
	return func() *mcp.Client {
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		client.AddRoots(&mcp.Root{URI: "file://" + root})
		return client
	}
}

func TestSymbolResource(t *testing.T) {
	root := navtest.Tree(t, smallTree+"-- over.cc --\nstruct S { int get(); };\nint S::get() { return 7; }\n")
	everywhere(t, newTestServer(t, nil), clientAt(root), func(t *testing.T, session *mcp.ClientSession) {
		list, err := session.ListResourceTemplates(t.Context(), nil)
		if err != nil || len(list.ResourceTemplates) != 1 || list.ResourceTemplates[0].URITemplate != "gtags://symbol/{name}" {
			t.Fatalf("got %+v, %v", list, err)
		}
		for uri, want := range map[string]string{
			"gtags://symbol/use":           "int use(struct page *p)\n{\n\treturn map_page(p, PAGE_FLAG) != 0;\n}",
			"gtags://symbol/S%3A%3Aget":    "return 7",
			"gtags://symbol/use%40lib":     "",
			"gtags://symbol/nobody_has_me": "",
		} {
			res, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			if want == "" {
				var wire *jsonrpc.Error
				if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams && wire.Code != -32002 {
					t.Errorf("%s: got %+v, %v; want that there is no such resource", uri, res, err)
				}
				continue
			}
			if err != nil || len(res.Contents) != 1 || !strings.Contains(res.Contents[0].Text, want) {
				t.Errorf("%s: got %+v, %v; want %q", uri, res, err, want)
			}
		}
	})
}

func TestCompletion(t *testing.T) {
	var tree strings.Builder
	tree.WriteString(smallTree + "-- many.c --\n")
	for i := range 150 {
		fmt.Fprintf(&tree, "int many_%03d(void) { return %d; }\n", i, i)
	}
	root := navtest.Tree(t, tree.String())
	s := newTestServer(t, func(cfg *Config) { cfg.Above.Root = &root })
	if text, err := s.Call(t.Context(), "update_index", nil, func(string, float64, float64) {}); err != nil || text.Failed {
		t.Fatal(text, err)
	}
	everywhere(t, s, clientAt(root), func(t *testing.T, session *mcp.ClientSession) {
		complete := func(prefix string) mcp.CompletionResultDetails {
			res, err := session.Complete(t.Context(), &mcp.CompleteParams{
				Ref:      &mcp.CompleteReference{Type: "ref/resource", URI: "gtags://symbol/{name}"},
				Argument: mcp.CompleteParamsArgument{Name: "name", Value: prefix},
			})
			if err != nil {
				t.Fatal(err)
			}
			return res.Completion
		}
		if got := complete("use"); !slices.Equal(got.Values, []string{"use", "use_twice"}) || got.HasMore {
			t.Errorf("use: got %+v", got)
		}
		if got := complete("many_"); len(got.Values) != 100 || !got.HasMore || got.Values[0] != "many_000" {
			t.Errorf("many_: got %d values, more %v", len(got.Values), got.HasMore)
		}
		for _, prefix := range []string{"nobody", "two words", "\x00", strings.Repeat("x", 5000)} {
			if got := complete(prefix); len(got.Values) != 0 {
				t.Errorf("%.20q: got %+v", prefix, got)
			}
		}
		res, err := session.Complete(t.Context(), &mcp.CompleteParams{
			Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "none"},
			Argument: mcp.CompleteParamsArgument{Name: "name", Value: "use"},
		})
		if err != nil || len(res.Completion.Values) != 0 {
			t.Errorf("a prompt that does not exist: got %+v, %v", res, err)
		}
	})
}

// TestCompletionInTheClientsWorkspace has no root but the client's.
func TestCompletionInTheClientsWorkspace(t *testing.T) {
	root := navtest.Tree(t, smallTree)
	url := startHTTP(t, newTestServer(t, nil), HTTPOptions{})
	session := connectHTTP(t, url, "2025-11-25", root)
	res, err := session.Complete(t.Context(), &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/resource", URI: "gtags://symbol/{name}"},
		Argument: mcp.CompleteParamsArgument{Name: "name", Value: "map"},
	})
	if err != nil || !slices.Equal(res.Completion.Values, []string{"map_page"}) {
		t.Errorf("got %+v, %v", res, err)
	}
}

// TestChangedRootsCount moves a client to another workspace during its session.
func TestChangedRootsCount(t *testing.T) {
	one, two := navtest.Tree(t, "-- a.c --\nint here = 1;\n"), navtest.Tree(t, "-- a.c --\nint here = 2;\n")
	var client *mcp.Client
	everywhere(t, newTestServer(t, nil), func() *mcp.Client {
		client = clientAt(one)()
		return client
	}, func(t *testing.T, session *mcp.ClientSession) {
		if got, _ := ask(t, session, "find_definition", map[string]any{"symbol": "here"}); !strings.Contains(got, "here = 1") {
			t.Fatalf("in the first workspace: got %s", got)
		}
		client.RemoveRoots("file://" + one)
		client.AddRoots(&mcp.Root{URI: "file://" + two})
		if strings.Contains(t.Name(), "memory,_2026") {
			return // this revision announces no change; see rootsKept
		}
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			got, _ := ask(t, session, "find_definition", map[string]any{"symbol": "here"})
			if strings.Contains(got, "here = 2") {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("after the change: got %s", got)
			}
		}
	})
}

// patientServer waits a minute for a toolchain that never comes.
func patientServer(t *testing.T, waiting func()) *Server {
	return newTestServer(t, func(cfg *Config) {
		cfg.Metrics = true
		cfg.Patience = time.Minute
		cfg.Open = func(root string, _ Settings) (*nav.Workspace, error) {
			return nav.OpenWorkspace(root, nav.Options{
				Toolchain: func(context.Context) (nav.Toolchain, error) {
					waiting()
					return nav.Toolchain{}, passing{errors.New("being installed")}
				},
			})
		}
	})
}

// TestCancellationStopsTheWork cancels a call that waits; it must end, not only
// be forgotten.
func TestCancellationStopsTheWork(t *testing.T) {
	root := navtest.Tree(t, smallTree)
	var asked atomic.Int64
	s := patientServer(t, func() { asked.Add(1) })
	everywhere(t, s, clientAt(root), func(t *testing.T, session *mcp.ClientSession) {
		ctx, cancel := context.WithCancel(t.Context())
		before := asked.Load()
		ended := make(chan error, 1)
		go func() {
			_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "find_definition", Arguments: map[string]any{"symbol": "x"}})
			ended <- err
		}()
		until(t, "the call waits", func() bool { return asked.Load() > before })
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the client got %v", err)
		}
		until(t, "the call has ended", func() bool { return testutil.ToFloat64(s.metrics.running) == 0 })
		then := asked.Load()
		time.Sleep(3 * askAgain) // longer than a call that goes on would be quiet
		if now := asked.Load(); now != then {
			t.Errorf("the cancelled call asked %d times more", now-then)
		}
	})
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not so: %s", what)
		}
	}
}

// TestProgress hears of a wait while it lasts, each figure greater than the one
// before.
func TestProgress(t *testing.T) {
	root := navtest.Tree(t, smallTree)
	s := patientServer(t, func() {})
	var seen chan *mcp.ProgressNotificationParams
	client := func() *mcp.Client {
		seen = make(chan *mcp.ProgressNotificationParams, 100)
		to := seen
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) { to <- req.Params },
		})
		client.AddRoots(&mcp.Root{URI: "file://" + root})
		return client
	}
	everywhere(t, s, client, func(t *testing.T, session *mcp.ClientSession) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		params := &mcp.CallToolParams{Name: "find_definition", Arguments: map[string]any{"symbol": "x"}}
		params.SetProgressToken("mine")
		go session.CallTool(ctx, params)
		last := 0.0
		for range 2 {
			select {
			case p := <-seen:
				if p.ProgressToken != "mine" || p.Progress <= last || !strings.Contains(p.Message, "being installed") {
					t.Errorf("got %+v after %v", p, last)
				}
				last = p.Progress
			case <-time.After(20 * time.Second):
				t.Fatal("no progress is heard of")
			}
		}
	})
}
