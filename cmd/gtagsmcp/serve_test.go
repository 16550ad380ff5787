package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

// served is a server started as a client starts it.
type served struct {
	*exec.Cmd
	in    io.WriteCloser
	lines chan string // what it writes to standard output
	done  chan error
}

func startServer(t *testing.T, env []string, args ...string) *served {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The test binary is the program when it is started under its name.
	s := &served{Cmd: exec.Command(program), lines: make(chan string, 100), done: make(chan error, 1)}
	s.Args = append([]string{"gtagsmcp"}, args...)
	s.Env = append(os.Environ(), env...)
	s.Stderr = os.Stderr
	if s.in, err = s.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			s.lines <- scanner.Text()
		}
		s.done <- s.Wait()
	}()
	t.Cleanup(func() { s.Process.Kill() })
	return s
}

func (s *served) send(t *testing.T, message string) {
	t.Helper()
	if _, err := io.WriteString(s.in, message+"\n"); err != nil {
		t.Fatal(err)
	}
}

// receive returns the next message, which must be JSON-RPC like everything
// else on standard output.
func (s *served) receive(t *testing.T) map[string]any {
	t.Helper()
	select {
	case line, ok := <-s.lines:
		if !ok {
			t.Fatal("the server ended")
		}
		var message map[string]any
		if err := json.Unmarshal([]byte(line), &message); err != nil || message["jsonrpc"] != "2.0" {
			t.Fatalf("standard output has a line that is no message: %q", line)
		}
		return message
	case <-time.After(time.Minute):
		t.Fatal("no answer")
	}
	return nil
}

// exits demands a clean end, soon.
func (s *served) exits(t *testing.T) {
	t.Helper()
	select {
	case err := <-s.done:
		if err != nil {
			t.Errorf("the server ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the server did not end")
	}
}

// pathWith returns a PATH on which only the named programs are.
func pathWith(t *testing.T, programs ...string) string {
	dir := t.TempDir()
	for _, name := range programs {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// TestServeBeforeAnythingIsThere answers initialize and tools/list although
// there is neither toolchain nor tree, and has installed nothing by then.
func TestServeBeforeAnythingIsThere(t *testing.T) {
	home, tree := t.TempDir(), navtest.Tree(t, "-- a.c --\nint x;\n")
	s := startServer(t, []string{"HOME=" + home, "GTAGS_MCP_HOME=" + home + "/managed", "GTAGS_MCP_AUTO_SETUP=0", "PATH=" + pathWith(t, "git")}, "serve", "--root", tree)
	s.send(t, initialize)
	if got := s.receive(t)["result"].(map[string]any); got["protocolVersion"] != "2025-06-18" || got["instructions"] == "" {
		t.Errorf("got %v", got)
	}
	s.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	s.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	tools := s.receive(t)["result"].(map[string]any)["tools"].([]any)
	if len(tools) == 0 {
		t.Error("no tools")
	}
	if entries, err := os.ReadDir(home); err != nil || len(entries) != 0 {
		t.Errorf("the home has %v, %v before the first call", entries, err)
	}

	// With installing turned off, the first call says what to do instead.
	s.send(t, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"find_definition","arguments":{"symbol":"x"}}}`)
	result := s.receive(t)["result"].(map[string]any)
	text := result["content"].([]any)[0].(map[string]any)["text"].(string)
	if result["isError"] != true || !strings.Contains(text, "gtagsmcp setup") {
		t.Errorf("got %v", result)
	}

	// Unknown tools are the protocol's error; garbage costs nothing.
	s.send(t, "this is not JSON")
	if got := fmt.Sprint(s.receive(t)["error"]); !strings.Contains(got, "-32700") {
		t.Errorf("garbage: got %s", got)
	}
	s.send(t, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"nope","arguments":{}}}`)
	if got := fmt.Sprint(s.receive(t)["error"]); !strings.Contains(got, "-32602") {
		t.Errorf("unknown tool: got %s", got)
	}
	s.in.Close()
	s.exits(t)
}

// TestServeEnds ends with the client's input and with a signal, also while a
// call is under way.
func TestServeEnds(t *testing.T) {
	home := navtest.Tools(t).Home
	tree := navtest.Tree(t, "-- a.c --\nint f(void) { return 0; }\n")
	const call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"update_index","arguments":{"full":true}}}`
	for _, test := range []struct {
		name string
		end  func(*served) error
	}{
		{"end of input", func(s *served) error { return s.in.Close() }},
		{"SIGTERM", func(s *served) error { return s.Process.Signal(syscall.SIGTERM) }},
		{"SIGINT", func(s *served) error { return s.Process.Signal(os.Interrupt) }},
	} {
		for _, busy := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, busy=%v", test.name, busy), func(t *testing.T) {
				s := startServer(t, []string{"GTAGS_MCP_HOME=" + home}, "--root", tree)
				s.send(t, initialize)
				s.receive(t)
				if busy {
					s.send(t, call)
				}
				if err := test.end(s); err != nil {
					t.Fatal(err)
				}
				s.exits(t)
			})
		}
	}
}

// TestServeIsProbed starts the server twice, as some clients do: the first is
// only asked what it can do and then killed. It has begun nothing by then, and
// the second one answers.
func TestServeIsProbed(t *testing.T) {
	home := navtest.Tools(t).Home
	tree := navtest.Tree(t, "-- a.c --\nint f(void) { return 0; }\n")
	const discover = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}`
	for _, first := range []string{initialize, discover} {
		probe := startServer(t, []string{"GTAGS_MCP_HOME=" + home}, "--root", tree)
		real := startServer(t, []string{"GTAGS_MCP_HOME=" + home}, "--root", tree)
		probe.send(t, first)
		if got := probe.receive(t); got["error"] != nil {
			t.Errorf("the probe got %v", got)
		}
		if _, err := os.Lstat(filepath.Join(tree, ".gtags-mcp")); err == nil {
			t.Error("an index was begun before anybody asked")
		}
		if err := probe.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		real.send(t, initialize)
		real.receive(t)
		real.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"find_definition","arguments":{"symbol":"f"}}}`)
		if got := fmt.Sprint(real.receive(t)); !strings.Contains(got, "a.c:1: int f(void)") {
			t.Errorf("got %s", got)
		}
		real.in.Close()
		real.exits(t)
		if err := os.RemoveAll(filepath.Join(tree, ".gtags-mcp")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestServeInTheClientsProject is started somewhere else by a client that names
// its project in the environment. Over HTTP that variable is about nobody.
func TestServeInTheClientsProject(t *testing.T) {
	home := navtest.Tools(t).Home
	tree := navtest.Tree(t, "-- a.c --\nint f(void) { return 0; }\n")
	env := []string{"GTAGS_MCP_HOME=" + home, "CLAUDE_PROJECT_DIR=" + tree}
	const call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"find_definition","arguments":{"symbol":"f"}}}`
	s := startServer(t, env)
	s.send(t, initialize)
	s.receive(t)
	s.send(t, call)
	if got := fmt.Sprint(s.receive(t)); !strings.Contains(got, "a.c:1: int f(void)") {
		t.Errorf("over stdio: got %s", got)
	}
	s.in.Close()
	s.exits(t)

	web := startWebServer(t, env)
	res := web.message(t, initialize, "")
	io.Copy(io.Discard, res.Body)
	answer, err := io.ReadAll(web.message(t, call, res.Header.Get("Mcp-Session-Id")).Body)
	if err != nil || strings.Contains(string(answer), tree) {
		t.Errorf("over HTTP: got %s, %v", answer, err)
	}
}
