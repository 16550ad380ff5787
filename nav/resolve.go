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
	"github.com/gtagsmcp/gtagsmcp/nav/outline"
)

const (
	// maxScannedFiles bounds the files that are scanned for one name that
	// GNU Global has no definition of.
	maxScannedFiles = 400
	// maxScanned is the largest file that is scanned to confirm a record of
	// GNU Global's; a register header of 24 MB would take a quarter of a second.
	maxScanned = 4 << 20
	// maxOpinions bounds how many records of GNU Global's Universal Ctags is asked
	// about for one name.
	maxOpinions = 8
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

// literal finds the definitions of exactly this name. One question asks it
// several times of the same name: a view remembers the last answer.
func (v *View) literal(ctx context.Context, name string) (resolution, error) {
	v.mu.Lock()
	last := v.last
	v.mu.Unlock()
	if last == nil || last.name != name {
		r, err := v.define(ctx, name)
		if err != nil {
			return r, err
		}
		last = &r
		v.mu.Lock()
		v.last = last
		v.mu.Unlock()
	}
	r := *last
	r.sites = slices.Clone(r.sites) // callers sort and filter it
	return r, nil
}

// define finds the definitions of exactly this name.
func (v *View) define(ctx context.Context, name string) (resolution, error) {
	r := resolution{name: name}
	records, err := v.set.Definitions(name)
	if err != nil {
		return r, err
	}
	recorded := map[string][]gtagsdb.Site{}
	for _, rec := range records {
		recorded[rec.Path] = append(recorded[rec.Path], rec)
	}
	if v.outlines != nil {
		r.sites, err = v.outlined(name, recorded)
	} else {
		r.sites, err = v.searched(ctx, name, recorded)
	}
	if err != nil {
		return r, err
	}
	if err := v.weigh(ctx, &r, recorded); err != nil {
		return r, err
	}
	if err := v.mentioned(ctx, &r); err != nil {
		return r, err
	}
	r.sites = slices.DeleteFunc(r.sites, func(s Symbol) bool { return s.Declares })
	r.sites = rankSites(v.checkGuesses(r.sites))
	if len(r.sites) > 0 && !slices.ContainsFunc(r.sites, func(s Symbol) bool { return s.Family != r.sites[0].Family }) {
		r.via = r.sites[0].Family
	}
	return r, nil
}

// outlined finds the definitions in C-like files that the outline knows.
func (v *View) outlined(name string, recorded map[string][]gtagsdb.Site) (sites []Symbol, err error) {
	refs, err := v.outlines.Lookup(name, nil)
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		if ref.Minted.Name != "" && (v.w.opts.NoMacros || !mints(ref.Minted)) || ref.Symbol.Kind == csource.Invocation && ref.Minted.Name == "" {
			continue
		}
		f := v.facts(ref.Path)
		src := v.sourceOf(ref, recorded[ref.Path])
		if f == nil || src == nil {
			continue
		}
		if ref.Minted.Name != "" {
			sites = append(sites, fromMint(src, f, ref.Symbol, ref.Minted))
		} else if ref.Symbol.Kind.Definition() {
			sites = append(sites, fromScan(src, f, ref.Symbol))
		}
	}
	return sites, nil
}

// sourceOf returns the file of a definition. For a macro whose line GNU Global
// has recorded, that line is all there is to read: the register headers of Linux
// have up to 24 MB.
func (v *View) sourceOf(ref outline.Ref, recorded []gtagsdb.Site) *source {
	if ref.Symbol.Kind == csource.Macro {
		for _, rec := range recorded {
			if rec.Line == ref.Symbol.Line && rec.HasImage {
				return oneLine(ref.Path, rec.Line, rec.Image)
			}
		}
	}
	src, err := v.w.files.read(ref.Path)
	if err != nil {
		v.unreadable(ref.Path, err)
		return nil
	}
	return src
}

// searched finds the definitions without an outline, by scanning the files that
// may hold one.
func (v *View) searched(ctx context.Context, name string, recorded map[string][]gtagsdb.Site) ([]Symbol, error) {
	files, err := v.candidates(name, recorded)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var all []Symbol
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for _, path := range files {
		work.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			sites := v.definedIn(path, name, recorded[path])
			mu.Lock()
			defer mu.Unlock()
			all = append(all, sites...)
			return nil
		})
	}
	err = work.Wait()
	return all, err
}

// candidates are the C-like files that may define a name: those that GNU Global
// recorded, those that mention it, and those in which a macro may mint it.
func (v *View) candidates(name string, recorded map[string][]gtagsdb.Site) ([]string, error) {
	files := map[string]bool{}
	for path := range recorded {
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
	maps.DeleteFunc(files, func(path string, _ bool) bool {
		_, c := csource.LangOf(path)
		return !c
	})
	return slices.Sorted(maps.Keys(files)), nil
}

// definedIn finds the definitions of a name in one C-like file.
func (v *View) definedIn(path, name string, recorded []gtagsdb.Site) (sites []Symbol) {
	src, err := v.w.files.read(path)
	if err != nil {
		v.unreadable(path, err)
		return nil
	}
	if len(src.content) > maxScanned {
		return definedInGiant(src, name, recorded)
	}
	f := v.facts(path)
	for _, s := range f.symbols() {
		if s.Name == name && s.Kind.Definition() {
			sites = append(sites, fromScan(src, f, s))
		}
	}
	return append(sites, v.mintedIn(src, f, name)...)
}

// definedInGiant trusts GNU Global's record of a macro in a file too large to
// scan, once the line says so itself.
func definedInGiant(src *source, name string, recorded []gtagsdb.Site) (sites []Symbol) {
	for _, rec := range recorded {
		text := src.line(rec.Line)
		rest, ok := strings.CutPrefix(strings.TrimSpace(text), "#")
		if ok && strings.HasPrefix(strings.TrimSpace(rest), "define") {
			sites = append(sites, Symbol{
				Name: name, Path: src.path, Line: rec.Line, Col: column(text, name), Kind: "macro",
				Snippet: snippet(text), Start: rec.Line, End: rec.Line,
			})
		}
	}
	return sites
}

// weigh decides about what GNU Global recorded as definitions and our own scan
// did not see. In C-like files these are nearly always prototypes and uses of
// macros: only when nothing else is left is Universal Ctags asked for a second
// opinion. In other languages ctags describes the record, and without it the
// record stands as it is.
func (v *View) weigh(ctx context.Context, r *resolution, recorded map[string][]gtagsdb.Site) error {
	confirmed := map[string][]Symbol{}
	for _, s := range r.sites {
		confirmed[s.Path] = append(confirmed[s.Path], s)
	}
	asked := 0
	for _, path := range slices.Sorted(maps.Keys(recorded)) {
		_, c := csource.LangOf(path)
		if !c {
			sites, err := v.described(ctx, path, r.name, recorded[path])
			if err != nil {
				return err
			}
			r.sites = append(r.sites, sites...)
			continue
		}
		var uses []int
		for _, rec := range recorded[path] {
			if slices.ContainsFunc(confirmed[path], func(s Symbol) bool { return s.Line == rec.Line || s.contains(rec.Line) }) {
				continue
			}
			if len(confirmed) == 0 && asked < maxOpinions {
				asked++
				if s, ok := v.secondOpinion(ctx, path, r.name, rec.Line); ok {
					r.sites = append(r.sites, s)
					continue
				}
			}
			uses = append(uses, rec.Line)
		}
		if len(uses) > 0 {
			r.uses = append(r.uses, gtagsdb.FileLines{Path: path, Lines: uses})
		}
	}
	return nil
}

// mentioned finds definitions in other languages than C that GNU Global did not
// record: its parser of Java leaves out fields, and ctags is mended by us. It looks
// at files that mention the name, when nobody else defines it.
func (v *View) mentioned(ctx context.Context, r *resolution) error {
	if len(r.sites) > 0 {
		return nil
	}
	occurrences, err := v.set.Occurrences(r.name)
	if err != nil {
		return err
	}
	asked := 0
	for _, f := range occurrences {
		if _, c := csource.LangOf(f.Path); c {
			continue
		}
		if asked++; asked > maxOpinions {
			break
		}
		src, err := v.w.files.read(f.Path)
		if err != nil {
			v.unreadable(f.Path, err)
			continue
		}
		all, _, err := v.symbols(ctx, src)
		if Temporary(err) {
			return err
		}
		if err != nil {
			v.w.opts.Logger.Debug("parsing", "path", f.Path, "err", err)
		}
		for _, s := range all {
			if s.Name == r.name && !s.Declares {
				r.sites = append(r.sites, s)
			}
		}
	}
	return ctx.Err()
}

// described finds what Universal Ctags knows about the recorded definitions of a
// file in another language than C.
func (v *View) described(ctx context.Context, path, name string, recorded []gtagsdb.Site) (sites []Symbol, err error) {
	src, err := v.w.files.read(path)
	if err != nil {
		v.unreadable(path, err)
		return nil, nil
	}
	all, parsed, err := v.symbols(ctx, src)
	if Temporary(err) {
		return nil, err
	}
	if err != nil {
		v.w.opts.Logger.Debug("parsing", "path", path, "err", err)
	}
	for _, rec := range recorded {
		i := slices.IndexFunc(all, func(s Symbol) bool { return s.Name == name && s.Line == rec.Line })
		if i >= 0 {
			sites = append(sites, all[i])
			continue
		}
		if parsed && isScript(path) {
			continue // {name} mentions what is defined elsewhere
		}
		text := src.line(rec.Line)
		sites = append(sites, Symbol{
			Name: name, Path: path, Line: rec.Line, Col: column(text, name), Snippet: snippet(text), Start: rec.Line, End: rec.Line,
		})
	}
	return sites, ctx.Err()
}

// secondOpinion asks Universal Ctags about a definition in a C-like file that
// only GNU Global saw.
func (v *View) secondOpinion(ctx context.Context, path, name string, line int) (Symbol, bool) {
	service, _ := v.w.tagger(ctx) // a second opinion is not waited for
	f := v.facts(path)
	src, err := v.w.files.read(path)
	if service == nil || f == nil || err != nil {
		return Symbol{}, false
	}
	tags, err := service.Tags(ctx, path, src.content)
	if err != nil {
		return Symbol{}, false
	}
	for _, tag := range tags {
		if tag.Name == name && tag.Line == line && tag.Defines() && !tag.Declares() {
			s := fromTag(src, tag)
			s.Guards, s.Dead, s.Family = f.guards(line), f.dead(line), "ctags:recovered"
			return s, true
		}
	}
	return Symbol{}, false
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
// before declarations, the product before its tests and tools and before one of
// its architectures, what everybody sees before what one file keeps to itself,
// code that runs before data before parts of data, the real thing before its stub.
func rank(s *Symbol) []int {
	return []int{
		flag(s.Dead),
		flag(s.Declares || s.declarer),
		flag(s.local),
		flag(strings.HasPrefix(s.Family, "ctags:")),
		sideTree(s.Path),
		flag(strings.HasPrefix(s.Path, "arch/")),
		seclusion(s),
		weight(s),
		flag(stub(s)),
	}
}

// seclusion says how few can see a definition in a C-like file: what a public
// header or an external function or variable is for, what another header or a
// static function is for, and what a source file defines for itself.
func seclusion(s *Symbol) int {
	if _, c := csource.LangOf(s.Path); !c || strings.HasPrefix(s.Path, "include/") {
		return 0
	}
	header := strings.HasSuffix(s.Path, ".h")
	switch s.Kind {
	case "function", "variable", "label":
		return flag(header || s.Static)
	}
	if header {
		return 1
	}
	return 2
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
