package macro

import (
	"cmp"
	"slices"
	"strings"
)

// Candidate is a call that would mint the wanted name.
type Candidate struct {
	Macro string // the macro's name, or a pattern of names with one *
	// Args are arguments that the call must have. The first one is the longest, so
	// that the index mentions it least often.
	Args  []Arg
	Label string // "macro:SYSCALL_DEFINE"
	Role  Role
	Rank  int    // orders answers, the least first
	Files string // how the name of the call's file ends; empty means any
}

// Arg is an argument of a call.
type Arg struct {
	Index int // from 0
	Text  string
}

// Candidates returns the calls that would define or declare the name, the best
// first. Several may look for the same argument, and a pattern may match macros
// that mint other names: Minted decides about a call that was found.
func (t *Table) Candidates(name string) []Candidate {
	return t.candidates(name, Define, Declare)
}

// Marks returns the calls that export the name or have it called at start-up.
func (t *Table) Marks(name string) []Candidate {
	return t.candidates(name, Export, Init)
}

func (t *Table) candidates(name string, roles ...Role) []Candidate {
	if !isName(name) {
		return nil
	}
	var found []Candidate
	for _, f := range t.families {
		if !slices.Contains(roles, f.role) {
			continue
		}
		for _, tmpl := range f.templates {
			for _, words := range tmpl.solve(name) {
				args, ok := tmpl.arguments(words)
				if !ok {
					continue
				}
				for _, p := range f.patterns {
					found = append(found, Candidate{Macro: p.text, Args: args, Label: f.via(), Role: f.role, Rank: f.rank, Files: f.files})
				}
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Candidate) int { return cmp.Compare(a.Rank, b.Rank) })
	return slices.CompactFunc(found, func(a, b Candidate) bool {
		return a.Macro == b.Macro && a.Label == b.Label && slices.Equal(a.Args, b.Args)
	})
}

// arguments pairs the words of a solution with their places. One argument that
// would have to be two words is no solution.
func (t template) arguments(words []string) ([]Arg, bool) {
	var args []Arg
	for i, w := range words {
		a := Arg{t.args[i] - 1, w}
		if slices.ContainsFunc(args, func(b Arg) bool { return b.Index == a.Index && b.Text != a.Text }) {
			return nil, false
		}
		if !slices.Contains(args, a) {
			args = append(args, a)
		}
	}
	slices.SortStableFunc(args, func(a, b Arg) int { return cmp.Compare(len(b.Text), len(a.Text)) })
	return args, true
}

func (f *family) via() string { return "macro:" + f.label }

// Name is a name that a call is about.
type Name struct {
	Name  string
	Label string
	Role  Role
	Rank  int
	Weak  bool // a guess that MintedBy can put right
}

// Minted returns the names that a call in the file is about: those that it makes,
// and with the roles Export and Init those that it mentions. Arguments are as they
// stand in the source; those that are no plain name mint nothing.
func (t *Table) Minted(file, macro string, args []string) []Name {
	var names []Name
	for _, f := range t.responsible(file, macro) {
		for _, tmpl := range f.templates {
			text, ok := tmpl.fill(args)
			n := Name{text, f.via(), f.role, f.rank, f.weak}
			if ok && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

// Variants returns the spellings of a name with other underscores around it, as
// people and wrappers use them, nearest first. An answer found under one of them
// is not the wanted name and must say so: "fuzzy:" and what was found.
func Variants(name string) []string {
	bare := strings.Trim(name, "_")
	if bare == "" {
		return nil
	}
	var variants []string
	for _, v := range []string{
		strings.TrimPrefix(name, "_"), "_" + name, "__" + name, strings.TrimLeft(name, "_"),
		strings.TrimRight(name, "_"), name + "_", "___" + name, bare, "__" + bare + "__",
	} {
		if v != name && !slices.Contains(variants, v) {
			variants = append(variants, v)
		}
	}
	return variants
}
