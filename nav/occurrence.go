package nav

import (
	"slices"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
	"github.com/gtagsmcp/gtagsmcp/nav/macro"
)

// meaning is what a name can stand for in a C-like file: it decides which of
// the places that mention the name use the symbol.
type meaning struct {
	member bool // something in the tree is a member of that name
	typ    bool // something in the tree is a struct, union, enum or class of that name
	other  bool // something else
}

// meaningOf sums up the definitions of a name. A name that the tree does not
// define may mean anything.
func meaningOf(sites []Symbol) meaning {
	var m meaning
	for i := range sites {
		switch sites[i].Kind {
		case "member":
			m.member = true
		case "struct", "union", "enum", "class":
			m.typ = true
		case "function":
			m.other = true
			m.member = m.member || sites[i].Scope != "" // a method
		default:
			m.other = true
		}
	}
	if len(sites) == 0 {
		m = meaning{true, true, true}
	}
	return m
}

// uses reports whether an occurrence uses the symbol, rather than declare it,
// mention it in passing, or use another thing of that name.
func (m meaning) uses(use csource.Use) bool {
	switch use {
	case csource.Reference, csource.Called, csource.AddressTaken, csource.Invoked:
		return m.other || m.typ
	case csource.CalledMember, csource.MemberAccess, csource.Designator:
		return m.member
	case csource.TypeName:
		return m.typ
	}
	return false
}

// usesOn returns the occurrences of a name on a line that use the symbol, each
// with what holds it.
func (m meaning) usesOn(src *source, f facts, line int, name string) (uses []csource.Occurrence) {
	if f.dead(line) {
		return nil
	}
	for _, col := range columns(src.line(line), name) {
		holder, ok := f.enclosingAt(line, col)
		scan, shift := src.scan, 0
		if ok && holder.Start > 0 {
			scan, shift = func() *csource.File { return src.part(holder.Start, holder.End) }, holder.Start-1
		}
		for _, o := range scan().Occurrences(line-shift, name) {
			if o.Col == col && m.uses(o.Use) {
				o.In = holder
				uses = append(uses, o)
			}
		}
	}
	return uses
}

// columns returns where a name stands in a line as a whole word, in bytes from 1.
func columns(line, name string) (cols []int) {
	for from := 0; from < len(line); {
		i := wordIndex(line[from:], name)
		if i < 0 {
			break
		}
		cols = append(cols, from+i+1)
		from += i + len(name)
	}
	return cols
}

// enclosing is what an answer names as the holder of a use: a function, a
// variable, a macro, a type, or what a macro invocation mints. ok is false for
// an export: to make a symbol visible is not to use it.
func (v *View) enclosing(src *source, f facts, s csource.Symbol) (holder Symbol, ok bool) {
	switch s.Kind {
	case csource.Prototype, csource.Extern, csource.Typedef:
		return Symbol{Name: fileScope, Path: src.path}, true
	case csource.Invocation:
	default:
		return fromScan(src, f, s), true
	}
	for _, minted := range mint(v.w.macros, src.path, s) {
		switch {
		case minted.Role == macro.Export:
			return Symbol{}, false
		case mints(minted):
			return fromMint(src, f, s, minted), true
		}
	}
	if s.Body > 0 {
		holder = fromScan(src, f, s)
		holder.Name, holder.Kind, holder.Declares = s.Name+s.Signature, "function", false
		return holder, true
	}
	return Symbol{Name: fileScope, Path: src.path}, true
}

// callNames finds the call expressions of a definition. Names of which only the
// tree can tell whether they are calls are looked up first.
func (v *View) callNames(src *source, def Symbol) ([]calledName, error) {
	if f := v.facts(src.path); f != nil {
		var calls []calledName
		for _, c := range src.part(def.Start, def.End).Calls(1, def.End-def.Start+1) {
			line := c.Line + def.Start - 1
			if f.dead(line) && !def.Dead {
				continue
			}
			calls = append(calls, calledName{c.Name, line, mannerOf(c.Kind, src.path)})
		}
		return calls, nil
	}
	sure, maybe := lexedCalls(src, def)
	for _, c := range maybe {
		defined, err := v.set.Defined(c.name)
		if err != nil {
			return nil, err
		}
		if defined {
			sure = append(sure, c)
		}
	}
	slices.SortStableFunc(sure, func(a, b calledName) int { return a.line - b.line })
	return sure, nil
}

// mannerOf tells a method of an object from a pointer in a C++ file: in C only
// pointers are called through members.
func mannerOf(kind csource.CallKind, path string) manner {
	switch lang, _ := csource.LangOf(path); {
	case kind == csource.Direct:
		return direct
	case kind == csource.ThroughMember && lang == csource.CPlusPlus:
		return ofObject
	}
	return indirect
}

// isStatic reports whether the words before a definition's name keep it to its
// file.
func isStatic(src *source, s csource.Symbol) bool {
	return (s.Kind == csource.Function || s.Kind == csource.Variable) && standsBefore(src, s, "static")
}

// standsBefore reports whether a word is among those before a symbol's name.
func standsBefore(src *source, s csource.Symbol, word string) bool {
	const far = 8 // lines; the words of a declaration take two or three
	for n := s.Start; n <= s.Line && n < s.Start+far; n++ {
		text := src.line(n)
		if n == s.Line && s.Col <= len(text) {
			text = text[:s.Col-1]
		}
		if wordIndex(text, word) >= 0 {
			return true
		}
	}
	return false
}
