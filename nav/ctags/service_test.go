package ctags

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

var update = flag.Bool("update", false, "write what ctags says into testdata, to be read by eye")

func newService(t *testing.T, o Options) *Service {
	t.Helper()
	tc := navtest.Tools(t)
	s := New(Command{Path: tc.Ctags, Env: tc.Env}, o)
	t.Cleanup(s.Close)
	return s
}

// TestTags compares the tags of each file in testdata/tags with FILE.want beside it.
func TestTags(t *testing.T) {
	s := newService(t, Options{})
	files, err := filepath.Glob("testdata/tags/*")
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, name := range files {
		if strings.HasSuffix(name, ".want") {
			continue
		}
		tested++
		t.Run(filepath.Base(name), func(t *testing.T) {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			content = bytes.ReplaceAll(content, []byte("@NUL@"), []byte{0})
			got := describe(t, s, filepath.Base(name), content)
			if *update {
				if err := os.WriteFile(name+".want", []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name + ".want")
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
	if tested < 10 {
		t.Errorf("only %d files in testdata", tested)
	}
}

// describe writes one tag a line.
func describe(t *testing.T, s *Service, path string, content []byte) string {
	t.Helper()
	tags, err := s.Tags(t.Context(), path, content)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, tag := range tags {
		if tag.Anonymous {
			tag.Name = "(anonymous)"
		}
		fmt.Fprintf(&out, "%d-%d %s %s", tag.Line, tag.End, tag.Kind, tag.Name)
		for _, f := range []struct{ name, value string }{
			{"scope", tag.Scope}, {"type", tag.Typeref}, {"signature", tag.Signature}, {"inherits", tag.Inherits},
			{"properties", tag.Properties}, {"roles", strings.TrimPrefix(tag.Roles, "def")},
		} {
			if f.value != "" && !strings.Contains(f.value, "__anon") {
				fmt.Fprintf(&out, " %s=%s", f.name, f.value)
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func TestDefinesAndDeclares(t *testing.T) {
	s := newService(t, Options{})
	src := "#define A 1\n#undef B\nint p(void);\nextern int e;\nint v;\n#include <x.h>\n"
	tags, err := s.Tags(t.Context(), "a.c", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tag := range tags {
		got = append(got, fmt.Sprint(tag.Name, " ", tag.Defines(), " ", tag.Declares()))
	}
	want := []string{"A true false", "B false false", "p true true", "e true true", "v true false", "x.h false false"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUnavailable(t *testing.T) {
	folder := t.TempDir()
	for _, path := range []string{"", filepath.Join(folder, "nosuch"), folder, "/bin/true", "/bin/cat"} {
		s := New(Command{Path: path}, Options{})
		t.Cleanup(s.Close)
		if _, err := s.Tags(t.Context(), "a.c", []byte("int x;")); !errors.Is(err, ErrUnavailable) {
			t.Errorf("Tags with %q as ctags: got %v", path, err)
		}
		if _, err := s.Languages(t.Context()); path != "/bin/true" && !errors.Is(err, ErrUnavailable) {
			t.Errorf("Languages with %q as ctags: got %v", path, err)
		}
	}
}

func TestTooLarge(t *testing.T) {
	s := newService(t, Options{FileSize: 10})
	if _, err := s.Tags(t.Context(), "d/a.c", []byte("int abcdef;")); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "d/a.c") {
		t.Errorf("got %v", err)
	}
	if tags, err := s.Tags(t.Context(), "d/a.c", []byte("int abcde;")); err != nil || len(tags) != 1 {
		t.Errorf("got %v, %v", tags, err)
	}
}

func TestLanguages(t *testing.T) {
	got, err := newService(t, Options{}).Languages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"C", "C++", "Python", "Go", "Java", "Rust", "JavaScript", "TypeScript"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in %q", want, got)
		}
	}
	for _, l := range got {
		if strings.ContainsAny(l, " []") {
			t.Errorf("odd language %q", l)
		}
	}
}

// TestHostileContent sends what parsers choke on, and then asks for a file whose
// answer is known: each answer must belong to its own request.
func TestHostileContent(t *testing.T) {
	s := newService(t, Options{Workers: 1})
	hostile := map[string]string{
		"comment": "/* never closed", "string": `char *s = "never closed`, "nul": "\x00\x00\n\x00",
		"request": `{"command":"generate-tags","filename":"a.c","size":100}` + "\n",
		"latin1":  "int caf\xe9(void) {}\n#define \xff\xfe\n", "crlf": "int a;\r\nint b;\r\n", "cr": "int a;\rint b;\r",
		"empty": "", "newline": "\n", "parens": strings.Repeat("(", 100_000), "braces": strings.Repeat("{\n", 20_000),
		"line": "int x = " + strings.Repeat("1+", 500_000) + "1;\n", "utf16": "\xff\xfei\x00n\x00t\x00",
	}
	for what, content := range hostile {
		for _, ext := range []string{"c", "cpp", "py", "js", "rs", "go", "java", "unknown"} {
			if _, err := s.Tags(t.Context(), "x."+ext, []byte(content)); err != nil && !errors.Is(err, ErrBroke) && !errors.Is(err, ErrTimeout) {
				t.Errorf("%s as %s: %v", what, ext, err)
			}
			name := what + "_" + ext
			tags, err := s.Tags(t.Context(), "known.c", []byte("int "+name+"(void) { return 0; }\n"))
			if err != nil || len(tags) != 1 || tags[0].Name != name {
				t.Fatalf("after %s as %s: got %v, %v", what, ext, tags, err)
			}
		}
	}
}

func TestConcurrentCallers(t *testing.T) {
	s := newService(t, Options{Workers: 2, CacheSize: 10_000})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				name := fmt.Sprintf("f%d", (i*7+g)%20)
				tags, err := s.Tags(t.Context(), name+".c", []byte("void "+name+"(void) {}\n"))
				if err != nil || len(tags) != 1 || tags[0].Name != name {
					t.Errorf("%s: got %v, %v", name, tags, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestClose(t *testing.T) {
	s := newService(t, Options{})
	if _, err := s.Tags(t.Context(), "a.c", []byte("int x;")); err != nil {
		t.Fatal(err)
	}
	p := s.idle[0]
	s.Close()
	<-p.gone
	if _, err := s.Tags(t.Context(), "a.c", []byte("int y;")); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: got %v", err)
	}
	s.Close()
}

func TestIdleProcessEnds(t *testing.T) {
	s := newService(t, Options{Idle: 1, Workers: 1})
	for _, content := range []string{"int x;", "int y;"} {
		var p *process
		ask := func() { // the process may be gone before the test can look at it
			tags, err := s.Tags(t.Context(), "a.c", []byte(content))
			if err != nil || len(tags) != 1 {
				t.Fatalf("got %v, %v", tags, err)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if len(s.idle) > 0 {
				p = s.idle[0]
			}
		}
		if ask(); p != nil {
			<-p.gone
		}
	}
}

func TestCancelledCaller(t *testing.T) {
	s := newService(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	content := []byte("int x;\n")
	if _, err := s.Tags(ctx, "a.c", content); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if tags, err := s.Tags(t.Context(), "a.c", content); err != nil || len(tags) != 1 {
		t.Errorf("after a cancelled call: got %v, %v", tags, err)
	}
}
