package server

//lint:file-ignore SA1019 Roots are deprecated, and clients use them.

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

// startHTTP serves on a port of its own until the test ends.
func startHTTP(t testing.TB, s *Server, opts HTTPOptions) (url string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.ServeHTTP(ctx, l, opts) }()
	t.Cleanup(func() {
		stop()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("serving ended with %v", err)
			}
		case <-time.After(5 * time.Second):
			t.Error("the server did not end")
		}
	})
	return "http://" + l.Addr().String()
}

// connectHTTP joins a client with these workspace roots to a server.
func connectHTTP(t testing.TB, url, era string, roots ...string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	for _, root := range roots {
		client.AddRoots(&mcp.Root{URI: "file://" + root})
	}
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url + Endpoint, MaxRetries: -1},
		&mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// TestManyClientsOfOneServer answers clients of every revision, each about its
// own workspace.
func TestManyClientsOfOneServer(t *testing.T) {
	url := startHTTP(t, newTestServer(t, nil), HTTPOptions{})
	for i, era := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		root := navtest.Tree(t, fmt.Sprintf("-- a.c --\nint only_%d;\nint everywhere;\n", i))
		session := connectHTTP(t, url, era, root)
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			for j := range 5 {
				got, failed := ask(t, session, "find_definition", map[string]any{"symbol": fmt.Sprintf("only_%d", j)})
				if want := fmt.Sprintf("a.c:1: int only_%d;", i); failed || strings.Contains(got, want) != (i == j) {
					t.Errorf("client %d asks for only_%d: failed=%v, got %s", i, j, failed, got)
				}
			}
		})
	}
}

// post sends one message as it is and returns the status and the answer.
func post(t testing.TB, url, body string, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+Endpoint, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	return do(t, req, headers...)
}

// do sends a request with further headers, in pairs of name and value.
func do(t testing.TB, req *http.Request, headers ...string) (int, string) {
	t.Helper()
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// beginSession begins a session by hand and returns its name.
func beginSession(t testing.TB, client *http.Client, url string) string {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url+Endpoint, strings.NewReader(initializeMessage))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("initialize: %s, %v", res.Status, err)
	}
	return res.Header.Get(sessionHeader)
}

const initializeMessage = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func TestOtherNamesAndOriginsAreRefused(t *testing.T) {
	url := startHTTP(t, newTestServer(t, nil), HTTPOptions{Hosts: []string{"nav.example.org"}})
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	for _, test := range []struct {
		name    string
		headers []string
		want    int
	}{
		{"its address", nil, 200},
		{"localhost", []string{"Host", "localhost:" + port}, 200},
		{"IPv6", []string{"Host", "[::1]:" + port}, 200},
		{"a name it was given", []string{"Host", "NAV.example.org"}, 200},
		{"a foreign name", []string{"Host", "attacker.example"}, 403},
		{"a foreign name with the port", []string{"Host", "attacker.example:" + port}, 403},
		{"a name that begins like its own", []string{"Host", "localhost.attacker.example"}, 403},
		{"its own origin", []string{"Origin", url}, 200},
		{"a foreign origin", []string{"Origin", "http://attacker.example"}, 403},
		{"another port's origin", []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"a page without origin", []string{"Origin", "null"}, 403},
		{"a browser that says so", []string{"Sec-Fetch-Site", "cross-site"}, 403},
	} {
		if code, text := post(t, url, initializeMessage, test.headers...); code != test.want {
			t.Errorf("%s: got %d %s, want %d", test.name, code, text, test.want)
		}
	}
	for _, path := range []string{Endpoint, "/healthz"} {
		req, err := http.NewRequest(http.MethodGet, url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if code, text := do(t, req, "Origin", "http://attacker.example"); code != http.StatusForbidden {
			t.Errorf("GET %s by a foreign page: got %d %s", path, code, text)
		}
		if code, text := do(t, req, "Host", "attacker.example"); code != http.StatusForbidden {
			t.Errorf("GET %s under a foreign name: got %d %s", path, code, text)
		}
	}
}

func TestBearer(t *testing.T) {
	const token = "a-token-of-our-own"
	url := startHTTP(t, newTestServer(t, nil), HTTPOptions{Token: token})
	for _, test := range []struct {
		header string
		want   int
	}{
		{"", 401}, {"Bearer", 401}, {"Bearer ", 401}, {token, 401}, {"Basic " + token, 401}, {"Bearer x" + token, 401},
		{"Bearer " + token[:5], 401}, {"Bearer " + token + "\tx", 401}, {"Bearer " + token, 200}, {"bearer " + token, 200},
	} {
		if code, text := post(t, url, initializeMessage, "Authorization", test.header); code != test.want {
			t.Errorf("%q: got %d %s, want %d", test.header, code, text, test.want)
		}
	}
	for bad, want := range map[string]string{"": "0 characters", "short": "5 characters", "with a blank in it": "blank", "ünïcödé-everywhere": "header"} {
		if err := CheckToken(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("token %q: got %v, want an error with %q", bad, err, want)
		}
	}
	if a, b := NewToken(), NewToken(); a == b || CheckToken(a) != nil {
		t.Errorf("made the tokens %q and %q", a, b)
	}
}
