package index

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestUntracked changes a tree in all ways that matter and compares with what git
// lists, with and without notifications. With them, git is not to walk the tree
// unless something happened that only it can judge.
func TestUntracked(t *testing.T) {
	for name, watch := range map[string]bool{"scan": false, "watch": true} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"a.c": "int a;\n", "Makefile": "all:\n", "old/b.c": "int b;\n", ".gitignore": "*.o\n"}
			if watch {
				for i := range watchAbove + 1 {
					files[fmt.Sprintf("many/%d/f%d.c", i%26, i)] = "int filler;\n"
				}
			}
			root := project(t, files)
			git(t, root, "init", "-q")
			git(t, root, "add", "-A")
			git(t, root, "commit", "-qm", "x")
			write(t, root, map[string]string{"there.c": "int there;\n", "notes.txt": "x\n"})
			x := open(t, root, Options{})
			acquire(t, x).Release()
			for watch && (x.tree.watching() == nil || !remembers(x)) {
				time.Sleep(time.Millisecond)
				acquire(t, x).Release()
			}
			check := func(what string, known bool) {
				t.Helper()
				s := acquire(t, x)
				defer s.Release()
				got, err := s.Untracked(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				want, err := listUntracked(t.Context(), root)
				if err != nil {
					t.Fatal(err)
				}
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("%s: got %q, want %q", what, got, want)
				}
				if known && watch && !remembers(x) {
					t.Errorf("%s: git had to walk the tree", what)
				}
			}
			check("at first", true)
			write(t, root, map[string]string{"a.c": "int a2;\n", "Makefile": "all: a\n"})
			check("edits", true)
			write(t, root, map[string]string{"new.c": "int n;\n", "new.txt": "n\n", "new.o": "\x7f"})
			check("new files", true)
			write(t, root, map[string]string{"dir/new.txt": "n\n"})
			check("a new folder without sources", false)
			write(t, root, map[string]string{"dir/more.txt": "n\n", "build/x.txt": "n\n"})
			check("a file in it", false)
			remove(t, filepath.Join(root, "there.c"))
			remove(t, filepath.Join(root, "notes.txt"))
			check("removed", true)
			git(t, root, "add", "new.c")
			check("added", false)
			git(t, root, "rm", "-q", "--cached", "old/b.c")
			check("no longer tracked", false)
			write(t, root, map[string]string{".gitignore": "*.o\n*.txt\n"})
			check("other rules", false)
			if err := os.Rename(filepath.Join(root, "old"), filepath.Join(root, "moved")); err != nil {
				t.Fatal(err)
			}
			check("a renamed folder", false)
		})
	}
}

// remembers reports whether the last check knows what is untracked.
func remembers(x *Index) bool {
	_, _, ok := x.tree.untracked()
	return ok
}
