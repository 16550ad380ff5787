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
			if !item && !blank && !(allCaps(w) && p.invocationFollows(items[k+2:])) {
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

// invocationFollows reports whether a declaration goes on with another macro in
// capitals and its arguments, and then ends or goes on so: what stands in a row
// without semicolons, PAGEFLAG(…) TESTSCFLAG(…), are items of their own.
func (p *parser) invocationFollows(items []int32) bool {
	capitals := func(k int) bool {
		return p.toks[items[k]].kind == kIdent && allCaps(p.word(items[k])) && !p.attribute(items[k])
	}
	if len(items) < 2 || !capitals(0) || p.toks[items[1]].kind != '(' || p.toks[items[1]].link <= items[1] {
		return false
	}
	if len(items) == 2 || capitals(2) {
		return true
	}
	line, _ := p.newline(p.toks[items[1]].link, items[2])
	return line && p.column0(items[2])
}

func (p *parser) invocation(name, first, args, last int32, c context) {
	s := p.symbol(Invocation, name, first, last, c)
	s.Signature = p.groupText(args)
	p.emit(s)
}
