package index

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
)

// goSources copies the C and assembler files of the Go distribution: a real
// tree that every machine with Go has.
func goSources(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	src := filepath.Join(strings.TrimSpace(string(out)), "src")
	root := t.TempDir()
	files := 0
	err = filepath.WalkDir(src, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || !strings.Contains(".c.h.s.S", filepath.Ext(path)) || filepath.Ext(path) == "" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(src, path)
		if err != nil {
			return err
		}
		files++
		write(t, root, map[string]string{rel: string(b)})
		return nil
	})
	if err != nil || files < 300 {
		t.Fatalf("copying the sources of Go: %d files, %v", files, err)
	}
	return root
}

// answers is all that an index says.
func answers(t testing.TB, x *Index) map[string]string {
	t.Helper()
	s := acquire(t, x)
	defer s.Release()
	set := s.Set()
	all := map[string]string{"files": fmt.Sprint(slices.Collect(set.Files()))}
	for _, from := range []gtagsdb.Source{gtagsdb.Definitions, gtagsdb.References, gtagsdb.OtherSymbols} {
		names, err := set.Names("", from, 0)
		if err != nil {
			t.Fatal(err)
		}
		all[fmt.Sprint("names of ", from)] = fmt.Sprint(names)
		for _, name := range names {
			sites, err := set.Definitions(name)
			if err != nil {
				t.Fatal(err)
			}
			refs, err := set.Occurrences(name)
			if err != nil {
				t.Fatal(err)
			}
			all["symbol "+name] = fmt.Sprint(sites, refs)
		}
	}
	return all
}

func wantAnswers(t testing.TB, got, want map[string]string) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	for key := range want {
		if got[key] != want[key] {
			t.Errorf("%s:\ngot  %.500s\nwant %.500s", key, got[key], want[key])
			return
		}
	}
	t.Errorf("got %d answers, want %d", len(got), len(want))
}

// TestShardsAgree: every answer is the same from one database and from several,
// and from a base with deltas and a base of the same files.
func TestShardsAgree(t *testing.T) {
	root := goSources(t)
	one := open(t, root, Options{Shards: 1})
	want := answers(t, one)
	if len(want) < 2000 {
		t.Fatalf("only %d answers to compare", len(want))
	}
	for _, n := range []int{2, 5} {
		x := open(t, root, Options{Shards: n})
		if _, err := x.Update(t.Context(), true, nil); err != nil {
			t.Fatal(err)
		}
		if v, _ := x.present(); len(v.layers[0].dbs) != n {
			t.Fatalf("%d shards were asked for and %d built", n, len(v.layers[0].dbs))
		} else {
			v.release()
		}
		wantAnswers(t, answers(t, x), want)
	}

	x := open(t, root, Options{Shards: 3})
	s := acquire(t, x)
	paths := slices.Collect(s.Set().Files())
	s.Release()
	for i := range 12 {
		for j, path := range paths[i*20 : i*20+10] {
			full := filepath.Join(root, path)
			b, err := os.ReadFile(full)
			if err != nil {
				t.Fatal(err)
			}
			switch j % 4 {
			case 0:
				remove(t, full)
			case 1:
				write(t, root, map[string]string{path: string(b[:len(b)/2])})
			case 2:
				write(t, root, map[string]string{path: string(b) + "\n#define appended_macro 1\n", path + ".h": "int memmove(void) { return 1; }\n"})
			}
		}
		acquire(t, x).Release()
	}
	if v, _ := x.present(); len(v.layers) < 2 {
		t.Fatal("no delta was made")
	} else {
		v.release()
	}
	got := answers(t, x)
	if _, err := x.Update(t.Context(), true, nil); err != nil {
		t.Fatal(err)
	}
	wantAnswers(t, got, answers(t, x))
}
