package gtagsdb

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

// oracle is one database built by one gtags, and `global` to ask about it.
type oracle struct {
	navtest.Toolchain
	t     testing.TB
	root  string
	files []string
	flags []string // of gtags
	dir   string   // the database
}

func newOracle(t testing.TB, root string, flags ...string) *oracle {
	o := &oracle{Toolchain: navtest.Tools(t), t: t, root: root, files: listFiles(t, root), flags: flags}
	o.dir = o.build(o.files)
	return o
}

// build indexes some of the files into a directory of their own.
func (o *oracle) build(files []string) string {
	o.t.Helper()
	dir := o.t.TempDir()
	o.run(strings.Join(files, "\n")+"\n", o.Gtags, append(slices.Clone(o.flags), "-f", "-", dir)...)
	return dir
}

// run runs a program in the root and returns what it prints.
func (o *oracle) run(stdin, program string, args ...string) string {
	o.t.Helper()
	cmd := exec.CommandContext(o.t.Context(), program, args...)
	cmd.Dir = o.root
	cmd.Env = append(slices.Clone(o.Env), "GTAGSROOT="+o.root, "GTAGSDBPATH="+o.dir)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		o.t.Fatalf("%s %q: %v\n%s", program, args, err, &errs)
	}
	return out.String()
}

// ask runs `global -x` and reads its lines. Blanks in paths come as %20.
func (o *oracle) ask(args ...string) []Site {
	o.t.Helper()
	var sites []Site
	out := o.run("", o.Global, append([]string{"-x", "--encode-path= \t"}, args...)...)
	for line := range strings.Lines(out) {
		site, err := parseHit(strings.TrimSuffix(line, "\n"))
		if err != nil {
			o.t.Fatalf("global %q printed %q: %v", args, line, err)
		}
		sites = append(sites, site)
	}
	return sites
}

// parseHit reads what global prints by "%-16s %4d %-16s %s".
func parseHit(line string) (s Site, err error) {
	name, rest, _ := strings.Cut(line, " ")
	number, rest, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	path, image, ok := strings.Cut(rest, " ")
	if pad := max(0, 16-len(path)); ok && pad <= len(image) {
		s = Site{Name: name, Image: image[pad:]}
	} else {
		return s, errors.New("not a hit")
	}
	if s.Line, err = strconv.Atoi(number); err != nil {
		return s, err
	}
	s.Path, err = url.PathUnescape(path)
	return s, err
}

func (o *oracle) names(args ...string) []string {
	o.t.Helper()
	return strings.Fields(o.run("", o.Global, args...))
}

// byName groups the lines of `global -x '.*'`.
func byName(sites []Site) map[string][]Site {
	m := make(map[string][]Site)
	for _, s := range sites {
		m[s.Name] = append(m[s.Name], s)
	}
	return m
}

// flatten turns occurrences into sites without images, to be compared.
func flatten(name string, files []FileLines) []Site {
	var sites []Site
	for _, f := range files {
		for _, line := range f.Lines {
			sites = append(sites, Site{Name: name, Path: f.Path, Line: line})
		}
	}
	return sites
}

// sampleTree is a tree of real sources and of edge cases. The real ones are those
// that come with Go: its C and assembler files, and some of its Go files under a
// suffix that makes GNU Global's C parser read them, which finds names by the
// thousand in them; what they mean is no matter here.
func sampleTree(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatalf("go env GOROOT: %v", err)
	}
	src := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	suffix := map[string]string{".c": "", ".h": "", ".s": "", ".S": "", ".go": ".c"}
	err = filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, _ := filepath.Rel(src, path)
		more, known := suffix[filepath.Ext(path)]
		if !known || more != "" && !slices.Contains([]string{"runtime", "syscall", "net/http"}, filepath.ToSlash(filepath.Dir(rel))) {
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil {
			writeFile(t, filepath.Join(root, rel+more), data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range edgeCases() {
		writeFile(t, filepath.Join(root, name), []byte(text))
	}
	return root
}

func writeFile(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// edgeCases are files on which a reader of the format goes wrong first.
func edgeCases() map[string]string {
	files := map[string]string{
		"edge/overflow.c":        "#define LONG_A " + strings.Repeat("1 + ", 3000) + "1\n#define LONG_B " + strings.Repeat("@n  LONG_B\t", 9000) + "\n",
		"edge/threshold.c":       thresholds(),
		"edge/escapes.c":         escapes(),
		"edge/crlf.c":            "int crlf_one(void)\r\n{\r\n\treturn crlf_two(1);\r\n}\r\n",
		"edge/nofinal.c":         "int no_final(void) { return crlf_one(); }\n#define NO_FINAL_NEWLINE crlf_two(2)",
		"edge/nul.c":             "int before_nul(void) { return 0; }\nchar *s = \"\x00\"; int with_nul;\nint after_nul(void) { return undefined_nul; }\n",
		"edge/latin\u00e9/ü b.c": "int in_utf8(void) { return naïve(); }\n",
		"edge/a path/50% of.c":   "int in_blanks(void) { return in_utf8(); }\n",
		"edge/case.c":            "int Zed(void);\nint Zed(void) { return zed() + ZED + zEd(1) + ZeD; }\n#define ZED 1\nint zed(void) { return Zed(); }\nint a_b; int f_case(void) { return A_B + a_B + a_b; }\n",
		"edge/twice.c":           "int dup(void) { return 1; } int dup(void) { return dup() + dup(); }\n#define dup 1\n",
		"edge/empty.c":           "",
		"edge/README":            "not a source file\n",
		"edge/README.txt":        "neither\n",
		"edge/lines.c":           manyLines(),
		"edge/sub-a.c":           "int order_a(void) { return order_x; }\n",
		"edge/sub.c":             "int order_a(void) { return order_x; }\n",
		"edge/sub/a.c":           "int order_a(void) { return order_x; }\n",
		"edge/sub0.c":            "int order_a(void) { return order_x; }\n",
	}
	for i := range 700 {
		files[fmt.Sprintf("edge/many/f%d.c", i)] = fmt.Sprintf("int many_%d(void)\n{\n\treturn many_undef + many_ref(%d);\n}\nint many_ref(int a) { return many_undef; }\n", i, i)
	}
	if runtime.GOOS == "linux" {
		files["edge/latin\xe9.c"] = "int in_latin1(void) { return in_utf8(); }\n"
	}
	return files
}

// thresholds has lines of about the size at which data overflows.
func thresholds() string {
	var b strings.Builder
	for n := 4030; n < 4080; n++ {
		fmt.Fprintf(&b, "#define T%d %s\n", n, strings.Repeat("x", n))
	}
	return b.String()
}

func escapes() string {
	var b strings.Builder
	b.WriteString("#define AT_FOO \"@@ @n @d @{5} @\" a    b             c\n")
	b.WriteString("typedef struct typedef_me define_me_t; /* define typedef */\n")
	b.WriteString("#define AT_FOO_2 AT_FOO ## AT_FOO\n\t    int  tab_me(void)\t{ return AT_FOO; }    \n")
	for n := range 40 {
		fmt.Fprintf(&b, "#define BLANKS_%d%s|\n", n, strings.Repeat(" ", n+1))
	}
	return b.String()
}

// manyLines mentions one name on so many lines that its record is split, with gaps
// of all kinds.
func manyLines() string {
	var b strings.Builder
	b.WriteString("void lines(void) {\n")
	for i := range 6000 {
		if i%7 == 0 || i%13 == 0 || i%100 < 20 {
			b.WriteString("\tsplit_me(many_undef);\n")
		} else {
			b.WriteString("\tother();\n")
		}
	}
	return b.String() + "}\n"
}

func listFiles(t testing.TB, root string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
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

// part chooses a shard by the path alone.
func part(path string, n int) int {
	h := fnv.New32a()
	h.Write([]byte(path))
	return int(h.Sum32() % uint32(n))
}

// shard builds n databases that together hold all files.
func (o *oracle) shard(n int) []string {
	var dirs []string
	for i := range n {
		dirs = append(dirs, o.build(slices.DeleteFunc(slices.Clone(o.files), func(f string) bool { return part(f, n) != i })))
	}
	return dirs
}

func openDB(t testing.TB, dir string) *DB {
	t.Helper()
	db, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func newSet(t testing.TB, members ...Member) *Set {
	t.Helper()
	s, err := NewSet(members...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openSet(t testing.TB, dirs ...string) *Set {
	t.Helper()
	var members []Member
	for _, dir := range dirs {
		members = append(members, Member{DB: openDB(t, dir)})
	}
	return newSet(t, members...)
}

// answers are all that global says about a database.
type answers struct {
	defs, refs, others map[string][]Site
	names              map[Source][]string
	files, otherFiles  []string
}

var listings = map[Source]string{Definitions: "-c", References: "-cr", OtherSymbols: "-cs"}

func (o *oracle) all() answers {
	o.t.Helper()
	a := answers{
		defs:   byName(o.ask("-d", ".*")),
		refs:   byName(o.ask("-r", ".*")),
		others: byName(o.ask("-s", ".*")),
		names:  make(map[Source][]string),
	}
	// global -c takes names that begin with a byte above 127 for metadata.
	for from, m := range map[Source]map[string][]Site{Definitions: a.defs, References: a.refs, OtherSymbols: a.others} {
		a.names[from] = o.names(listings[from])
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if name[0] >= 0x80 {
				a.names[from] = append(a.names[from], name)
			}
		}
	}
	lines := func(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }
	a.files, a.otherFiles = lines(o.run("", o.Global, "-P")), lines(o.run("", o.Global, "-P", "-O"))
	if len(a.defs) < 2000 || len(a.refs) < 2000 || len(a.others) < 2000 || len(a.files) < 1000 || len(a.otherFiles) < 2 {
		o.t.Fatalf("the tree gives %d, %d, %d names and %d, %d files: too few to prove anything",
			len(a.defs), len(a.refs), len(a.others), len(a.files), len(a.otherFiles))
	}
	return a
}

// TestAgainstGlobal asks the same questions of `global` on one database and of a
// Set: of that database, of shards, and of a base some of whose files are masked
// by a delta. Where global itself is wrong the tests say so and take the answer
// that the format demands.
func TestAgainstGlobal(t *testing.T) {
	root := sampleTree(t)
	for _, format := range []struct {
		name   string
		flags  []string
		folded int // names to ask for in other case, of each kind
	}{{"standard", nil, 450}, {"compact", []string{"-c"}, 50}} {
		t.Run(format.name, func(t *testing.T) {
			o := newOracle(t, root, format.flags...)
			want := o.all()
			five := o.shard(5)
			sets := map[string]*Set{
				"one":    openSet(t, o.dir),
				"two":    openSet(t, o.shard(2)...),
				"five":   openSet(t, five...),
				"masked": newSet(t, Member{DB: openDB(t, o.dir), Hidden: func(p string) bool { return part(p, 5) == 0 }}, Member{DB: openDB(t, five[0])}),
			}
			for name, s := range sets {
				t.Run(name, func(t *testing.T) { compare(t, s, want, format.name == "compact") })
			}
			t.Run("folded", func(t *testing.T) { compareFolded(t, o, plainNames(want, format.folded), sets) })
			t.Run("spawned", func(t *testing.T) { compareSpawned(t, o, want, sets["one"]) })
		})
	}
}

func compare(t *testing.T, s *Set, want answers, compact bool) {
	for from, list := range want.names {
		got, err := s.Names("", from, 0)
		checkEqual(t, fmt.Sprintf("names of source %d", from), got, list, err)
	}
	occurring := slices.Concat(want.names[References], want.names[OtherSymbols])
	slices.Sort(occurring)
	got, err := s.Names("", References|OtherSymbols, 0)
	checkEqual(t, "names that occur", got, occurring, err)
	for i, name := range sample(want, 2000) {
		got, err := s.Definitions(name)
		checkEqual(t, "definitions of "+name, got, sites(want.defs[name], compact), err)
		defined, err := s.Defined(name)
		checkEqual(t, name+" is defined", []bool{defined}, []bool{want.defs[name] != nil}, err)
		files, err := s.Occurrences(name)
		occurrences := want.others[name]
		if defined {
			occurrences = want.refs[name]
		}
		checkEqual(t, "occurrences of "+name, flatten(name, files), withoutImages(occurrences), err)
		if i%100 != 0 {
			continue // a prefix may have thousands of names
		}
		for from, list := range want.names {
			prefix := name[:len(name)-len(name)/2]
			list := withPrefix(list, prefix)
			if name != "" && name[0] <= ' ' {
				list = nil
			}
			got, err := s.Names(prefix, from, 0)
			checkEqual(t, "names with "+prefix, got, list, err)
			got, err = s.Names(prefix, from, 3)
			checkEqual(t, "3 names with "+prefix, got, list[:min(3, len(list))], err)
		}
	}
	total := 0
	for sites, err := range s.AllDefinitions("") {
		checkEqual(t, "all definitions", withoutImages(sites), withoutImages(want.defs[sites[0].Name]), err)
		total++
	}
	checkEqual(t, "number of defined names", []int{total}, []int{len(want.defs)}, nil)
	checkEqual(t, "files", slices.Collect(s.Files()), want.files, nil)
	checkEqual(t, "number of files", []int{s.Len()}, []int{len(want.files)}, nil)
	checkEqual(t, "other files", slices.Collect(s.OtherFiles()), want.otherFiles, nil)
	for _, path := range want.files {
		if !s.HasFile(path) || s.HasFile(path+"x") {
			t.Errorf("HasFile(%q) = %t, of a longer path %t", path, s.HasFile(path), s.HasFile(path+"x"))
		}
	}
}

// sites gives the answer of the format: the compact one has no images.
func sites(of []Site, compact bool) []Site {
	if compact {
		return withoutImages(of)
	}
	of = slices.Clone(of)
	for i := range of {
		of[i].HasImage = true
	}
	return of
}

func withoutImages(of []Site) []Site {
	of = slices.Clone(of)
	for i := range of {
		of[i].Image, of[i].HasImage = "", false
	}
	return of
}

// sample draws names of all kinds, and for each of them one that misses.
func sample(want answers, n int) []string {
	var names []string
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, m := range []map[string][]Site{want.defs, want.refs, want.others} {
		all := slices.Sorted(maps.Keys(m))
		rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		names = append(names, all[:min(n, len(all))]...)
	}
	for _, name := range names[:len(names):len(names)] {
		names = append(names, name+"\x01", name[:len(name)/2]+"~", strings.ToUpper(name))
	}
	return append(names, "many_undef", "split_me", "LONG_A", "LONG_B", "", " ", " __.VERSION", "\x00", "a\x00", strings.Repeat("x", 10000))
}

func checkEqual[T comparable](t *testing.T, what string, got, want []T, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	} else if !slices.Equal(got, want) {
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		t.Errorf("%.200s: %d answers, want %d; from the first difference on\n got %.500v\nwant %.500v", what, len(got), len(want), got[i:], want[i:])
	}
}

// withPrefix cuts from a sorted list the names that begin with prefix.
func withPrefix(list []string, prefix string) []string {
	start, _ := slices.BinarySearch(list, prefix)
	list = list[start:]
	return list[:sort.Search(len(list), func(i int) bool { return !strings.HasPrefix(list[i], prefix) })]
}

// compareFolded asks global for many names at once, by a regular expression of
// the names' alternatives, which it matches against keys as it does one name. It
// would take a name's < > ` for operators; names that have them are left out.
func compareFolded(t *testing.T, o *oracle, plain []string, sets map[string]*Set) {
	for from, flag := range map[Source]string{Definitions: "-di", References: "-ri", OtherSymbols: "-si"} {
		for rest := plain; len(rest) > 0; {
			n, size := 0, 0
			for n < len(rest) && size < 440 { // global has room for 511 bytes
				size += len(rest[n]) + 1
				n++
			}
			folded := make(map[string][]string)
			hits := byName(o.ask(flag, "^("+strings.Join(rest[:n], "|")+")$"))
			for _, name := range slices.Sorted(maps.Keys(hits)) {
				folded[strings.ToLower(name)] = append(folded[strings.ToLower(name)], name)
			}
			for _, name := range rest[:n] {
				for set, s := range sets {
					got, err := s.FoldedNames(name, from)
					checkEqual(t, fmt.Sprintf("%s: %s %s", set, flag, name), got, folded[strings.ToLower(name)], err)
				}
			}
			rest = rest[n:]
		}
	}
}

var plainName = regexp.MustCompile(`^\w{1,60}$`)

// plainNames is a sample of names, half of them in the wrong case.
func plainNames(want answers, n int) []string {
	names := slices.DeleteFunc(sample(want, n), func(name string) bool { return !plainName.MatchString(name) })
	slices.Sort(names)
	return slices.Compact(names)
}

// compareSpawned makes sure, with some names, that global says of one name what it
// says of that name among all.
func compareSpawned(t *testing.T, o *oracle, want answers, s *Set) {
	for _, name := range []string{"many_undef", "many_ref", "split_me", "order_a", "dup", "LONG_B", "AT_FOO", "crlf_two", "Zed", "zEd", "missing"} {
		checkEqual(t, "global -d "+name, o.ask("-d", name), want.defs[name], nil)
		checkEqual(t, "global -r "+name, o.ask("-r", name), want.refs[name], nil)
		checkEqual(t, "global -s "+name, o.ask("-s", name), want.others[name], nil)
		for from, flag := range listings {
			prefix := name[:min(3, len(name))]
			got, err := s.Names(prefix, from, 0)
			checkEqual(t, "global "+flag+prefix, got, o.names(flag, prefix), err)
		}
	}
	for from, flag := range map[Source]string{Definitions: "-di", References: "-ri", OtherSymbols: "-si"} {
		for _, name := range []string{"zed", "ZED", "a_b", "MANY_REF", "missing"} {
			var want []string
			for _, site := range o.ask(flag, name) {
				want = append(want, site.Name)
			}
			got, err := s.FoldedNames(name, from)
			checkEqual(t, "global "+flag+" "+name, got, slices.Compact(want), err)
		}
	}
}

// TestIncremental reads databases that `gtags -i` has changed in place: with free
// pages, holes among the file numbers and an order of leaves unlike any other.
func TestIncremental(t *testing.T) {
	root := t.TempDir()
	for name, text := range edgeCases() {
		writeFile(t, filepath.Join(root, name), []byte(text))
	}
	o := newOracle(t, root)
	for i := range 700 {
		name := filepath.Join(root, fmt.Sprintf("edge/many/f%d.c", i))
		switch {
		case i%7 == 0:
			writeFile(t, name, fmt.Appendf(nil, "#define NEW_%d %s\nint f(void) { return many_undef; }\n", i, strings.Repeat("+1", 10*i)))
			later := time.Now().Add(time.Minute)
			if err := os.Chtimes(name, later, later); err != nil {
				t.Fatal(err)
			}
		case i < 500:
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Remove(filepath.Join(root, "edge/overflow.c")); err != nil {
		t.Fatal(err)
	}
	o.run(strings.Join(listFiles(t, root), "\n")+"\n", o.Gtags, "-i", "-f", "-", o.dir)
	db := openDB(t, o.dir)
	if err := db.Verify(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if db.defs.free == 0 && db.refs.free == 0 {
		t.Error("the update left no free page: this test shows nothing")
	}
	s := newSet(t, Member{DB: db})
	want := byName(o.ask("-d", ".*"))
	for got, err := range s.AllDefinitions("") {
		if err != nil {
			t.Fatal(err)
		}
		name := got[0].Name
		checkEqual(t, "definitions of "+name, got, sites(want[name], false), nil)
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("%d names are missing: %.200v", len(want), want)
	}
	files, err := s.Occurrences("many_undef")
	checkEqual(t, "occurrences of many_undef", flatten("many_undef", files), withoutImages(o.ask("-s", "many_undef")), err)
}
