package unpack_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/toolchain/unpack"
	"github.com/mholt/archiver/v4"
)

// entry is one member of an archive made by these tests. A zero typ is a file,
// or a folder where the name ends in a slash.
type entry struct {
	name, body, target string
	typ                byte
	mode               int64
}

func makeTar(tb testing.TB, entries []entry) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.typ, Linkname: e.target, Mode: e.mode, Size: int64(len(e.body)), Format: tar.FormatPAX}
		if e.typ == 0 && strings.HasSuffix(e.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			tb.Fatal(err)
		}
		if _, err := io.WriteString(w, e.body); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func compress(tb testing.TB, c archiver.Compressor, plain []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := c.OpenWriter(&b)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := w.Write(plain); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func makeZip(tb testing.TB, entries []entry) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		mode := fs.FileMode(e.mode & 0o777)
		if e.typ == tar.TypeSymlink {
			mode, e.body = mode|fs.ModeSymlink, e.target
		}
		if e.mode&0o4000 != 0 {
			mode |= fs.ModeSetuid
		}
		h.SetMode(mode)
		f, err := w.CreateHeader(h)
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := io.WriteString(f, e.body); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// formats are the four that Unpack knows, made from the same entries.
var formats = map[string]func(testing.TB, []entry) []byte{
	"tar.gz":  func(tb testing.TB, e []entry) []byte { return compress(tb, archiver.Gz{}, makeTar(tb, e)) },
	"tar.xz":  func(tb testing.TB, e []entry) []byte { return compress(tb, archiver.Xz{}, makeTar(tb, e)) },
	"tar.zst": func(tb testing.TB, e []entry) []byte { return compress(tb, archiver.Zstd{}, makeTar(tb, e)) },
	"zip":     makeZip,
}

// try unpacks b in a folder of its own, and checks that nothing but the
// destination came of it, and not even that when there is an error.
func try(t *testing.T, b []byte, l unpack.Limits) (dest string, err error) {
	t.Helper()
	parent := t.TempDir()
	archive := filepath.Join(parent, "archive")
	if err := os.WriteFile(archive, b, 0o644); err != nil {
		t.Fatal(err)
	}
	dest = filepath.Join(parent, "dest")
	err = unpack.Unpack(t.Context(), archive, dest, l)
	want := []string{"archive"}
	if err == nil {
		want = append(want, "dest")
	}
	if got := names(t, parent); !slices.Equal(got, want) {
		t.Errorf("beside the destination: %q, want %q (error %v)", got, want, err)
	}
	return dest, err
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// tree describes everything below dir: mode, name, and content or target.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&b, "%v %s", info.Mode(), rel)
		switch {
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %q", content)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " -> %s", target)
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestUnpack(t *testing.T) {
	entries := []entry{
		{name: "./"},
		{name: "bin/", mode: 0o700},
		{name: "bin/tool", body: "#!/bin/sh\n", mode: 0o711},
		{name: "./share/deep/er/ünï 字.txt", body: "text", mode: 0o600},
		{name: "share/", mode: 0o777},
		{name: "empty", mode: 0o444},
	}
	want := `drwxr-xr-x bin
-rwxr-xr-x bin/tool "#!/bin/sh\n"
-rw-r--r-- empty ""
drwxr-xr-x share
drwxr-xr-x share/deep
drwxr-xr-x share/deep/er
-rw-r--r-- share/deep/er/ünï 字.txt "text"
`
	for name, build := range formats {
		t.Run(name, func(t *testing.T) {
			for _, noSync := range []bool{false, true} {
				dest, err := try(t, build(t, entries), unpack.Limits{NoSync: noSync})
				if err != nil {
					t.Fatal(err)
				}
				if got := tree(t, dest); got != want {
					t.Errorf("got\n%swant\n%s", got, want)
				}
			}
		})
	}
}

func TestLinks(t *testing.T) {
	dest, err := try(t, formats["tar.gz"](t, []entry{
		{name: "early", typ: tar.TypeSymlink, target: "docs/news"},
		{name: "docs/up", typ: tar.TypeSymlink, target: "../bin/tool"},
		{name: "docs/folder", typ: tar.TypeSymlink, target: "./"},
		{name: "hard", typ: tar.TypeLink, target: "bin/tool"},
		{name: "docs/news", body: "n"},
		{name: "bin/tool", body: "t", mode: 0o755},
	}), unpack.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := `drwxr-xr-x bin
-rwxr-xr-x bin/tool "t"
drwxr-xr-x docs
Lrwxrwxrwx docs/folder -> ./
-rw-r--r-- docs/news "n"
Lrwxrwxrwx docs/up -> ../bin/tool
Lrwxrwxrwx early -> docs/news
-rwxr-xr-x hard "t"
`
	if got := tree(t, dest); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestHostile: each of these archives is refused whole, with the entry named.
func TestHostile(t *testing.T) {
	link := func(name, target string) entry { return entry{name: name, typ: tar.TypeSymlink, target: target} }
	hard := func(name, target string) entry { return entry{name: name, typ: tar.TypeLink, target: target} }
	tests := []struct {
		name    string
		entries []entry
		names   string // what the error must mention
	}{
		{"absolute", []entry{{name: "/etc/x"}}, "/etc/x"},
		{"climbs", []entry{{name: "../x"}}, "../x"},
		{"climbs later", []entry{{name: "a/b/../../../x"}}, "../x"},
		{"climbs and returns", []entry{{name: "a/../x"}}, "a/../x"},
		{"climbs as a folder", []entry{{name: "../dir/"}}, "../dir"},
		{"backslash", []entry{{name: `..\x`}}, `..\\x`},
		{"drive", []entry{{name: "c:x"}}, "c:x"},
		{"control character", []entry{{name: "a\x1b[2Jb"}}, "2Jb"},
		{"direction override", []entry{{name: "a\u202egnp.sh"}}, "202e"},
		{"empty name", []entry{{name: ""}}, "empty"},
		{"overlong", []entry{{name: strings.Repeat("d/", 600)}}, "overlong"},
		{"overlong element", []entry{{name: strings.Repeat("x", 256)}}, "reserved"},
		{"deep", []entry{{name: strings.Repeat("d/", 20) + "x"}}, "deeper than 16"},
		{"device name", []entry{{name: "lib/AUX.c"}}, "AUX.c"},
		{"device name 2", []entry{{name: "com1"}}, "com1"},
		{"trailing dot", []entry{{name: "a./b"}}, "a."},
		{"duplicate", []entry{{name: "a", body: "1"}, {name: "a", body: "2"}}, `"a"`},
		{"duplicate, spelled otherwise", []entry{{name: "a"}, {name: "./a"}}, `"a"`},
		{"case", []entry{{name: "Make"}, {name: "make"}}, `"Make" and "make"`},
		{"case of a folder", []entry{{name: "A/x"}, {name: "a/y"}}, `"A" and "a"`},
		{"case beyond ASCII", []entry{{name: "É"}, {name: "é"}}, "É"},
		{"below a file", []entry{{name: "a"}, {name: "a/b"}}, `"a"`},
		{"file over a folder", []entry{{name: "a/b"}, {name: "a"}}, `"a"`},
		{"set-uid", []entry{{name: "su", mode: 0o4755}}, "su"},
		{"set-gid", []entry{{name: "sg", mode: 0o2755}}, "sg"},
		{"sticky", []entry{{name: "t/", mode: 0o1777}}, "t/"},
		{"FIFO", []entry{{name: "p", typ: tar.TypeFifo}}, `"p"`},
		{"character device", []entry{{name: "null", typ: tar.TypeChar}}, "null"},
		{"block device", []entry{{name: "sda", typ: tar.TypeBlock}}, "sda"},
		{"the root as a file", []entry{{name: ".", body: "x"}}, `"."`},
		{"link out", []entry{link("l", "../x")}, `"../x"`},
		{"link to the root of all", []entry{link("l", "/etc/passwd")}, "/etc/passwd"},
		{"link out and back", []entry{{name: "a"}, link("l", "../dest/a")}, "../dest/a"},
		{"link through nothing", []entry{{name: "a"}, {name: "d/b"}, link("d/l", "x/../b")}, "x/../b"},
		{"link to itself", []entry{link("l", "l")}, `"l"`},
		{"link to nothing", []entry{link("l", "none")}, "none"},
		{"link to the whole", []entry{link("l", ".")}, `"."`},
		{"chain", []entry{{name: "d/x"}, link("a", "d"), link("b", "a/x")}, "a/x"},
		{"link to a link", []entry{{name: "x"}, link("a", "x"), link("b", "a")}, `"b"`},
		{"write through a link", []entry{{name: "d/"}, link("l", "d"), {name: "l/x"}}, `"l"`},
		{"write through a later link", []entry{{name: "l/x"}, link("l", "d")}, `"l"`},
		{"link over a file", []entry{{name: "d/"}, {name: "l"}, link("l", "d")}, `"l"`},
		{"hard link out", []entry{hard("h", "../../etc/passwd")}, "passwd"},
		{"hard link to an absolute path", []entry{hard("h", "/etc/passwd")}, "/etc/passwd"},
		{"hard link to a link", []entry{{name: "x"}, link("l", "x"), hard("h", "l")}, `"l"`},
		{"hard link to a folder", []entry{{name: "d/"}, hard("h", "d")}, `"d"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := try(t, formats["tar.gz"](t, tt.entries), unpack.Limits{})
			if !errors.Is(err, unpack.ErrRefused) || !strings.Contains(err.Error(), tt.names) {
				t.Errorf("error %v, want a refusal that mentions %q", err, tt.names)
			}
		})
	}
	for _, tt := range []struct {
		name    string
		entries []entry
	}{
		{"climbs", []entry{{name: "../x"}}},
		{"absolute", []entry{{name: "/x"}}},
		{"link", []entry{{name: "a"}, link("l", "a")}},
		{"set-uid", []entry{{name: "su", mode: 0o4755}}},
		{"duplicate", []entry{{name: "a"}, {name: "a"}}},
	} {
		t.Run("zip "+tt.name, func(t *testing.T) {
			if _, err := try(t, makeZip(t, tt.entries), unpack.Limits{}); !errors.Is(err, unpack.ErrRefused) {
				t.Errorf("error %v, want a refusal", err)
			}
		})
	}
}

func TestZipMethod(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if _, err := w.CreateRaw(&zip.FileHeader{Name: "a", Method: 12}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := try(t, b.Bytes(), unpack.Limits{}); !errors.Is(err, unpack.ErrRefused) || !strings.Contains(err.Error(), "method 12") {
		t.Errorf("error %v", err)
	}
}

func TestBombs(t *testing.T) {
	zeros := strings.Repeat("\x00", 4<<20)
	var many []entry
	for i := range 101 {
		many = append(many, entry{name: fmt.Sprint("f", i)})
	}
	tests := []struct {
		name    string
		entries []entry
		limits  unpack.Limits
		want    string
	}{
		{"ratio", []entry{{name: "zeros", body: zeros}}, unpack.Limits{}, "times its size"},
		{"bytes", []entry{{name: "a", body: "12345"}, {name: "b", body: "67890"}}, unpack.Limits{Bytes: 9, Ratio: 1 << 40}, "more than 9 bytes"},
		{"entries", many, unpack.Limits{Entries: 100}, "more than 100 entries"},
		{"depth", []entry{{name: "a/b/c"}}, unpack.Limits{Depth: 2}, "deeper than 2"},
	}
	for _, tt := range tests {
		for name, build := range formats {
			t.Run(tt.name+" "+name, func(t *testing.T) {
				if _, err := try(t, build(t, tt.entries), tt.limits); !errors.Is(err, unpack.ErrRefused) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want %q", err, tt.want)
				}
			})
		}
	}
	dest, err := try(t, formats["tar.gz"](t, []entry{{name: "zeros", body: zeros}}), unpack.Limits{Ratio: 2000})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dest, "zeros")); err != nil || info.Size() != 4<<20 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestHeaderBomb: megabytes of padding after the end of the tar file are never
// written anywhere and still count.
func TestHeaderBomb(t *testing.T) {
	plain := append(makeTar(t, []entry{{name: "a"}}), make([]byte, 4<<20)...)
	if _, err := try(t, compress(t, archiver.Gz{}, plain), unpack.Limits{}); !errors.Is(err, unpack.ErrRefused) {
		t.Errorf("error %v, want a refusal", err)
	}
}

// TestDamage cuts and flips a good archive of each format. Whatever is accepted
// is the content that was packed.
func TestDamage(t *testing.T) {
	entries := []entry{{name: "a", body: strings.Repeat("some text ", 300)}, {name: "b/c", body: "more"}}
	for name, build := range formats {
		good := build(t, entries)
		dest, err := try(t, good, unpack.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		want := tree(t, dest)
		for i := 1; i <= 20; i++ {
			cut := good[:len(good)*i/21]
			if _, err := try(t, cut, unpack.Limits{}); !errors.Is(err, unpack.ErrRefused) {
				t.Errorf("%s cut at %d of %d: error %v", name, len(cut), len(good), err)
			}
		}
		if name == "zip" {
			continue // its second copy of every header makes most bits of the first irrelevant
		}
		for i := 0; i < len(good); i += 7 {
			flipped := bytes.Clone(good)
			flipped[i] ^= 0x10
			dest, err := try(t, flipped, unpack.Limits{})
			if err == nil && tree(t, dest) != want {
				t.Errorf("%s with byte %d flipped: accepted with other content", name, i)
			}
		}
	}
}

func TestNotAnArchive(t *testing.T) {
	for _, b := range []string{"", "x", "<!DOCTYPE html><html>", strings.Repeat("\x00", 1024), "\x1f\x8b", "PK\x03\x04", "\x7fELF"} {
		if _, err := try(t, []byte(b), unpack.Limits{}); !errors.Is(err, unpack.ErrRefused) {
			t.Errorf("%.10q: error %v, want a refusal", b, err)
		}
	}
}

func TestDestinationExists(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(archive, makeZip(t, []entry{{name: "new"}}), 0o644); err != nil {
		t.Fatal(err)
	}
	dest := t.TempDir()
	if err := os.WriteFile(filepath.Join(dest, "old"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := unpack.Unpack(t.Context(), archive, dest, unpack.Limits{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error %v, want %v", err, fs.ErrExist)
	}
	if got := names(t, dest); !slices.Equal(got, []string{"old"}) {
		t.Errorf("the folder that was there holds %q", got)
	}
}

func TestCancelled(t *testing.T) {
	for name, build := range formats {
		dir := t.TempDir()
		archive := filepath.Join(dir, "a")
		if err := os.WriteFile(archive, build(t, []entry{{name: "a", body: "b"}}), 0o644); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := unpack.Unpack(ctx, archive, filepath.Join(dir, "dest"), unpack.Limits{})
		if !errors.Is(err, context.Canceled) || errors.Is(err, unpack.ErrRefused) {
			t.Errorf("%s: error %v", name, err)
		}
		if got := names(t, dir); !slices.Equal(got, []string{"a"}) {
			t.Errorf("%s: left %q", name, got)
		}
	}
}

// FuzzUnpack: whatever the bytes are, nothing panics and nothing lands beside
// the destination, and what is inside is files, folders and links that stay.
func FuzzUnpack(f *testing.F) {
	seeds := [][]entry{
		{{name: "a", body: "b"}, {name: "d/e", body: "f", mode: 0o755}},
		{{name: "d/x"}, {name: "l", typ: tar.TypeSymlink, target: "d/x"}, {name: "h", typ: tar.TypeLink, target: "d/x"}},
		{{name: "../x"}}, {{name: "l", typ: tar.TypeSymlink, target: "/"}},
	}
	for _, s := range seeds {
		for _, build := range formats {
			f.Add(build(f, s))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		dest, err := try(t, b, unpack.Limits{Bytes: 1 << 20, Entries: 50, NoSync: true})
		if err != nil {
			return
		}
		root, err := os.OpenRoot(dest)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if _, err := root.Stat(path); err != nil {
				return err // os.Root follows links and refuses those that leave
			}
			if d.Type()&^(fs.ModeDir|fs.ModeSymlink) != 0 {
				t.Errorf("%s: mode %v", path, d.Type())
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// FuzzTar skips the compression, whose checksums keep a fuzzer out.
func FuzzTar(f *testing.F) {
	f.Add(makeTar(f, []entry{{name: "d/x"}, {name: "l", typ: tar.TypeSymlink, target: "d/x"}, {name: "h", typ: tar.TypeLink, target: "d/x"}}))
	f.Add(makeTar(f, []entry{{name: "a/../../x", body: "b"}}))
	f.Fuzz(func(t *testing.T, plain []byte) {
		_, _ = try(t, compress(t, archiver.Gz{}, plain), unpack.Limits{Bytes: 1 << 20, Entries: 50, NoSync: true})
	})
}
