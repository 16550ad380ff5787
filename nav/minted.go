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

// mintedIn finds the macro invocations of a file that mint a name.
func (v *View) mintedIn(src *source, name string) (sites []Symbol) {
	scan := src.scan()
	if scan == nil || v.w.opts.NoMacros {
		return nil
	}
	for _, s := range scan.Symbols() {
		if s.Kind != csource.Invocation || s.Local {
			continue
		}
		_, args, ok := macro.ParseCall(s.Name + s.Signature)
		if !ok {
			continue
		}
		for _, minted := range v.w.macros.Minted(src.path, s.Name, args) {
			if minted.Name == name && (minted.Role == macro.Define || minted.Role == macro.Declare) {
				sites = append(sites, fromMint(src, scan, s, minted))
				break
			}
		}
	}
	return sites
}

func fromMint(src *source, scan *csource.File, s csource.Symbol, minted macro.Name) Symbol {
	site := fromScan(src, scan, s)
	site.Name, site.Family, site.Declares = minted.Name, minted.Label, false
	site.declarer = minted.Role == macro.Declare
	site.Kind = "variable"
	if s.Body > 0 || strings.HasPrefix(minted.Name, "trace_") {
		site.Kind = "function"
	}
	return site
}
