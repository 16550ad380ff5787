package nav

import (
	"cmp"
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
	"github.com/gtagsmcp/gtagsmcp/nav/macro"
)

const (
	// maxScannedFiles bounds the files that are scanned for one name that
	// GNU Global has no definition of.
	maxScannedFiles = 400
	// maxScanned is the largest file that is scanned to confirm a record of
	// GNU Global's; a register header of 24 MB would take a quarter of a second.
	maxScanned = 4 << 20
)

// resolution is every definition of a name that was found, best first, and how
// they were found when not by the name itself.
type resolution struct {
	name  string
	sites []Symbol
	via   string
	// uses are the places that GNU Global recorded as definitions although they
	// only use or declare the name.
	uses []gtagsdb.FileLines
}

// resolve finds the definitions of a name: first of the name as it stands, then
// as Scope::name or Scope.name, then minted by a macro under another spelling,
// then with other leading underscores.
func (v *View) resolve(ctx context.Context, name string) (resolution, error) {
	found, err := v.literal(ctx, name)
	if err != nil || len(found.sites) > 0 {
		return found, err
	}
	for _, attempt := range []func(context.Context, string) (resolution, error){v.qualified, v.underscored} {
		other, err := attempt(ctx, name)
		if err != nil {
			return found, err
		}
		if len(other.sites) > 0 {
			other.uses = found.uses
			return other, nil
		}
	}
	return found, nil
}

// literal finds the definitions of exactly this name.
func (v *View) literal(ctx context.Context, name string) (resolution, error) {
	r := resolution{name: name}
	records, err := v.set.Definitions(name)
	if err != nil {
		return r, err
	}
	recorded := map[string][]int{}
	for _, rec := range records {
		recorded[rec.Path] = append(recorded[rec.Path], rec.Line)
	}
	files, err := v.candidates(name, slices.Sorted(maps.Keys(recorded)))
	if err != nil {
		return r, err
	}
	var mu sync.Mutex
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for _, path := range files {
		work.Go(func() error {
			sites, uses, err := v.definedIn(ctx, path, name, recorded[path])
			mu.Lock()
			defer mu.Unlock()
			r.sites = append(r.sites, sites...)
			if len(uses) > 0 {
				r.uses = append(r.uses, gtagsdb.FileLines{Path: path, Lines: uses})
			}
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return r, err
	}
	r.sites = rankSites(r.sites)
	if len(r.sites) > 0 && !slices.ContainsFunc(r.sites, func(s Symbol) bool { return s.Family != r.sites[0].Family }) {
		r.via = r.sites[0].Family
	}
	return r, nil
}

// candidates are the files that may define a name: those that GNU Global
// recorded, those that mention it, and those in which a macro may mint it.
func (v *View) candidates(name string, recorded []string) ([]string, error) {
	files := map[string]bool{}
	for _, path := range recorded {
		files[path] = true
	}
	occurrences, err := v.set.Occurrences(name)
	if err != nil {
		return nil, err
	}
	if len(recorded) == 0 || len(occurrences) <= maxScannedFiles {
		for _, f := range occurrences[:min(len(occurrences), maxScannedFiles)] {
			files[f.Path] = true
		}
	}
	if !v.w.opts.NoMacros {
		if err := v.generators(name, files); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(files)), nil
}

// definedIn finds the definitions of a name in one file and checks the lines
// that GNU Global recorded as definitions against the file's own parse.
func (v *View) definedIn(ctx context.Context, path, name string, recorded []int) (sites []Symbol, uses []int, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	src, err := v.w.files.read(path)
	if err != nil {
		v.unreadable(path, err)
		return nil, recorded, nil
	}
	if _, c := csource.LangOf(path); c && len(src.content) > maxScanned {
		return v.definedInGiant(src, name, recorded)
	}
	all, parsed, err := v.symbols(ctx, src)
	if err != nil {
		v.w.opts.Logger.Debug("parsing", "path", path, "err", err)
	}
	for _, s := range all {
		if s.Name == name && !s.Declares {
			sites = append(sites, s)
		}
	}
	sites = append(sites, v.mintedIn(src, name)...)
	for _, line := range recorded {
		if slices.ContainsFunc(sites, func(s Symbol) bool { return s.Line == line || s.contains(line) }) {
			continue
		}
		if s, ok := v.secondOpinion(ctx, src, name, line, parsed); ok {
			sites = append(sites, s)
		} else {
			uses = append(uses, line)
		}
	}
	return sites, uses, nil
}

// definedInGiant trusts GNU Global's record of a macro in a file too large to
// scan, once the line says so itself.
func (v *View) definedInGiant(src *source, name string, recorded []int) (sites []Symbol, uses []int, err error) {
	for _, line := range recorded {
		text := src.line(line)
		rest, ok := strings.CutPrefix(strings.TrimSpace(text), "#")
		if !ok || !strings.HasPrefix(strings.TrimSpace(rest), "define") {
			uses = append(uses, line)
			continue
		}
		sites = append(sites, Symbol{
			Name: name, Path: src.path, Line: line, Col: column(text, name), Kind: "macro",
			Snippet: snippet(text), Start: line, End: line,
		})
	}
	return sites, uses, nil
}

// secondOpinion decides about a definition that only GNU Global saw. In a C-like
// file it counts when Universal Ctags saw it too; elsewhere the parser of GNU
// Global is the better one, or the only one.
func (v *View) secondOpinion(ctx context.Context, src *source, name string, line int, parsed bool) (Symbol, bool) {
	s := Symbol{Name: name, Path: src.path, Line: line, Col: column(src.line(line), name), Snippet: snippet(src.line(line)), Start: line, End: line}
	if src.scan() == nil {
		return s, true
	}
	service := v.w.tagger(ctx)
	if service == nil {
		return s, false
	}
	tags, err := service.Tags(ctx, src.path, src.content)
	if err != nil {
		return s, false
	}
	for _, tag := range tags {
		if tag.Name == name && tag.Line == line && tag.Defines() && !tag.Declares() {
			s = fromTag(src, tag)
			s.Guards, s.Dead, s.Family = src.scan().Guards(line), src.scan().Dead(line), "ctags:recovered"
			return s, true
		}
	}
	return s, false
}

// qualified finds Scope::name and Scope.name.
func (v *View) qualified(ctx context.Context, name string) (resolution, error) {
	scope, base, ok := splitScope(name)
	if !ok {
		return resolution{}, nil
	}
	r, err := v.literal(ctx, base)
	r.sites = slices.DeleteFunc(r.sites, func(s Symbol) bool { return !inScope(s.Scope, scope) })
	return r, err
}

// splitScope splits a qualified name at its last separator.
func splitScope(name string) (scope, base string, ok bool) {
	at, width := strings.LastIndex(name, "::"), 2
	if at < 0 {
		at, width = strings.LastIndexByte(name, '.'), 1
	}
	if at <= 0 || at+width >= len(name) {
		return "", "", false
	}
	return name[:at], name[at+width:], true
}

// inScope reports whether a symbol's scope ends with the scope asked for, which
// may leave outer parts out: C::B of a::C::B, whatever joins the parts.
func inScope(have, want string) bool {
	parts := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return r == ':' || r == '.' })
	}
	h, w := parts(have), parts(want)
	return len(h) >= len(w) && slices.Equal(h[len(h)-len(w):], w)
}

// underscored finds a name that differs in the underscores around it only.
func (v *View) underscored(ctx context.Context, name string) (resolution, error) {
	if v.w.opts.NoMacros {
		return resolution{}, nil
	}
	for _, variant := range macro.Variants(name) {
		r, err := v.literal(ctx, variant)
		if err != nil || len(r.sites) > 0 {
			r.via = "fuzzy:" + variant
			return r, err
		}
	}
	return resolution{}, nil
}

// rankSites orders definitions by how likely they are what was asked for, and
// drops those that were found twice at one place.
func rankSites(sites []Symbol) []Symbol {
	slices.SortStableFunc(sites, func(a, b Symbol) int {
		return cmp.Or(
			slices.Compare(rank(&a), rank(&b)),
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Line, b.Line),
		)
	})
	type place struct {
		path string
		line int
	}
	seen := map[place]bool{}
	return slices.DeleteFunc(sites, func(s Symbol) bool {
		at := place{s.Path, s.Line}
		twice := seen[at]
		seen[at] = true
		return twice
	})
}

// rank is what comes before what: live code before #if 0, complete definitions
// before declarations, the product before its tests and tools, code that runs
// before data before parts of data, the real thing before its stub.
func rank(s *Symbol) []int {
	return []int{
		flag(s.Dead),
		flag(s.Declares || s.declarer),
		flag(s.local),
		flag(strings.HasPrefix(s.Family, "ctags:")),
		sideTree(s.Path),
		weight(s),
		flag(stub(s)),
		flag(strings.HasPrefix(s.Path, "arch/")),
	}
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

func weight(s *Symbol) int {
	switch s.Kind {
	case "member", "enumerator", "field", "property":
		return 3
	case "":
		return 2
	case "macro":
		return 1
	case "function", "method", "func", "label":
		return 0
	}
	return 1
}

// sideTree tells code that accompanies the product from the product itself.
func sideTree(path string) int {
	for part := range strings.SplitSeq(path, "/") {
		switch part {
		case "tools", "test", "tests", "testing", "testdata", "selftests", "samples", "sample", "examples", "example",
			"Documentation", "docs", "scripts", "third_party", "vendor", "node_modules", "contrib":
			return 1
		}
	}
	return 0
}

// stub reports whether a definition is what a header offers when the feature is
// configured out.
func stub(s *Symbol) bool {
	if !strings.HasSuffix(s.Path, ".h") || s.Kind != "function" && s.Kind != "macro" {
		return false
	}
	return slices.ContainsFunc(s.Guards, func(g string) bool { return strings.HasPrefix(g, "!") })
}
