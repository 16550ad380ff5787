package index

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary plays a gtags that some files are too much for: with
// INDEX_TEST_GTAGS it announces files as gtags does and fails at the first
// whose name asks for it; if there is none, it runs the real program named there.
func TestMain(m *testing.M) {
	if real := os.Getenv("INDEX_TEST_GTAGS"); real != "" {
		playGtags(real)
	}
	code := m.Run()
	removeBenchClone()
	os.Exit(code)
}

func playGtags(real string) {
	if slices.Contains(os.Args, "--config=langmap") {
		run(real, nil)
	}
	given, err := os.ReadFile(os.Args[slices.Index(os.Args, "-f")+1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	list := strings.Split(strings.TrimSuffix(string(given), "\n"), "\n")
	dir := os.Args[len(os.Args)-1]
	if file := os.Getenv("INDEX_TEST_FILES"); file != "" {
		if told, err := os.ReadFile(file); err != nil || strings.TrimSuffix(string(told), "\n") != strings.Join(list, "\n") {
			fmt.Fprintf(os.Stderr, "told the list %q (%v), given %q\n", told, err, list)
			os.Exit(1)
		}
	}
	if gate := os.Getenv("INDEX_TEST_GATE"); gate != "" {
		for !exists(gate) {
			time.Sleep(time.Millisecond)
		}
	}
	for i, path := range list {
		fmt.Fprintf(os.Stderr, " [%d] extracting tags of %s\n", i+1, strings.TrimPrefix(path, "./"))
		content, _ := os.ReadFile(path)
		switch fault, _, _ := strings.Cut(string(content), "\n"); fault {
		case "// hang":
			time.Sleep(time.Hour)
		case "// eat memory":
			// The race detector's own memory is too much for a tight limit, so
			// this is no Go program.
			_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "a=xxxxxxxx; while :; do a=$a$a; done"}, os.Environ())
		case "// crash":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Hour)
		case "// orphan":
			// A helper that is left behind, with the pipes, when gtags ends.
			_ = exec.Command("sleep", "3600").Start()
			os.Exit(1)
		case "// crash once":
			if mark := filepath.Join(filepath.Dir(filepath.Dir(dir)), "crashed"); !exists(mark) {
				_ = os.WriteFile(mark, nil, 0o644)
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				time.Sleep(time.Hour)
			}
		}
	}
	run(real, list)
}

// run ends the process with the status of the real gtags, which does not
// announce its files a second time.
func run(real string, list []string) {
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(a string) bool { return a == "-v" })
	cmd := exec.Command(real, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		os.Exit(1)
	}
	if slices.ContainsFunc(list, func(p string) bool { b, _ := os.ReadFile(p); return strings.HasPrefix(string(b), "// tear") }) {
		_ = os.Truncate(filepath.Join(os.Args[len(os.Args)-1], "GRTAGS"), 8192)
	}
	os.Exit(0)
}

// faultyTools is the real toolchain behind playGtags.
func faultyTools(t testing.TB, env ...string) func(context.Context) (Tools, error) {
	tools, _ := realTools(t)(t.Context())
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tools.Env = append(append(slices.Clone(tools.Env), "INDEX_TEST_GTAGS="+tools.Gtags), env...)
	tools.Gtags = self
	return func(context.Context) (Tools, error) { return tools, nil }
}

// The helper's list is the one that gtags gets.
func TestHelperIsToldTheFiles(t *testing.T) {
	root := project(t, map[string]string{"a.c": "int a(void) { return 1; }\n", "b c.py": "def b():\n    pass\n"})
	tools, _ := faultyTools(t)(t.Context())
	tools.FilesEnv = "INDEX_TEST_FILES"
	x := open(t, root, Options{Tools: func(context.Context) (Tools, error) { return tools, nil }})
	wantDefinitions(t, x, "b", "b c.py")
	noLeftovers(t, x)
}

func deepIf(n int) string {
	return strings.Repeat("#if X\n", n) + strings.Repeat("#endif\n", n) + "int deep;\n"
}

func TestBadFilesAreLeftOut(t *testing.T) {
	tests := []struct {
		name, content, reason string
		opts                  Options
	}{
		{"too many #if", deepIf(110), "#if stack over flow", Options{}},
		{"hang", "// hang\n", "no progress for", Options{FileTimeout: 1500 * time.Millisecond}},
		{"memory", "// eat memory\n", "signal: segmentation fault", Options{MaxMemory: 600 << 20}},
		{"crash", "// crash\n", "signal: killed", Options{}},
		{"orphan", "// orphan\n", "exit status 1", Options{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := project(t, map[string]string{
				"a.c": "int a(void) { return 1; }\n", "bad.c": tt.content, "bad2.c": tt.content + "\n", "z/z.c": "int z(void) { return a(); }\n",
			})
			tt.opts.Tools = faultyTools(t)
			x := open(t, root, tt.opts)
			wantDefinitions(t, x, "a", "a.c")
			wantDefinitions(t, x, "z", "z/z.c")
			s := acquire(t, x)
			defer s.Release()
			bad := s.Skipped()
			if len(bad) != 2 || bad[0].Path != "bad.c" || bad[1].Path != "bad2.c" || !strings.Contains(bad[0].Reason, tt.reason) {
				t.Fatalf("skipped: got %+v, want bad.c and bad2.c because of %q", bad, tt.reason)
			}
			if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "bad.c") {
				t.Errorf("warnings: got %q, want one that names bad.c", w)
			}

			// The content is remembered: touched, it is not tried again.
			later := time.Now().Add(time.Hour)
			if err := os.Chtimes(filepath.Join(root, "bad.c"), later, later); err != nil {
				t.Fatal(err)
			}
			if bad := skippedFiles(t, x); len(bad) != 2 {
				t.Errorf("after touch: got %+v, want bad.c and bad2.c left out", bad)
			}
			write(t, root, map[string]string{"bad.c": "int good(void) { return 1; }\n"})
			wantDefinitions(t, x, "good", "bad.c")
			if bad := skippedFiles(t, x); len(bad) != 1 || bad[0].Path != "bad2.c" {
				t.Errorf("after the repair of bad.c: got %+v, want bad2.c", bad)
			}
			s.Release()
			noLeftovers(t, x)
		})
	}
}

// noLeftovers fails if anything but the present generation, and what watches
// the tree, is in the index folder.
func noLeftovers(t testing.TB, x *Index) {
	t.Helper()
	cur, err := readCurrent(x.dir)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(x.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		_, isLayer := layerNumber(e.Name())
		if isLayer && !cur.names(e.Name()) || strings.HasPrefix(e.Name(), tmpPrefix) && !strings.Contains(e.Name(), "watch") {
			t.Errorf("%s is left over", e.Name())
		}
	}
}

func TestKilledGtagsIsNoFilesFault(t *testing.T) {
	root := project(t, map[string]string{"a.c": "int a;\nint f(void) { return 1; }\n", "k.c": "// crash once\nint k(void) { return 1; }\n"})
	x := open(t, root, Options{Tools: faultyTools(t)})
	wantDefinitions(t, x, "k", "k.c")
	if bad := skippedFiles(t, x); len(bad) != 0 {
		t.Errorf("skipped: got %+v, want nothing", bad)
	}
}

func TestTornOutputIsNotPublished(t *testing.T) {
	root := project(t, map[string]string{"a.c": "// tear\nint a(void) { return b(); }\n" + strings.Repeat("int x(void) { return y; }\n", 2000)})
	x := open(t, root, Options{Tools: faultyTools(t)})
	_, err := x.Acquire(t.Context(), AcquireOptions{Wait: time.Minute})
	if err == nil || !strings.Contains(err.Error(), "exited with success") {
		t.Errorf("got %v, want an error that does not trust exit status 0", err)
	}
	if exists(filepath.Join(root, dirName, currentName)) {
		t.Error("a torn database was published")
	}
}

func TestBrokenToolchainIsNotEveryFilesFault(t *testing.T) {
	files := map[string]string{}
	for i := range maxBad + 10 {
		files[fmt.Sprintf("f%d.c", i)] = deepIf(101)
	}
	x := open(t, project(t, files), Options{})
	_, err := x.Acquire(t.Context(), AcquireOptions{Wait: time.Minute})
	if err == nil || !strings.Contains(err.Error(), "toolchain or its configuration is broken") {
		t.Errorf("got %v, want an error on the toolchain", err)
	}
}
