package csource

import (
	"sort"
	"strings"
)

// Use is what an occurrence of a name is.
type Use uint8

const (
	Reference Use = iota // a plain mention in code
	Comment
	Text           // in a string or character constant
	Directive      // in a directive other than #define
	Definition     // the name of a definition
	Declaration    // the name of a prototype, extern or local declaration
	Invoked        // the name of a macro at file scope
	Called         // name(…)
	CalledMember   // p->name(…)
	CalledPointer  // a parameter or local variable that is called
	AddressTaken   // &name
	MemberAccess   // p->name, s.name
	Designator     // .name = in an initializer
	TypeName       // struct name
	Parameter      // in the header of a function or in a prototype
	MacroParameter // a parameter of a #define, in its list or its body
)

var useNames = [...]string{
	"reference", "comment", "string", "directive", "definition", "declaration", "invocation", "call", "member call",
	"pointer call", "address", "member", "designator", "type", "parameter", "macro parameter",
}

func (u Use) String() string { return useNames[u] }

// An Occurrence is one place where a line mentions a name.
type Occurrence struct {
	Col int
	Use Use
	// In is the symbol around the place as EnclosingAt finds it; its Kind is 0
	// at file scope. A Reference in a Variable stands in its initializer, one
	// in a Macro in its body.
	In Symbol
}

// Occurrences returns the places where a line mentions an identifier.
func (f *File) Occurrences(line int, name string) []Occurrence {
	if line < 1 || line > len(f.lines) || name == "" {
		return nil
	}
	start := f.lines[line-1]
	text := f.text[start:]
	if nl := strings.IndexByte(text, '\n'); nl >= 0 {
		text = text[:nl]
	}
	var found []Occurrence
	for i := 0; ; i++ {
		k := strings.Index(text[i:], name)
		if k < 0 {
			return found
		}
		i += k
		if i > 0 && identPart[text[i-1]] || i+len(name) < len(text) && identPart[text[i+len(name)]] {
			continue
		}
		pos := start + uint32(i)
		o := Occurrence{Col: i + 1}
		o.In, _ = f.enclosing(pos)
		o.Use = f.use(pos, o.In)
		found = append(found, o)
	}
}

func (f *File) use(pos uint32, in Symbol) Use {
	if in.Kind == Macro {
		if k := f.macroAt(pos); k >= 0 {
			return f.useInMacro(f.macros[k], pos)
		}
	}
	i := f.tokenFrom(pos+1) - 1
	if i >= 0 && f.toks[i].kind < kIf && pos < f.toks[i].end {
		if k := f.toks[i].kind; k == kString || k == kChar {
			return Text
		}
		if s, ok := f.named(pos); ok {
			switch {
			case s.Kind == Invocation:
				return Invoked
			case s.Kind.Definition():
				return Definition
			}
			return Declaration
		}
		return f.useInCode(i, in)
	}
	return f.useInGap(i, pos)
}

// named returns the symbol whose name stands at pos.
func (f *File) named(pos uint32) (Symbol, bool) {
	k := sort.Search(len(f.symbols), func(k int) bool { return f.symbols[k].from > pos })
	for k--; k >= 0; k-- {
		if f.symbols[k].name == pos {
			return f.symbols[k], true
		}
		// Only what is still open can hold a name behind its beginning; the
		// outermost symbols end the search.
		if f.symbols[k].to <= pos && f.symbols[k].Scope == "" && !f.symbols[k].Local && f.symbols[k].Kind != Macro {
			break
		}
	}
	return Symbol{}, false
}

func (f *File) useInCode(i int32, in Symbol) Use {
	before, next := uint8(0), uint8(0)
	if i > 0 {
		before = f.toks[i-1].kind
	}
	if int(i+1) < len(f.toks) {
		next = f.toks[i+1].kind
	}
	header := in.Kind == Prototype || in.Kind == Function && f.toks[i].pos < in.body && !f.initializes(i, in)
	switch {
	case before == kArrow || before == '.':
		if next == '(' {
			return CalledMember
		}
		if i >= 2 && before == '.' && designates(f.toks[i-2].kind) {
			return Designator
		}
		return MemberAccess
	case isTypeKeyword(before):
		return TypeName
	case header:
		return Parameter
	case next == '(':
		if !f.isCall(i) {
			return Declaration
		}
		if lo, hi := f.tokensOf(in); in.Kind == Function && f.locals(lo, hi)[f.word(i)] {
			return CalledPointer
		}
		return Called
	case before == '&' && (i < 2 || !operand(f.toks[i-2].kind)):
		return AddressTaken
	}
	return Reference
}

// initializes reports whether token i stands among the member initializers of a
// constructor, which run like its body.
func (f *File) initializes(i int32, in Symbol) bool {
	list := f.initializers(in)
	return list > 0 && i > list
}

// initializers returns the colon behind the parameters of a constructor, 0 without.
func (f *File) initializers(s Symbol) int32 {
	if f.lang != CPlusPlus || s.Kind != Function {
		return 0
	}
	for i, end := f.tokenFrom(s.name), f.tokenFrom(s.body); i < end; i++ {
		if t := f.toks[i]; t.kind == ':' {
			return i
		} else if t.link > i && (t.kind == '(' || t.kind == '[') {
			i = t.link
		}
	}
	return 0
}

// designates reports whether a dot behind such a token starts a designator.
func designates(kind uint8) bool {
	return kind == '{' || kind == ',' || kind == ';' || kind >= kIf
}

// operand reports whether a token of this kind can end an operand, so that an
// ampersand behind it is the binary operator.
func operand(kind uint8) bool {
	return kind == kIdent || kind == kNumber || kind == ')' || kind == ']' || kind == kString
}

// macroAt returns the index of the #define that holds pos, -1 for none.
func (f *File) macroAt(pos uint32) int {
	k := sort.Search(len(f.macros), func(k int) bool { return f.macros[k].start > pos }) - 1
	if k >= 0 && pos < f.macros[k].end {
		return k
	}
	return -1
}

func (f *File) useInMacro(m macro, pos uint32) Use {
	if pos < m.nameEnd {
		return Definition
	}
	if pos < m.pclose {
		return MacroParameter
	}
	body := max(m.nameEnd, m.pclose)
	sub := f.fragment(body, m.end)
	i := sub.tokenFrom(pos-body+1) - 1
	if i < 0 || sub.toks[i].kind >= kIf || pos-body >= sub.toks[i].end {
		return Comment
	}
	if k := sub.toks[i].kind; k == kString || k == kChar {
		return Text
	}
	if sub.toks[i].kind == kIdent && f.hasParameter(m, sub.word(i)) {
		return MacroParameter
	}
	return sub.useInCode(i, Symbol{Kind: Macro})
}

// hasParameter reports whether a macro has a parameter of that name, which then
// stands for its argument in the body.
func (f *File) hasParameter(m macro, name string) bool {
	if m.pclose == 0 {
		return false
	}
	params := f.fragment(m.params, m.pclose)
	for i := range params.toks {
		if params.toks[i].kind == kIdent && params.word(int32(i)) == name {
			return true
		}
	}
	return false
}

// useInGap classifies a place behind token i that no token covers: it is in a
// comment or in a directive.
func (f *File) useInGap(i int32, pos uint32) Use {
	at := 0
	if i >= 0 {
		at = int(f.toks[i].end)
		if f.toks[i].kind >= kIf {
			at = int(f.toks[i].pos)
		}
	}
	s := Scanner{File: *f}
	for at < int(pos) {
		switch c := f.text[at]; {
		case c == '/':
			end := max(skipComment(f.text, at), at+1)
			if int(pos) < end {
				return Comment
			}
			at = end
		case c == '#':
			if end := s.logicalEnd(at+1, true); int(pos) < end {
				return Directive
			} else {
				at = end
			}
		default:
			at++
		}
	}
	return Comment
}
