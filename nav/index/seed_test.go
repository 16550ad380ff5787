package index

import (
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestOwnDatabaseIsTheBase uses a GTAGS that stands at the root: without a
// toolchain, with deltas over it, and without a byte of it changed.
func TestOwnDatabaseIsTheBase(t *testing.T) {
	root := project(t, map[string]string{
		"a.c": "int a(void) { return b(); }\n", "b.c": "int b(void) { return 1; }\n",
		"out.c": "int left_out(void);\n", "ignored.c": "int ignored(void) { return 1; }\n", ".gitignore": "ignored.c\n",
	})
	git(t, root, "init", "-q")
	time.Sleep(2 * fineTick) // so that the files are older than the database
	tools, _ := realTools(t)(t.Context())
	cmd := exec.Command(tools.Gtags, "-f", "-")
	cmd.Dir, cmd.Env = root, tools.environ()
	cmd.Stdin = strings.NewReader("a.c\nb.c\nignored.c\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gtags: %v\n%s", err, out)
	}
	before := databaseSums(t, root)

	x, err := Open(root, Options{CheckTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	wantDefinitions(t, x, "a", "a.c")
	wantDefinitions(t, x, "ignored")
	s := acquire(t, x)
	if got := slices.Collect(s.Set().Files()); !slices.Equal(got, []string{"a.c", "b.c"}) {
		t.Errorf("files: got %q, want those of the owner's list that belong to the set", got)
	}
	if w := s.Warnings(); len(w) != 0 {
		t.Errorf("warnings: got %q, want none", w)
	}
	s.Release()
	x.Close()

	y := open(t, root, Options{})
	write(t, root, map[string]string{"b.c": "int changed(void) { return 1; }\n", "new.c": "int fresh(void) { return 1; }\n"})
	wantDefinitions(t, y, "changed", "b.c")
	wantDefinitions(t, y, "fresh", "new.c")
	wantDefinitions(t, y, "b")
	if got := databaseSums(t, root); got != before {
		t.Error("the database at the root was written to")
	}
	if _, err := y.Update(t.Context(), true, nil); err != nil {
		t.Fatal(err)
	}
	s = acquire(t, y)
	defer s.Release()
	if got := slices.Collect(s.Set().Files()); !slices.Equal(got, []string{"a.c", "b.c", "new.c", "out.c"}) {
		t.Errorf("files after a full update: got %q", got)
	}
}

func TestOwnDatabaseOlderThanTheTree(t *testing.T) {
	root := project(t, map[string]string{"a.c": "int old(void) { return 1; }\n"})
	tools, _ := realTools(t)(t.Context())
	cmd := exec.Command(tools.Gtags)
	cmd.Dir, cmd.Env = root, tools.environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gtags: %v\n%s", err, out)
	}
	write(t, root, map[string]string{"a.c": "int new(void) { return 1; }\n"})
	x := open(t, root, Options{})
	wantDefinitions(t, x, "new", "a.c")
	wantDefinitions(t, x, "old")
}

func TestBrokenOwnDatabaseIsIgnored(t *testing.T) {
	root := project(t, map[string]string{"a.c": "int a(void) { return 1; }\n", "GTAGS": "x", "GRTAGS": "", "GPATH": "y"})
	x := open(t, root, Options{})
	wantDefinitions(t, x, "a", "a.c")
}

func databaseSums(t *testing.T, root string) (sums [3][32]byte) {
	t.Helper()
	for i, name := range shardFiles[:3] {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = sha256.Sum256(b)
	}
	return sums
}
