package csource

type role uint8

const (
	opensNothing role = iota
	opensBody
	opensType
	opensInitializer
	opensContainer
)

// A head is what the items before a brace make it.
type head struct {
	role    role
	keyword int // the index of a type's keyword
}

// braceRole tells what a brace behind items opens.
func (p *parser) braceRole(items []int32) head {
	if len(items) == 0 {
		return head{role: opensNothing}
	}
	keyword, parens, colon := -1, false, false
	for k, it := range items {
		switch p.toks[it].kind {
		case kString:
			if k > 0 && p.word(items[k-1]) == "extern" && len(items) == k+1 {
				return head{role: opensContainer}
			}
		case kIdent:
			if w := p.word(it); w == "namespace" && p.lang == CPlusPlus {
				return head{role: opensContainer}
			} else if w == "operator" && p.lang == CPlusPlus {
				return head{role: opensBody}
			}
		case '=':
			return head{role: opensInitializer}
		case kStruct, kUnion, kEnum, kClass:
			if keyword < 0 || p.toks[items[keyword]].kind != kEnum {
				keyword = k
			}
			parens, colon = false, false
		case '(':
			if k == 0 || !p.attribute(items[k-1]) {
				parens = true
			}
		case ':':
			colon = true
		case '{':
			if keyword >= 0 && !parens {
				keyword = -1 // that was the body
			}
		}
	}
	last := items[len(items)-1]
	if keyword >= 0 && p.typeHead(items[keyword+1:]) {
		return head{opensType, keyword}
	}
	if parens {
		// The braces of a constructor's initializers follow a name, its body
		// follows a parenthesis or brace.
		if k := p.toks[last].kind; p.lang == CPlusPlus && colon && (k == kIdent || k == '<') {
			return head{role: opensInitializer}
		}
		return head{role: opensBody}
	}
	if p.lang == CPlusPlus && len(items) > 1 && (p.toks[last].kind == kIdent || p.toks[last].kind == ']' || p.toks[last].kind == '[') {
		return head{role: opensInitializer}
	}
	return head{role: opensNothing}
}

// typeHead reports whether items between a type's keyword and a brace are its
// name with annotations and bases, and not a function that returns the type.
func (p *parser) typeHead(items []int32) bool {
	plainNames := 0
	for k := 0; k < len(items); k++ {
		it := items[k]
		switch p.toks[it].kind {
		case ':':
			return true
		case kIdent:
			w := p.word(it)
			if k+1 < len(items) && p.toks[items[k+1]].kind == '(' {
				if !p.annotation(it, items[k+1]) && len(items) > 2 {
					return false
				}
				k++
				continue
			}
			if !p.looksAnnotation(w) && !p.attributeWord(w) {
				plainNames++
			}
			if k > 0 && p.toks[items[k-1]].kind == kColons {
				plainNames--
			}
		case '[', '<', kColons, kClass, kStruct:
		default:
			return false
		}
	}
	return plainNames < 2
}

// aggregate reads the type whose keyword is items[at] and whose body goes from
// open to end. read tells whether its members are wanted.
func (p *parser) aggregate(items []int32, at int, open, end int32, c context, read bool) {
	if at == 0 || p.toks[items[0]].kind == kIdent {
		before := len(items)
		items = p.leading(items, c)
		at -= before - len(items)
	}
	if at < 0 || at >= len(items) {
		return
	}
	kind := [...]Kind{Struct, Union, Enum, Class}[p.toks[items[at]].kind-kStruct]
	name := p.typeName(items[at+1:])
	scope := ""
	if name >= 0 {
		s := p.symbol(kind, name, items[0], end, c)
		p.opens(&s, open)
		if p.lang == CPlusPlus {
			if k := indexOf(items, name); k > 0 {
				if q, _ := p.qualifiers(items, k); q != "" {
					s.Scope = join(s.Scope, q)
				}
			}
		}
		p.emit(s)
		scope = s.Name
	} else {
		scope = p.declaredBehind(end)
	}
	if !read {
		return
	}
	if kind == Enum {
		p.enumerators(open+1, end, c.inside(scope, Enum))
		return
	}
	p.declarations(open+1, end, c.inside(scope, kind))
}

func indexOf(items []int32, it int32) int {
	for k := range items {
		if items[k] == it {
			return k
		}
	}
	return -1
}

// typeName returns the token of the name among the items between a type's
// keyword and its body, -1 if it has none.
func (p *parser) typeName(items []int32) int32 {
	name := int32(-1)
	for k := 0; k < len(items); k++ {
		it := items[k]
		t := p.toks[it]
		if t.kind == ':' {
			break
		}
		if t.kind != kIdent {
			continue
		}
		if k+1 < len(items) && p.toks[items[k+1]].kind == '(' {
			k++
			continue
		}
		if w := p.word(it); !p.attributeWord(w) && (name < 0 || !p.looksAnnotation(w) || p.looksAnnotation(p.word(name))) {
			name = it
		}
	}
	return name
}

// declaredBehind returns the name that a type without one is used to declare.
func (p *parser) declaredBehind(end int32) string {
	for i := end + 1; i < int32(len(p.toks)) && i < end+8; i++ {
		switch t := p.toks[i]; t.kind {
		case '*':
		case '(':
			if t.link > i {
				i = t.link
			}
		case kIdent:
			if w := p.word(i); !p.attributeWord(w) && !p.attribute(i) {
				return w
			}
		default:
			return ""
		}
	}
	return ""
}

// enumerators reads the body of an enum.
func (p *parser) enumerators(i, end int32, c context) {
	fresh := true // at the start of an enumerator
	for i < end {
		t := p.toks[i]
		switch {
		case t.kind == ',':
			fresh = true
		case t.kind >= kIf:
		case fresh && t.kind == kIdent:
			fresh = false
			if i+1 < end && p.toks[i+1].kind == '(' && p.toks[i+1].link > i {
				p.invocation(i, i, i+1, min(p.toks[i+1].link, end), c)
				fresh = true // a macro may bring its own comma
			} else {
				p.emit(p.symbol(Enumerator, i, i, p.enumeratorEnd(i, end), c))
			}
		case (t.kind == '(' || t.kind == '{' || t.kind == '[') && t.link > i:
			i = t.link
		}
		i++
	}
}

// enumeratorEnd returns the last token of the enumerator at i.
func (p *parser) enumeratorEnd(i, end int32) int32 {
	for j := i + 1; j < end; j++ {
		switch t := p.toks[j]; {
		case t.kind == ',' || t.kind >= kIf:
			return j - 1
		case (t.kind == '(' || t.kind == '{') && t.link > j:
			j = t.link
		}
	}
	return end - 1
}
