package nav

import (
	"context"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
	"github.com/gtagsmcp/gtagsmcp/nav/guard"
)

// CalleeQuery asks what a function calls.
type CalleeQuery struct {
	Symbol     string // with a selector, that definition
	PathPrefix string
}

// Callees is the answer, about the best definition of the symbol.
type Callees struct {
	Definition *Symbol // nil when there is none
	// NotCallable is set when the symbol is not something that runs.
	NotCallable bool
	InTree      []Symbol // the definition of each name that is called, in order of the calls
	External    []string // names that the tree does not define
	Indirect    []string // members, parameters and variables called through
	// Selectors pick one of several functions that share the name.
	Selectors   []string
	Suggestions []string
}

// Callees finds what a function calls.
func (v *View) Callees(ctx context.Context, q CalleeQuery) (Callees, error) {
	var a Callees
	sites, _, _, err := v.kept(ctx, q.Symbol, false, Filter{PathPrefix: q.PathPrefix})
	if err != nil {
		return a, err
	}
	if len(sites) == 0 {
		a.Suggestions, err = v.suggest(q.Symbol)
		return a, err
	}
	a.Definition = &sites[0]
	if i := slices.IndexFunc(sites, func(s Symbol) bool { return s.callable() }); i >= 0 {
		a.Definition = &sites[i]
	} else {
		a.NotCallable = true
		return a, nil
	}
	a.Selectors = selectors(sites)
	calls, err := v.callsOf(ctx, *a.Definition)
	if err != nil {
		return a, err
	}
	for _, c := range calls {
		switch {
		case c.indirect:
			a.Indirect = append(a.Indirect, c.name)
		case c.target == nil:
			a.External = append(a.External, c.name)
		default:
			a.InTree = append(a.InTree, *c.target)
		}
	}
	return a, nil
}

// call is one name that a function calls.
type call struct {
	name     string
	how      manner
	lines    []int
	indirect bool    // what is called depends on a value
	converts bool    // a conversion to a type is no call
	target   *Symbol // nil when the tree does not define it
}

// manner is how a call names what it calls.
type manner uint8

const (
	direct   manner = iota
	indirect        // through a pointer
	ofObject        // a method of an object, in C++
)

// callsOf finds the calls in the body of a definition and what each one means.
func (v *View) callsOf(ctx context.Context, def Symbol) ([]call, error) {
	src, err := v.w.files.read(def.Path)
	if err != nil {
		return nil, nil
	}
	var calls []call
	names, err := v.callNames(src, def)
	if err != nil {
		return nil, err
	}
	for _, c := range names {
		i := slices.IndexFunc(calls, func(have call) bool { return have.name == c.name && have.how == c.how })
		if i < 0 {
			i = len(calls)
			calls = append(calls, call{name: c.name, how: c.how, indirect: c.how != direct})
		}
		calls[i].lines = append(calls[i].lines, c.line)
	}
	found := make([][]Symbol, len(calls))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for i := range calls {
		if calls[i].how != indirect {
			work.Go(func() error {
				r, err := v.literal(ctx, calls[i].name)
				found[i] = r.sites
				return err
			})
		}
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	w := v.worldOf(def)
	for i := range calls {
		if calls[i].how != indirect {
			calls[i].settle(found[i], def, w, src.scan() == nil)
		}
	}
	return slices.DeleteFunc(calls, func(c call) bool { return c.converts }), nil
}

// settle decides what a call means, from the definitions of the name. To call a
// class makes an object; where ctags knows the language, to call another type
// converts a value; to call a variable is to call what it holds.
func (c *call) settle(sites []Symbol, from Symbol, w *world, lexed bool) {
	if c.how == ofObject {
		sites = slices.DeleteFunc(slices.Clone(sites), func(s Symbol) bool { return s.Scope == "" })
		c.target = meant(sites, from, w)
		c.indirect = c.target == nil
		return
	}
	if c.target = meant(sites, from, w); c.target != nil {
		return
	}
	for i := range sites {
		s := &sites[i]
		if strings.HasPrefix(s.Family, "macro:") {
			c.target = s // what a macro makes and a file calls is a function
			return
		}
		switch s.Kind {
		case "class", "record":
			c.target = s
			return
		case "variable", "constant", "var", "const":
			c.indirect = c.indirect || lexed || !s.Static || s.Path == from.Path
		case "struct", "type", "typedef", "alias", "interface", "enum":
			c.converts = lexed
		}
	}
}

// meant picks the definition that a call in a file means: the one of the same
// file, else of the same architecture or nearest folder, never a static function
// of another file, a function before a macro of the same name elsewhere.
func meant(sites []Symbol, from Symbol, w *world) *Symbol {
	var able []*Symbol
	for i := range sites {
		s := &sites[i]
		ownOnly := (s.Static || s.Kind == "macro") && !strings.HasSuffix(s.Path, ".h")
		if _, c := csource.LangOf(s.Path); s.callable() && !(c && ownOnly && s.Path != from.Path) {
			able = append(able, s)
		}
	}
	if len(able) < 2 {
		return append(able, nil)[0]
	}
	best, bestScore := able[0], closeness(able[0], from, w)
	for _, s := range able[1:] {
		if score := closeness(s, from, w); score > bestScore {
			best, bestScore = s, score
		}
	}
	return best
}

// closeness says how likely a definition is the one that a file means. Ties go
// to the better rank, since sites come ranked.
func closeness(s *Symbol, from Symbol, w *world) int {
	score := 0
	if s.Path == from.Path {
		score += 1000
	}
	if s.Dead != from.Dead {
		score -= 500
	}
	score += archCloseness(archOf(s.Path), archOf(from.Path), w)
	if sideTree(s.Path) != sideTree(from.Path) {
		score -= 500
	}
	if strings.HasPrefix(s.Path, "include/asm-generic/") {
		score -= 25 // for architectures without their own
	}
	switch w.compiles(s) {
	case guard.False:
		score -= 400
	case guard.Unknown:
		if w != nil {
			score -= 40
		}
		if stub(s) {
			score -= 20
		}
	}
	if w != nil && !w.sees(s.Path) {
		score -= 230
	}
	return score + nearness(s.Path, from.Path)
}

// archCloseness compares the architecture of a definition with that of its user.
// Code for all of them is looked at on one.
func archCloseness(arch, from string, w *world) int {
	switch {
	case arch == "":
		return 0
	case arch == from:
		return 200
	case from != "":
		return -300
	case w != nil && arch == w.arch:
		return -10
	case w != nil:
		return -300
	case arch == usualArchs[0]:
		return -10
	}
	return -50
}

// archOf is the architecture that a path of the Linux kernel belongs to, or "".
func archOf(p string) string {
	rest, ok := strings.CutPrefix(p, "arch/")
	if !ok {
		return ""
	}
	arch, rest, _ := strings.Cut(rest, "/")
	if strings.HasPrefix(rest, "um/") {
		return "um" // how that architecture looks from User Mode Linux
	}
	return arch
}

// nearness counts the folders that the path of a definition has in common with
// that of its user, and against it those in which it goes astray. What is for
// everybody is neither near nor far.
func nearness(def, user string) int {
	if strings.HasPrefix(def, "include/") || strings.HasPrefix(def, "lib/") && !strings.HasPrefix(user, "lib/") {
		return 0
	}
	return 2*sharedFolders(def, user) - len(strings.Split(path.Dir(def), "/"))
}

// sharedFolders counts the leading folders that two paths have in common.
func sharedFolders(a, b string) int {
	as, bs := strings.Split(path.Dir(a), "/"), strings.Split(path.Dir(b), "/")
	n := 0
	for n < len(as) && n < len(bs) && as[n] == bs[n] {
		n++
	}
	return n
}
