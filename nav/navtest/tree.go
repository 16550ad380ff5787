package navtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"
)

// Tree writes the files of a txtar archive into a new git repository and
// returns its root.
func Tree(t testing.TB, archive string) string {
	t.Helper()
	root := Folder(t, archive)
	git := exec.Command("git", "-C", root, "init", "-q")
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	return root
}

// Folder writes the files of a txtar archive into a new folder that is no
// repository.
func Folder(t testing.TB, archive string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		Write(t, root, f.Name, string(f.Data))
	}
	return root
}

// Write puts one file below root, making its folders.
func Write(t testing.TB, root, name, content string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
