//go:build artifacts

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch/releasetest"
)

// These tests run the program itself, from an empty home, against a release
// server on this machine that has what "make artifacts" made. "make
// test-toolchain" runs them and prints what they measured and what was said.

// envArtifacts names the output folder of make artifacts.
const envArtifacts = "GTAGS_MCP_TEST_ARTIFACTS"

// lockFile is the part of toolchain/lock.json that a server needs.
type lockFile struct {
	Repository, Tag string
	Assets          []struct {
		Platform, Name, SHA256 string
		Size                   int64
	}
}

func readLock(t testing.TB) (l lockFile) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "toolchain", "lock.json"))
	if err == nil {
		err = json.Unmarshal(data, &l)
	}
	if err != nil || len(l.Assets) == 0 {
		t.Fatalf("lock file: %v", err)
	}
	return l
}

func artifactsDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv(envArtifacts)
	if dir == "" {
		t.Fatalf("%s must name the output folder of make artifacts", envArtifacts)
	}
	return dir
}

// artifact returns one archive.
func artifact(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(artifactsDir(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func setArchive(t testing.TB, libc string) []byte {
	return artifact(t, "toolchain-linux-"+runtime.GOARCH+"-"+libc+".tar.gz")
}

// program is the binary that users run, built once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "gtagsmcp-artifacts-*")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "gtagsmcp")
	cmd := exec.Command("go", "build", "-trimpath", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

func builtProgram(t testing.TB) string {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// releaseServer serves the archives and the sources as the pinned release.
func releaseServer(t testing.TB, start func(testing.TB) *releasetest.Server) *releasetest.Server {
	t.Helper()
	locked, assets := readLock(t), map[string][]byte{}
	for _, a := range locked.Assets {
		assets[a.Name] = artifact(t, a.Name)
	}
	sources, err := filepath.Glob(filepath.Join(artifactsDir(t), "sources", "*"))
	if err != nil || len(sources) == 0 {
		t.Fatalf("no sources beside the archives: %v", err)
	}
	for _, path := range sources {
		assets[filepath.Base(path)] = artifact(t, filepath.Join("sources", filepath.Base(path)))
	}
	s := start(t)
	s.Add(releasetest.Release{Repo: locked.Repository, Tag: locked.Tag, Assets: assets})
	return s
}

// machine is a user with an empty home on a machine that has git and no
// toolchain, and whose releases come from one address.
type machine struct {
	home string
	env  []string
}

func newMachine(t testing.TB, mirror string) machine {
	t.Helper()
	home := t.TempDir()
	return machine{home, []string{
		"HOME=" + home, "GTAGS_MCP_HOME=" + filepath.Join(home, "höme of tools", ".gtags-mcp"),
		"PATH=" + pathWithout(t), "TMPDIR=" + t.TempDir(), fetch.EnvMirror + "=" + mirror,
	}}
}

func pathWithout(t testing.TB) string {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(git, filepath.Join(dir, "git")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (m machine) managed() string { return filepath.Join(m.home, "höme of tools", ".gtags-mcp") }

// run runs the program as a user of the machine.
func (m machine) run(t testing.TB, args ...string) (out string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, builtProgram(t), args...)
	cmd.Env, cmd.Dir = m.env, "/"
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err = cmd.Run(); err != nil {
		err = fmt.Errorf("%w: %s", err, lastLines(stderr.String(), 12))
	}
	return stdout.String(), err
}

// lastLines leaves out an install's steps.
func lastLines(text string, n int) string {
	var keep []string
	for line := range strings.Lines(text) {
		if len(line) < 3 || line[2] != ':' {
			keep = append(keep, strings.TrimRight(line, "\n"))
		}
	}
	return strings.Join(keep[max(0, len(keep)-n):], "\n")
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// The archives are those that the program pins: the recipe is reproducible, or
// the lock file is not of this recipe.
func TestArtifactsAreThePinned(t *testing.T) {
	for _, a := range readLock(t).Assets {
		data := artifact(t, a.Name)
		if int64(len(data)) != a.Size || sum(data) != a.SHA256 {
			t.Errorf("%s has %d bytes and the SHA-256 %s; toolchain/lock.json says %d and %s", a.Name, len(data), sum(data), a.Size, a.SHA256)
		} else {
			t.Logf("%s  %d bytes  %s", a.Name, a.Size, a.SHA256)
		}
	}
}

// counted counts the bytes of all answers.
func counted(total *atomic.Int64) releasetest.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(countingWriter{w, total}, r) })
	}
}

type countingWriter struct {
	http.ResponseWriter
	total *atomic.Int64
}

func (w countingWriter) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.total.Add(int64(n))
	return n, err
}

// An install from this machine's server takes at most 3 seconds and 15 MB. The
// machine may be busy, so the best of five counts.
func TestArtifactInstallTime(t *testing.T) {
	s := releaseServer(t, releasetest.New)
	var total atomic.Int64
	s.Use(counted(&total))
	best := time.Hour
	for range 5 {
		total.Store(0)
		m := newMachine(t, s.URL)
		began := time.Now()
		out, err := m.run(t, "setup", "--rung", "prebuilt")
		took := time.Since(began)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out, "prebuilt  ok ") || !strings.Contains(out, "ctags     6.2.1") {
			t.Fatalf("setup printed:\n%s", out)
		}
		t.Logf("install: %v, %.1f MB", took.Round(time.Millisecond), float64(total.Load())/1e6)
		best = min(best, took)
		if total.Load() > 15e6 {
			t.Errorf("%d bytes were downloaded", total.Load())
		}
		if best <= 3*time.Second {
			break
		}
	}
	if best > 3*time.Second {
		t.Errorf("the best of five installs took %v", best)
	}
}

// session is the program serving one client.
type session struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
	id  int
}

func (m machine) serve(t testing.TB, args ...string) *session {
	t.Helper()
	cmd := exec.Command(builtProgram(t), append([]string{"serve"}, args...)...)
	cmd.Env, cmd.Dir, cmd.Stderr = m.env, "/", os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, cmd: cmd, in: in, out: json.NewDecoder(out)}
	t.Cleanup(s.close)
	return s
}

func (s *session) close() {
	s.in.Close()
	if s.cmd.ProcessState == nil {
		s.cmd.Wait()
	}
}

// ask sends a request and returns the result of its answer.
func (s *session) ask(method, params string) map[string]any {
	s.t.Helper()
	s.id++
	if _, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.id, method, params); err != nil {
		s.t.Fatal(err)
	}
	for {
		var message struct {
			ID     int
			Result map[string]any
			Error  any
		}
		if err := s.out.Decode(&message); err != nil {
			s.t.Fatal(err)
		}
		if message.ID == s.id {
			if message.Error != nil {
				s.t.Fatalf("%s: %v", method, message.Error)
			}
			return message.Result
		}
	}
}

func (s *session) initialize() {
	s.t.Helper()
	s.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	if _, err := io.WriteString(s.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// call returns the text of a tool's answer.
func (s *session) call(tool, arguments string) (text string, isError bool) {
	s.t.Helper()
	r := s.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
	text = r["content"].([]any)[0].(map[string]any)["text"].(string)
	isError, _ = r["isError"].(bool)
	return text, isError
}

// From an empty home: the first call is told to come again, a later one gets the
// answer, in C and in a language that goes through ctags.
func TestArtifactServe(t *testing.T) {
	server := releaseServer(t, releasetest.New)
	var held atomic.Int64
	server.Use(releasetest.When("/releases/download/", func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			held.Add(1)
			time.Sleep(8 * time.Second) // a slow line: longer than a call waits
			next.ServeHTTP(w, r)
		})
	}))
	tree := navtest.Tree(t, "-- a.c --\nint callee(int n) { return n; }\nint caller(void) { return callee(1); }\n-- b.py --\nclass Kind:\n    def method(self):\n        pass\n")
	m := newMachine(t, server.URL)
	s := m.serve(t, "--root", tree)
	began := time.Now()
	s.initialize()
	t.Logf("initialize answered after %v", time.Since(began).Round(time.Millisecond))
	began = time.Now()
	text, isError := s.call("find_definition", `{"symbol":"method"}`)
	t.Logf("first call, after %v: %s", time.Since(began).Round(time.Millisecond), text)
	if !isError || !strings.Contains(text, "is being installed") || !strings.Contains(text, "retry in") {
		t.Errorf("the first call got %q", text)
	}
	for strings.Contains(text, "etry") && time.Since(began) < 2*time.Minute {
		time.Sleep(500 * time.Millisecond)
		text, _ = s.call("find_definition", `{"symbol":"method"}`)
	}
	t.Logf("after %v: %s", time.Since(began).Round(time.Millisecond), text)
	if !strings.Contains(text, "b.py:2:") {
		t.Errorf("no answer: %q", text)
	}
	if text, _ = s.call("find_callers", `{"symbol":"callee"}`); !strings.Contains(text, "caller  a.c:2:") {
		t.Errorf("find_callers: %q", text)
	}
	if n := held.Load(); n != 1 {
		t.Errorf("%d downloads, want one", n)
	}
	if out, err := m.run(t, "doctor"); err != nil {
		t.Errorf("doctor: %v\n%s", err, out)
	}
}

// The program answers initialize at most 50 ms after it was started, also before
// anything is installed. The machine may be busy, so the best of 20 counts.
func TestArtifactColdStart(t *testing.T) {
	m := newMachine(t, "http://127.0.0.1:9")
	tree := navtest.Tree(t, "-- a.c --\nint x;\n")
	best, all := time.Hour, time.Duration(0)
	const runs = 20
	for range runs {
		began := time.Now()
		s := m.serve(t, "--root", tree)
		s.initialize()
		took := time.Since(began)
		best, all = min(best, took), all+took
		s.close()
	}
	t.Logf("initialize answered after %v at best, %v on average of %d starts", best.Round(100*time.Microsecond), (all / runs).Round(100*time.Microsecond), runs)
	if best > 50*time.Millisecond {
		t.Errorf("the best of %d starts took %v", runs, best)
	}
}

// Ten servers that start at once in an empty home end in one good install.
func TestArtifactTenServers(t *testing.T) {
	server := releaseServer(t, releasetest.New)
	m := newMachine(t, server.URL)
	tree := navtest.Tree(t, "-- a.c --\nint only(void) { return 0; }\n")
	var sessions []*session
	for range 10 {
		s := m.serve(t, "--root", tree)
		s.initialize()
		sessions = append(sessions, s)
	}
	var all sync.WaitGroup
	answers := make([]string, len(sessions))
	for i, s := range sessions {
		all.Go(func() {
			for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(300 * time.Millisecond) {
				if answers[i], _ = s.call("find_definition", `{"symbol":"only"}`); strings.Contains(answers[i], "a.c:1:") {
					return
				}
			}
		})
	}
	all.Wait()
	for i, text := range answers {
		if !strings.Contains(text, "a.c:1:") {
			t.Errorf("server %d: %q", i, text)
		}
	}
	downloads := 0
	for _, r := range server.Requests() {
		if strings.Contains(r.URL.Path, "/releases/download/") {
			downloads++
		}
	}
	generations, _ := os.ReadDir(filepath.Join(m.managed(), "toolchains"))
	if downloads != 1 || len(generations) != 1 {
		t.Errorf("%d downloads, generations %v; want one of each", downloads, generations)
	}
}

// An install that is killed at any moment leaves nothing or a good toolchain, and
// one that replaces another leaves a good one always. The next one repairs.
func TestArtifactKills(t *testing.T) {
	server := releaseServer(t, releasetest.New)
	m := newMachine(t, server.URL)
	whole := measured(t, m, "setup", "--rung", "prebuilt")
	if err := os.RemoveAll(m.managed()); err != nil {
		t.Fatal(err)
	}
	const kills = 20
	var nothing, good int
	for i := range kills {
		args := []string{"setup", "--rung", "prebuilt"}
		if i >= kills/2 {
			args = append(args, "--force")
		}
		cmd := exec.Command(builtProgram(t), args...)
		cmd.Env, cmd.Dir = m.env, "/"
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(whole * time.Duration(i%(kills/2)*2+1) / kills)
		cmd.Process.Kill()
		cmd.Wait()
		out, err := m.run(t, "setup", "--rung", "managed")
		switch {
		case err == nil && strings.Contains(out, "managed   ok"):
			good++
		case i < kills/2 && strings.Contains(err.Error(), "nothing installed yet"):
			nothing++
		default:
			t.Errorf("kill %d: %q, %v", i, out, err)
		}
		if i == kills/2-1 {
			if out, err := m.run(t, "setup", "--rung", "prebuilt"); err != nil {
				t.Errorf("install after the kills: %q, %v", out, err)
			}
		}
	}
	t.Logf("%d kills within %v: nothing installed after %d, a good toolchain after %d", kills, whole.Round(time.Millisecond), nothing, good)
	if out, err := m.run(t, "setup", "--rung", "prebuilt", "--force"); err != nil {
		t.Errorf("install after the kills: %q, %v", out, err)
	}
	if _, err := os.Stat(filepath.Join(m.managed(), "staging")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("leftovers: %v", err)
	}
}

func measured(t *testing.T, m machine, args ...string) time.Duration {
	t.Helper()
	began := time.Now()
	if _, err := m.run(t, args...); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}
