package gtagsdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// writeDB puts a database into a directory of its own.
func writeDB(t testing.TB, im images) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range map[string][]byte{"GTAGS": im.gtags, "GRTAGS": im.grtags, "GPATH": im.gpath} {
		writeFile(t, filepath.Join(dir, name), data)
	}
	return dir
}

// expected reports whether an error is one that damage may cause.
func expected(err error) bool {
	var corrupt *CorruptError
	var format *FormatError
	return errors.As(err, &corrupt) || errors.As(err, &format)
}

func TestOpenErrors(t *testing.T) {
	le := binary.LittleEndian
	set32 := func(off int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte { le.PutUint32(b[off:], v); return b }
	}
	replace := func(old, new string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(old), []byte(new)) }
	}
	for name, test := range map[string]struct {
		file   string
		change func([]byte) []byte
		want   string
	}{
		"empty":             {"GTAGS", func([]byte) []byte { return nil }, "GTAGS is corrupt at offset 0: the file is empty"},
		"few bytes":         {"GPATH", func(b []byte) []byte { return b[:7] }, "7 bytes are too few"},
		"magic 0":           {"GRTAGS", set32(0, 0), "GRTAGS is corrupt at offset 0: magic number 0"},
		"other magic":       {"GRTAGS", set32(0, 0x061561), "unsupported format at offset 0: magic number 0x00061561"},
		"sqlite":            {"GTAGS", func(b []byte) []byte { return append([]byte("SQLite format 3\x00"), b...) }, "an SQLite database"},
		"btree version":     {"GTAGS", set32(4, 2), "offset 4: btree version 2, want 3"},
		"page size":         {"GTAGS", set32(8, 100), "offset 8: page size 100"},
		"flags":             {"GTAGS", set32(20, 0x80), "offset 20: flags 0x80"},
		"cut page":          {"GRTAGS", func(b []byte) []byte { return b[:len(b)-1] }, "is not a number of pages"},
		"meta page alone":   {"GTAGS", func(b []byte) []byte { return b[:8192] }, "is not a number of pages"},
		"GPATH of dups":     {"GPATH", set32(20, 0), "allows duplicate keys"},
		"tag version":       {"GTAGS", replace(" __.VERSION 6\x00", " __.VERSION 7\x00"), `version "7", want "6"`},
		"path version":      {"GPATH", replace(" __.VERSION 2\x00", " __.VERSION 1\x00"), `version "1", want "2"`},
		"unknown metadata":  {"GRTAGS", replace(" __.COMPACT\x00", " __.COMPAXX\x00"), `metadata "COMPAXX"`},
		"absolute path":     {"GPATH", replace("./README\x00", ".//EADME\x00"), "is not a path within the project"},
		"path out of root":  {"GPATH", replace("./b/c d.c\x00", "./b/../..\x00"), "is not a path within the project"},
		"path with NUL":     {"GPATH", replace("./b/c d.c\x00", "./b/c\x00d.c\x00"), "is not a path within the project"},
		"number not number": {"GPATH", replace("./a.c\x004\x00", "./a.c\x00x\x00"), "is not the number of file"},
		"number twice":      {"GPATH", replace("./a.c\x004\x00", "./a.c\x007\x00"), "number 7 of file \"./b.c\" is taken"},
		"order":             {"GPATH", replace("./a.c\x00", "./z.c\x00"), "stands behind"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeDB(t, smallDB(shapes[0]))
			path := filepath.Join(dir, test.file)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, path, test.change(data))
			db, err := Open(dir)
			if db != nil || !expected(err) || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("Open: %v, %v; want an error with %q that names %s", db, err, test.want, path)
			}
		})
	}
}

func TestOpenMissing(t *testing.T) {
	dir := writeDB(t, smallDB(shapes[0]))
	if err := os.Remove(filepath.Join(dir, "GRTAGS")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{dir, filepath.Join(dir, "nowhere")} {
		if _, err := Open(dir); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), dir) {
			t.Errorf("Open(%s): %v, want that it does not exist", dir, err)
		}
	}
	// A fifo or a directory in the place of a file must not make Open wait.
	for _, make := range []func(string) error{
		func(name string) error { return syscall.Mkfifo(name, 0o600) },
		func(name string) error { return os.Mkdir(name, 0o700) },
	} {
		name := filepath.Join(dir, "GRTAGS")
		if err := make(name); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "GRTAGS is not a regular file") {
			t.Errorf("Open: %v, want that GRTAGS is not a regular file", err)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLookupErrors damages what Open does not read: lookups that meet it and
// Verify report it.
func TestLookupErrors(t *testing.T) {
	for name, test := range map[string]struct{ old, new, want string }{
		"unknown file":   {"7 @n 100-3\x00", "8 @n 100-3\x00", "file 8, which is not in GPATH"},
		"no number":      {"7 @n 100-3\x00", "x @n 100-3\x00", "cannot be read"},
		"no name":        {"7 @n 100-3\x00", "7  @n100-3\x00", "cannot be read"},
		"inner NUL":      {"7 @n 100-3\x00", "7 @n 10\x00-3\x00", "cannot be read"},
		"no NUL":         {"7 @n 100-3\x00", "7 @n 100-33", "cannot be read"},
		"line 0":         {"7 @n 100-3\x00", "7 @n 000-3\x00", "cannot be read"},
		"empty range":    {"7 @n 100-3\x00", "7 @n 100-0\x00", "cannot be read"},
		"unfinished":     {"7 @n 100-3\x00", "7 @n 1003,\x00", "cannot be read"},
		"forged range":   {"7 @n 1,1\x00", "7 @n 1-99999999999\x00", ""},
		"wrong operator": {"7 @n 100-3\x00", "7 @n 100+3\x00", "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			im := smallDB(shapes[0])
			changed := bytes.Replace(im.grtags, []byte(test.old), []byte(test.new), 1)
			if len(test.old) != len(test.new) {
				changed = rewrite(t, im.grtags, test.old, test.new)
				test.want = "cannot be read"
			}
			if bytes.Equal(changed, im.grtags) {
				t.Fatal("nothing was changed")
			}
			im.grtags = changed
			db, err := im.open()
			if err != nil {
				t.Fatal(err)
			}
			for what, err := range map[string]error{
				"Occurrences": second(newSet(t, Member{DB: db}).Occurrences("alpha")),
				"Verify":      db.Verify(t.Context(), nil),
			} {
				var corrupt *CorruptError
				if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), test.want) || corrupt.Path != "GRTAGS" || corrupt.Offset == 0 {
					t.Errorf("%s: %v, want %q with file and offset", what, err, test.want)
				}
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

// rewrite encodes a database anew with other data in one record.
func rewrite(t *testing.T, data []byte, old, new string) []byte {
	t.Helper()
	tr := &tree{path: "x", data: data}
	if err := tr.open(); err != nil {
		t.Fatal(err)
	}
	all := records(t, tr)
	for i := range all {
		if all[i].data == old {
			all[i].data = new
		}
	}
	return shapes[0].encode(all)
}

// TestDamage cuts and flips a database in many ways. With page sums, every answer
// is right or an error. Without them nothing in the format notices a changed
// letter; then it is only sure that nothing panics, hangs or fails in another way.
func TestDamage(t *testing.T) {
	for _, sums := range []bool{true, false} {
		name := map[bool]string{true: "sums", false: "plain"}[sums]
		t.Run(name, func(t *testing.T) {
			dir := writeDB(t, smallDB(shape{order: binary.LittleEndian, size: 1024}))
			if sums {
				if err := WriteSums(dir); err != nil {
					t.Fatal(err)
				}
			}
			want := everything(openSet(t, dir), smallNames)
			rnd := rand.New(rand.NewPCG(3, 4))
			silent, total := 0, 0
			for _, file := range []string{"GTAGS", "GRTAGS", "GPATH"} {
				path := filepath.Join(dir, file)
				good, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				for i := range 300 {
					writeFile(t, path, damage(rnd, good, i))
					total++
					if wrong := answersWrong(t, dir, want); wrong != "" {
						silent++
						if sums {
							t.Errorf("%s, damage %d: %s is wrong and no error", file, i, wrong)
						}
					}
				}
				writeFile(t, path, good)
			}
			t.Logf("%d of %d damages led to a wrong answer without an error", silent, total)
		})
	}
}

// damage cuts or flips a copy of a file, by turns.
func damage(rnd *rand.Rand, good []byte, i int) []byte {
	bad := bytes.Clone(good)
	switch i % 4 {
	case 0:
		return bad[:rnd.IntN(len(bad))]
	case 1: // whole pages are missing
		return bad[:rnd.IntN(len(bad)/1024)*1024]
	case 2: // in the headers, where structure is
		bad[rnd.IntN(len(bad)/1024)*1024+rnd.IntN(40)] ^= 1 << rnd.IntN(8)
	default:
		bad[rnd.IntN(len(bad))] ^= 1 << rnd.IntN(8)
	}
	return bad
}

// answersWrong names an answer that is neither right nor an error.
func answersWrong(t *testing.T, dir string, want map[string]any) string {
	db, err := Open(dir)
	if err != nil {
		if !expected(err) {
			t.Errorf("Open: %v, which is not an error about the file", err)
		}
		return ""
	}
	defer db.Close()
	if err := db.Verify(t.Context(), nil); err != nil && !expected(err) {
		t.Errorf("Verify: %v, which is not an error about the file", err)
	}
	for key, got := range everything(newSet(t, Member{DB: db}), smallNames) {
		if err, failed := got.(error); failed {
			if !expected(err) {
				t.Errorf("%s: %v, which is not an error about the file", key, err)
			}
		} else if !reflect.DeepEqual(got, want[key]) {
			return key
		}
	}
	return ""
}

// TestShrunk truncates files that are mapped: pages behind the end fault.
func TestShrunk(t *testing.T) {
	for _, file := range []string{"GTAGS", "GRTAGS"} {
		t.Run(file, func(t *testing.T) {
			dir := writeDB(t, smallDB(shapes[0]))
			s := openSet(t, dir)
			if err := os.Truncate(filepath.Join(dir, file), 4096); err != nil {
				t.Fatal(err)
			}
			ask := func(name string) error { return second(s.Definitions(name)) }
			if file == "GRTAGS" {
				ask = func(name string) error { return second(s.Occurrences(name)) }
			}
			for range 2 {
				var corrupt *CorruptError
				if err := ask("alpha"); !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "the file shrank") {
					t.Errorf("got error %v, want that the file shrank", err)
				} else if corrupt.Path != filepath.Join(dir, file) || corrupt.Offset < 4096 {
					t.Errorf("got %s at %d, want %s behind 4096", corrupt.Path, corrupt.Offset, file)
				}
			}
			if err := s.members[0].Verify(t.Context(), nil); err == nil {
				t.Error("Verify found nothing wrong")
			}
		})
	}
}

// TestPanicPasses makes sure that the door for faults lets other panics through.
func TestPanicPasses(t *testing.T) {
	db := openDB(t, writeDB(t, smallDB(shapes[0])))
	defer func() {
		if r := recover(); r != "a bug" {
			t.Errorf("recovered %v, want the panic", r)
		}
	}()
	_ = db.view(func() error { panic("a bug") })
}

// TestConcurrentClose closes a database under readers: each answer is right, or
// the database is closed.
func TestConcurrentClose(t *testing.T) {
	for range 10 {
		db, err := Open(writeDB(t, smallDB(shapes[2])))
		if err != nil {
			t.Fatal(err)
		}
		s := newSet(t, Member{DB: db})
		want := everything(s, smallNames)
		var ready, done sync.WaitGroup
		ready.Add(4)
		for range 4 {
			done.Go(func() {
				ready.Done()
				for closed := false; !closed; {
					for key, got := range everything(s, smallNames) {
						if err, failed := got.(error); failed && errors.Is(err, fs.ErrClosed) {
							closed = true
						} else if !reflect.DeepEqual(got, want[key]) {
							t.Errorf("%s: got %.200v, want %.200v", key, got, want[key])
						}
					}
				}
			})
		}
		ready.Wait()
		if err := errors.Join(db.Close(), db.Close()); err != nil {
			t.Error(err)
		}
		done.Wait()
	}
}

// TestHidden masks files; what only they define is not defined any more.
func TestHidden(t *testing.T) {
	db := openDB(t, writeDB(t, smallDB(shapes[0])))
	s := newSet(t, Member{DB: db, Hidden: func(path string) bool { return path == "a.c" || path == "README" }})
	got := everything(s, smallNames)
	for key, want := range map[string]any{
		"files":             []string{"a.rb", "b.c", "b/c d.c"},
		"others":            []string(nil),
		"definitions Alpha": []Site(nil),
		"defined Alpha":     false,
		"folded 1ALPHA":     []string{"alpha"},
		"names 1":           []string{"@iv", "alpha", "long"},
		"names 2":           []string{"alpha"},
		"names 4":           []string{"many"},
		"occurrences beta":  []FileLines(nil),
	} {
		if !reflect.DeepEqual(got[key], want) {
			t.Errorf("%s: got %.300v, want %.300v", key, got[key], want)
		}
	}
	if s.Len() != 3 || s.HasFile("a.c") || s.HasFile("README") || !s.HasFile("b.c") {
		t.Errorf("Len %d, a.c %t, README %t, b.c %t", s.Len(), s.HasFile("a.c"), s.HasFile("README"), s.HasFile("b.c"))
	}
}

func TestDoubledPath(t *testing.T) {
	db := openDB(t, writeDB(t, smallDB(shapes[0])))
	_, err := NewSet(Member{DB: db, Hidden: func(path string) bool { return path != "b.c" }}, Member{DB: db})
	if err == nil || !strings.Contains(err.Error(), `"b.c" stands in two databases`) {
		t.Errorf("NewSet: %v, want that b.c stands in two databases", err)
	}
	if _, err := NewSet(Member{}); err == nil {
		t.Error("NewSet took a member without a database")
	}
}

// TestSums damages SUMS itself, and the files behind its back.
func TestSums(t *testing.T) {
	for name, test := range map[string]struct {
		file   string
		change func([]byte) []byte
		want   string
	}{
		"cut sums":      {"SUMS", func(b []byte) []byte { return b[:len(b)-5] }, "SUMS is corrupt at offset 0: the sum of the sums is wrong"},
		"other sums":    {"SUMS", func(b []byte) []byte { b[20] ^= 1; return b }, "the sum of the sums is wrong"},
		"no sums":       {"SUMS", func([]byte) []byte { return nil }, "not a file of page sums"},
		"missing pages": {"GRTAGS", func(b []byte) []byte { return b[:len(b)-8192] }, "but it had"},
		"meta page":     {"GTAGS", func(b []byte) []byte { b[100] ^= 1; return b }, "the checksum of page 0 is wrong"},
		"path":          {"GPATH", func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("c d"), []byte("c-d")) }, "the checksum of page 1 is wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeDB(t, smallDB(shapes[0]))
			if err := errors.Join(WriteSums(dir), WriteSums(dir)); err != nil { // anew is as good
				t.Fatal(err)
			}
			openDB(t, dir)
			path := filepath.Join(dir, test.file)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			// A new file, since the old one is still mapped.
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			writeFile(t, path, test.change(data))
			if _, err := Open(dir); !expected(err) || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("Open: %v, want an error with %q that names %s", err, test.want, path)
			}
		})
	}
	if err := WriteSums(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("WriteSums without a database: %v", err)
	}
}
