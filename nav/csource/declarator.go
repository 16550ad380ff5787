package csource

import (
	"strings"
)

// word is the text of a token, "" of a marker.
func (s *File) word(i int32) string {
	if s.toks[i].kind >= kIf {
		return ""
	}
	return s.text[s.toks[i].pos:s.toks[i].end]
}

// column0 reports whether a token stands in the first column.
func (s *File) column0(i int32) bool {
	pos := s.toks[i].pos
	return pos == 0 || s.text[pos-1] == '\n'
}

type shape uint8

const (
	plain    shape = iota // name, name[…]
	callable              // name(…)
	pointer               // (*name), (*name)(…)
	expanded              // MACRO(name)(…): the name is made by a macro
)

// A declarator is the part of a declaration that names one thing.
type declarator struct {
	shape  shape
	at     int   // index of the name, or of the group that holds it, in the items
	name   int32 // token
	params int32 // the parenthesis of the parameters or arguments, -1 for none
	// from and to are the name's text when it is more than one token: ~V,
	// operator ==.
	from, to uint32
}

// declarator finds the declared name in items, which end before the comma,
// semicolon or brace. first says that they begin with the type.
//
// C declares inside out and annotations may stand anywhere, so the search goes
// backwards: what cannot be the name is peeled off the end as long as
// something that can be remains.
func (p *parser) declarator(items []int32, first bool) (declarator, bool) {
	if p.lang == CPlusPlus {
		if d, ok := p.operator(items); ok {
			return d, true
		}
	}
	n := p.cut(items)
	for n > 0 {
		last := items[n-1]
		switch p.toks[last].kind {
		case '[':
			n--
		case '(':
			if n >= 2 && p.annotation(items[n-2], last) && (p.attribute(items[n-2]) || p.nameable(items[:n-2], first, true)) {
				n -= 2
				continue
			}
			return p.group(items[:n])
		case kIdent:
			if w := p.word(last); p.attributeWord(w) || n > 1 && (p.qualifier(w) || p.looksAnnotation(w)) && !(allCaps(w) && p.capital(items[n-2]) && (!first || p.toks[items[0]].kind == kTypedef)) && p.nameable(items[:n-1], first, !allCaps(w)) {
				n--
				continue
			}
			return p.plainName(items[:n], first)
		case '{': // int a{0}
			if p.lang != CPlusPlus || n < 2 {
				return declarator{}, false
			}
			n--
		case '&', '*', '>', kString:
			if p.lang != CPlusPlus && p.toks[last].kind != '*' || n < 2 {
				return declarator{}, false
			}
			n--
		default:
			return declarator{}, false
		}
	}
	return declarator{}, false
}

// capital reports whether a token is a word in capitals.
func (p *parser) capital(i int32) bool {
	return p.toks[i].kind == kIdent && allCaps(p.word(i))
}

// cut returns the number of items before an initializer, a bit-field's width,
// a constructor's initializers or a trailing return type.
func (p *parser) cut(items []int32) int {
	for k, it := range items {
		switch p.toks[it].kind {
		case '=', ':', kArrow:
			return k
		}
	}
	return len(items)
}

func (p *parser) plainName(items []int32, first bool) (declarator, bool) {
	n := len(items) - 1
	w := p.word(items[n])
	if typeWord(w) || p.qualifier(w) || p.storageWord(w) || statementWord(w) || first && !p.typed(items[:n], true) && (p.looksAnnotation(w) || !p.unlikelyType(items[:n])) {
		return declarator{}, false
	}
	d := declarator{shape: plain, at: n, name: items[n], params: -1}
	return d, true
}

// typed reports whether items can be the type of a name that follows them. A
// word in capitals may be a type or an annotation: caps tells what it counts as.
func (p *parser) typed(items []int32, caps bool) bool {
	for n := len(items); n >= 2 && p.toks[items[n-1]].kind == kColons; n = len(items) {
		drop := 2 // what qualifies the name is no type
		if n >= 3 && p.toks[items[n-2]].kind == '<' {
			drop = 3
		}
		items = items[:n-drop]
	}
	for k := len(items) - 1; k >= 0; k-- {
		t := p.toks[items[k]]
		switch t.kind {
		case kIdent:
			w := p.word(items[k])
			if k > 0 && isTypeKeyword(p.toks[items[k-1]].kind) {
				return true
			}
			if typeWord(w) || kernelType(w) || !p.storageWord(w) && !p.attributeWord(w) && (!p.looksAnnotation(w) || caps && allCaps(w)) {
				return true
			}
		case '(':
			if k > 0 && p.toks[items[k-1]].kind == kIdent {
				if w := p.word(items[k-1]); w == "typeof" || w == "__typeof__" || w == "decltype" || w == "_Atomic" || w == "__typeof" {
					return true
				}
				if !p.attribute(items[k-1]) {
					return true // TYPE(x) name
				}
				k--
			}
		case kStruct, kUnion, kEnum, kClass:
			return false // the identifier that follows is the tag
		case '*', '{', '<', '>', '&':
			return true
		}
	}
	return false
}

// unlikelyType reports whether items end with an identifier that can be a type because
// nothing else can: __fs32 key.
func (p *parser) unlikelyType(items []int32) bool {
	if len(items) == 0 || p.toks[items[len(items)-1]].kind != kIdent {
		return false
	}
	w := p.word(items[len(items)-1])
	return !p.storageWord(w) && !p.attributeWord(w)
}

func isTypeKeyword(k uint8) bool { return k >= kStruct && k <= kClass }

// nameable reports whether a declarator would be found in items.
func (p *parser) nameable(items []int32, first, caps bool) bool {
	for n := len(items); n > 0; n-- {
		last := items[n-1]
		switch p.toks[last].kind {
		case '[':
			continue
		case '(':
			if n == 1 || n == 2 && p.attribute(items[0]) {
				return false
			}
			k := p.toks[items[n-2]].kind
			return k == kIdent || k == '(' || k == '>'
		case kIdent:
			w := p.word(last)
			if p.qualifier(w) || p.attributeWord(w) {
				continue
			}
			if n > 1 && isTypeKeyword(p.toks[items[n-2]].kind) || typeWord(w) || p.storageWord(w) {
				return false
			}
			if !first || p.typed(items[:n-1], caps) {
				return true
			}
			if !p.looksAnnotation(w) {
				return false
			}
			continue
		}
		return false
	}
	return false
}

// attribute reports whether an identifier takes arguments without ever being a
// declarator.
func (p *parser) attribute(i int32) bool {
	if p.toks[i].kind != kIdent {
		return false
	}
	switch w := p.word(i); w {
	case "__attribute__", "__attribute", "__declspec", "asm", "__asm__", "__asm", "noexcept", "throw", "alignas",
		"_Alignas", "requires", "explicit", "__printf", "__scanf", "__section", "__aligned", "__acquires", "__releases",
		"__must_hold", "__alloc_size", "__counted_by", "__guarded_by", "__alias", "__cond_acquires", "__cond_lock",
		"__compiletime_error", "__compiletime_warning", "__diagnose_as", "__malloc", "__assume_aligned", "__nonnull",
		"__no_sanitize", "__must_be_held":
		return true
	}
	return false
}

// annotation reports whether identifier and group look like MACRO(x) added to a
// declaration and not like a function with its parameters.
func (p *parser) annotation(ident, group int32) bool {
	if p.toks[ident].kind != kIdent {
		return false
	}
	if p.attribute(ident) {
		return true
	}
	return p.looksAnnotation(p.word(ident)) && !p.parameters(group)
}

// parameters reports whether the group can only be a list of parameters: it is
// empty, or void, or one of its parts is a type with a name.
func (p *parser) parameters(open int32) bool {
	end := p.toks[open].link
	if end <= open+1 {
		return end == open+1
	}
	words := 0
	for i := open + 1; i < end; i++ {
		switch t := p.toks[i]; t.kind {
		case kIdent:
			if w := p.word(i); w == "void" || typeWord(w) {
				return true
			}
			words++
		case kStruct, kUnion, kEnum, kClass:
			return true
		case '*':
			if words == 0 {
				return false
			}
			words++
		case ',':
			words = 0
			continue
		case '(', '[':
			if t.link > i {
				i = t.link
			}
		case '.':
			return i+2 < end && p.toks[i+1].kind == '.'
		case kIf, kElse, kEndif:
		case kColons, '<', '>', '&':
			if p.lang != CPlusPlus {
				return false
			}
		default:
			return false
		}
		if words >= 2 {
			return true
		}
	}
	return false
}

// group reads items that end with a parenthesised group.
func (p *parser) group(items []int32) (declarator, bool) {
	n := len(items)
	last := items[n-1]
	if n == 1 {
		return p.inGroup(last, 0, -1)
	}
	switch before := items[n-2]; p.toks[before].kind {
	case kIdent:
		w := p.word(before)
		if k := p.toks[last+1].kind; typeWord(w) || p.qualifier(w) || p.storageWord(w) || k == '*' || k == '^' {
			return p.inGroup(last, n-1, -1)
		}
		d := declarator{shape: callable, at: n - 2, name: before, params: last}
		if n >= 3 && p.toks[items[n-3]].kind == '~' {
			d.at, d.from, d.to = n-3, p.toks[items[n-3]].pos, p.toks[before].end
		}
		return d, true
	case '(':
		if n >= 3 && p.toks[items[n-3]].kind == kIdent && !p.pointerGroup(before) {
			if p.looksAnnotation(p.word(items[n-3])) || p.parameters(before) || p.typed(items[:n-3], false) {
				return declarator{shape: expanded, at: n - 3, name: items[n-3], params: before}, true
			}
		}
		return p.inGroup(before, n-2, last)
	case '<', '>': // name<…>(…)
		for k := n - 2; k > 0; k-- {
			if p.toks[items[k]].kind == '<' && p.toks[items[k-1]].kind == kIdent {
				return declarator{shape: callable, at: k - 1, name: items[k-1], params: last}, true
			}
		}
	case '*', '&', '{':
		return p.inGroup(last, n-1, -1)
	}
	return declarator{}, false
}

// pointerGroup reports whether the group declares a pointer: (*x), (^x),
// (C::*x), (__iomem *x).
func (p *parser) pointerGroup(open int32) bool {
	end := p.toks[open].link
	for i := open + 1; i < end && i < open+6; i++ {
		switch p.toks[i].kind {
		case '*', '^':
			return i+1 < end
		case kIdent:
			if w := p.word(i); !p.looksAnnotation(w) && !p.attributeWord(w) && p.toks[i+1].kind != kColons {
				return false
			}
		case kColons:
		default:
			return false
		}
	}
	return false
}

// inGroup finds the name inside the parentheses at open, as in (*name)(…),
// (*name[3])(…), (name)(…) and (*name(…))(…).
func (p *parser) inGroup(open int32, at int, params int32) (declarator, bool) {
	d := declarator{shape: plain, at: at, params: params}
	if params >= 0 {
		d.shape = callable
	}
	end := p.toks[open].link
	for i := open + 1; i < end; i++ {
		switch t := p.toks[i]; t.kind {
		case '*', '^':
			d.shape = pointer
		case kIdent:
			w := p.word(i)
			next := p.toks[i+1].kind
			if p.qualifier(w) || next == kIdent || next == kColons || next == '*' {
				continue
			}
			d.name = i
			if next == '(' && i+1 < end { // a function that returns a pointer
				d.shape, d.params = callable, i+1
			}
			return d, true
		case '(':
			if t.link <= i {
				return d, false
			}
			if p.toks[i+1].kind != '*' && p.toks[i+1].kind != kIdent {
				i = t.link
			}
		case kColons, '&':
		default:
			return d, false
		}
	}
	return d, false
}

// operator finds the name of a C++ operator function.
func (p *parser) operator(items []int32) (declarator, bool) {
	for k, it := range items {
		if p.toks[it].kind != kIdent || p.word(it) != "operator" {
			continue
		}
		if k+1 >= len(items) || p.toks[items[k+1]].kind != '(' {
			return declarator{}, false
		}
		open := items[k+1]
		return declarator{shape: callable, at: k, name: it, params: open, from: p.toks[it].pos, to: p.toks[p.operatorName(it, open)-1].end}, true
	}
	return declarator{}, false
}

// looksAnnotation reports whether an identifier is spelled like a macro that
// annotates a declaration: in capitals, or with two leading underscores.
func (p *parser) looksAnnotation(w string) bool {
	if strings.HasPrefix(w, "__") {
		return !kernelType(w)
	}
	switch w {
	case "noinline", "notrace", "noinstr", "asmlinkage", "nokprobe_inline", "noinline_for_stack", "noreturn", "fastcall", "cdecl":
		return true
	case "override", "final":
		return p.lang == CPlusPlus
	}
	return allCaps(w)
}

func allCaps(w string) bool {
	letters := 0
	for i := range len(w) {
		switch c := w[i]; {
		case c >= 'a' && c <= 'z' || c >= 0x80:
			return false
		case c >= 'A' && c <= 'Z':
			letters++
		}
	}
	return letters > 1
}

// kernelType holds the types whose names look like annotations.
func kernelType(w string) bool {
	rest, ok := strings.CutPrefix(w, "__")
	if !ok {
		return false
	}
	for _, prefix := range []string{"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "be16", "be32", "be64", "le16", "le32", "le64", "kernel_", "int", "uint", "builtin_va_list", "wsum", "sum16", "poll_t", "signed", "unsigned", "typeof", "addrpair", "aligned_u", "aligned_be", "aligned_le", "portpair", "ssize_t", "size_t"} {
		if strings.HasPrefix(rest, prefix) {
			return true
		}
	}
	return strings.HasSuffix(w, "_t")
}

func typeWord(w string) bool {
	switch w {
	case "void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "bool", "_Bool", "auto",
		"__int128", "wchar_t", "char8_t", "char16_t", "char32_t", "_Complex", "__signed__":
		return true
	}
	return false
}

func (p *parser) qualifier(w string) bool {
	switch w {
	case "const", "volatile", "restrict", "__restrict", "__restrict__", "__const", "__const__", "__volatile__", "_Atomic",
		"__bitwise", "__nocast", "__user", "__iomem", "__percpu", "__rcu", "__force", "__kernel":
		return true
	case "noexcept", "mutable", "try":
		return p.lang == CPlusPlus
	}
	return false
}

func (p *parser) storageWord(w string) bool {
	switch w {
	case "static", "extern", "inline", "__inline", "__inline__", "register", "_Noreturn", "__extension__", "_Thread_local",
		"__thread", "typedef", "const", "volatile", "__always_inline":
		return true
	case "virtual", "explicit", "constexpr", "consteval", "constinit", "friend", "export", "template", "requires",
		"operator", "public", "private", "protected", "thread_local", "typename":
		return p.lang == CPlusPlus
	}
	return false
}

// attributeWord reports whether an identifier only ever annotates, so that
// struct { … } __packed; declares nothing.
func (p *parser) attributeWord(w string) bool {
	for _, sign := range []string{"packed", "aligned", "randomize_layout"} {
		if strings.HasPrefix(w, "__") && strings.Contains(w, sign) && !kernelType(w) {
			return true
		}
	}
	switch w {
	case "__read_mostly", "__ro_after_init", "__init", "__initdata", "__initconst", "__exit", "__exitdata", "__maybe_unused",
		"__always_unused", "__used", "__weak", "__cold", "__refdata", "__meminitdata", "__percpu", "__visible", "__must_check":
		return true
	}
	if strings.HasSuffix(w, "PACKED") {
		return true
	}
	return p.lang == CPlusPlus && (w == "override" || w == "final")
}
