package macro

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Family is a set of macros that mint names in the same way.
type Family struct {
	Label  string   `toml:"label"`  // names the family in answers; the first macro if empty
	Macros []string `toml:"macros"` // names or patterns of the macros
	Names  []string `toml:"names"`  // templates of the names that a call makes
	Role   Role     `toml:"role"`   // what a call is for these names; empty means Define
	Weak   bool     `toml:"weak"`   // a guess: other families come first, and MintedBy knows better
	Files  string   `toml:"files"`  // how the names of the files end that the family is for, as ".S"; empty means any
}

// Role is what a call is for the names that it is about.
type Role string

const (
	Define  Role = "define"  // it defines them
	Declare Role = "declare" // it declares them, or defines them unless somebody else does
	Export  Role = "export"  // it exports them to modules; they are defined elsewhere
	Init    Role = "init"    // it has them called at start-up or at the end
)

// Table is a set of families. It does not change.
type Table struct {
	families []*family
	named    map[string][]*family // by the plain names of their macros
	open     []openPattern        // the patterns with a *
}

type openPattern struct {
	pattern
	family *family
}

// family is a Family made ready.
type family struct {
	label     string
	patterns  []pattern
	templates []template
	role      Role
	rank      int
	weak      bool
	files     string
	own       bool // of the project, so that it beats the built-in ones
}

// Ranks order answers, the best first.
const (
	rankGenerator = iota + 1 // a macro known to mint the name
	rankDefiner              // any DEFINE_*
	rankDeclarer             // a declaration, any DECLARE_*
)

// New returns the built-in table with a project's own families before it: where
// both know a macro equally well, the project is right.
func New(own []Family) (*Table, error) {
	t := &Table{named: map[string][]*family{}}
	for i, f := range own {
		ready, err := f.prepare()
		if err != nil {
			return nil, fmt.Errorf("macro family %d (%s): %w", i+1, cmp.Or(f.Label, "no label"), err)
		}
		ready.own = true
		t.add(ready)
	}
	for _, f := range builtin().families {
		t.add(f)
	}
	return t, nil
}

// Builtin returns the table of the Linux kernel's families.
func Builtin() *Table { return builtin() }

var builtin = sync.OnceValue(func() *Table {
	t := &Table{named: map[string][]*family{}}
	for _, f := range kernel {
		ready, err := f.prepare()
		if err != nil {
			panic(fmt.Sprintf("built-in macro family %s: %v", f.Label, err))
		}
		t.add(ready)
	}
	return t
})

func (t *Table) add(f *family) {
	t.families = append(t.families, f)
	for _, p := range f.patterns {
		if p.open {
			t.open = append(t.open, openPattern{p, f})
		} else {
			t.named[p.text] = append(t.named[p.text], f)
		}
	}
}

// responsible returns the families with the longest pattern for the macro in such
// a file, a plain name before all patterns. Of families that are equal in this a
// project's own leave no word to the built-in ones.
func (t *Table) responsible(file, macro string) []*family {
	var best []*family
	for _, f := range t.named[macro] {
		if strings.HasSuffix(file, f.files) && (best == nil || best[0].own == f.own) {
			best = append(best, f)
		}
	}
	if best != nil {
		return best
	}
	longest := 0
	for _, o := range t.open {
		length := len(o.text)
		if length < longest || !o.match(macro) || !strings.HasSuffix(file, o.family.files) {
			continue
		}
		switch {
		case length > longest:
			best, longest = []*family{o.family}, length
		case best[0].own == o.family.own:
			best = append(best, o.family)
		}
	}
	return best
}

func (f Family) prepare() (*family, error) {
	if len(f.Macros) == 0 {
		return nil, errors.New("macros is empty: name the macros of the family")
	}
	ready := &family{label: cmp.Or(f.Label, f.Macros[0]), role: cmp.Or(f.Role, Define), rank: rankGenerator, weak: f.Weak, files: f.Files}
	switch ready.role {
	case Define, Export, Init:
		if f.Weak {
			ready.rank = rankDefiner
		}
	case Declare:
		ready.rank = rankDeclarer
	default:
		return nil, fmt.Errorf("role %q: want %q, %q, %q or %q", f.Role, Define, Declare, Export, Init)
	}
	for _, m := range f.Macros {
		p, err := parsePattern(m)
		if err != nil {
			return nil, err
		}
		ready.patterns = append(ready.patterns, p)
	}
	for _, n := range f.Names {
		t, err := parseTemplate(n)
		if err != nil {
			return nil, err
		}
		ready.templates = append(ready.templates, t)
	}
	return ready, nil
}

// pattern matches names of macros: all that begin and end like it, when it has a *.
type pattern struct {
	text           string
	prefix, suffix string
	open           bool // it has a *
}

var patternForm = regexp.MustCompile(`^\w*\*?\w*$`)

func parsePattern(s string) (pattern, error) {
	if s == "" || s == "*" || !patternForm.MatchString(s) {
		return pattern{}, fmt.Errorf("macro %q: want a name, which may have one * for any text", s)
	}
	prefix, suffix, open := strings.Cut(s, "*")
	return pattern{s, prefix, suffix, open}, nil
}

func (p pattern) match(name string) bool {
	if !p.open {
		return name == p.prefix
	}
	return len(name) >= len(p.prefix)+len(p.suffix) && strings.HasPrefix(name, p.prefix) && strings.HasSuffix(name, p.suffix)
}

// template is a minted name in parts: literal, argument, literal, argument, ….
type template struct {
	text     string
	literals []string // one more than args
	args     []int    // from 1
}

var (
	placeholder  = regexp.MustCompile(`\{[1-9]\}`)
	templateForm = regexp.MustCompile(`^\w*(\{[1-9]\}\w*)+$`)
)

func parseTemplate(s string) (template, error) {
	if !templateForm.MatchString(s) {
		return template{}, fmt.Errorf("name %q: want text around {1}, the first argument, or another up to {9}", s)
	}
	if strings.Contains(s, "}{") {
		return template{}, fmt.Errorf("name %q: two arguments need text between them, or they cannot be told apart", s)
	}
	t := template{text: s, literals: placeholder.Split(s, -1)}
	for _, p := range placeholder.FindAllString(s, -1) {
		t.args = append(t.args, int(p[1]-'0'))
	}
	return t, nil
}

// fill makes the name out of the arguments of a call.
func (t template) fill(args []string) (string, bool) {
	var name strings.Builder
	for i, arg := range t.args {
		if arg > len(args) {
			return "", false
		}
		word, ok := declared(args[arg-1])
		if !ok {
			return "", false
		}
		name.WriteString(t.literals[i])
		name.WriteString(word)
	}
	name.WriteString(t.literals[len(t.args)])
	return name.String(), true
}

// declared is the word that an argument names: "name", "*name" or "name[4]".
func declared(arg string) (string, bool) {
	arg = strings.Trim(arg, "* \t\r\n")
	if i := strings.IndexByte(arg, '['); i > 0 {
		arg = strings.TrimRight(arg[:i], " \t\r\n")
	}
	return arg, isName(arg)
}

// solve returns the arguments that fill the template with the name, in every way
// that there is.
func (t template) solve(name string) [][]string {
	rest, ok := strings.CutPrefix(name, t.literals[0])
	if !ok {
		return nil
	}
	return solveRest(rest, t.literals[1:])
}

// solveRest cuts s into words, each followed by its literal.
func solveRest(s string, literals []string) (solutions [][]string) {
	if len(literals) == 1 {
		if word, ok := strings.CutSuffix(s, literals[0]); ok && word != "" {
			return [][]string{{word}}
		}
		return nil
	}
	for at := 1; at < len(s); at++ {
		rest, ok := strings.CutPrefix(s[at:], literals[0])
		if !ok {
			continue
		}
		for _, words := range solveRest(rest, literals[1:]) {
			solutions = append(solutions, append([]string{s[:at]}, words...))
		}
	}
	return solutions
}
