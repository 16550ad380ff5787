package index

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"testing/quick"
)

func TestTableRoundTrip(t *testing.T) {
	f := func(names []string, sizes []uint32, times []int64) bool {
		var entries []entry
		slices.Sort(names)
		for i, n := range slices.Compact(names) {
			if !validPath(n) {
				continue
			}
			e := entry{path: n, kind: entryKind(i % 3)}
			if i < len(sizes) {
				e.size, e.inode = int64(sizes[i]), uint64(sizes[i])<<32
			}
			if i < len(times) {
				e.mtime, e.ctime, e.hash = times[i], -times[i], uint64(times[i])
			}
			entries = append(entries, e)
		}
		got, err := decodeTable(encodeTable(entries))
		return err == nil && slices.Equal(got, entries)
	}
	if err := quick.Check(f, nil); err != nil {
		t.Error(err)
	}
}

// FuzzTable: whatever the bytes are, a table is an error or one that can be
// written and read again.
func FuzzTable(f *testing.F) {
	f.Add(encodeTable(nil))
	f.Add(encodeTable([]entry{{path: "a.c"}, {path: "a/b.c", kind: gone, identity: identity{size: 3, mtime: 5, ctime: -7, inode: 9}, hash: 11}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		// Fuzzing cannot guess checksums.
		for _, b := range [][]byte{b, sealTable(b)} {
			entries, err := decodeTable(b)
			if err != nil {
				continue
			}
			again, err := decodeTable(encodeTable(entries))
			if err != nil || !slices.Equal(again, entries) {
				t.Errorf("written and read again: got %v, %v, want %v", again, err, entries)
			}
			for _, e := range entries {
				if !filepath.IsLocal(e.path) {
					t.Errorf("the path %q leaves the root", e.path)
				}
			}
		}
	})
}

func FuzzCurrent(f *testing.F) {
	f.Add([]byte("gtags-mcp index 1\nbase-000003\ndelta-000017\nend\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, currentName), b, 0o644); err != nil {
			t.Fatal(err)
		}
		cur, err := readCurrent(dir)
		if err != nil {
			return
		}
		if err := cur.write(dir); err != nil {
			t.Fatal(err)
		}
		if again, err := readCurrent(dir); err != nil || !again.equal(cur) {
			t.Errorf("written and read again: got %v, %v, want %v", again, err, cur)
		}
		for _, name := range cur.layers() {
			if filepath.Base(name) != name {
				t.Errorf("the layer %q is not in the folder", name)
			}
		}
	})
}

func FuzzManifest(f *testing.F) {
	b, _ := json.Marshal(manifest{Format: formatVersion, Shards: []shard{{Dir: "shard-00"}}})
	f.Add(b)
	f.Add([]byte(`{"format":1,"shards":[{"dir":"../../etc"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, manifestName), b, 0o644); err != nil {
			t.Fatal(err)
		}
		m, err := readManifest(dir)
		if err != nil {
			return
		}
		for _, s := range m.Shards {
			if !filepath.IsLocal(s.Dir) {
				t.Errorf("the shard %q leaves the layer", s.Dir)
			}
		}
	})
}

// FuzzLines feeds what gtags may print: no line is lost or split, and none is
// longer than the limit.
func FuzzLines(f *testing.F) {
	f.Add([]byte(" [1] extracting tags of a.c\n [2] extracting"), 7)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		var whole, pieces []string
		w := &lineWriter{f: func(l []byte) { announced(l); whole = append(whole, string(l)) }}
		_, _ = w.Write(b)
		p := &lineWriter{f: func(l []byte) { pieces = append(pieces, string(l)) }}
		for part := range slices.Chunk(b, max(1, n%64)) {
			_, _ = p.Write(part)
		}
		if !reflect.DeepEqual(whole, pieces) {
			t.Errorf("in pieces: got %q, want %q", pieces, whole)
		}
	})
}

// FuzzListed: an entry of git names a path that stands in it.
func FuzzListed(f *testing.F) {
	f.Add("100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 0\ta.c")
	f.Fuzz(func(t *testing.T, entry string) {
		mode, path := parseListed(entry)
		if mode == "" && path != entry || len(path) > len(entry) {
			t.Errorf("got %q, %q of %q", mode, path, entry)
		}
	})
}
