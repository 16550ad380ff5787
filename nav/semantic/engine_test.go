package semantic

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"
)

// toy is a language for tests. Each line of a file declares "kind name", members
// are indented by tabs; a line "!" is a syntax error.
type toy struct {
	parsed atomic.Int64
	err    error
	panics bool
	gate   chan struct{} // when it is not nil, parsing waits for it
	answer Resolution
	asked  atomic.Int64
}

func (l *toy) Parse(ctx context.Context, files []File) ([]Parsed, error) {
	if l.gate != nil {
		select {
		case <-l.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if l.panics {
		panic("on purpose")
	}
	l.parsed.Add(int64(len(files)))
	out := make([]Parsed, len(files))
	for i, f := range files {
		out[i] = Parsed{Path: f.Path, Parser: "toy", Complete: true}
		lines := strings.Split(strings.TrimSuffix(string(f.Content), "\n"), "\n")
		out[i].Declarations, _ = toyMembers(lines, 0, "")
		if n := slices.Index(lines, "!"); n >= 0 {
			out[i].Complete = false
			out[i].Problems = []Problem{{Path: f.Path, Line: n + 1, Message: "syntax error"}}
		}
	}
	return out, l.err
}

// toyMembers reads the lines from at on that are indented deeper than container.
func toyMembers(lines []string, at int, container string) (list []Declaration, next int) {
	depth := 0
	if container != "" {
		depth = strings.Count(container, ".") + 1
	}
	for at < len(lines) {
		text := strings.TrimLeft(lines[at], "\t")
		if len(lines[at])-len(text) < depth {
			break
		}
		kind, name, ok := strings.Cut(text, " ")
		at++
		if !ok {
			continue
		}
		d := Declaration{Name: name, QualifiedName: name, Kind: kind, Line: at, EndLine: at, Container: container}
		if container != "" {
			d.QualifiedName = container + "." + name
		}
		d.Children, at = toyMembers(lines, at, d.QualifiedName)
		list = append(list, d)
	}
	return list, at
}

func (l *toy) Modules(_ context.Context, p Project) (list []Module, err error) {
	found, err := fs.Glob(p.FS, "*/module")
	for _, f := range found {
		dir := strings.TrimSuffix(f, "/module")
		list = append(list, Module{ID: "mod:" + dir, Dir: dir, File: f})
	}
	return list, err
}

func (l *toy) Resolve(context.Context, Project, Query) (Resolution, error) {
	if l.panics {
		panic("on purpose")
	}
	l.asked.Add(1)
	return l.answer, l.err
}

// world is a tree in memory and an engine for it.
type world struct {
	t      *testing.T
	files  fstest.MapFS
	toy    *toy
	engine *Engine
}

func newWorld(t *testing.T, limits Limits, files map[string]string) *world {
	w := &world{t: t, files: fstest.MapFS{}, toy: &toy{}}
	for name, content := range files {
		w.files[name] = &fstest.MapFile{Data: []byte(content)}
	}
	w.engine = New(Options{
		Languages: []Language{{Name: "Toy", Extensions: []string{".toy"}, Parsers: []Parser{w.toy}, Resolver: w.toy, Moduler: w.toy}},
		Limits:    limits, Wait: 20 * time.Second,
	})
	t.Cleanup(w.engine.Close)
	return w
}

// tree is the present state; a file's state is its content.
func (w *world) tree() *Tree {
	t := &Tree{Root: "/tree", FS: w.files, Read: func(file string, limit int64) ([]byte, error) {
		b, err := w.files.ReadFile(file)
		return b[:min(int64(len(b)), limit+1)], err
	}}
	for name, f := range w.files {
		if !strings.HasSuffix(name, "/module") {
			t.Files = append(t.Files, TreeFile{name, int64(len(f.Data)), digest(string(f.Data))})
		}
	}
	slices.SortFunc(t.Files, func(a, b TreeFile) int { return strings.Compare(a.Path, b.Path) })
	t.Contents = fmt.Sprint(digest(fmt.Sprint(t.Files)))
	return t
}

func (w *world) find(r Request) Answer {
	w.t.Helper()
	a, err := w.engine.Find(w.t.Context(), w.tree(), r)
	if err != nil {
		w.t.Fatalf("%+v: %v", r, err)
	}
	return a
}

func names(list []Declaration) string {
	var out []string
	for _, d := range list {
		name := d.Name
		if len(d.Children) > 0 {
			name += "(" + names(d.Children) + ")"
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

const classes = "class A\n\tmethod a\n\tclass B\n\t\tmethod b\nclass C\n"

func TestStructureIsNestedAndPaged(t *testing.T) {
	w := newWorld(t, Limits{}, map[string]string{"x/a.toy": classes})
	if got, want := names(w.find(Request{Route: Structure, Path: "x/a.toy"}).Declarations), "A(a B(b)) C"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// A member whose outer declaration is on an earlier page stands at the top.
	var pages []string
	for cursor := ""; ; {
		a := w.find(Request{Route: Structure, Path: "x/a.toy", Limit: 3, Cursor: cursor})
		pages = append(pages, names(a.Declarations))
		if cursor = a.NextCursor; cursor == "" {
			break
		}
	}
	if got, want := strings.Join(pages, " | "), "A(a B) | b C"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestNameList compares the scan with a look at every name.
func TestNameList(t *testing.T) {
	var files []parsedFile
	var all []string
	for i, list := range []string{"aba ab a", "", "b aab", "", "ba"} {
		f := parsedFile{path: fmt.Sprint(i)}
		for _, name := range strings.Fields(list) {
			f.entries = append(f.entries, entry{Declaration: Declaration{Name: name}})
			all = append(all, name)
		}
		files = append(files, f)
	}
	for _, query := range []string{"a", "b", "ab", "ba", "aa", "aba", "c", "aba a", " "} {
		var got, want []string
		newNameList(files).containing(query, func(h hit) { got = append(got, h.file.entries[h.at].Name) })
		for _, name := range all {
			if strings.Contains(name, query) {
				want = append(want, name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", query, got, want)
		}
	}
	newNameList(nil).containing("a", func(h hit) { t.Error("a hit in nothing") })
}

// TestFirst cuts a page at every length and goes on from there.
func TestFirst(t *testing.T) {
	w := newWorld(t, Limits{}, map[string]string{"a.toy": classes})
	for n := 1; n <= 5; n++ {
		page := w.find(Request{Route: Structure, Path: "a.toy"}).First(n)
		all := strings.NewReplacer("(", " ", ")", "").Replace(names(page.Declarations))
		if got := page.Returned(); got != n || page.OutputLimited != (n < 5) {
			t.Errorf("First(%d) returns %d, outputLimited=%v", n, got, page.OutputLimited)
		}
		if page.NextCursor != "" {
			rest := w.find(Request{Route: Structure, Path: "a.toy", Cursor: page.NextCursor})
			all += " " + strings.NewReplacer("(", " ", ")", "").Replace(names(rest.Declarations))
		}
		if all != "A a B b C" {
			t.Errorf("First(%d) and what follows: %s", n, all)
		}
	}
}

func TestKeysAreTheSameOnBothParserRoutes(t *testing.T) {
	w := newWorld(t, Limits{}, map[string]string{"a.toy": "method m\nmethod m\n", "b.toy": "method m\n"})
	keys := map[string]bool{}
	for _, d := range w.find(Request{Route: Symbols, Query: "m"}).Declarations {
		keys[d.Key] = true
	}
	if len(keys) != 3 {
		t.Errorf("got %d different keys, want 3", len(keys))
	}
	for _, d := range w.find(Request{Route: Structure, Path: "a.toy"}).Declarations {
		if !keys[d.Key] {
			t.Errorf("structure has the key %s, which symbols has not", d.Key)
		}
	}
}

// TestLimits reaches every limit and looks for its name and what is left.
func TestLimits(t *testing.T) {
	files := map[string]string{"a.toy": "class A\n", "b.toy": "class B\nclass BB\n", "d/e/c.toy": "class C\n", "z.toy": "class Z\n"}
	for _, test := range []struct {
		reason string
		limit  func(*Limits)
		want   string
	}{
		{"sourceFiles", func(l *Limits) { l.LanguageFiles = 3 }, "A B BB C"},
		{"fileBytes", func(l *Limits) { l.FileBytes = 10 }, "A C Z"},
		{"sourceBytes", func(l *Limits) { l.SourceBytes = 30 }, "A B BB"},
		{"directoryLevels", func(l *Limits) { l.Levels = 1 }, "A B BB Z"},
		{"entries", func(l *Limits) { l.Entries = 5 }, "A B BB C"}, // a, b, d, d/e, c
		{"declarations", func(l *Limits) { l.Declarations = 2 }, "A B"},
		{"", func(*Limits) {}, "A B BB C Z"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			limits := DefaultLimits
			test.limit(&limits)
			w := newWorld(t, limits, files)
			// Every name of the tree is made of these letters.
			var got []string
			cover := Coverage{}
			for _, letter := range []string{"A", "B", "C", "Z"} {
				a := w.find(Request{Route: Symbols, Query: letter})
				for _, d := range a.Declarations {
					got = append(got, d.Name)
				}
				cover = *a.Meta.Inventory
			}
			if have := strings.Join(got, " "); have != test.want {
				t.Errorf("got %s, want %s", have, test.want)
			}
			if test.reason == "" {
				if !cover.Complete || len(cover.Reasons) != 0 || cover.Files != 4 || cover.Bytes != 8+17+8+8 {
					t.Errorf("without a limit: got %+v", cover)
				}
				return
			}
			if cover.Complete || len(cover.Reasons) != 1 || !strings.HasPrefix(cover.Reasons[0], test.reason+": ") {
				t.Errorf("got %+v, want the reason %s alone", cover, test.reason)
			}
		})
	}
}

// TestStructureLimits reaches those that apply to one file.
func TestStructureLimits(t *testing.T) {
	for reason, limits := range map[string]Limits{
		"fileBytes":       {FileBytes: 10, Levels: 64, Declarations: 100, OutputChars: 1000},
		"directoryLevels": {FileBytes: 1000, Levels: 1, Declarations: 100, OutputChars: 1000},
		"declarations":    {FileBytes: 1000, Levels: 64, Declarations: 2, OutputChars: 1000},
	} {
		w := newWorld(t, limits, map[string]string{"d/e/a.toy": classes})
		a := w.find(Request{Route: Structure, Path: "d/e/a.toy"})
		if c := a.Meta.Inventory; c.Complete || len(c.Reasons) != 1 || !strings.HasPrefix(c.Reasons[0], reason+": ") {
			t.Errorf("%s: got %+v", reason, c)
		}
		if reason == "declarations" != (names(a.Declarations) == "A(a)") {
			t.Errorf("%s: got %s", reason, names(a.Declarations))
		}
		if reason != "declarations" && !strings.Contains(a.Message, "was not read: "+reason) {
			t.Errorf("%s: got the message %q", reason, a.Message)
		}
	}
}

// TestDefaultLimits are those that users rely on.
func TestDefaultLimits(t *testing.T) {
	want := Limits{20_000, 1 << 20, 128 << 20, 64, 100_000, 100_000, DefaultLimits.OutputChars}
	if DefaultLimits != want {
		t.Errorf("got %+v, want %+v", DefaultLimits, want)
	}
}

func TestOutputLimit(t *testing.T) {
	limits := DefaultLimits
	limits.OutputChars = 400
	w := newWorld(t, limits, map[string]string{"a.toy": "class Aa\nclass Ab\nclass " + strings.Repeat("A", 500) + "\nclass Ac\n"})
	var pages []int
	for cursor := ""; ; {
		a := w.find(Request{Route: Symbols, Query: "A", Cursor: cursor})
		pages = append(pages, len(a.Declarations))
		if a.OutputLimited != (a.NextCursor != "") {
			t.Errorf("page %d: outputLimited=%v, next cursor %q", len(pages), a.OutputLimited, a.NextCursor)
		}
		if cursor = a.NextCursor; cursor == "" {
			break
		}
	}
	// What is larger than a page on its own is a page on its own.
	if fmt.Sprint(pages) != "[2 1 1]" {
		t.Errorf("got pages of %v, want 2, 1 and 1", pages)
	}
}

// TestOnlyWhatChangedIsParsedAgain also looks at a declaration limit, which must
// not make the cut last longer than its cause.
func TestOnlyWhatChangedIsParsedAgain(t *testing.T) {
	limits := DefaultLimits
	limits.Declarations = 3
	w := newWorld(t, limits, map[string]string{"a.toy": "class A\nclass A2\n", "b.toy": "class B\nclass B2\n"})
	if a := w.find(Request{Route: Symbols, Query: "2"}); names(a.Declarations) != "A2" {
		t.Errorf("got %s, want A2 alone: the limit is 3", names(a.Declarations))
	}
	before := w.toy.parsed.Load()
	w.files["a.toy"] = &fstest.MapFile{Data: []byte("class A2\n")}
	if a := w.find(Request{Route: Symbols, Query: "2"}); names(a.Declarations) != "A2 B2" || !a.Meta.Inventory.Complete {
		t.Errorf("got %s, %+v, want both", names(a.Declarations), a.Meta.Inventory)
	}
	if n := w.toy.parsed.Load() - before; n != 1 {
		t.Errorf("parsed %d files again, want 1", n)
	}
	delete(w.files, "a.toy")
	if a := w.find(Request{Route: Symbols, Query: "2"}); names(a.Declarations) != "B2" {
		t.Errorf("after a deletion: got %s", names(a.Declarations))
	}
}

func TestSyntaxErrorsLowerCoverageNotTheAnswer(t *testing.T) {
	w := newWorld(t, Limits{}, map[string]string{"a.toy": "class A\n!\nclass A2\n", "b.toy": "class A3\n"})
	a := w.find(Request{Route: Symbols, Query: "A"})
	if names(a.Declarations) != "A A2 A3" || *a.Meta.ParserComplete || !a.Meta.Inventory.Complete {
		t.Errorf("got %s, %+v", names(a.Declarations), a.Meta)
	}
	if p := a.Meta.Problems; len(p) != 1 || p[0] != (Problem{"a.toy", 2, "syntax error"}) {
		t.Errorf("got problems %+v", p)
	}
	if u := a.Meta.Parsers; len(u) != 1 || u[0] != (ParserUse{"toy", 2, 1}) {
		t.Errorf("got parsers %+v", u)
	}
}

func TestModules(t *testing.T) {
	w := newWorld(t, Limits{}, map[string]string{"m/module": "", "m/a.toy": "class A\n", "n/b.toy": "class A\n"})
	a := w.find(Request{Route: Symbols, Query: "A", Module: "mod:m"})
	if len(a.Declarations) != 1 || a.Declarations[0].Module != "mod:m" {
		t.Errorf("got %+v", a.Declarations)
	}
	_, err := w.engine.Find(t.Context(), w.tree(), Request{Route: Symbols, Query: "A", Module: "mod:n"})
	if err == nil || !strings.Contains(err.Error(), "there are mod:m") {
		t.Errorf("an unknown module: got %v", err)
	}
	cursor := w.find(Request{Route: Symbols, Query: "A", Limit: 1}).NextCursor
	// A description that changes makes another generation, although no source did.
	w.files["m/module"] = &fstest.MapFile{Data: []byte("changed")}
	_, err = w.engine.Find(t.Context(), w.tree(), Request{Route: Symbols, Query: "A", Limit: 1, Cursor: cursor})
	if err == nil || !strings.Contains(err.Error(), "earlier state of the workspace") {
		t.Errorf("the cursor after a change of a description: got %v", err)
	}
}

// TestABusyEngineSaysSo asks while the inventory is being made.
func TestABusyEngineSaysSo(t *testing.T) {
	w := newWorld(t, Limits{}, map[string]string{"a.toy": "class A\n"})
	w.toy.gate = make(chan struct{})
	if _, err := w.engine.modulesOf(t.Context(), w.tree()); err != nil {
		t.Fatal(err)
	}
	w.engine.opts.Wait = time.Millisecond
	_, err := w.engine.Find(t.Context(), w.tree(), Request{Route: Symbols, Query: "A"})
	var busy *BusyError
	if !errors.As(err, &busy) || !busy.Temporary() || !strings.Contains(err.Error(), "0 of 1 files). Retry this call shortly.") {
		t.Fatalf("got %v", err)
	}
	close(w.toy.gate)
	w.engine.opts.Wait = 20 * time.Second
	if a := w.find(Request{Route: Symbols, Query: "A"}); a.Total != 1 {
		t.Errorf("afterwards: got %+v", a)
	}
}

// TestCloseEndsWhatIsUnderWay hangs a parser and closes.
func TestCloseEndsWhatIsUnderWay(t *testing.T) {
	w := newWorld(t, Limits{}, map[string]string{"a.toy": "class A\n"})
	w.toy.gate = make(chan struct{})
	if _, err := w.engine.modulesOf(t.Context(), w.tree()); err != nil {
		t.Fatal(err)
	}
	w.engine.opts.Wait = time.Millisecond
	if _, err := w.engine.Find(t.Context(), w.tree(), Request{Route: Symbols, Query: "A"}); err == nil {
		t.Fatal("got an answer from a parser that hangs")
	}
	closed := make(chan struct{})
	go func() { w.engine.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
		t.Error("Close waits for a parser that hangs")
	}
}

// TestAParserThatFailsIsReplaced has no parser behind the one that fails, and
// says that nobody read the file.
func TestAParserThatFailsIsReplaced(t *testing.T) {
	for _, err := range []error{fmt.Errorf("the toy shop is %w", ErrUnavailable), errors.New("out of order")} {
		w := newWorld(t, Limits{}, map[string]string{"a.toy": "class A\n"})
		w.toy.err = err
		a := w.find(Request{Route: Symbols, Query: "A"})
		if a.Total != 0 || *a.Meta.ParserComplete || len(a.Meta.Problems) != 1 || !strings.Contains(a.Meta.Problems[0].Message, err.Error()) {
			t.Errorf("%v: got %+v", err, a.Meta)
		}
		second := &toy{}
		w = newWorld(t, Limits{}, map[string]string{"a.toy": "class A\n"})
		w.toy.err = err
		w.engine.front[".toy"].Parsers = append(w.engine.front[".toy"].Parsers, second)
		if a := w.find(Request{Route: Symbols, Query: "A"}); a.Total != 1 || second.parsed.Load() != 1 {
			t.Errorf("%v: the second parser was not asked: %+v", err, a.Meta)
		}
	}
}

func TestResolveAsksOnceAQuestion(t *testing.T) {
	w := newWorld(t, Limits{}, map[string]string{"a.toy": "class A\n"})
	for i := range 5 {
		w.toy.answer.Declarations = append(w.toy.answer.Declarations, Declaration{Name: "A", Path: "a.toy", Line: i + 1, Kind: "class", Facts: &Facts{}})
	}
	w.toy.answer.FrontEnd, w.toy.answer.BindingComplete = "toy 1", true
	var lines []int
	keys := map[string]bool{}
	for cursor := ""; ; {
		a := w.find(Request{Route: Resolve, Query: "A", Limit: 2, Cursor: cursor})
		for _, d := range a.Declarations {
			lines, keys[d.Key] = append(lines, d.Line), true
		}
		if a.Meta.FrontEnds[0] != "toy 1" || !*a.Meta.BindingComplete || a.Meta.InputCoverage.Complete {
			t.Errorf("got %+v", a.Meta)
		}
		if cursor = a.NextCursor; cursor == "" {
			break
		}
	}
	if fmt.Sprint(lines) != "[1 2 3 4 5]" || len(keys) != 5 || w.toy.asked.Load() != 1 {
		t.Errorf("got lines %v with %d keys after %d questions", lines, len(keys), w.toy.asked.Load())
	}
	w.toy.err = errors.New("out of order")
	for range 2 { // a failure is not remembered
		if _, err := w.engine.Find(t.Context(), w.tree(), Request{Route: Resolve, Query: "B"}); err == nil || !strings.Contains(err.Error(), "out of order") {
			t.Errorf("got %v", err)
		}
	}
	if n := w.toy.asked.Load(); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
}

func TestResolveWithoutAFrontEnd(t *testing.T) {
	w := newWorld(t, Limits{}, map[string]string{"a.py": "", "b.py": "", "c.rs": ""})
	_, err := w.engine.Find(t.Context(), w.tree(), Request{Route: Resolve, Query: "A"})
	if want := "there is none for Python, Rust, only for Toy; the routes structure and symbols"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	w = newWorld(t, Limits{}, map[string]string{"a.toy": ""})
	w.toy.err = fmt.Errorf("the toy shop is %w", ErrUnavailable)
	_, err = w.engine.Find(t.Context(), w.tree(), Request{Route: Resolve, Query: "A"})
	if want := "Toy: the toy shop is not available; the routes structure and symbols need no compiler"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestAPanicEndsOneAnswer breaks a parser and a front end, both of which run in
// the background.
func TestAPanicEndsOneAnswer(t *testing.T) {
	w := newWorld(t, Limits{}, map[string]string{"a.toy": "class A\n"})
	w.toy.panics = true
	for _, route := range []string{Symbols, Structure} {
		a := w.find(Request{Route: route, Query: map[string]string{Symbols: "A"}[route], Path: map[string]string{Structure: "a.toy"}[route]})
		if a.Total != 0 || len(a.Meta.Problems) != 1 || !strings.Contains(a.Meta.Problems[0].Message, "internal error: on purpose") {
			t.Errorf("%s: got %+v", route, a.Meta)
		}
	}
	_, err := w.engine.Find(t.Context(), w.tree(), Request{Route: Resolve, Query: "A"})
	if err == nil || !strings.Contains(err.Error(), "internal error: on purpose") {
		t.Errorf("resolve: got %v", err)
	}
}
