package ctags

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// The test binary plays a ctags that misbehaves: with fakeLog set it speaks the
// protocol, writes each start and each file name into that file, and does what
// the content tells it to. Any other content gives one function tag of that name.
const fakeLog = "GTAGSMCP_FAKE_CTAGS_LOG"

func TestMain(m *testing.M) {
	if log := os.Getenv(fakeLog); log != "" {
		playCtags(log)
		return
	}
	os.Exit(m.Run())
}

func playCtags(logName string) {
	log, err := os.OpenFile(logName, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(log, "start")
	fmt.Println(`{"_type": "program", "name": "Universal Ctags", "version": "0.0"}`)
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var req struct {
			Filename string
			Size     int
		}
		json.Unmarshal(line, &req)
		content := make([]byte, req.Size)
		io.ReadFull(in, content)
		fmt.Fprintln(log, "ask "+string(content))
		answerAs(out, string(content))
	}
}

func answerAs(out *bufio.Writer, content string) {
	const completed = `{"_type": "completed", "command": "generate-tags"}`
	tag := fmt.Sprintf(`{"_type": "tag", "name": %q, "language": "C", "line": 1, "kind": "function", "roles": "def"}`,
		strings.TrimRight(strings.TrimPrefix(content, "int "), ";\n"))
	lines := []string{tag, completed}
	switch content {
	case "hang":
		time.Sleep(time.Hour)
	case "crash":
		fmt.Fprintln(os.Stderr, "no more memory")
		os.Exit(3)
	case "flood":
		for line := strings.Repeat("x", 1<<20) + "\n"; ; {
			out.WriteString(line)
		}
	case "junk":
		lines = []string{"(null)", tag, "", "{", "[1]", `{"_type": "tag"}`, strings.Repeat("y", 2*maxAnswerLine), completed}
	case "twice":
		lines = []string{`{"_type": "error", "message": "odd", "fatal": true}`, tag, completed, tag, completed}
	case "answers to somebody else":
		lines = []string{"junk", tag, completed, completed, completed, completed, completed, completed, completed}
	}
	for _, l := range lines {
		fmt.Fprintln(out, l)
	}
	out.Flush()
}

// newFake returns a service on the fake, and what the fake was asked so far.
func newFake(t *testing.T, o Options) (s *Service, asked func() []string) {
	t.Helper()
	log := t.TempDir() + "/log"
	o.Memory = math.MaxUint64 // the race detector maps terabytes
	s = New(Command{Path: os.Args[0], Env: []string{fakeLog + "=" + log}}, o)
	t.Cleanup(s.Close)
	return s, func() []string {
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(b)), "\n")
	}
}

// check asks for an ordinary file, which must always have its own answer.
func check(t *testing.T, s *Service, name string) {
	t.Helper()
	tags, err := s.Tags(t.Context(), "a.c", []byte(name))
	if err != nil || len(tags) != 1 || tags[0].Name != name {
		t.Fatalf("%s: got %v, %v", name, tags, err)
	}
}

func TestBadFiles(t *testing.T) {
	for content, want := range map[string]error{
		"hang": ErrTimeout, "crash": ErrBroke, "flood": ErrBroke,
		"junk": nil, "twice": nil, "answers to somebody else": ErrBroke,
	} {
		t.Run(content, func(t *testing.T) {
			o := Options{Workers: 1}
			if content == "hang" {
				o.FileTime = 300 * time.Millisecond
			}
			if content == "flood" {
				o.FileTime = time.Hour
			}
			s, asked := newFake(t, o)
			check(t, s, "before")
			tags, err := s.Tags(t.Context(), "d/bad.c", []byte(content))
			if !errors.Is(err, want) {
				t.Fatalf("got %v, want %v", err, want)
			}
			if want == nil && (len(tags) != 1 || tags[0].Name != content) {
				t.Errorf("got %v, want the one tag", tags)
			}
			if want != nil && !strings.Contains(err.Error(), "d/bad.c") {
				t.Errorf("%v does not name the file", err)
			}
			if content == "crash" && !strings.Contains(err.Error(), "no more memory") {
				t.Errorf("%v does not say why", err)
			}
			check(t, s, "after")

			before := len(asked())
			if _, err := s.Tags(t.Context(), "d/bad.c", []byte(content)); !errors.Is(err, want) {
				t.Errorf("again: got %v, want %v", err, want)
			}
			if got := len(asked()); got != before {
				t.Errorf("asked ctags again: %q", asked())
			}
		})
	}
}

func TestFailureIsTriedAgain(t *testing.T) {
	s, asked := newFake(t, Options{Workers: 1, RetryAfter: 1})
	for range 2 {
		if _, err := s.Tags(t.Context(), "a.c", []byte("crash")); !errors.Is(err, ErrBroke) {
			t.Errorf("got %v", err)
		}
	}
	want := "start, ask crash, start, ask crash"
	if got := strings.Join(asked(), ", "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestDeathAtRest: that a process died while nobody used it is not the fault of
// the file that comes next.
func TestDeathAtRest(t *testing.T) {
	s, asked := newFake(t, Options{Workers: 1})
	check(t, s, "one")
	s.idle[0].kill()
	check(t, s, "two")
	if got := strings.Join(asked(), ", "); !strings.HasSuffix(got, "start, ask two") {
		t.Errorf("got %s", got)
	}
}

func TestOneParseForAllCallers(t *testing.T) {
	s, asked := newFake(t, Options{})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { check(t, s, "same") })
	}
	wg.Wait()
	if got := strings.Join(asked(), ", "); got != "start, ask same" {
		t.Errorf("got %s", got)
	}
}

func TestOneProcessWhenOneSuffices(t *testing.T) {
	s, asked := newFake(t, Options{Workers: 4})
	for i := range 10 {
		check(t, s, fmt.Sprint("f", i))
	}
	if got := strings.Count(strings.Join(asked(), " "), "start"); got != 1 {
		t.Errorf("%d processes", got)
	}
}

func TestCacheIsBounded(t *testing.T) {
	s, asked := newFake(t, Options{Workers: 1, CacheSize: 3000})
	for i := range 50 {
		check(t, s, fmt.Sprint("f", i))
	}
	check(t, s, "f49")
	if got := len(asked()); got != 51 {
		t.Errorf("%d lines, want a start and 50 questions: the last one comes from the cache", got)
	}
	if s.cache.size > 3000 || len(s.cache.entries) != s.cache.recent.Len() || len(s.cache.entries) < 3 {
		t.Errorf("cache holds %d bytes, %d entries, %d of them listed", s.cache.size, len(s.cache.entries), s.cache.recent.Len())
	}
	check(t, s, "f0")
	if got := len(asked()); got != 52 {
		t.Errorf("f0 should have been forgotten")
	}
}

// TestCallerGivesUp: a queued file whose callers all left is not parsed, and
// asking for it anew works.
func TestCallerGivesUp(t *testing.T) {
	s, asked := newFake(t, Options{Workers: 1})
	check(t, s, "first")
	s.slots <- struct{}{} // the only process is busy
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if _, err := s.Tags(ctx, "a.c", []byte("queued")); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
	cancel()
	wg.Wait()
	if n := len(s.cache.entries); n != 1 {
		t.Errorf("%d entries, want the first one alone", n)
	}
	<-s.slots
	check(t, s, "queued")
	if got, want := strings.Join(asked(), ", "), "start, ask first, ask queued"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestCloseWhileBusy: Close does not wait for a file that hangs.
func TestCloseWhileBusy(t *testing.T) {
	s, _ := newFake(t, Options{Workers: 1, FileTime: time.Hour})
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := s.Tags(t.Context(), "a.c", []byte("hang")); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
	for len(s.slots) == 0 {
		runtime.Gosched()
	}
	s.Close()
	wg.Wait()
}
