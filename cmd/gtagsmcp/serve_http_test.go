package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
	"github.com/gtagsmcp/gtagsmcp/server"
)

// webServer is the program, serving over HTTP.
type webServer struct {
	*exec.Cmd
	url string
	// said is what it has written to standard error when it ends.
	said chan string
}

var servingAt = regexp.MustCompile(`serving (http://\S+)`)

func startWebServer(t *testing.T, env []string, args ...string) *webServer {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &webServer{Cmd: exec.Command(program), said: make(chan string, 1)}
	s.Args = append([]string{"gtagsmcp", "serve", "--transport", "http", "--port", "0"}, args...)
	s.Env = append(os.Environ(), env...)
	stderr, err := s.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Process.Kill() })
	at := make(chan string, 1)
	go func() {
		var all strings.Builder
		for scanner := bufio.NewScanner(stderr); scanner.Scan(); {
			all.WriteString(scanner.Text() + "\n")
			if m := servingAt.FindStringSubmatch(scanner.Text()); m != nil {
				at <- m[1]
			}
		}
		close(at)
		s.said <- all.String()
	}()
	select {
	case url, ok := <-at:
		if !ok {
			s.Wait()
			t.Fatalf("the server ended: %s", <-s.said)
		}
		s.url = url
	case <-time.After(time.Minute):
		t.Fatal("the server does not say where it serves")
	}
	return s
}

// status posts the first message of a session under a token and returns the status.
func (s *webServer) status(t *testing.T, token string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url, strings.NewReader(initialize))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

// message posts one message and returns its answer, which may be a stream.
func (s *webServer) message(t *testing.T, body, session string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode >= 300 {
		text, _ := io.ReadAll(res.Body)
		t.Fatalf("%s is answered with %s: %s", body, res.Status, text)
	}
	return res
}

// TestServeHTTPEnds ends with a signal in bounded time, also while a client
// listens and a call runs.
func TestServeHTTPEnds(t *testing.T) {
	home := navtest.Tools(t).Home
	tree := navtest.Tree(t, "-- a.c --\nint f(void) { return 0; }\n")
	for _, test := range []struct {
		name   string
		signal os.Signal
		busy   bool
	}{
		{"SIGTERM, idle", syscall.SIGTERM, false},
		{"SIGTERM, busy", syscall.SIGTERM, true},
		{"SIGINT, busy", os.Interrupt, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := startWebServer(t, []string{"GTAGS_MCP_HOME=" + home}, "--root", tree)
			if test.busy {
				res := s.message(t, initialize, "")
				session := res.Header.Get("Mcp-Session-Id")
				io.Copy(io.Discard, res.Body)
				s.message(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, session)
				s.message(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"update_index","arguments":{"full":true}}}`, session)
				listen, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url, nil)
				if err != nil {
					t.Fatal(err)
				}
				listen.Header.Set("Accept", "text/event-stream")
				listen.Header.Set("Mcp-Session-Id", session)
				if res, err := http.DefaultClient.Do(listen); err != nil || res.StatusCode != 200 {
					t.Fatalf("listening: %v, %v", res, err)
				}
			}
			start := time.Now()
			if err := s.Process.Signal(test.signal); err != nil {
				t.Fatal(err)
			}
			said := <-s.said
			if err := s.Wait(); err != nil {
				t.Errorf("it ended with %v and said %s", err, said)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("it ended after %v", took)
			}
		})
	}
}

func TestServeRefusesBadSettings(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"--transport carrier-pigeon", "--transport takes stdio or http"},
		{"--transport http --port 65536", "--port takes a number"},
		{"--transport http --port x", "--port takes a number"},
		{"--transport http --host 0.0.0.0", "--allow-root"},
		{"--transport http --host ::", "--allow-root"},
		{"--transport http --host example.org", "--allow-root"},
	} {
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program)
		cmd.Args = append([]string{"gtagsmcp", "serve"}, strings.Fields(test.args)...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != exitUsage || !strings.Contains(string(out), test.want) {
			t.Errorf("serve %s: %v\n%swant exit code %d and %q", test.args, err, out, exitUsage, test.want)
		}
	}
}

// TestServeBeyondLoopback wants a token of everybody, its own when none is given.
func TestServeBeyondLoopback(t *testing.T) {
	tree := navtest.Tree(t, "-- a.c --\nint x;\n")
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("a-token-of-our-own\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		args []string
	}{
		{"a token of its own", nil},
		{"a token from a file", []string{"--token-file", file}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := startWebServer(t, []string{"GTAGS_MCP_HOME=" + t.TempDir(), "GTAGS_MCP_AUTO_SETUP=0"},
				append([]string{"--host", "0.0.0.0", "--allow-root", tree}, test.args...)...)
			s.url = strings.Replace(s.url, "[::]", "127.0.0.1", 1)
			for _, token := range []string{"", "wrong", "a-token-of-our-ow", "a-token-of-our-own2"} {
				if code := s.status(t, token); code != http.StatusUnauthorized {
					t.Errorf("with token %q: got %d", token, code)
				}
			}
			s.Process.Signal(syscall.SIGTERM)
			said := <-s.said
			token := "a-token-of-our-own"
			if test.args == nil {
				m := regexp.MustCompile(`Bearer (\S+)`).FindAllStringSubmatch(said, -1)
				if len(m) != 1 {
					t.Fatalf("it said %s, which does not show one token", said)
				}
				token = m[0][1]
			}
			if test.args != nil && strings.Contains(said, token) {
				t.Errorf("it shows the token: %s", said)
			}
			if err := server.CheckToken(token); err != nil {
				t.Error(err)
			}
		})
	}
	s := startWebServer(t, []string{"GTAGS_MCP_HOME=" + t.TempDir(), "GTAGS_MCP_AUTO_SETUP=0"}, "--token-file", file)
	if code := s.status(t, ""); code != http.StatusUnauthorized {
		t.Errorf("on loopback with a token file, without the token: got %d", code)
	}
	if code := s.status(t, "a-token-of-our-own"); code != http.StatusOK {
		t.Errorf("on loopback with a token file, with the token: got %d", code)
	}
}
