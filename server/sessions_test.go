package server

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

// TestDroppedSessionsLeaveNothing opens 1,000 sessions, a tenth of them with a
// stream on which the client listens, and leaves them without a word.
func TestDroppedSessionsLeaveNothing(t *testing.T) {
	url := startHTTP(t, bareServer(t), HTTPOptions{SessionTimeout: time.Second})
	listen := func(ctx context.Context, client *http.Client, session string) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+Endpoint, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "text/event-stream")
		req.Header.Set(sessionHeader, session)
		if res, err := client.Do(req); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("listening: %v, %v", res, err)
		}
	}
	ctx, drop := context.WithCancel(t.Context())
	transport := &http.Transport{MaxIdleConnsPerHost: 10}
	client := &http.Client{Transport: transport}
	beginSession(t, client, url)
	goroutines, descriptors := runtime.NumGoroutine(), openFiles(t)
	for i := range 1000 {
		session := beginSession(t, client, url)
		if i%10 == 0 {
			listen(ctx, client, session)
		}
	}
	most := runtime.NumGoroutine()
	drop()
	transport.CloseIdleConnections()
	until(t, "the sessions are gone", func() bool {
		return runtime.NumGoroutine() <= goroutines+5 && openFiles(t) <= descriptors+5
	})
	t.Logf("%d goroutines with the sessions, %d before, %d after", most, goroutines, runtime.NumGoroutine())
	if most < goroutines+500 {
		t.Errorf("only %d goroutines for 1,000 sessions: there were none", most-goroutines)
	}
}

// openFiles is the number of descriptors of this process, 0 where it cannot be told.
func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// TestKilledClientsHurtNobody resets the connections of clients in the middle of
// their calls, as the system does for a process that is killed.
func TestKilledClientsHurtNobody(t *testing.T) {
	root := navtest.Tree(t, smallTree)
	s := newTestServer(t, func(cfg *Config) { cfg.Above.Root = &root })
	url := startHTTP(t, s, HTTPOptions{})
	session := connectHTTP(t, url, eras[0])
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"update_index","arguments":{"full":true},"_meta":{"progressToken":1,` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}`
	for i := range 20 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" +
			"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: update_index\r\nContent-Length: "
		if _, err := io.WriteString(conn, head+"1000\r\n\r\n{"); err != nil {
			t.Fatal(err)
		}
		conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*5*time.Millisecond)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+Endpoint, strings.NewReader(call))
			if err != nil {
				return
			}
			for name, value := range map[string]string{
				"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
				"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "update_index",
			} {
				req.Header.Set(name, value)
			}
			if res, err := http.DefaultClient.Do(req); err == nil {
				res.Body.Close()
			}
		}()
		got, failed := ask(t, session, "find_definition", map[string]any{"symbol": "map_page"})
		if failed || !strings.Contains(got, "lib/map.c:3:") {
			t.Fatalf("while others are killed: failed=%v, got %s", failed, got)
		}
	}
}

// TestTooManySessions begins more sessions than there may be: the quiet ones end,
// the one in use goes on.
func TestTooManySessions(t *testing.T) {
	url := startHTTP(t, bareServer(t), HTTPOptions{sessions: 10})
	begin := func() string { return beginSession(t, http.DefaultClient, url) }
	quiet, busy := begin(), begin()
	for range 30 {
		begin()
		if code, text := post(t, url, pingMessage, sessionHeader, busy); code != http.StatusOK {
			t.Fatalf("the session in use: got %d %s", code, text)
		}
	}
	if code, _ := post(t, url, pingMessage, sessionHeader, quiet); code != http.StatusNotFound {
		t.Errorf("the session that was quiet for longest: got %d, want that it is gone", code)
	}
	if last := begin(); last == "" {
		t.Error("no session for the next client")
	}
}
