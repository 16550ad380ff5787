package nav

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
)

// maxCallerFiles is the number of files that may use a name whose callers are
// asked for. Each has to be read; beyond that the answer would be of no use.
const maxCallerFiles = 500

// fileScope is the caller of a use that stands in no function, variable or macro.
const fileScope = "(file scope)"

// unknownHolder is the caller of a use in a file that nothing here can parse.
const unknownHolder = "(unknown)"

// TooBroadError says that a name is used in more files than are looked at.
type TooBroadError struct {
	Symbol string
	Files  int
}

func (e *TooBroadError) Error() string {
	return fmt.Sprintf("%s is used in %d files, more than the %d that are searched for callers", e.Symbol, e.Files, maxCallerFiles)
}

// CallerQuery asks who uses a symbol.
type CallerQuery struct {
	Symbol     string // with a selector, the callers of that definition only
	PathPrefix string
	Page
}

// Caller is a function, or another thing that holds code, that uses a symbol.
type Caller struct {
	Name, Path string
	Line       int   // where it is defined; 0 for file scope
	Sites      []int // the lines of the uses
	Snippet    string
	holder     Symbol
	called     bool // some use is a call
}

// Callers is the answer: the callers of one page in order of path and line.
type Callers struct {
	Callers []Caller
	Total   int
	// Selectors pick one of several definitions that share the name.
	Selectors   []string
	Suggestions []string
}

// Callers finds what uses a symbol. A prototype, a comment or a line under
// #if 0 uses nothing.
func (v *View) Callers(ctx context.Context, q CallerQuery) (Callers, error) {
	var a Callers
	keep, err := v.filter(Filter{PathPrefix: q.PathPrefix})
	if err != nil {
		return a, err
	}
	name, pick, err := v.selector(q.Symbol)
	if err != nil {
		return a, err
	}
	if err := checkSymbol(name); err != nil {
		return a, err
	}
	base := name
	if _, last, ok := splitScope(name); ok {
		if defined, err := v.set.Defined(name); err == nil && !defined {
			base = last
		}
	}
	found, err := v.resolve(ctx, name)
	if err != nil {
		return a, err
	}
	targets := slices.DeleteFunc(slices.Clone(found.sites), func(s Symbol) bool { return !pick(&s) })
	means := meaningOf(callables(found.sites))
	if name != q.Symbol {
		means = meaningOf(targets)
	}
	all, err := v.callersOf(ctx, base, means, func(path string) bool {
		return keep.path(path) && (name == q.Symbol || reaches(path, targets, found.sites))
	})
	if err != nil {
		return a, err
	}
	from, to, err := q.window(len(all))
	if err != nil {
		return a, err
	}
	a.Callers, a.Total = all[from:to], len(all)
	a.Selectors = selectors(targets)
	if a.Total == 0 && len(found.sites) == 0 {
		a.Suggestions, err = v.suggest(name)
	}
	return a, err
}

// callables are the definitions that run, if there are any: whoever asks for the
// callers of a function does not mean the members that share its name.
func callables(sites []Symbol) []Symbol {
	run := slices.DeleteFunc(slices.Clone(sites), func(s Symbol) bool { return !s.callable() })
	if len(run) == 0 {
		return sites
	}
	return run
}

// reaches reports whether a use in a file can mean one of the targets. A static
// function is meant in its own file only, and there it hides all namesakes.
func reaches(path string, targets, all []Symbol) bool {
	for i := range all {
		if all[i].Static && all[i].Path == path {
			return slices.ContainsFunc(targets, func(t Symbol) bool { return t.Path == path })
		}
	}
	return slices.ContainsFunc(targets, func(t Symbol) bool { return !t.Static })
}

// selectors name each of several callable definitions.
func selectors(sites []Symbol) []string {
	var out []string
	for i := range sites {
		if sites[i].callable() {
			out = append(out, fmt.Sprintf("%s@%s:%d", sites[i].Name, sites[i].Path, sites[i].Line))
		}
	}
	return out
}

// callersOf finds what uses a name, in the files that keep lets through.
func (v *View) callersOf(ctx context.Context, name string, means meaning, keep func(path string) bool) ([]Caller, error) {
	files, err := v.set.Occurrences(name)
	if err != nil {
		return nil, err
	}
	records, err := v.set.Definitions(name)
	if err != nil {
		return nil, err
	}
	// A line that GNU Global took for a definition may well be a use.
	var recorded []gtagsdb.FileLines
	for _, r := range records {
		recorded = append(recorded, gtagsdb.FileLines{Path: r.Path, Lines: []int{r.Line}})
	}
	files = mergeLines(files, recorded)
	files = slices.DeleteFunc(slices.Clone(files), func(f gtagsdb.FileLines) bool { return !keep(f.Path) })
	if len(files) > maxCallerFiles {
		return nil, &TooBroadError{name, len(files)}
	}
	var mu sync.Mutex
	var all []Caller
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for _, f := range files {
		work.Go(func() error {
			found, err := v.knownCallersIn(ctx, name, means, f)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, found...)
			return err
		})
	}
	err = work.Wait()
	slices.SortFunc(all, func(a, b Caller) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Sites[0], b.Sites[0]))
	})
	return all, err
}

// maxCallerLists is how many lists of callers are kept.
const maxCallerLists = 4096

// callerCache keeps the callers found in single files of one generation: a walk
// over the call graph, and an agent, come back to the same ones.
type callerCache struct {
	mu         sync.Mutex
	generation string
	lists      map[callerKey][]Caller
}

type callerKey struct {
	name, path string
	means      meaning
}

// knownCallersIn is callersIn, from the cache when it can be.
func (v *View) knownCallersIn(ctx context.Context, name string, means meaning, f gtagsdb.FileLines) ([]Caller, error) {
	c, key, generation := &v.w.callers, callerKey{name, f.Path, means}, v.snap.Generation()
	c.mu.Lock()
	found, ok := c.lists[key]
	ok = ok && c.generation == generation
	c.mu.Unlock()
	if ok {
		return found, nil
	}
	found, err := v.callersIn(ctx, name, means, f)
	unknown := slices.ContainsFunc(found, func(c Caller) bool { return c.Name == unknownHolder })
	if err != nil || v.outlines == nil || len(found) == 0 || unknown {
		return found, err // a file that cannot be read, or no outline or parser yet: ask again
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation != generation || len(c.lists) >= maxCallerLists {
		c.generation, c.lists = generation, map[callerKey][]Caller{}
	}
	c.lists[key] = found
	return found, nil
}

// callersIn groups the uses of a name in one file by what holds them.
func (v *View) callersIn(ctx context.Context, name string, means meaning, f gtagsdb.FileLines) ([]Caller, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	src, err := v.w.files.read(f.Path)
	if err != nil {
		v.unreadable(f.Path, err)
		return nil, nil
	}
	var found []Caller
	for _, line := range src.counted(name, f.Lines) {
		holders, err := v.holders(ctx, src, name, means, line)
		if err != nil {
			return nil, err
		}
		for _, h := range holders {
			i := slices.IndexFunc(found, func(c Caller) bool { return c.holder.Name == h.Name && c.Line == h.Line })
			if i < 0 {
				i = len(found)
				found = append(found, Caller{Name: h.qualified(), Path: f.Path, Line: h.Line, Snippet: snippet(src.line(line)), holder: h.Symbol})
			}
			found[i].called = found[i].called || h.called
			if n := len(found[i].Sites); n == 0 || found[i].Sites[n-1] != line {
				found[i].Sites = append(found[i].Sites, line)
			}
		}
	}
	return found, nil
}

// useOf is one use of a name: what holds it, and whether it is a call.
type useOf struct {
	Symbol
	called bool
}

// holders returns the uses of a name on a line; none when the name only stands
// there in a comment or a declaration.
func (v *View) holders(ctx context.Context, src *source, name string, means meaning, line int) ([]useOf, error) {
	nowhere := Symbol{Name: fileScope, Path: src.path}
	if f := v.facts(src.path); f != nil {
		var found []useOf
		for _, o := range means.usesOn(src, f, line, name) {
			holder, uses := nowhere, true
			if o.In.Kind != 0 {
				holder, uses = v.enclosing(src, f, o.In)
			}
			if uses && !(holder.Family != "" && holder.Name == name) { // what mints a name does not use it
				found = append(found, useOf{holder, callUse(o.Use)})
			}
		}
		return found, nil
	}
	all, parsed, err := v.symbols(ctx, src)
	if Temporary(err) {
		return nil, err
	}
	if err != nil {
		return nil, nil // a file that cannot be parsed has no callers that we could name
	}
	if imports(src, line) {
		return nil, nil
	}
	if !parsed {
		return v.unparsedHolder(src, name, line)
	}
	best, bestRank := nowhere, 0
	for _, s := range all {
		if s.Line == line && s.Name == name {
			return nil, nil
		}
		if r := holding(&s); s.contains(line) && (r > bestRank || r > 0 && r == bestRank && s.Start >= best.Start) {
			best, bestRank = s, r
		}
	}
	return []useOf{{best, true}}, nil
}

// unparsedHolder is the holder of a use in a file that nothing here can parse,
// unless the index has the line for a definition.
func (v *View) unparsedHolder(src *source, name string, line int) ([]useOf, error) {
	v.unreadable(src.path, ErrNoParser)
	records, err := v.set.Definitions(name)
	if err != nil || slices.ContainsFunc(records, func(r gtagsdb.Site) bool { return r.Path == src.path && r.Line == line }) {
		return nil, err
	}
	return []useOf{{Symbol{Name: unknownHolder, Path: src.path}, true}}, nil
}

// holding ranks what may hold a use in a file that only ctags knows: a function
// before a variable with its initializer, which comes before the type around.
func holding(s *Symbol) int {
	switch s.Kind {
	case "variable", "constant", "var", "const", "field", "property", "static":
		return 2
	case "class", "struct", "interface", "enum", "record", "implementation", "trait":
		return 1
	}
	if s.callable() {
		return 3
	}
	return 0
}
