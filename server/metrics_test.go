package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

func get(t *testing.T, url string, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return do(t, req, headers...)
}

func TestMetrics(t *testing.T) {
	root := navtest.Tree(t, smallTree)
	url := startHTTP(t, newTestServer(t, func(cfg *Config) { cfg.Metrics = true }), HTTPOptions{})
	session := connectHTTP(t, url, eras[0], root)
	ask(t, session, "find_definition", map[string]any{"symbol": "map_page"})
	ask(t, session, "find_definition", map[string]any{"symbol": "map_page"})
	ask(t, session, "find_definition", map[string]any{"symbol": "map_page", "limit": -1})
	ask(t, session, "list_file_symbols", map[string]any{"file_path": "none.c"})
	ask(t, session, "find_definition", map[string]any{"symbol": "map_page", "project_root": "/none"})
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "a-tool-of-a-strangers-making"}); err == nil {
		t.Error("an unknown tool was called")
	}
	get(t, url+"/a/path/of/a/strangers/making")
	get(t, url+"/healthz")
	code, page := get(t, url+"/metrics")
	if code != http.StatusOK {
		t.Fatalf("got %d %s", code, page)
	}
	for _, want := range []string{
		`gtagsmcp_calls_total{outcome="ok",tool="find_definition"} 2`,
		`gtagsmcp_calls_total{outcome="refused",tool="find_definition"} 2`,
		`gtagsmcp_calls_total{outcome="refused",tool="list_file_symbols"} 1`,
		`gtagsmcp_call_seconds_count{tool="find_definition"} 4`,
		"gtagsmcp_calls_running 0\n",
		`gtagsmcp_http_requests_total{code="200",path="/healthz"} 1`,
		`gtagsmcp_http_requests_total{code="404",path="other"} 1`,
		`gtagsmcp_indexes{state="ready"} 1`,
		"gtagsmcp_indexed_files 3\n",
		"go_goroutines ",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "stranger") {
		t.Error("a label holds what a client sent")
	}
	if t.Failed() {
		t.Log(page)
	}
}

func TestMetricsAreForThoseWhoKnowTheToken(t *testing.T) {
	url := startHTTP(t, newTestServer(t, func(cfg *Config) { cfg.Metrics = true }), HTTPOptions{Token: "a-token-of-our-own"})
	if code, _ := get(t, url+"/metrics"); code != http.StatusUnauthorized {
		t.Errorf("without the token: got %d", code)
	}
	if code, _ := get(t, url+"/metrics", "Authorization", "Bearer a-token-of-our-own"); code != http.StatusOK {
		t.Errorf("with the token: got %d", code)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if code, _ := get(t, url+path); code != http.StatusOK {
			t.Errorf("%s without the token: got %d", path, code)
		}
	}
	plain := startHTTP(t, newTestServer(t, nil), HTTPOptions{})
	if code, _ := get(t, plain+"/metrics"); code != http.StatusNotFound {
		t.Errorf("metrics that nobody asked for: got %d", code)
	}
}

// TestReady becomes ready with the toolchain, and with the index of the tree
// that the server was started for, which nobody else has asked for.
func TestReady(t *testing.T) {
	root := navtest.Tree(t, smallTree)
	var toolchain atomic.Pointer[error]
	say := func(err error) { toolchain.Store(&err) }
	say(passing{errors.New("being installed")})
	url := startHTTP(t, newTestServer(t, func(cfg *Config) {
		cfg.Above.Root = &root
		cfg.Toolchain = func(context.Context) error { return *toolchain.Load() }
	}), HTTPOptions{})
	ready := func() (r readyReport, code int) {
		code, text := get(t, url+"/readyz")
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if strings.Contains(text, root) || r.Ready != (code == http.StatusOK) {
			t.Errorf("got %d %s", code, text)
		}
		return r, code
	}
	if r, code := ready(); code != http.StatusServiceUnavailable || r.Toolchain != "installing" {
		t.Errorf("while installing: got %d %+v", code, r)
	}
	say(errors.New("no network"))
	if r, _ := ready(); r.Ready || r.Toolchain != "missing" {
		t.Errorf("without a toolchain: got %+v", r)
	}
	say(nil)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		r, _ := ready()
		if r.Ready {
			if r.Index != "ready" {
				t.Errorf("got %+v", r)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still not ready: %+v", r)
		}
	}
}
