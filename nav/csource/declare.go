package csource

// declare reads a declaration that ends with the semicolon at semi.
func (p *parser) declare(items []int32, semi int32, c context) {
	if items = p.leading(items, c); len(items) == 0 {
		return
	}
	head := items[0]
	if items = p.template(items); len(items) == 0 {
		return
	}
	first := p.word(items[0])
	if p.lang == CPlusPlus {
		if first == "export" && len(items) > 1 {
			items, first = items[1:], p.word(items[1])
		}
		if first == "module" || first == "import" {
			return
		}
	}
	switch first {
	case "using":
		if len(items) > 2 && p.toks[items[2]].kind == '=' {
			p.emit(p.symbol(Typedef, items[1], head, semi, c))
		}
		return
	case "friend", "static_assert", "_Static_assert", "namespace", "asm", "__asm__", "break", "continue", "delete", "throw":
		return
	}
	if statementWord(first) {
		return
	}
	d := declaration{parser: p, context: c, semi: semi, first: head, kind: Variable}
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
	return p.braceRole(items).role == opensType
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
