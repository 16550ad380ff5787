package java

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

// projectAt is the project at the folder, with every file below it.
func projectAt(t testing.TB, root string) semantic.Project {
	t.Helper()
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	p := semantic.Project{Root: root, FS: dir.FS(), Generation: t.Name(), Content: dir.ReadFile}
	err = fs.WalkDir(dir.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			p.Files = append(p.Files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(p.Files)
	return p
}

// resolve asks the question, which must be answered.
func resolve(t testing.TB, f *FrontEnd, p semantic.Project, q semantic.Query) semantic.Resolution {
	t.Helper()
	r, err := f.Resolve(t.Context(), p, q)
	if err != nil {
		t.Fatalf("Resolve(%+v): %v", q, err)
	}
	return r
}

// write lays out files, given as "-- path --" lines with what follows.
func write(t testing.TB, text string) string {
	t.Helper()
	root := t.TempDir()
	for _, part := range strings.Split(text, "\n-- ")[1:] {
		name, content, _ := strings.Cut(part, " --\n")
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
