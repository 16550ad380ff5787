package index

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestFilesAndContents follows a tree through edits: what is listed, and that the
// mark of the contents changes with them and with nothing else.
func TestFilesAndContents(t *testing.T) {
	root := project(t, map[string]string{"b.c": "int b;\n", "a/a.c": "int a;\n"})
	x := open(t, root, Options{})
	var states map[string]uint64
	look := func(want ...string) uint64 {
		t.Helper()
		s := acquire(t, x)
		defer s.Release()
		states = map[string]uint64{}
		files := s.Files()
		if len(files) != len(want) {
			t.Fatalf("got %v, want %v", files, want)
		}
		for i, f := range files {
			states[f.Path] = f.State
			info, err := os.Stat(filepath.Join(root, f.Path))
			if err != nil || f.Path != want[i] || f.Size != info.Size() {
				t.Errorf("file %d: got %+v, %v, want %s", i, f, err, want[i])
			}
		}
		return s.Contents()
	}
	first := look("a/a.c", "b.c")
	if again := look("a/a.c", "b.c"); again != first {
		t.Error("the mark changed, and nothing else did")
	}
	before := states
	write(t, root, map[string]string{"b.c": "int c;\n"})
	second := look("a/a.c", "b.c")
	if second == first || states["a/a.c"] != before["a/a.c"] || states["b.c"] == before["b.c"] {
		t.Errorf("after an edit: mark changed %v, states %v, were %v", second != first, states, before)
	}
	write(t, root, map[string]string{"c.c": "int d;\n"})
	third := look("a/a.c", "b.c", "c.c")
	if err := os.Remove(filepath.Join(root, "c.c")); err != nil {
		t.Fatal(err)
	}
	fourth := look("a/a.c", "b.c")
	if third == second || fourth == third || fourth != second {
		t.Errorf("a file came and went: the marks are %x, %x, %x", second, third, fourth)
	}
	rebuilt := func() uint64 {
		t.Helper()
		time.Sleep(2 * fineTick) // files that were edited a moment ago are known by more than their times
		if _, err := x.Update(t.Context(), true, nil); err != nil {
			t.Fatal(err)
		}
		return look("a/a.c", "b.c")
	}
	if one, two := rebuilt(), rebuilt(); one != two {
		t.Error("the mark changed with a new base of the same files")
	}
}
