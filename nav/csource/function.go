package csource

// function reads the definition of a function whose body goes from open to end.
func (p *parser) function(items []int32, open, end int32, c context) {
	if items = p.leading(items, c); len(items) == 0 {
		return
	}
	first := items[0]
	if items = p.template(items); len(items) == 0 {
		return
	}
	if w := p.word(items[0]); statementWord(w) || w == "catch" || w == "asm" {
		return
	}
	d, ok := p.declarator(items, true)
	if !ok || d.shape == plain || d.shape == pointer {
		return
	}
	s := p.symbol(Function, d.name, first, end, c)
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
