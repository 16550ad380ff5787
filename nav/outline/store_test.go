package outline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
	"github.com/gtagsmcp/gtagsmcp/nav/macro"
)

// tree is a set of sources by path.
type tree map[string]string

// build writes the tree and the store of it and opens that.
func (tr tree) build(t testing.TB, opts Options) *Store {
	t.Helper()
	root := t.TempDir()
	for path, text := range tr {
		name := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	store, stats := buildFrom(t, root, slices.Collect(maps.Keys(tr)), opts)
	if len(stats.Skipped) > 0 {
		t.Fatalf("skipped: %v", stats.Skipped)
	}
	return store
}

func buildFrom(t testing.TB, root string, files []string, opts Options) (*Store, Stats) {
	t.Helper()
	r, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	dir := t.TempDir()
	stats, err := Build(t.Context(), dir, r, files, opts)
	if err != nil {
		t.Fatal(err)
	}
	onlyStore(t, dir, stats.Bytes)
	store, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store, stats
}

// onlyStore checks that the store is all that a build leaves.
func onlyStore(t testing.TB, dir string, size int64) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != storeName {
		t.Fatalf("the layer holds %v, want the store alone", entries)
	}
	if info, err := entries[0].Info(); err != nil || info.Size() != size {
		t.Fatalf("the store has %d bytes (error %v), want %d", info.Size(), err, size)
	}
}

// sources lists the C-like files below root.
func sources(t testing.TB, root string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if _, ok := csource.LangOf(path); ok && d.Type().IsRegular() {
			rel, _ := filepath.Rel(root, path)
			files = append(files, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// plain is a symbol without its unexported fields, which a store does not keep.
func plain(s csource.Symbol) csource.Symbol {
	return csource.Symbol{Name: s.Name, Kind: s.Kind, Local: s.Local, Dead: s.Dead, Scope: s.Scope, Signature: s.Signature,
		Type: s.Type, Line: s.Line, Col: s.Col, Start: s.Start, End: s.End, Body: s.Body}
}

// agree compares everything that the store says about a file with a scan of it,
// on every line, and for every column up to width.
func agree(t *testing.T, set *Set, path string, text []byte, width int) {
	t.Helper()
	lang, _ := csource.LangOf(path)
	want := csource.Scan(text, lang)
	got, ok, err := set.File(path)
	if err != nil || !ok {
		t.Errorf("%s: found %v, error %v", path, ok, err)
		return
	}
	if got.Path() != path || got.Lines() != want.Lines() || got.Len() != len(want.Symbols()) {
		t.Errorf("%s: got %s, %d lines and %d symbols, want %d and %d", path, got.Path(), got.Lines(), got.Len(), want.Lines(), len(want.Symbols()))
		return
	}
	symbols, err := got.Symbols()
	if err != nil {
		t.Errorf("%s: %v", path, err)
	}
	for i, s := range want.Symbols() {
		if symbols[i] != plain(s) {
			t.Errorf("%s: symbol %d\ngot  %+v\nwant %+v", path, i, symbols[i], plain(s))
		}
	}
	lines := bytes.Split(text, []byte("\n"))
	for n := 1; n <= want.Lines() && !t.Failed(); n++ {
		agreeLine(t, got, want, n, lines[n-1][:min(len(lines[n-1]), width)])
	}
}

func agreeLine(t *testing.T, got *File, want *csource.File, n int, line []byte) {
	t.Helper()
	guards, err := got.Guards(n)
	if err != nil || !slices.Equal(guards, want.Guards(n)) || guards == nil {
		t.Errorf("%s:%d: guards %q, error %v, want %q", got.Path(), n, guards, err, want.Guards(n))
	}
	if dead, err := got.Dead(n); err != nil || dead != want.Dead(n) {
		t.Errorf("%s:%d: dead %v, error %v, want %v", got.Path(), n, dead, err, want.Dead(n))
	}
	s, ok, err := got.Enclosing(n)
	if w, wok := want.Enclosing(n); err != nil || ok != wok || s != plain(w) {
		t.Errorf("%s:%d: enclosed by %+v, %v, error %v, want %+v, %v", got.Path(), n, s, ok, err, plain(w), wok)
	}
	for i, c := range line {
		if c <= ' ' {
			continue
		}
		s, ok, err := got.EnclosingAt(n, i+1)
		if w, wok := want.EnclosingAt(n, i+1); err != nil || ok != wok || s != plain(w) {
			t.Errorf("%s:%d:%d: enclosed by %+v, %v, error %v, want %+v, %v", got.Path(), n, i+1, s, ok, err, plain(w), wok)
			return
		}
	}
}

// agreeNames compares the names of a set with those that scans define.
func agreeNames(t *testing.T, set *Set, texts map[string][]byte) {
	t.Helper()
	want := make(map[string][]Ref)
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		lang, _ := csource.LangOf(path)
		for i, s := range csource.Scan(texts[path], lang).Symbols() {
			if s.Kind.Definition() {
				want[s.Name] = append(want[s.Name], Ref{Path: path, Index: i, Symbol: plain(s)})
			}
		}
	}
	names, err := set.Names("", 0)
	if err != nil || len(names) != len(want) {
		t.Errorf("%d names, error %v, want %d", len(names), err, len(want))
	}
	if !slices.IsSorted(names) {
		t.Error("names are not in byte order")
	}
	for name, refs := range want {
		got, err := set.Lookup(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, refs) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", name, got, refs)
		}
		if prefixed, err := set.Names(name, 1); err != nil || !slices.Equal(prefixed, []string{name}) {
			t.Errorf("names that begin with %q: first %q, error %v", name, prefixed, err)
		}
	}
}

// TestAgreesWithScans covers the C of the Go distribution and the corpus of
// faults of other tools, with several workers and with runs small enough for
// many of them.
func TestAgreesWithScans(t *testing.T) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, root string
		least      int // files
	}{
		{"go", strings.TrimSpace(string(goroot)), 500},
		{"faults", filepath.Join("..", "csource", "testdata", "faults"), 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := sources(t, tt.root)
			if len(files) < tt.least {
				t.Fatalf("%d files, want at least %d", len(files), tt.least)
			}
			store, stats := buildFrom(t, tt.root, files, Options{Workers: 3, RunBytes: 4096})
			if stats.Files != len(files) || len(stats.Skipped) > 0 {
				t.Errorf("%d files and %v skipped, want %d and none", stats.Files, stats.Skipped, len(files))
			}
			set := NewSet(Member{Store: store})
			texts := make(map[string][]byte)
			for _, f := range files {
				if texts[f], err = os.ReadFile(filepath.Join(tt.root, f)); err != nil {
					t.Fatal(err)
				}
				agree(t, set, f, texts[f], 3)
			}
			agreeNames(t, set, texts)
		})
	}
}

// crowded are sources in which several symbols and conditions meet on a line.
var crowded = tree{
	"one.c":      "int a; int b, c; struct s { int m; } d; /* e */ int f(void) { return a; } int g;\n",
	"tail.c":     "int f(void)\n{\n} int g(void)\n{\n} /* x */ int h; garbage\nint k; // end\n",
	"comment.c":  "/* c */ int f(void) {\n}\n/* d */ #define M 1\n#define N \\\n   \nint z;\n",
	"nested.c":   "struct a { struct b { int x; } y;\nstruct c {\nint z; } w; } v;\ntypedef struct t { int q; } t_t, *t_p;\n",
	"guards.c":   "#if A /* over\nlines */ && B\nint x;\n#elif \\\n  C\nint y;\n#else // z /* w\nint v;\n#endif\n/* p */ # /* q\n*/ ifdef Q\nint u;\n#\\\nendif\n#if 0\nint dead;\n#endif\n",
	"guard.h":    "#ifndef G\n#define G\n#ifdef X\nint x;\n#endif\n#endif\n",
	"crlf.c":     "#if A\r\nint x;\r\n#else\r\nint f(void)\r\n{\r\n}\r\n#endif\r\n",
	"noend.c":    "#if A\nint f(void) {",
	"empty.c":    "",
	"newline.c":  "\n",
	"deep.cc":    "namespace n { class C { int f() { return 1; } int m; }; int C::g() { struct L { int q; }; return 2; } }\n",
	"entry.S":    "#include <x>\nENTRY(start)\n\tnop\nEND(start)\n#ifdef S\nfoo:\n#endif\n",
	"long.c":     "int " + strings.Repeat("a, ", 1500) + "b;\nint f(void) { " + strings.Repeat("x(); ", 500) + "} int g;\n",
	"many.h":     manyMacros(200),
	"outer.c":    "struct big {\n" + strings.Repeat("\tint a;\n", 300) + "} x = {\n" + strings.Repeat("\t1,\n", 300) + "};\nvoid f(void)\n{\n" + strings.Repeat("#define X\n", 200) + "\n\ty();\n}\n",
	"old.c":      "int main(argc, argv)\n\tint argc; char **argv;\n{\n}\n#ifdef A\nint f1(int a)\n{\n#else\nint f2(long a)\n{\n#endif\n\treturn 1;\n}\n",
	"sub/dir.c":  "enum e { A, B = 2, C } v; int (*fp)(int);\n",
	"sub-dir.c":  "static int same;\n",
	"\xff\xfe.c": "int bytes;\n",
}

func manyMacros(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "#define mmDCP%d_GRPH_CONTROL__FIELD_%d_MASK 0x%x\n", i/100, i, i)
	}
	return b.String()
}

func TestAgreesOnCrowdedLines(t *testing.T) {
	set := NewSet(Member{Store: crowded.build(t, Options{Workers: 2})})
	texts := make(map[string][]byte)
	for path, text := range crowded {
		texts[path] = []byte(text)
		agree(t, set, path, texts[path], maxColumns)
	}
	agreeNames(t, set, texts)
}

func TestOutsideOfTheFile(t *testing.T) {
	set := NewSet(Member{Store: tree{"a.c": "#if A\nint f(void) {\n}\n"}.build(t, Options{})})
	f, ok, err := set.File("a.c")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	for _, line := range []int{-1, 0, 4, math.MaxInt} {
		if _, ok, err := f.Enclosing(line); ok || err != nil {
			t.Errorf("line %d: enclosed %v, error %v", line, ok, err)
		}
	}
	if _, err := f.Symbol(1); err == nil {
		t.Error("symbol 1 of 1 gave no error")
	}
	if _, ok, err := set.File("b.c"); ok || err != nil {
		t.Errorf("b.c: found %v, error %v", ok, err)
	}
	if refs, err := set.Lookup("nowhere", nil); err != nil || len(refs) > 0 {
		t.Errorf("nowhere: %v, error %v", refs, err)
	}
}

func TestMintedNames(t *testing.T) {
	mint := func(path string, call csource.Symbol) []macro.Name {
		name, _, _ := strings.Cut(strings.Trim(call.Signature, "()"), ",")
		switch call.Name {
		case "SYSCALL_DEFINE1":
			return []macro.Name{{Name: "sys_" + name, Label: "macro:" + path, Role: macro.Define, Rank: 2}, {Name: "__do_sys_" + name, Label: "macro:DO", Role: macro.Declare, Rank: -1, Weak: true}}
		case "EXPORT_SYMBOL":
			return []macro.Name{{Name: name, Label: "macro:EXPORT", Role: macro.Export}}
		}
		return nil
	}
	set := NewSet(Member{Store: tree{
		"a.c": "SYSCALL_DEFINE1(close, int, fd)\n{\n\treturn 0;\n}\nEXPORT_SYMBOL(elsewhere);\n",
		"b.c": "int sys_close(int fd)\n{\n}\n",
	}.build(t, Options{Mint: mint})})
	for name, want := range map[string]string{
		"sys_close":      "a.c:1-4 invocation {sys_close macro:a.c define 2 false}\nb.c:1-3 function {   0 false}\n",
		"__do_sys_close": "a.c:1-4 invocation {__do_sys_close macro:DO declare -1 true}\n",
		"elsewhere":      "a.c:5-5 invocation {elsewhere macro:EXPORT export 0 false}\n",
	} {
		refs, err := set.Lookup(name, nil)
		var got strings.Builder
		for _, r := range refs {
			fmt.Fprintf(&got, "%s:%d-%d %s %v\n", r.Path, r.Symbol.Start, r.Symbol.End, r.Symbol.Kind, r.Minted)
		}
		if err != nil || got.String() != want {
			t.Errorf("%s, error %v\ngot\n%swant\n%s", name, err, got.String(), want)
		}
	}
	// A name that is only exported is not defined.
	names, err := set.Names("", 0)
	if want := []string{"__do_sys_close", "sys_close"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("names %q, error %v, want %q", names, err, want)
	}
}

// TestFamiliesKeepEverything fails when macro.Name gets a field that the store
// does not keep.
func TestFamiliesKeepEverything(t *testing.T) {
	want := macro.Name{Label: "l", Role: "r", Rank: -300, Weak: true}
	v := reflect.ValueOf(want)
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Name != "Name" && v.Field(i).IsZero() {
			t.Errorf("the test sets no %s", f.Name)
		}
	}
	r := reader{b: appendFamily(nil, want)}
	if got := r.family(); got != want || r.bad || len(r.b) > 0 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestWant counts by kind without reading a symbol, and picks by kind and path.
func TestWant(t *testing.T) {
	set := NewSet(Member{Store: tree{
		"a.c": "struct s { int dev; int x; };\nint dev;\n", "b.c": "struct t { int dev; };\nstatic void dev(void) {}\n",
	}.build(t, Options{})})
	count := make(map[csource.Kind]int)
	refs, err := set.Lookup("dev", func(_ string, k csource.Kind) bool { count[k]++; return false })
	if err != nil || len(refs) > 0 || count[csource.Member] != 2 || count[csource.Variable] != 1 || count[csource.Function] != 1 {
		t.Errorf("got %v and %v, error %v, want 2 members, a variable and a function", refs, count, err)
	}
	refs, err = set.Lookup("dev", func(path string, k csource.Kind) bool { return path == "b.c" && k == csource.Member })
	if err != nil || len(refs) != 1 || refs[0].Symbol.Scope != "t" {
		t.Errorf("got %v, error %v, want t::dev", refs, err)
	}
}

func TestFamilies(t *testing.T) {
	set := NewSet(Member{Store: tree{"a.c": "SYSCALL_DEFINE2(dup2, unsigned int, a, unsigned int, b)\n{\n}\n"}.build(t, Options{Mint: Families(macro.Builtin())})})
	refs, err := set.Lookup("sys_dup2", nil)
	if err != nil || len(refs) != 1 || refs[0].Minted.Role != macro.Define || refs[0].Symbol.Name != "SYSCALL_DEFINE2" {
		t.Errorf("got %+v, error %v, want the call of SYSCALL_DEFINE2", refs, err)
	}
}

// TestMasks has a base of which a delta replaces one file and removes another.
func TestMasks(t *testing.T) {
	base := tree{"a.c": "int a, both;\n", "b.c": "int old, both;\n", "c.c": "int gone;\n"}.build(t, Options{})
	delta := tree{"b.c": "int fresh, both;\n"}.build(t, Options{})
	hidden := func(path string) bool { return path == "b.c" || path == "c.c" }
	set := NewSet(Member{Store: base, Hidden: hidden}, Member{Store: delta})
	for name, want := range map[string]string{"a": "a.c", "both": "a.c b.c", "old": "", "gone": "", "fresh": "b.c"} {
		refs, err := set.Lookup(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range refs {
			got = append(got, r.Path)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for _, tt := range []struct {
		prefix string
		limit  int
		want   string
	}{{"", 0, "a both fresh"}, {"", 2, "a both"}, {"o", 0, ""}, {"b", 5, "both"}} {
		names, err := set.Names(tt.prefix, tt.limit)
		if err != nil || strings.Join(names, " ") != tt.want {
			t.Errorf("names with %q: got %q, error %v, want %q", tt.prefix, names, err, tt.want)
		}
	}
	f, ok, err := set.File("b.c")
	if err != nil || !ok {
		t.Fatalf("b.c: found %v, error %v", ok, err)
	}
	if s, err := f.Symbol(0); err != nil || s.Name != "fresh" {
		t.Errorf("first symbol of b.c: got %q, error %v, want fresh", s.Name, err)
	}
	if _, ok, err := set.File("c.c"); ok || err != nil {
		t.Errorf("c.c: found %v, error %v, want it hidden", ok, err)
	}
}

func TestSkippedFiles(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"good.c": "int good;\n", "large.c": strings.Repeat("int x;\n", 100), "readme.txt": "int no;\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "dir.c"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(t.TempDir(), "x.c"), filepath.Join(root, "out.c")); err != nil {
		t.Fatal(err)
	}
	files := []string{"good.c", "missing.c", "large.c", "dir.c", "out.c", "readme.txt", "good.c", "../up.c"}
	store, stats := buildFrom(t, root, files, Options{MaxFile: 500})
	var skipped []string
	for _, s := range stats.Skipped {
		skipped = append(skipped, s.Path)
		if !strings.Contains(s.Err.Error(), s.Path) {
			t.Errorf("the error does not name %s: %v", s.Path, s.Err)
		}
	}
	if want := []string{"dir.c", "large.c", "missing.c", "out.c"}; !slices.Equal(skipped, want) {
		t.Errorf("skipped %q, want %q", skipped, want)
	}
	if stats.Files != 1 || stats.Names != 1 {
		t.Errorf("got %d files and %d names, want 1 and 1", stats.Files, stats.Names)
	}
	set := NewSet(Member{Store: store})
	if _, ok, err := set.File("large.c"); ok || err != nil {
		t.Errorf("large.c: found %v, error %v", ok, err)
	}
}

// TestCancel ends a build in the middle of its files and finds nothing of it.
func TestCancel(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.c"), []byte("CALL(x);\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Build(ctx, dir, r, []string{"a.c", "b.c"}, Options{Workers: 1, Mint: func(string, csource.Symbol) []macro.Name { cancel(); return nil }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left over: %v, error %v", entries, err)
	}
}

// TestPanicOfAScan loses one file and no other.
func TestPanicOfAScan(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"a.c": "int a;\nCALL(x);\n", "b.c": "int b;\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	store, stats := buildFrom(t, root, []string{"a.c", "b.c"}, Options{Mint: func(string, csource.Symbol) []macro.Name { panic("lost") }})
	if len(stats.Skipped) != 1 || stats.Skipped[0].Path != "a.c" || stats.Definitions != 1 {
		t.Errorf("skipped %v, %d definitions, want a.c and 1", stats.Skipped, stats.Definitions)
	}
	if names, err := NewSet(Member{Store: store}).Names("", 0); err != nil || !slices.Equal(names, []string{"b"}) {
		t.Errorf("names %q, error %v, want b", names, err)
	}
}

func TestConcurrentReadersAndClose(t *testing.T) {
	store := crowded.build(t, Options{})
	set := NewSet(Member{Store: store})
	f, _, err := set.File("outer.c")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				refs, err := set.Lookup("same", nil)
				if err == nil && (len(refs) != 1 || refs[0].Path != "sub-dir.c") {
					t.Errorf("got %v", refs)
				}
				if err == nil {
					_, _, err = f.Enclosing(700)
				}
				if err == nil {
					_, err = f.Symbols()
				}
				if err != nil && !errors.Is(err, fs.ErrClosed) {
					t.Error(err)
				}
			}
		})
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if _, err := set.Lookup("same", nil); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("lookup after Close: error %v, want %v", err, fs.ErrClosed)
	}
	if err := store.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	if _, err := Open(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: error %v, want %v", err, fs.ErrNotExist)
	}
	for name, content := range map[string]string{"empty": "", "short": "gtags-mcp outline 2\n", "other": strings.Repeat("x", 500)} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, storeName), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		var corrupt *CorruptError
		if _, err := Open(dir); !errors.As(err, &corrupt) || corrupt.Path != filepath.Join(dir, storeName) {
			t.Errorf("%s: error %v, want a CorruptError that names the store", name, err)
		}
	}
}

// TestDamageIsNoticed flips every byte of a store in turn. Whatever is then read
// is an error or what it was before.
func TestDamageIsNoticed(t *testing.T) {
	small := tree{"a.c": crowded["guards.c"] + crowded["one.c"] + "CALL(x);\n", "b.h": manyMacros(70)}
	whole := small.build(t, Options{Mint: func(string, csource.Symbol) []macro.Name {
		return []macro.Name{{Name: "minted", Label: "family", Role: macro.Define}}
	}})
	want, err := everything(whole)
	if err != nil {
		t.Fatal(err)
	}
	data := bytes.Clone(whole.data)
	noticed := 0
	for i := range data {
		data[i] ^= 1 << (i % 8)
		got, err := everything(storeOf(data))
		data[i] ^= 1 << (i % 8)
		var corrupt *CorruptError
		switch {
		case err == nil && got != want:
			t.Fatalf("byte %d: damage was not noticed", i)
		case err != nil && !errors.As(err, &corrupt):
			t.Fatalf("byte %d: error %v is no CorruptError", i, err)
		case err != nil:
			noticed++
		}
	}
	if noticed != len(data) {
		t.Errorf("noticed %d of %d flips", noticed, len(data))
	}
	for n := range data {
		if _, err := everything(storeOf(data[:n])); err == nil {
			t.Fatalf("cut to %d bytes: no error", n)
		}
	}
}

// storeOf is a store of bytes in memory; everything loads it.
func storeOf(data []byte) *Store { return &Store{path: "memory", data: data} }

// everything loads a store and asks all there is to ask.
func everything(s *Store) (string, error) {
	if err := s.view(s.load); err != nil {
		return "", err
	}
	set := NewSet(Member{Store: s})
	var b strings.Builder
	names, err := set.Names("", 0)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		refs, err := set.Lookup(name, nil)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&b, name, refs)
	}
	for i := range s.paths.len() {
		f, ok, err := s.file(i)
		if err != nil || !ok {
			return "", err
		}
		symbols, err := f.Symbols()
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&b, f.Path(), symbols)
		for n := range min(f.Lines(), 1000) + 2 {
			guards, err := f.Guards(n)
			dead, err2 := f.Dead(n)
			at, ok, err3 := f.EnclosingAt(n, 5)
			in, ok2, err4 := f.Enclosing(n)
			if err := errors.Join(err, err2, err3, err4); err != nil {
				return "", err
			}
			fmt.Fprintln(&b, n, guards, dead, at, ok, in, ok2)
		}
	}
	return b.String(), nil
}
