package gtagsdb

import (
	"encoding/binary"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var shapes = []shape{
	{order: binary.LittleEndian, size: 8192},
	{order: binary.BigEndian, size: 8192},
	{order: binary.LittleEndian, size: 512},
	{order: binary.BigEndian, size: 512},
	{order: binary.BigEndian, size: 65536},
}

// everything asks a set all there is to ask about some names. An error is part of
// the answer.
func everything(s *Set, names []string) map[string]any {
	out := map[string]any{"files": slices.Collect(s.Files()), "others": slices.Collect(s.OtherFiles())}
	note := func(key string, v any, err error) {
		if err != nil {
			v = err
		}
		out[key] = v
	}
	for _, from := range []Source{Definitions, References, OtherSymbols, References | OtherSymbols, Definitions | OtherSymbols} {
		v, err := s.Names("", from, 0)
		note(fmt.Sprint("names ", from), v, err)
		for _, name := range names {
			v, err := s.FoldedNames(name, from)
			note(fmt.Sprintf("folded %d%s", from, name), v, err)
		}
	}
	for _, name := range names {
		defs, err := s.Definitions(name)
		note("definitions "+name, defs, err)
		occ, err := s.Occurrences(name)
		note("occurrences "+name, occ, err)
		defined, err := s.Defined(name)
		note("defined "+name, defined, err)
	}
	return out
}

var smallNames = []string{"alpha", "Alpha", "ALPHA", "beta", "BETA", "long", "@iv", "many", "mab", "", "zzz"}

// TestShapes reads one content in every byte order and page size.
func TestShapes(t *testing.T) {
	long := strings.Repeat("long ", 9000)
	for _, s := range shapes {
		t.Run(fmt.Sprintf("%v %d", s.order, s.size), func(t *testing.T) {
			db, err := smallDB(s).open()
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Verify(t.Context(), nil); err != nil {
				t.Error(err)
			}
			set := newSet(t, Member{DB: db})
			got := everything(set, smallNames)
			for key, want := range map[string]any{
				"files":  []string{"a.c", "a.rb", "b.c", "b/c d.c"},
				"others": []string{"README"},
				"definitions alpha": []Site{
					{"alpha", "a.c", 1, "int alpha(void) { return beta() + gamma(); }", true},
					{"alpha", "b/c d.c", 9, "#define alpha    \"@\"            |", true},
				},
				"definitions Alpha": []Site{{"Alpha", "a.c", 2, "typedef int Alpha;", true}},
				"definitions long":  []Site{{"long", "b.c", 3, long, true}},
				"definitions @iv":   []Site{{"@iv", "a.rb", 3, "@iv = 1", true}},
				"occurrences alpha": []FileLines{{"b.c", []int{1, 2, 100, 101, 102, 103}}},
				"occurrences beta":  []FileLines{{"a.c", []int{3, 5, 6, 7, 8, 9, 19}}},
				"names 1":           []string{"@iv", "Alpha", "alpha", "long"},
				"names 2":           []string{"alpha"},
				"folded 1ALPHA":     []string{"Alpha", "alpha"},
				"folded 2ALPHA":     []string{"alpha"},
				"folded 6ALPHA":     []string{"alpha"},
				"folded 5ALPHA":     []string{"Alpha", "alpha"},
				"folded 6BETA":      []string{"beta"},
				"defined Alpha":     true,
				"defined beta":      false,
			} {
				if !reflect.DeepEqual(got[key], want) {
					t.Errorf("%s:\n got %.300v\nwant %.300v", key, got[key], want)
				}
			}
			if got := got["occurrences many"].([]FileLines); len(got) != 1 || len(got[0].Lines) != 300 {
				t.Errorf("300 records of a name gave %v", got)
			}
		})
	}
}

// TestReencoded writes the records of a real database in other shapes: the answers
// must not change.
func TestReencoded(t *testing.T) {
	root := t.TempDir()
	for name, text := range edgeCases() {
		writeFile(t, root+"/"+name, []byte(text))
	}
	o := newOracle(t, root)
	db := openDB(t, o.dir)
	names := []string{"many_undef", "many_ref", "many_100", "split_me", "order_a", "dup", "LONG_A", "LONG_B", "AT_FOO", "crlf_two", "Zed"}
	want := everything(newSet(t, Member{DB: db}), names)
	if got := len(want["definitions many_ref"].([]Site)); got != 700 {
		t.Fatalf("%d definitions of many_ref, want 700", got)
	}
	for _, s := range shapes {
		u := s
		u.unique = true
		other, err := images{
			s.encode(records(t, db.defs.tree)),
			s.encode(records(t, db.refs.tree)),
			u.encode(records(t, db.gpath)),
		}.open()
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Verify(t.Context(), nil); err != nil {
			t.Error(err)
		}
		got := everything(newSet(t, Member{DB: other}), names)
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if !reflect.DeepEqual(got[key], want[key]) {
				t.Errorf("%v %d: %s:\n got %.300v\nwant %.300v", s.order, s.size, key, got[key], want[key])
			}
		}
	}
}
