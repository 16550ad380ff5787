package nav

import (
	"slices"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
	"github.com/gtagsmcp/gtagsmcp/nav/macro"
)

// MacroFamily is a set of macros that mint names in the same way, as a project
// may declare its own.
type MacroFamily = macro.Family

// nearLines is how far below its macro an argument may stand.
const nearLines = 3

// maxGenerators bounds how many macros a pattern such as SYSCALL_DEFINE* stands
// for.
const maxGenerators = 32

// generators adds the files in which a macro that could mint name stands near
// the argument that it would mint it from. An argument that is the name itself
// needs no search: the files that mention it are candidates anyway.
func (v *View) generators(name string, files map[string]bool) error {
	arguments := map[string]map[string][]int{}
	for _, c := range v.w.macros.Candidates(name) {
		if len(c.Args) == 0 || c.Args[0].Text == name {
			continue
		}
		argument := c.Args[0].Text
		if arguments[argument] == nil {
			lines, err := v.everywhere(argument)
			if err != nil {
				return err
			}
			arguments[argument] = lines
		}
		if len(arguments[argument]) == 0 {
			continue
		}
		macros, err := v.matching(c.Macro)
		if err != nil {
			return err
		}
		for _, m := range macros {
			calls, err := v.everywhere(m)
			if err != nil {
				return err
			}
			for path, lines := range calls {
				if near(lines, arguments[argument][path]) {
					files[path] = true
				}
			}
		}
	}
	return nil
}

// matching returns the names in the index that a pattern with one * stands for.
func (v *View) matching(pattern string) ([]string, error) {
	prefix, suffix, isPattern := strings.Cut(pattern, "*")
	if !isPattern {
		return []string{pattern}, nil
	}
	if prefix == "" {
		return nil, nil // would be every name of the index
	}
	names, err := v.set.Names(prefix, gtagsdb.Definitions|gtagsdb.References|gtagsdb.OtherSymbols, maxGenerators)
	return slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, suffix) }), err
}

// near reports whether a line of below stands at or shortly below one of lines.
func near(lines, below []int) bool {
	for _, line := range lines {
		for _, b := range below {
			if line <= b && b <= line+nearLines {
				return true
			}
		}
	}
	return false
}

// everywhere returns the lines of each file on which a name stands, defined or
// used: GNU Global takes the call of a macro at file scope for either.
func (v *View) everywhere(name string) (map[string][]int, error) {
	lines := map[string][]int{}
	records, err := v.set.Definitions(name)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		lines[r.Path] = append(lines[r.Path], r.Line)
	}
	occurrences, err := v.set.Occurrences(name)
	for _, f := range occurrences {
		lines[f.Path] = append(lines[f.Path], f.Lines...)
	}
	return lines, err
}

// mint returns the names that a macro invocation is about.
func mint(macros *macro.Table, path string, s csource.Symbol) []macro.Name {
	_, args, ok := macro.ParseCall(s.Name + s.Signature)
	if !ok {
		return nil
	}
	return macros.Minted(path, s.Name, args)
}

// mintedIn finds the macro invocations of a file that mint a name.
func (v *View) mintedIn(src *source, f facts, name string) (sites []Symbol) {
	if f == nil || v.w.opts.NoMacros {
		return nil
	}
	for _, s := range f.symbols() {
		if s.Kind != csource.Invocation || s.Local {
			continue
		}
		for _, minted := range mint(v.w.macros, src.path, s) {
			if minted.Name == name && mints(minted) {
				sites = append(sites, fromMint(src, f, s, minted))
				break
			}
		}
	}
	return sites
}

// mintedBy returns what the macro invocations of a C-like file certainly define,
// one name for each of those that define none of the names in have.
func (v *View) mintedBy(src *source, have []Symbol) (found []Symbol) {
	f := v.facts(src.path)
	if f == nil || v.w.opts.NoMacros {
		return nil
	}
	for _, s := range f.symbols() {
		if s.Kind != csource.Invocation || s.Local {
			continue
		}
		names := mint(v.w.macros, src.path, s)
		i := slices.IndexFunc(names, func(n macro.Name) bool { return n.Role == macro.Define && (!n.Weak || v.proved(src.path, s, n.Name)) })
		if i >= 0 && !slices.ContainsFunc(have, func(h Symbol) bool { return h.Name == names[i].Name }) {
			found = append(found, fromMint(src, f, s, names[i]))
		}
	}
	return found
}

func (v *View) proved(path string, s csource.Symbol, name string) bool {
	minted, known := v.minted(path, s, name)
	return known && minted
}

// mints reports whether a macro makes the name, rather than export or run it.
func mints(n macro.Name) bool { return n.Role == macro.Define || n.Role == macro.Declare }

func fromMint(src *source, f facts, s csource.Symbol, minted macro.Name) Symbol {
	site := fromScan(src, f, s)
	site.Name, site.Family, site.Declares = minted.Name, minted.Label, false
	site.declarer = minted.Role == macro.Declare
	if minted.Weak {
		site.guessed = &s
	}
	site.Declares = site.Declares || standsBefore(src, s, "extern")
	site.Kind = "variable"
	if s.Body > 0 || strings.HasPrefix(minted.Name, "trace_") {
		site.Kind = "function"
	}
	return site
}

// checkGuesses removes the names that a macro was only guessed to mint from its
// own name, unless the macro's definition says so too. A guess that cannot be
// checked stays when there is nothing better.
func (v *View) checkGuesses(sites []Symbol) []Symbol {
	sure := slices.ContainsFunc(sites, func(s Symbol) bool { return s.guessed == nil })
	return slices.DeleteFunc(sites, func(s Symbol) bool {
		if s.guessed == nil {
			return false
		}
		proved, known := v.minted(s.Path, *s.guessed, s.Name)
		return known && !proved || !known && sure
	})
}

// minted asks the definitions of a macro whether an invocation of it mints a
// name. known is false when the tree does not define the macro.
func (v *View) minted(path string, s csource.Symbol, name string) (minted, known bool) {
	_, args, _ := macro.ParseCall(s.Name + s.Signature)
	names, known := v.w.macros.MintedBy(v.macroText, path, s.Name, args)
	return slices.ContainsFunc(names, func(n macro.Name) bool { return n.Name == name && mints(n) }), known
}

// maxMacroTexts bounds how many definitions of one macro are read.
const maxMacroTexts = 4

// macroText returns the definitions of a macro as they stand in the source.
func (v *View) macroText(name string) (texts []string) {
	records, err := v.set.Definitions(name)
	if err != nil {
		return nil
	}
	for _, rec := range records {
		src, err := v.w.files.read(rec.Path)
		if err != nil || len(texts) == maxMacroTexts {
			continue
		}
		var text strings.Builder
		for n := rec.Line; n <= len(src.starts); n++ {
			line := src.line(n)
			text.WriteString(line)
			text.WriteByte('\n')
			if !strings.HasSuffix(line, "\\") {
				break
			}
		}
		if strings.HasPrefix(strings.TrimSpace(text.String()), "#") {
			texts = append(texts, text.String())
		}
	}
	return texts
}
