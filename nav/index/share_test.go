package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// gated is a toolchain whose gtags does not begin before the gate is opened.
func gated(t testing.TB) (tools func(context.Context) (Tools, error), open func()) {
	gate := filepath.Join(t.TempDir(), "gate")
	return faultyTools(t, "INDEX_TEST_GATE="+gate), func() {
		if err := os.WriteFile(gate, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFirstBuildReportsAndIsShared(t *testing.T) {
	root := project(t, map[string]string{"a.c": "int a(void) { return 1; }\n"})
	tools, openGate := gated(t)
	x, y := open(t, root, Options{Tools: tools}), open(t, root, Options{Tools: tools})
	for _, index := range []*Index{x, y, x} {
		_, err := index.Acquire(t.Context(), AcquireOptions{Wait: 20 * time.Millisecond})
		var building *BuildingError
		if !errors.As(err, &building) || !strings.Contains(err.Error(), "Indexing "+x.Root()+" for the first time") || !strings.HasSuffix(err.Error(), "Retry this call shortly.") {
			t.Fatalf("got %v, want a BuildingError", err)
		}
	}
	status, err := y.Status(t.Context())
	if err != nil || status.Builder == "" {
		t.Errorf("status while building: got %+v, %v; want the name of the builder", status, err)
	}
	openGate()
	wantDefinitions(t, x, "a", "a.c")
	wantDefinitions(t, y, "a", "a.c")
	if cur, err := readCurrent(x.dir); err != nil || cur.base != "base-000001" {
		t.Errorf("generation: got %v, %v; want one build", cur, err)
	}
}

func TestQueriesGoOnWhileABaseIsBuilt(t *testing.T) {
	root := project(t, map[string]string{"a.c": "int a(void) { return 1; }\n"})
	x := open(t, root, Options{})
	wantDefinitions(t, x, "a", "a.c")
	tools, openGate := gated(t)
	y := open(t, root, Options{Tools: tools})
	done := make(chan error)
	go func() {
		_, err := y.Update(t.Context(), true, nil)
		done <- err
	}()
	for status := (Status{}); status.Builder == ""; {
		status, _ = x.Status(t.Context())
	}
	write(t, root, map[string]string{"b.c": "int b(void) { return 1; }\n"})
	wantDefinitions(t, x, "b", "b.c") // through a delta of the old base
	openGate()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	wantDefinitions(t, x, "b", "b.c")
	wantDefinitions(t, y, "b", "b.c")
}

func TestToolchainErrorIsPassedOn(t *testing.T) {
	root := project(t, map[string]string{"a.c": "int a(void) { return 1; }\n"})
	installing := errors.New("the toolchain is being installed; retry in 20 s")
	none := func(context.Context) (Tools, error) { return Tools{}, installing }
	x := open(t, root, Options{Tools: none})
	if _, err := x.Acquire(t.Context(), AcquireOptions{Wait: time.Minute}); err != installing {
		t.Errorf("got %v, want the error as it was", err)
	}
	wantDefinitions(t, open(t, root, Options{}), "a", "a.c")
	wantDefinitions(t, x, "a", "a.c")
	write(t, root, map[string]string{"a.c": "int changed(void) { return 1; }\n"})
	s := acquire(t, x)
	defer s.Release()
	if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "a.c") || !strings.Contains(w[0], installing.Error()) {
		t.Errorf("warnings: got %q, want one that names the file and the reason", w)
	}
}

func TestRacingIndexes(t *testing.T) {
	root := project(t, map[string]string{"a.c": "int a(void) { return 1; }\n"})
	var wg sync.WaitGroup
	for i := range 8 {
		x := open(t, root, Options{})
		wg.Go(func() {
			for n := range 5 {
				name := fmt.Sprintf("f_%d_%d", i, n)
				path := fmt.Sprintf("d%d.c", i)
				if err := os.WriteFile(filepath.Join(root, path), []byte("int "+name+"(void) { return a(); }\n"), 0o644); err != nil {
					t.Error(err)
				}
				for attempt := 0; ; attempt++ {
					s, err := x.Acquire(t.Context(), AcquireOptions{Wait: time.Minute})
					if err != nil {
						t.Error(err)
						return
					}
					sites, err := s.Set().Definitions(name)
					warnings := s.Warnings()
					s.Release()
					if err == nil && len(sites) == 1 && sites[0].Path == path {
						break
					}
					// Only a warning that names the reason excuses an old answer.
					if err != nil || len(warnings) == 0 || attempt == 50 {
						t.Errorf("%s: got %v, %v, warnings %q", name, sites, err, warnings)
						break
					}
				}
			}
		})
	}
	wg.Wait()
	x := open(t, root, Options{})
	for i := range 8 {
		wantDefinitions(t, x, fmt.Sprintf("f_%d_4", i), fmt.Sprintf("d%d.c", i))
		wantDefinitions(t, x, fmt.Sprintf("f_%d_3", i))
	}
}

func TestOldGenerationsGoWithTheirLastReader(t *testing.T) {
	root := project(t, map[string]string{"a.c": "int a(void) { return 1; }\n"})
	x, y := open(t, root, Options{}), open(t, root, Options{})
	s, r := acquire(t, x), acquire(t, y)
	defer r.Release()
	if _, err := x.Update(t.Context(), true, nil); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(x.dir, "base-000001")
	if !exists(old) {
		t.Fatal("a generation with readers was removed")
	}
	s.Release()
	if !exists(old) {
		t.Fatal("a generation with a reader in another index was removed")
	}
	if sites, err := r.Set().Definitions("a"); err != nil || len(sites) != 1 {
		t.Errorf("the old snapshot: got %v, %v", sites, err)
	}
	r.Release()
	wantDefinitions(t, y, "a", "a.c")
	if exists(old) {
		t.Error("a generation without readers is still there")
	}
}

func TestLeftoversAreSwept(t *testing.T) {
	root := project(t, map[string]string{"a.c": "int a(void) { return 1; }\n"})
	x := open(t, root, Options{})
	wantDefinitions(t, x, "a", "a.c")
	dead := filepath.Join(x.dir, tmpPrefix+"dead")
	write(t, dead, map[string]string{pinName: "", "shard-00/GTAGS": ""})
	live := filepath.Join(x.dir, tmpPrefix+"live")
	write(t, live, map[string]string{pinName: ""})
	f, err := pin(live)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	write(t, root, map[string]string{"a.c": "int b(void) { return 1; }\n"})
	wantDefinitions(t, x, "b", "a.c")
	if exists(dead) {
		t.Error("the leftover of a dead process is still there")
	}
	if !exists(live) {
		t.Error("the folder of a running build was removed")
	}
}

func TestLockNamesItsHolder(t *testing.T) {
	root := project(t, map[string]string{"a.c": "int a(void) { return 1; }\n"})
	x := open(t, root, Options{LockTimeout: 50 * time.Millisecond})
	wantDefinitions(t, x, "a", "a.c")
	l, err := tryLock(x.dir, lockName)
	if err != nil {
		t.Fatal(err)
	}
	defer l.unlock()
	write(t, root, map[string]string{"a.c": "int b(void) { return 1; }\n"})
	s := acquire(t, x)
	defer s.Release()
	want := fmt.Sprintf("held by process %d on ", os.Getpid())
	if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], want) {
		t.Errorf("warnings: got %q, want one with %q", w, want)
	}
}

func TestDeltasStayFew(t *testing.T) {
	root := project(t, map[string]string{"a.c": "int a(void) { return 1; }\n"})
	x := open(t, root, Options{})
	wantDefinitions(t, x, "a", "a.c")
	for i := range 30 {
		name := fmt.Sprintf("f%d", i)
		path := fmt.Sprintf("d%d.c", i)
		write(t, root, map[string]string{path: "int " + name + "(void) { return 1; }\n" + strings.Repeat("/* filler */\n", 20_000*(i%3))})
		wantDefinitions(t, x, name, path)
	}
	cur, err := readCurrent(x.dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(cur.deltas) > 8 {
		t.Errorf("after 30 refreshes: got %d deltas, want few", len(cur.deltas))
	}
	for i := range 30 {
		wantDefinitions(t, x, fmt.Sprintf("f%d", i), fmt.Sprintf("d%d.c", i))
	}
	for i := range 30 {
		remove(t, filepath.Join(root, fmt.Sprintf("d%d.c", i)))
	}
	wantDefinitions(t, x, "f7")
	if got := slices.Collect(acquire(t, x).Set().Files()); !slices.Equal(got, []string{"a.c"}) {
		t.Errorf("files after all were removed: got %q", got)
	}
}

func TestRootThatCannotBeWrittenTo(t *testing.T) {
	cache := t.TempDir()
	taken := project(t, map[string]string{"a.c": "int a(void) { return 1; }\n", dirName: "not a folder"})
	linked := project(t, map[string]string{"a.c": "int a(void) { return 1; }\n"})
	symlink(t, t.TempDir(), filepath.Join(linked, dirName))
	closed := project(t, map[string]string{"a.c": "int a(void) { return 1; }\n"})
	if err := os.Chmod(closed, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(closed, 0o755) }) // so that it can be removed
	roots := []string{taken, linked}
	if os.Getuid() != 0 { // whom modes do not bind
		roots = append(roots, closed)
	}
	for _, root := range roots {
		x := open(t, root, Options{CacheDir: cache})
		wantDefinitions(t, x, "a", "a.c")
		if !strings.HasPrefix(x.dir, cache+"/") {
			t.Errorf("the index of %s is in %s, want it in the cache", root, x.dir)
		}
		y := open(t, root, Options{CacheDir: cache})
		if y.dir != x.dir {
			t.Errorf("a second index of %s is in %s, the first in %s", root, y.dir, x.dir)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	root := project(t, map[string]string{"a.c": ""})
	for name, tt := range map[string]struct {
		root string
		opts Options
		want string
	}{
		"missing": {filepath.Join(root, "no"), Options{}, "no such file"},
		"file":    {filepath.Join(root, "a.c"), Options{}, "not a directory"},
		"glob":    {root, Options{SkipGlobs: []string{"a[b"}}, `skip_globs: "a[b" is not a valid pattern`},
	} {
		if _, err := Open(tt.root, tt.opts); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

func TestClosedIndexRefuses(t *testing.T) {
	root := project(t, map[string]string{"a.c": "int a(void) { return 1; }\n"})
	x := open(t, root, Options{})
	s := acquire(t, x)
	x.Close()
	if _, err := x.Acquire(t.Context(), AcquireOptions{}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("got %v, want fs.ErrClosed", err)
	}
	if sites, err := s.Set().Definitions("a"); err != nil || len(sites) != 1 {
		t.Errorf("a snapshot from before: got %v, %v", sites, err)
	}
	s.Release()
}

func TestNoSourceFiles(t *testing.T) {
	x := open(t, project(t, map[string]string{"README": "hello\n"}), Options{})
	s := acquire(t, x)
	if n := s.Set().Len(); n != 0 {
		t.Errorf("files: got %d, want none", n)
	}
	s.Release()
	write(t, x.root, map[string]string{"a.c": "int a(void) { return 1; }\n"})
	wantDefinitions(t, x, "a", "a.c")
}
