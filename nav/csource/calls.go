package csource

import (
	"slices"
	"sort"
)

// CallKind is how a call expression names what it calls.
type CallKind uint8

const (
	// Direct calls name(…): a function, or a macro that looks like one.
	Direct CallKind = iota
	// ThroughMember calls p->name(…) or s.name(…), whose target no name tells.
	ThroughMember
	// ThroughPointer calls a parameter or local variable, or (*name)(…).
	ThroughPointer
)

func (k CallKind) String() string {
	return [...]string{"direct", "member", "pointer"}[k]
}

// A Call is one call expression.
type Call struct {
	Name string
	Kind CallKind
	// Scope is what :: qualifies the name with in C++.
	Scope     string
	Line, Col int
	// Dead marks text under #if 0.
	Dead bool
}

// Calls returns the call expressions in the bodies of the functions, macros,
// initializers and macro invocations that overlap the lines from through to,
// as far as they stand on these lines, in file order.
func (f *File) Calls(from, to int) []Call {
	var calls []Call
	for _, s := range f.symbols {
		if s.Start > to {
			break
		}
		if s.End < from || s.Local {
			continue
		}
		for _, c := range f.CallsOf(s) {
			if c.Line >= from && c.Line <= to {
				calls = append(calls, c)
			}
		}
	}
	slices.SortStableFunc(calls, func(a, b Call) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
	return slices.CompactFunc(calls, func(a, b Call) bool { return a.Line == b.Line && a.Col == b.Col })
}

// CallsOf returns the call expressions of one of the file's own symbols.
func (f *File) CallsOf(s Symbol) []Call {
	switch s.Kind {
	case Macro:
		return f.macroCalls(s)
	case Function, Variable, Invocation:
	default:
		return nil
	}
	lo, hi := f.tokensOf(s)
	if lo >= hi {
		return nil
	}
	r := callReader{File: f, lo: lo, hi: hi, pointers: f.locals(lo, hi)}
	if s.Kind == Function || s.Kind == Invocation {
		r.lo = f.tokenFrom(s.body)
		if s.body == 0 {
			r.lo = f.tokenFrom(s.name) + 1
		}
		if list := f.initializers(s); list > 0 {
			r.initialized(list, r.lo)
		}
	} else if s.Kind == Variable {
		r.lo = f.tokenFrom(s.name) + 1
	}
	r.read()
	return r.calls
}

// initialized reads the values of member initializers, from the colon up to the
// body. What a value is given to is a member or a base, and not called by name.
func (r *callReader) initialized(colon, body int32) {
	for i := colon; i < body; i++ {
		if t := r.toks[i]; t.link > i && (t.kind == '(' || t.kind == '{') {
			values := *r
			values.lo, values.hi = i+1, t.link+1
			values.read()
			r.calls = values.calls
			i = t.link
		}
	}
}

// tokenFrom returns the index of the first token at or behind a position.
func (f *File) tokenFrom(pos uint32) int32 {
	return int32(sort.Search(len(f.toks), func(i int) bool { return f.toks[i].pos >= pos }))
}

func (f *File) tokensOf(s Symbol) (lo, hi int32) {
	return f.tokenFrom(s.from), f.tokenFrom(s.to)
}

// A callReader finds the call expressions among the tokens from lo to hi.
type callReader struct {
	*File
	lo, hi int32
	// pointers are the names of parameters and local variables.
	pointers map[string]bool
	// shift and line, col place a macro's body in its file.
	place func(pos uint32) (line, col int)
	calls []Call
}

func (r *callReader) read() {
	for i := r.lo; i < r.hi-1; i++ {
		t := r.toks[i]
		if t.kind == kIdent && r.toks[i+1].kind == '(' {
			if unevaluated(r.word(i)) {
				i = max(min(r.toks[i+1].link, r.hi-1), i+1)
				continue
			}
			if r.isCall(i) {
				r.add(i, r.kindOf(i))
			}
			continue
		}
		if r.toks[i+1].kind == '(' && t.link >= r.lo && t.link < i && (t.kind == ')' || t.kind == ']') {
			r.throughGroup(i)
		}
		if t.kind == '>' && r.lang == CPlusPlus && r.toks[i+1].kind == '(' {
			if open := r.angleStart(i); open > r.lo && r.toks[open-1].kind == kIdent && r.isCall(open-1) {
				r.add(open-1, r.kindOf(open-1))
			}
		}
	}
}

// throughGroup reads (*name)(…), (*p->name)(…) and p->name[i](…), whose closing
// bracket is at i.
func (r *callReader) throughGroup(i int32) {
	open := r.toks[i].link
	if r.toks[i].kind == ']' {
		if open > r.lo && r.toks[open-1].kind == kIdent && (open < r.lo+2 || r.toks[open-2].kind != kIdent) {
			r.add(open-1, max(r.kindOf(open-1), ThroughMember))
		}
		return
	}
	if open > 0 && (r.toks[open-1].kind == kIdent && !statementWord(r.word(open-1)) || r.toks[open-1].kind == '*' && r.declares(open-1)) {
		return // a declaration of a pointer, or the arguments of a call
	}
	if r.toks[open+1].kind != '*' || r.toks[i-1].kind != kIdent {
		return
	}
	kind := ThroughPointer
	if k := r.toks[i-2].kind; k == kArrow || k == '.' {
		kind = ThroughMember
	}
	r.add(i-1, kind)
}

// declares reports whether the asterisk at i belongs to a declared type: a type
// that begins a statement stands before it.
func (f *File) declares(i int32) bool {
	for i > 0 && f.toks[i].kind == '*' {
		i--
	}
	for i > 0 && (f.toks[i].kind == kIdent && !statementWord(f.word(i)) || isTypeKeyword(f.toks[i].kind)) {
		i--
	}
	switch f.toks[i].kind {
	case ';', '{', '}':
		return true
	}
	return false
}

// isCall tells the call name(…) from keywords, declarations and casts.
func (f *File) isCall(i int32) bool {
	w := f.word(i)
	if statementWord(w) || typeWord(w) || notCalled(w) {
		return false
	}
	if i == 0 {
		return true
	}
	switch before := f.toks[i-1]; before.kind {
	case kIdent:
		// Two words in a row declare, unless the first is a keyword.
		switch p := f.word(i - 1); {
		case statementWord(p), p == "new", p == "throw", p == "co_return", p == "co_await", p == "co_yield", p == "and", p == "or", p == "not":
		default:
			return false
		}
	case kStruct, kUnion, kEnum, kClass:
		return false
	case '*':
		if f.declares(i - 1) {
			return false
		}
	}
	if open := f.toks[i+1]; open.kind == '(' && open.link > i+2 && f.toks[i+2].kind == '*' && int(open.link+1) < len(f.toks) && f.toks[open.link+1].kind == '(' {
		return f.toks[i-1].kind == kArrow || f.toks[i-1].kind == '.' // type (*name)(…)
	}
	return true
}

func (r *callReader) kindOf(i int32) CallKind {
	if i > 0 {
		switch r.toks[i-1].kind {
		case kArrow, '.':
			return ThroughMember
		case kColons:
			return Direct
		}
	}
	if r.pointers[r.word(i)] {
		return ThroughPointer
	}
	return Direct
}

func (r *callReader) add(i int32, kind CallKind) {
	c := Call{Name: r.word(i), Kind: kind}
	for k := i; k >= 2 && i-k < maxNesting && r.toks[k-1].kind == kColons && r.toks[k-2].kind == kIdent; k -= 2 {
		c.Scope = join(r.word(k-2), c.Scope)
	}
	pos := r.toks[i].pos
	if r.place != nil {
		c.Line, c.Col = r.place(pos)
	} else {
		c.Line, c.Col = r.lineOf(pos), r.col(pos)
		c.Dead = r.Dead(c.Line)
	}
	r.calls = append(r.calls, c)
}

// angleStart returns the < that matches the > at i, 0 for none nearby.
func (f *File) angleStart(i int32) int32 {
	depth := 0
	for j := i; j > 0 && j > i-64; j-- {
		switch f.toks[j].kind {
		case '>':
			depth++
		case '<':
			if depth--; depth == 0 {
				return j
			}
		case ';', '{', '}', '(', ')':
			return 0
		}
	}
	return 0
}

// locals returns the names that the tokens from lo to hi declare as parameters
// or local variables: a name behind a type, or (*name).
func (f *File) locals(lo, hi int32) map[string]bool {
	names := map[string]bool{}
	for i := lo + 1; i < hi-1; i++ {
		if f.toks[i].kind != kIdent {
			continue
		}
		switch next := f.toks[i+1].kind; next {
		case '=', ';', ',', ')', '[', ':':
		default:
			continue
		}
		before := i - 1
		for before > lo && (f.toks[before].kind == '*' || f.toks[before].kind == kIdent && f.word(before) == "const") {
			before--
		}
		t := f.toks[before]
		switch {
		case before < i-1 && t.kind == '(': // (*name)
			if f.toks[i+1].kind == ')' || f.toks[i+1].kind == '[' {
				names[f.word(i)] = f.toks[f.close(i+1)].kind == ')'
			}
		case t.kind != kIdent || statementWord(f.word(before)) || unevaluated(f.word(before)):
		case before < i-1 && !f.typeBefore(before, lo):
		default:
			names[f.word(i)] = true
		}
	}
	return names
}

// close returns the bracket that ends what opens at i, i itself for others.
func (f *File) close(i int32) int32 {
	if l := f.toks[i].link; f.toks[i].kind == '[' && l > i && int(l+1) < len(f.toks) {
		return l + 1
	}
	return i
}

// typeBefore tells T *name, a declaration, from a * b: the type begins a
// statement or a parameter.
func (f *File) typeBefore(i, lo int32) bool {
	for i > lo && (f.toks[i].kind == kIdent || isTypeKeyword(f.toks[i].kind)) {
		if isTypeKeyword(f.toks[i].kind) || typeWord(f.word(i)) {
			return true
		}
		i--
	}
	switch f.toks[i].kind {
	case ';', '{', '}', '(', ',':
		return true
	}
	return f.toks[i].kind >= kIf
}

// macroCalls reads the body of a #define. Parameters and pasted names are not
// calls of a function that the file names.
func (f *File) macroCalls(s Symbol) []Call {
	k := sort.Search(len(f.macros), func(k int) bool { return f.macros[k].start >= s.from })
	if k == len(f.macros) || f.macros[k].start != s.from {
		return nil
	}
	m := f.macros[k]
	body := m.nameEnd
	if m.pclose > 0 {
		body = m.pclose + 1
	}
	sub := f.fragment(body, m.end)
	r := callReader{File: sub, hi: int32(len(sub.toks)), pointers: map[string]bool{}}
	r.place = func(pos uint32) (int, int) { return f.lineOf(body + pos), f.col(body + pos) }
	params := f.fragment(m.params, m.pclose)
	for i := range params.toks {
		r.pointers[params.word(int32(i))] = true
	}
	r.read()
	return slices.DeleteFunc(r.calls, func(c Call) bool { return c.Kind == ThroughPointer || pasted(f, c) })
}

// pasted reports whether ## joins the name of a call with something.
func pasted(f *File, c Call) bool {
	pos := int(f.lines[c.Line-1]) + c.Col - 1
	for pos > 0 && f.text[pos-1] == ' ' {
		pos--
	}
	return pos > 0 && f.text[pos-1] == '#'
}

// fragment reads a part of the text that is no program of its own, such as a
// macro's body.
func (f *File) fragment(from, to uint32) *File {
	s := &Scanner{fragment: true}
	s.lang, s.text = f.lang, withNUL([]byte(f.text[from:to]))
	s.open, s.guard.arm = -1, -2
	s.splitLines()
	s.lex()
	s.match.Scanner = s
	s.match.match()
	return &s.File
}

// unevaluated reports whether what an operator or attribute takes in
// parentheses is never run.
func unevaluated(w string) bool {
	switch w {
	case "sizeof", "typeof", "__typeof__", "__typeof", "typeof_unqual", "alignof", "_Alignof", "__alignof__", "decltype", "typeid",
		"__attribute__", "__attribute", "__declspec", "alignas", "_Alignas", "offsetof", "__builtin_offsetof",
		"__builtin_types_compatible_p", "noexcept":
		return true
	}
	return false
}

// notCalled holds the other keywords that parentheses follow.
func notCalled(w string) bool {
	switch w {
	case "asm", "__asm__", "__asm", "volatile", "__volatile__", "const", "catch", "defined", "_Generic", "static_assert",
		"_Static_assert", "__extension__", "constexpr", "requires", "operator", "inline", "static", "extern", "register",
		"static_cast", "dynamic_cast", "reinterpret_cast", "const_cast", "delete", "using", "co_await", "co_return", "co_yield":
		return true
	}
	return unevaluated(w)
}
