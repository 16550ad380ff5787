package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// layerFiles are the files of the present generation.
func layerFiles(t *testing.T, root string) []string {
	t.Helper()
	dir := filepath.Join(root, dirName)
	cur, err := readCurrent(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := []string{filepath.Join(dir, currentName)}
	for _, layer := range cur.layers() {
		for _, name := range []string{manifestName, tableName, "shard-00/GTAGS", "shard-00/GRTAGS", "shard-00/GPATH", "shard-00/SUMS"} {
			files = append(files, filepath.Join(dir, layer, name))
		}
	}
	return files
}

// TestDamageIsRepaired truncates, removes and overwrites every file of an index
// in turn. A new process must answer rightly all the same, and say why it took
// longer.
func TestDamageIsRepaired(t *testing.T) {
	root := project(t, map[string]string{"a.c": "int a(void) { return b(); }\n", "b.c": "int b(void) { return 1; }\n"})
	x := open(t, root, Options{})
	wantDefinitions(t, x, "a", "a.c")
	write(t, root, map[string]string{"c.c": "int c(void) { return b(); }\n"})
	wantDefinitions(t, x, "c", "c.c")
	x.Close()
	harm := map[string]func(path string, b []byte) error{
		"truncated": func(path string, b []byte) error { return os.Truncate(path, int64(len(b)/2)) },
		"empty":     func(path string, b []byte) error { return os.Truncate(path, 0) },
		"removed":   func(path string, b []byte) error { return os.Remove(path) },
		"zeros":     func(path string, b []byte) error { return os.WriteFile(path, make([]byte, len(b)), 0o644) },
	}
	for name, f := range harm {
		for i := range layerFiles(t, root) {
			files := layerFiles(t, root)
			if i >= len(files) {
				break // the repair made one base of base and delta
			}
			rel, _ := filepath.Rel(filepath.Join(root, dirName), files[i])
			t.Run(name+" "+rel, func(t *testing.T) {
				b, err := os.ReadFile(files[i])
				if err != nil {
					t.Fatal(err)
				}
				if err := f(files[i], b); err != nil {
					t.Fatal(err)
				}
				x := open(t, root, Options{})
				defer x.Close()
				s := askRetrying(t, x, "c", "c.c")
				if name != "removed" || rel != currentName {
					if len(s) == 0 || !strings.Contains(strings.Join(s, "\n"), "rebuilt") {
						t.Errorf("warnings: got %q, want one on the rebuilding", s)
					}
				}
				wantDefinitions(t, x, "a", "a.c")
				if err := x.Verify(t.Context(), nil); err != nil {
					t.Errorf("verify after the repair: %v", err)
				}
			})
		}
	}
}

// askRetrying asks as a server does: a damaged index is reported, and the
// question asked again. It returns the warnings of the last answer.
func askRetrying(t *testing.T, x *Index, name, want string) []string {
	t.Helper()
	for range 3 {
		s := acquire(t, x)
		sites, err := s.Set().Definitions(name)
		err = s.Damaged(err)
		s.Release()
		if err == nil {
			if len(sites) != 1 || sites[0].Path != want {
				t.Errorf("definitions of %s: got %v, want %s", name, sites, want)
			}
			return s.Warnings()
		}
	}
	t.Errorf("definitions of %s: still damaged", name)
	return nil
}

// TestFlippedBit flips single bits: whoever meets one is told, and the next
// answer is right.
func TestFlippedBit(t *testing.T) {
	var src bytes.Buffer
	for i := range 500 {
		fmt.Fprintf(&src, "int f%d(void) { return f%d(); }\n", i, i+1)
	}
	root := project(t, map[string]string{"a.c": src.String()})
	open(t, root, Options{}).Update(t.Context(), false, nil)
	for _, db := range []string{"GTAGS", "GRTAGS"} {
		x := open(t, root, Options{})
		s := acquire(t, x)
		cur, err := readCurrent(x.dir)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(x.dir, cur.base, "shard-00", db)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.LastIndex(b, []byte("f321\x00"))
		b[at+1] ^= 1
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err = s.Set().Definitions("f321")
		_, err2 := s.Set().Occurrences("f321")
		if err = s.Damaged(errors.Join(err, err2)); err == nil || !strings.Contains(err.Error(), "Retry this call") {
			t.Errorf("%s: got %v, want an error that says to retry", db, err)
		}
		s.Release()
		if got := askRetrying(t, x, "f321", "a.c"); !strings.Contains(strings.Join(got, "\n"), "damaged") {
			t.Errorf("%s: warnings after the repair: got %q", db, got)
		}
		x.Close()
	}
}

func TestVerifyFindsDamage(t *testing.T) {
	root := project(t, map[string]string{"a.c": "int a(void) { return b(); }\n"})
	x := open(t, root, Options{})
	wantDefinitions(t, x, "a", "a.c")
	path := layerFiles(t, root)[4]
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{1, 2, 3, 4}, 8192+4000); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := x.Verify(t.Context(), nil); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error that names %s", err, path)
	}
	wantDefinitions(t, x, "a", "a.c")
	if err := x.Verify(t.Context(), nil); err != nil {
		t.Errorf("after the rebuild: %v", err)
	}
}

func TestOtherVersionIsRebuilt(t *testing.T) {
	root := project(t, map[string]string{"a.c": "int a(void) { return b(); }\n"})
	x := open(t, root, Options{})
	wantDefinitions(t, x, "a", "a.c")
	x.Close()
	path := layerFiles(t, root)[1]
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.Replace(b, []byte(`"format": 1`), []byte(`"format": 99`), 1)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	x = open(t, root, Options{})
	wantDefinitions(t, x, "a", "a.c")
}

func TestOtherToolchainIsRebuilt(t *testing.T) {
	root := project(t, map[string]string{"a.c": "int a(void) { return b(); }\n"})
	x := open(t, root, Options{})
	wantDefinitions(t, x, "a", "a.c")
	x.Close()
	tools, _ := realTools(t)(t.Context())
	tools.Fingerprint = "newer"
	opts := Options{
		Tools:  func(context.Context) (Tools, error) { return tools, nil },
		Expect: func() (string, string, bool) { return "", "newer", true },
	}
	x = open(t, root, opts)
	for deadline := time.Now().Add(time.Minute); ; {
		s := acquire(t, x)
		generation, warnings := s.Generation(), s.Warnings()
		s.Release()
		if generation == "base-000002" {
			if len(warnings) != 0 {
				t.Errorf("warnings: got %q, want none", warnings)
			}
			break
		}
		if len(warnings) != 1 || !strings.Contains(warnings[0], "another toolchain") {
			t.Errorf("warnings: got %q, want one on the toolchain", warnings)
		}
		if time.Now().After(deadline) {
			t.Fatal("the index is not rebuilt")
		}
	}
	wantDefinitions(t, x, "a", "a.c")
}
