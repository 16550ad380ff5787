package csource

import (
	"strings"
)

// symbol starts a symbol whose name is token name and whose declaration goes
// from token first to token last.
func (p *parser) symbol(k Kind, name, first, last int32, c context) Symbol {
	s := Symbol{Name: p.word(name), Kind: k, Scope: c.scope, Local: c.local}
	s.name, s.from, s.to = p.toks[name].pos, p.toks[first].pos, p.endOf(last)
	return s
}

// opens records the brace at i as the beginning of the body.
func (p *parser) opens(s *Symbol, i int32) {
	s.body = p.toks[i].pos
	s.Body = p.lineNear(s.body)
}

// endOf is where the text of a token ends; a marker ends before it begins.
func (p *parser) endOf(i int32) uint32 {
	i = min(i, int32(len(p.toks)-1))
	if t := p.toks[i]; t.kind < kIf {
		return t.end
	}
	if i > 0 && p.toks[i-1].kind < kIf {
		return p.toks[i-1].end
	}
	return p.toks[i].pos
}

func (p *parser) emit(s Symbol) {
	// An unfinished declaration before an #if is read again in each arm.
	for k := len(p.symbols) - 1; k >= 0 && k >= len(p.symbols)-8; k-- {
		if old := &p.symbols[k]; old.name == s.name && old.Kind == s.Kind && s.Name == old.Name {
			old.to = max(old.to, s.to)
			old.End = max(old.End, p.lineNear(old.to-1))
			return
		}
	}
	s.Line = p.lineNear(s.name)
	s.Col = int(s.name-p.lines[s.Line-1]) + 1
	s.Start = p.lineNear(s.from)
	s.End = p.lineNear(max(s.to, s.from+1) - 1)
	p.symbols = append(p.symbols, s)
}

// lineNear is lineOf for positions that are close to each other.
func (p *parser) lineNear(pos uint32) int {
	k := p.line
	if k >= len(p.lines) || p.lines[k] > pos || k+16 < len(p.lines) && p.lines[k+16] <= pos {
		p.line = p.lineOf(pos) - 1
		return p.line + 1
	}
	for k+1 < len(p.lines) && p.lines[k+1] <= pos {
		k++
	}
	p.line = k
	return k + 1
}

// squeeze is the text from one place to another in single spaces and without
// comments.
func (p *parser) squeeze(from, to uint32) string {
	text := p.text[from:to]
	if !strings.ContainsAny(text, "\n\t\\\r/") && !strings.Contains(text, "  ") {
		return text
	}
	return (&source{text: p.text}).operand(arm{lo: from, hi: to, op: opIf})
}

// groupText is the text of a bracketed group, "" for none.
func (p *parser) groupText(open int32) string {
	if open < 0 || p.toks[open].link <= open {
		return ""
	}
	return p.squeeze(p.toks[open].pos, p.endOf(p.toks[open].link))
}

// declared fills in what a declarator says: its name with the class it is
// qualified by, its parameters and its type.
//
// base are the items of the type when it is shared with an earlier declarator,
// and lo is where this one begins behind it.
func (p *parser) declared(s *Symbol, d declarator, items, base []int32, lo int) {
	if d.to > 0 {
		s.Name = strings.Join(strings.Fields(p.text[d.from:d.to]), " ")
		s.name = d.from
	}
	s.Signature = p.groupText(d.params)
	at := d.at
	if p.lang == CPlusPlus {
		if q, k := p.qualifiers(items, d.at); q != "" {
			s.Scope, at = join(s.Scope, q), k
		}
	}
	if base == nil {
		base = items[:at]
	}
	s.Type = p.typeText(base)
	for _, it := range items[min(max(len(base), lo), at):at] {
		if p.toks[it].kind == '*' {
			s.Type += "*"
		}
	}
}

// qualifiers returns the scope in front of the name at items[at], A::B of
// A::B::f, and the index where it begins.
func (p *parser) qualifiers(items []int32, at int) (string, int) {
	scope := ""
	k := at
	for k >= 2 && at-k < maxNesting && p.toks[items[k-1]].kind == kColons {
		j := k - 2
		if p.toks[items[j]].kind == '<' || p.toks[items[j]].kind == '>' {
			for j > 0 && p.toks[items[j]].kind != kIdent {
				j--
			}
		}
		if p.toks[items[j]].kind != kIdent {
			break
		}
		scope = join(p.word(items[j]), scope)
		k = j
	}
	return scope, k
}

// typeText is the text of the type in items, without storage classes and
// annotations around it.
func (p *parser) typeText(items []int32) string {
	for len(items) > 0 {
		it := items[0]
		if k := p.toks[it].kind; k != kTypedef && (k != kIdent || !p.notType(p.word(it))) {
			break
		}
		if items = items[1:]; len(items) > 0 && p.toks[items[0]].kind == '(' {
			items = items[1:]
		}
	}
	for n := len(items); n > 1; n = len(items) {
		it := items[n-1]
		if p.toks[it].kind == '(' && p.toks[items[n-2]].kind == kIdent && p.notType(p.word(items[n-2])) {
			n--
			it = items[n-1]
		}
		if p.toks[it].kind != kIdent || !p.notType(p.word(it)) {
			break
		}
		items = items[:n-1]
	}
	if len(items) == 0 {
		return ""
	}
	from, last := p.toks[items[0]].pos, items[len(items)-1]
	end := p.toks[last].end
	switch link := p.toks[last].link; {
	case p.toks[last].kind == '{': // a type with its body
		end = p.endOf(last - 1)
	case link > last:
		end = p.endOf(link)
	case p.toks[last].kind == '<':
		end = p.endOf(p.angleEnd(last))
	}
	if end <= from || end-from > 300 {
		return ""
	}
	return p.squeeze(from, end)
}

func (p *parser) notType(w string) bool {
	if w == "const" || w == "volatile" {
		return false
	}
	return p.storageWord(w) || p.looksAnnotation(w) || p.attributeWord(w)
}

// newline reports whether a line ends between tokens a and b, blank whether an
// empty one stands there.
func (p *parser) newline(a, b int32) (newline, blank bool) {
	gap := p.text[p.endOf(a):p.toks[b].pos]
	i := strings.IndexByte(gap, '\n')
	if i < 0 {
		return false, false
	}
	rest := strings.TrimLeft(gap[i+1:], " \t\r")
	return true, strings.HasPrefix(rest, "\n")
}

// leading emits the macro invocations without semicolon at the front of items,
// as in EXPORT_SYMBOL(f) on the line above a function, and returns the rest.
func (p *parser) leading(items []int32, c context) []int32 {
	for k := 0; k < len(items); k++ {
		it := items[k]
		t := p.toks[it]
		if t.kind != kIdent {
			return items
		}
		w := p.word(it)
		if k+1 < len(items) && p.toks[items[k+1]].kind == '(' {
			if k+2 == len(items) || p.toks[items[k+1]].link <= items[k+1] {
				return items
			}
			close, next := p.toks[items[k+1]].link, items[k+2]
			line, blank := p.newline(close, next)
			item := line && p.column0(next) && !p.attribute(it) && (allCaps(w) || !p.looksAnnotation(w))
			if !item && !blank {
				k++
				continue
			}
			if !p.attribute(it) {
				p.invocation(it, items[0], items[k+1], close, c)
			}
			items, k = items[k+2:], -1
			continue
		}
		if k+1 < len(items) && p.looksAnnotation(w) {
			if _, blank := p.newline(it, items[k+1]); blank {
				items, k = items[k+1:], -1
			}
			continue
		}
		if !p.storageWord(w) && !p.looksAnnotation(w) {
			return items
		}
	}
	return items
}

func (p *parser) column0(i int32) bool {
	pos := p.toks[i].pos
	return pos == 0 || p.text[pos-1] == '\n'
}

func (p *parser) invocation(name, first, args, last int32, c context) {
	s := p.symbol(Invocation, name, first, last, c)
	s.Signature = p.groupText(args)
	p.emit(s)
}

// declare reads a declaration that ends with the semicolon at semi.
func (p *parser) declare(items []int32, semi int32, c context) {
	if items = p.template(p.leading(items, c)); len(items) == 0 {
		return
	}
	first := p.word(items[0])
	switch first {
	case "using":
		if len(items) > 2 && p.toks[items[2]].kind == '=' {
			p.emit(p.symbol(Typedef, items[1], items[0], semi, c))
		}
		return
	case "friend", "static_assert", "_Static_assert", "namespace", "asm", "__asm__", "break", "continue", "delete", "throw":
		return
	}
	if statementWord(first) {
		return
	}
	d := declaration{parser: p, context: c, semi: semi, first: items[0], kind: Variable}
	if c.inType() {
		d.kind = Member
	}
	d.read(items)
}

// template skips the head of a C++ template.
func (p *parser) template(items []int32) []int32 {
	for p.lang == CPlusPlus && len(items) > 1 && p.word(items[0]) == "template" && p.toks[items[1]].kind == '<' {
		items = items[2:]
	}
	return items
}

// A declaration is one type with its declarators.
type declaration struct {
	*parser
	context
	semi, first int32
	kind        Kind // of what it declares, when that is no function
	extern      bool
	base        []int32 // the type, once the first declarator has been read
}

func (d *declaration) read(items []int32) {
	typeEnd := 0 // items before it are a type with a body
	for k, it := range items {
		switch d.toks[it].kind {
		case kTypedef:
			d.kind = Typedef
		case '{':
			if typeEnd == 0 && d.bodied(items[:k]) {
				typeEnd = k + 1
			}
		case kIdent:
			if k < 3 && d.word(it) == "extern" {
				d.extern = true
			}
		}
	}
	lo := 0
	for k := 0; k <= len(items); k++ {
		if k < len(items) && d.toks[items[k]].kind != ',' {
			continue
		}
		if k > max(lo, typeEnd) {
			d.piece(items, max(lo, typeEnd), k, typeEnd)
		}
		lo = k + 1
	}
}

// bodied reports whether a brace behind items is a type's body and no value.
func (p *parser) bodied(items []int32) bool {
	role, _ := p.braceRole(items, context{})
	return role == opensType
}

// piece reads the declarator in items[lo:hi].
func (d *declaration) piece(items []int32, lo, hi, typeEnd int) {
	first := lo == 0 && typeEnd == 0
	decl, ok := d.declarator(items[lo:hi], first)
	if !ok {
		return
	}
	value := int32(-1) // the brace of an initializer
	assigned := false
	for _, it := range items[lo:hi] {
		if k := d.toks[it].kind; k == '=' {
			assigned = true
		} else if k == '{' {
			value = it
		}
	}
	decl.at += lo
	s := d.parser.symbol(d.kind, decl.name, d.first, d.semi, d.context)
	switch {
	case d.kind == Typedef:
	case decl.shape == expanded:
		s.Kind = Invocation
	case decl.shape == callable && !d.callee(items, decl, lo, first, d.class):
		s.Kind = Invocation
		d.arguments(decl.params)
	case decl.shape == callable && assigned && d.lang != CPlusPlus:
		s.Kind = Invocation
	case decl.shape == callable:
		s.Kind = Prototype
	case d.extern && !assigned:
		s.Kind = Extern
	}
	d.declared(&s, decl, items, d.base, lo)
	if d.base == nil {
		if d.base = items[:decl.at]; typeEnd > 0 {
			d.base = items[:typeEnd]
		}
		for n := len(d.base); n > 0 && d.toks[d.base[n-1]].kind == '*'; n-- {
			d.base = d.base[:n-1]
		}
	}
	if value >= 0 {
		d.opens(&s, value)
	}
	d.emit(s)
}

// arguments reads the members that a macro such as struct_group takes as
// arguments.
func (d *declaration) arguments(open int32) {
	if !d.inType() {
		return
	}
	end := d.toks[open].link
	for i := open + 1; i < end; i++ {
		if d.toks[i].kind == ';' {
			from := open + 1
			for from < i && d.toks[from].kind != ',' {
				from++
			}
			if from < i {
				for d.toks[from+1].kind == ',' { // empty arguments
					from++
				}
				d.parser.declarations(from+1, end, d.context)
			}
			return
		}
		if l := d.toks[i].link; l > i {
			i = l
		}
	}
}

// callee reports whether a declarator with parentheses declares a function: it
// has a type, or needs none as a constructor.
func (p *parser) callee(items []int32, d declarator, lo int, first bool, class string) bool {
	if p.lang == CPlusPlus && (d.to > 0 || d.at > 0 && d.at < len(items) && p.toks[items[d.at-1]].kind == kColons) {
		return true
	}
	return !first || p.typed(items[lo:d.at], !allCaps(p.word(d.name))) || p.lang == CPlusPlus && class != "" && p.word(d.name) == class
}

// function reads the definition of a function whose body goes from open to end.
func (p *parser) function(items []int32, open, end int32, c context) {
	if items = p.template(p.leading(items, c)); len(items) == 0 {
		return
	}
	if w := p.word(items[0]); statementWord(w) || w == "catch" || w == "asm" {
		return
	}
	d, ok := p.declarator(items, true)
	if !ok || d.shape == plain || d.shape == pointer {
		return
	}
	s := p.symbol(Function, d.name, items[0], end, c)
	p.opens(&s, open)
	name := p.word(d.name)
	if d.shape == expanded || allCaps(name) && p.minted(d.params) || !p.callee(items, d, 0, true, c.class) && (allCaps(name) || !p.parameters(d.params) && !p.names(d.params)) {
		s.Kind = Invocation
	}
	p.declared(&s, d, items, nil, 0)
	p.emit(s)
}

// minted reports whether the group begins with a name alone, where a parameter
// has a type: int BPF_PROG(name, …) { … }.
func (p *parser) minted(open int32) bool {
	end := p.toks[open].link
	return open+2 <= end && p.toks[open+1].kind == kIdent && !typeWord(p.word(open+1)) && (open+2 == end || p.toks[open+2].kind == ',')
}

// names reports whether the group is a list of names, as of an old-style
// function.
func (p *parser) names(open int32) bool {
	return len(p.nameList(open)) > 0
}

// nameList returns the tokens of a group that holds nothing but names and
// commas.
func (p *parser) nameList(open int32) []int32 {
	var names []int32
	end := p.toks[open].link
	for i := open + 1; i < end; i++ {
		want := uint8(kIdent)
		if (i-open)%2 == 0 {
			want = ','
		}
		if p.toks[i].kind != want {
			return nil
		}
		if want == kIdent {
			names = append(names, i)
		}
	}
	return names
}

// oldStyle recognises f(a, b) int a; char *b; { … } at its first semicolon. It
// returns how many items are the header and where the body opens, 0 for none.
func (p *parser) oldStyle(items []int32, semi, end int32) (header int, body int32) {
	for k := 1; k+1 < len(items); k++ {
		if p.toks[items[k]].kind != '(' || p.toks[items[k-1]].kind != kIdent {
			continue
		}
		if next := p.toks[items[k+1]].kind; next != kIdent && !isTypeKeyword(next) {
			continue
		}
		names := p.nameList(items[k])
		if len(names) == 0 || len(names) > 64 {
			continue
		}
		last := items[len(items)-1]
		for p.toks[last].kind != kIdent && last > items[k] {
			last--
		}
		if !p.among(last, names) {
			continue
		}
		for i := semi + 1; i < end && i < semi+1024; i++ {
			switch p.toks[i].kind {
			case '{':
				if p.toks[i-1].kind == ';' {
					return k + 1, i
				}
				return 0, 0
			case '}', '=':
				return 0, 0
			case ';':
				before := i - 1
				for before > semi && p.toks[before].kind != kIdent {
					before--
				}
				if !p.among(before, names) {
					return 0, 0
				}
			}
		}
	}
	return 0, 0
}

func (p *parser) among(i int32, names []int32) bool {
	for _, n := range names {
		if p.word(n) == p.word(i) {
			return true
		}
	}
	return false
}
