package index

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

// project writes files (path to content) below a new folder.
func project(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	write(t, root, files)
	return root
}

func write(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for path, content := range files {
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func git(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(gitEnv(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_ALLOW_PROTOCOL=file")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// realTools is the toolchain as an index takes it.
func realTools(t testing.TB) func(context.Context) (Tools, error) {
	tc := navtest.Tools(t)
	return func(context.Context) (Tools, error) {
		return Tools{Gtags: tc.Gtags, Env: tc.Env, Fingerprint: tc.Fingerprint}, nil
	}
}

func open(t testing.TB, root string, opts Options) *Index {
	t.Helper()
	if opts.Tools == nil {
		opts.Tools = realTools(t)
	}
	opts.CheckTimeout = time.Minute // a busy machine is no reason for an old answer
	x, err := Open(root, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func acquire(t testing.TB, x *Index) *Snapshot {
	t.Helper()
	s, err := x.Acquire(t.Context(), AcquireOptions{Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// skippedFiles are what a fresh snapshot leaves out.
func skippedFiles(t testing.TB, x *Index) []Skipped {
	t.Helper()
	s := acquire(t, x)
	defer s.Release()
	return s.Skipped()
}

// definitions is where a fresh snapshot says that name is defined.
func definitions(t testing.TB, x *Index, name string) []string {
	t.Helper()
	s := acquire(t, x)
	defer s.Release()
	sites, err := s.Set().Definitions(name)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, site := range sites {
		paths = append(paths, site.Path)
	}
	return paths
}

func wantDefinitions(t testing.TB, x *Index, name string, want ...string) {
	t.Helper()
	if got := definitions(t, x, name); !slices.Equal(got, want) {
		t.Errorf("definitions of %s: got %q, want %q", name, got, want)
	}
}

func TestBuildAndAcquire(t *testing.T) {
	root := project(t, map[string]string{"a.c": "int f(void) { return g(); }\n", "b/b.c": "int g(void) { return 1; }\n"})
	x := open(t, root, Options{})
	wantDefinitions(t, x, "f", "a.c")
	wantDefinitions(t, x, "g", "b/b.c")

	// A second index of the same tree needs no toolchain.
	y, err := Open(root, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer y.Close()
	s := acquire(t, y)
	defer s.Release()
	refs, err := s.Set().Occurrences("g")
	if err != nil {
		t.Fatal(err)
	}
	if want := []gtagsdb.FileLines{{Path: "a.c", Lines: []int{1}}}; len(refs) != 1 || refs[0].Path != want[0].Path {
		t.Errorf("occurrences of g: got %v, want %v", refs, want)
	}
}

func TestRefreshShowsEveryEdit(t *testing.T) {
	for name, watch := range map[string]bool{"scan": false, "watch": true} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"a.c": "int one(void) { return 1; }\n"}
			if watch {
				for i := range watchAbove + 1 {
					files["many/"+string(rune('a'+i%26))+"/f"+time.Duration(i).String()+".c"] = "int filler;\n"
				}
			}
			root := project(t, files)
			git(t, root, "init", "-q")
			x := open(t, root, Options{})
			wantDefinitions(t, x, "one", "a.c")
			if watch {
				for x.tree.watching() == nil {
					time.Sleep(time.Millisecond)
				}
			}

			old := acquire(t, x)
			defer old.Release()
			write(t, root, map[string]string{"a.c": "int two(void) { return 1; }\n"}) // the same size
			wantDefinitions(t, x, "one")
			wantDefinitions(t, x, "two", "a.c")
			if sites, err := old.Set().Definitions("one"); err != nil || len(sites) != 1 {
				t.Errorf("an old snapshot: got %v, %v; want the definition it had", sites, err)
			}

			write(t, root, map[string]string{"new/b.c": "int two(void) { return 2; }\n"})
			wantDefinitions(t, x, "two", "a.c", "new/b.c")
			write(t, root, map[string]string{"new/deep/er/c.c": "int two(void) { return 2; }\n"})
			wantDefinitions(t, x, "two", "a.c", "new/b.c", "new/deep/er/c.c")

			if err := os.RemoveAll(filepath.Join(root, "new/deep")); err != nil {
				t.Fatal(err)
			}
			wantDefinitions(t, x, "two", "a.c", "new/b.c")
			if err := os.Rename(filepath.Join(root, "new"), filepath.Join(root, "moved")); err != nil {
				t.Fatal(err)
			}
			wantDefinitions(t, x, "two", "a.c", "moved/b.c")
			write(t, root, map[string]string{"moved/b.c": "int three(void) { return 2; }\n"})
			wantDefinitions(t, x, "three", "moved/b.c")

			write(t, root, map[string]string{".gitignore": "moved\n"})
			wantDefinitions(t, x, "three")
			git(t, root, "add", "-f", "moved/b.c")
			s, err := x.Update(t.Context(), false, nil)
			if err != nil || !slices.Equal(s.Added, []string{"moved/b.c"}) {
				t.Errorf("update after git add: got %+v, %v; want moved/b.c added", s, err)
			}
			wantDefinitions(t, x, "three", "moved/b.c")

			// An older time, as tar, rsync and git leave behind.
			write(t, root, map[string]string{"a.c": "int six(void) { return 1; }\n"})
			before := time.Now().Add(-time.Hour)
			if err := os.Chtimes(filepath.Join(root, "a.c"), before, before); err != nil {
				t.Fatal(err)
			}
			wantDefinitions(t, x, "six", "a.c")
		})
	}
}
