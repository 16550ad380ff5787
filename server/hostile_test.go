package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

// bareServer has no toolchain and no tree: whatever it is asked fails at once.
func bareServer(t testing.TB) *Server {
	s := New(Config{
		Version: "test", Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler),
		Open: func(string, Settings) (*nav.Workspace, error) { return nil, errors.New("there is nothing here") },
	})
	t.Cleanup(func() { s.Close() })
	return s
}

const (
	pingMessage = `{"jsonrpc":"2.0","id":"after","method":"ping"}`
	listMessage = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
)

// hostileMessages are what broken and malicious clients send.
func hostileMessages() map[string]string {
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":` + params + `}`
	}
	return map[string]string{
		"nothing":               "",
		"blanks":                " \t\r ",
		"text":                  "GET / HTTP/1.1",
		"half a message":        `{"jsonrpc":"2.0","id":1,"meth`,
		"two messages":          pingMessage + pingMessage,
		"NUL bytes":             "\x00\x00\x00",
		"no UTF-8":              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}",
		"a byte order mark":     "\ufeff" + pingMessage,
		"a number":              "42",
		"null":                  "null",
		"an empty object":       "{}",
		"an empty batch":        "[]",
		"a batch":               "[" + listMessage + "," + listMessage + "]",
		"a batch of nonsense":   "[1,2,3]",
		"a batch in a batch":    "[[" + listMessage + "]]",
		"a large batch":         "[" + strings.TrimSuffix(strings.Repeat(listMessage+",", 2000), ",") + "]",
		"another version":       `{"jsonrpc":"1.0","id":1,"method":"ping"}`,
		"no version":            `{"id":1,"method":"ping"}`,
		"an object as id":       `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
		"a fraction as id":      `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
		"a huge number as id":   `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`,
		"null as id":            `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		"a number as method":    `{"jsonrpc":"2.0","id":1,"method":7}`,
		"no method":             `{"jsonrpc":"2.0","id":1}`,
		"an unknown method":     `{"jsonrpc":"2.0","id":1,"method":"no/such"}`,
		"an unasked answer":     `{"jsonrpc":"2.0","id":77,"result":{}}`,
		"an unasked error":      `{"jsonrpc":"2.0","id":77,"error":{"code":"x"}}`,
		"a request and answer":  `{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`,
		"params as a string":    `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":"x"}`,
		"params as a list":      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`,
		"the same key twice":    `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`,
		"initialize as a list":  `{"jsonrpc":"2.0","id":1,"method":"initialize","params":[]}`,
		"a version as a list":   `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":[],"capabilities":7}}`,
		"a call of nothing":     call(`{}`),
		"a call of null":        call(`{"name":null}`),
		"a name as a list":      call(`{"name":["find_definition"]}`),
		"arguments as a string": call(`{"name":"find_definition","arguments":"x"}`),
		"arguments as a list":   call(`{"name":"find_definition","arguments":[1,2]}`),
		"a symbol as an object": call(`{"name":"find_definition","arguments":{"symbol":{"a":1}}}`),
		"a limit as text":       call(`{"name":"find_definition","arguments":{"symbol":"a","limit":"ten"}}`),
		"a limit as infinity":   call(`{"name":"find_definition","arguments":{"symbol":"a","limit":1e999}}`),
		"a long symbol":         call(`{"name":"find_definition","arguments":{"symbol":"` + strings.Repeat("x", 1<<20) + `"}}`),
		"a long unknown name":   call(`{"name":"` + strings.Repeat("x", 1<<20) + `"}`),
		"many arguments":        call(`{"name":"find_definition","arguments":{` + manyKeys(20000) + `}}`),
		"a token of its own":    call(`{"name":"find_definition","arguments":{"symbol":"a"},"_meta":{"progressToken":{"a":[]}}}`),
		"meta as a list":        call(`{"name":"find_definition","_meta":[]}`),
		"forged input":          call(`{"name":"find_definition","arguments":{"symbol":"a"},"inputResponses":{"roots":{"roots":[{"uri":"file:///etc"}]}}}`),
		"forged odd input":      call(`{"name":"find_definition","arguments":{"symbol":"a"},"inputResponses":{"roots":[7]}}`),
		"cancel of nothing":     `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345}}`,
		"cancel of an object":   `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
		"unknown notification":  `{"jsonrpc":"2.0","method":"notifications/none"}`,
		"deep lists":            strings.Repeat("[", 1<<20),
		"deep objects":          strings.Repeat(`{"a":`, 1<<19),
		"deep and whole":        strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
		"deep arguments":        call(`{"name":"find_definition","arguments":{"symbol":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}}`),
		"too deep arguments":    call(`{"name":"find_definition","arguments":{"symbol":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + `}}`),
		"a resource of nothing": `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"gtags://symbol/%zz"}}`,
		"a file as a resource":  `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}`,
		"completion of nothing": `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{}}`,
		"completion of null":    `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":null,"argument":null}}`,
		"a level of its own":    `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":7}}`,
	}
}

func manyKeys(n int) string {
	var keys strings.Builder
	for i := range n {
		fmt.Fprintf(&keys, `"k%d":%d,`, i, i)
	}
	return strings.TrimSuffix(keys.String(), ",")
}

// TestHostileMessagesOverHTTP sends every one of them in both eras, outside and
// inside a session; the next request is answered each time.
func TestHostileMessagesOverHTTP(t *testing.T) {
	url := startHTTP(t, bareServer(t), HTTPOptions{})
	session := beginSession(t, http.DefaultClient, url)
	for name, message := range hostileMessages() {
		for _, headers := range [][]string{
			{}, {"Mcp-Session-Id", session}, {"Mcp-Session-Id", session, "Mcp-Protocol-Version", "2025-03-26"}, {"Mcp-Session-Id", session, "Mcp-Protocol-Version", "2025-11-25"},
			{"Mcp-Protocol-Version", "2026-07-28"}, {"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "find_definition"},
			{"Mcp-Protocol-Version", "9999"}, {"Mcp-Session-Id", "nobody's"},
		} {
			code, text := post(t, url, message, headers...)
			if code >= 500 {
				t.Errorf("%s with %v: got %d %.300s", name, headers, code, text)
			}
			if code, text := post(t, url, pingMessage, "Mcp-Session-Id", session); code != 200 || !strings.Contains(text, `"id":"after"`) {
				t.Fatalf("after %s with %v: a ping gets %d %.300s", name, headers, code, text)
			}
		}
	}
}

// TestHostileRequests breaks the rules of HTTP itself.
func TestHostileRequests(t *testing.T) {
	url := startHTTP(t, bareServer(t), HTTPOptions{pace: pace{header: 200 * time.Millisecond, body: 200 * time.Millisecond, write: time.Second}})
	address := strings.TrimPrefix(url, "http://")
	const head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
	for _, test := range []struct{ name, send, want string }{
		{"nothing, slowly", "", ""},
		{"half a request line", "POST /m", ""},
		{"headers without an end", head + "X-A: b\r\n", ""},
		{"half a body", head + "Content-Length: 1000\r\n\r\n{", "400"},
		{"a body shorter than said", head + "Content-Length: 1000\r\nConnection: close\r\n\r\n" + pingMessage, "400"},
		{"no request", "\x16\x03\x01\x02\x00\x01\x00", "400"},
		{"headers over the limit", head + "X-A: " + strings.Repeat("a", 80<<10) + "\r\n\r\n", "431"},
		{"many headers", head + strings.Repeat("X-A: b\r\n", 20<<10) + "\r\n", "431"},
		{"a body over the limit", head + fmt.Sprintf("Content-Length: %d\r\n\r\n", maxBody+1) + strings.Repeat("x", 1<<20), ""},
		{"chunks that are none", head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "400"},
		{"a negative length", head + "Content-Length: -5\r\n\r\n", "400"},
		{"two lengths", head + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", "400"},
		{"no host", "POST /mcp HTTP/1.1\r\n\r\n", "400"},
		{"another method", "BREW /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", "405"},
	} {
		t.Run(test.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			go io.WriteString(conn, test.send)
			conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			answer := make([]byte, 4<<10)
			n, err := conn.Read(answer)
			if errors.Is(err, context.DeadlineExceeded) || n == 0 && err == nil {
				t.Error("the connection stays open")
			}
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				t.Error("the connection stays open")
			}
			if status := string(answer[:n]); test.want != "" && !strings.HasPrefix(status, "HTTP/1.1 "+test.want) {
				t.Errorf("got %.200q, want status %s", status, test.want)
			}
			if code, text := post(t, url, initializeMessage); code != http.StatusOK {
				t.Errorf("the next client gets %d %s", code, text)
			}
		})
	}
	// As long as it likes, but in one piece that is too long.
	code, _ := post(t, url, strings.Repeat("x", maxBody+1))
	if code != http.StatusRequestEntityTooLarge {
		t.Errorf("a body over the limit: got %d", code)
	}
}

// TestWhoDoesNotReadIsHungUpOn asks for an answer and takes none of it.
func TestWhoDoesNotReadIsHungUpOn(t *testing.T) {
	ended := make(chan error, 1)
	slow := httptest.NewServer(patient(200*time.Millisecond, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				ended <- err
				return
			}
		}
	})))
	defer slow.Close()
	conn, err := net.Dial("tcp", strings.TrimPrefix(slow.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the handler still writes")
	}
}

// TestHostileMessagesOverStdio sends every one of them as a line; the session
// goes on.
func TestHostileMessagesOverStdio(t *testing.T) {
	s := bareServer(t)
	in, feed := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := s.ServeStdio(t.Context(), in, out)
		out.Close()
		ended <- err
	}()
	decoder := json.NewDecoder(answers)
	say := func(message string) {
		if _, err := io.WriteString(feed, message+"\n"); err != nil {
			t.Error(err)
		}
	}
	hear := func(id string) {
		for {
			var answer struct {
				JSONRPC string
				ID      any
			}
			if err := decoder.Decode(&answer); err != nil || answer.JSONRPC != "2.0" {
				t.Fatalf("got %+v, %v", answer, err)
			}
			if answer.ID == id {
				return
			}
		}
	}
	go say(strings.Replace(initializeMessage, `"id":1`, `"id":"first"`, 1))
	hear("first")
	for name, message := range hostileMessages() {
		if strings.Contains(name, "initialize") {
			continue
		}
		t.Log(name)
		go func() {
			say(message)
			say(pingMessage)
		}()
		hear("after")
	}
	feed.Close()
	if err := <-ended; err != nil {
		t.Errorf("the session ended with %v", err)
	}
}

// TestAHundredMegabytes sends a line of that length: it is refused, costs one
// buffer, and the next one is served.
func TestAHundredMegabytes(t *testing.T) {
	const size = 100 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	line := io.MultiReader(io.LimitReader(endless('x'), size), strings.NewReader("\n"+pingMessage+"\n"))
	var forwarded, replies bytes.Buffer
	if err := filter(line, &forwarded, &replies); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := forwarded.String(); got != pingMessage+"\n" || !strings.Contains(replies.String(), "longer than") {
		t.Errorf("forwarded %q, replied %q", got, &replies)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 40<<20 {
		t.Errorf("it took %d MB of memory", took>>20)
	}
	url := startHTTP(t, bareServer(t), HTTPOptions{})
	req, err := http.NewRequest(http.MethodPost, url+Endpoint, io.LimitReader(endless('x'), size))
	if err != nil {
		t.Fatal(err)
	}
	// The server hangs up in the middle: the client sees the answer, or the end.
	if res, err := http.DefaultClient.Do(req); err == nil {
		res.Body.Close()
		if res.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("over HTTP: got %s", res.Status)
		}
	}
	if code, text := post(t, url, initializeMessage); code != http.StatusOK {
		t.Errorf("the next client gets %d %s", code, text)
	}
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// FuzzHTTP posts anything under any version: the handler neither fails nor
// hangs, and the next request is answered.
func FuzzHTTP(f *testing.F) {
	s := bareServer(f)
	handler := s.httpHandler(s.MCP(f.Context()), HTTPOptions{pace: usualPace})
	send := func(body []byte, version string) *httptest.ResponseRecorder {
		req := httptest.NewRequest(http.MethodPost, "http://localhost"+Endpoint, bytes.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Mcp-Protocol-Version", version)
		var envelope struct {
			Method string
			Params struct{ Name string }
		}
		if json.Unmarshal(body, &envelope) == nil { // what the newest revision wants to see twice
			req.Header.Set("Mcp-Method", envelope.Method)
			req.Header.Set("Mcp-Name", envelope.Params.Name)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		return w
	}
	for _, message := range hostileMessages() {
		if len(message) < 1<<10 {
			f.Add([]byte(message), "2025-11-25")
			f.Add([]byte(message), "2026-07-28")
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, version string) {
		if strings.ContainsAny(version, "\r\n") {
			return
		}
		if w := send(body, version); w.Code >= 500 {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
		if w := send([]byte(initializeMessage), ""); w.Code != http.StatusOK {
			t.Errorf("the next request gets %d %s", w.Code, w.Body)
		}
	})
}
