package csource

import (
	"slices"
	"strings"
)

// parser reads declarations off matched tokens.
type parser struct {
	*Scanner
	// items is a stack of the tokens of unfinished declarations: nested types
	// are read while the declaration around them waits. A bracketed group is
	// one item, its opening bracket.
	items  []int32
	frames []frame
	noEndm int32 // no .endm stands before this token
	line   int   // where lineNear last was
}

// context is where declarations stand.
type context struct {
	scope string
	class string // the innermost class, whose name constructors bear
	kind  Kind   // of the type around, 0 at file and namespace level
	local bool
	depth int
}

func (c context) inType() bool { return c.kind != 0 && c.kind != Namespace }

// inside is the context within a type or namespace.
func (c context) inside(name string, k Kind) context {
	c.depth++
	if name != "" {
		c.scope, c.class = join(c.scope, name), name
	}
	c.kind = k
	return c
}

func join(scope, name string) string {
	if scope == "" || name == "" {
		return scope + name
	}
	return scope + "::" + name
}

// maxNesting bounds recursion; what nests deeper is skipped.
const maxNesting = 200

// A frame is a conditional that began within the declarations being read.
type frame struct {
	first, next int32 // the #if's marker and the one that ends the arm
	items       []int32
	// resume is where to go on after the #endif, when an arm opened a block
	// that closes behind it.
	resume int32
	// done is the level's count of finished declarations when the arm began,
	// ended whether an earlier arm finished the one in items.
	done  int
	ended bool
	apart bool // the arm is no part of the program
}

// A variant is an unfinished declaration in an earlier arm of a conditional;
// what follows the #endif at item join completes it too.
type variant struct {
	items []int32
	join  int
}

// maxVariants bounds the headers that may share one body.
const maxVariants = 16

// level is one run of declarations between two tokens.
type level struct {
	*parser
	context
	base, frameBase int
	end             int32
	variants        []variant
	done            int
}

func (p *parser) declarations(i, end int32, c context) {
	if c.depth > maxNesting {
		return
	}
	l := &level{parser: p, context: c, base: len(p.items), frameBase: len(p.frames), end: end}
	for i < end {
		i = max(l.step(i), i+1)
	}
	l.reset()
	p.frames = p.frames[:l.frameBase]
}

func (l *level) own() []int32 { return l.items[l.base:] }

func (l *level) reset() {
	l.items = l.items[:l.base]
	l.variants = l.variants[:0]
	l.done++
}

// step reads the item at i and returns the place of the next one.
func (l *level) step(i int32) int32 {
	t := l.toks[i]
	switch t.kind {
	case kIf:
		l.pushFrame(i)
		return l.skipAssembly(i)
	case kElse:
		l.nextArm(i)
		return l.skipAssembly(i)
	case kEndif:
		return l.endif(i)
	case ';':
		return l.semicolon(i)
	case '{':
		return l.brace(i)
	case '}', ')', ']':
		if t.kind == '}' {
			l.reset()
		}
	case '(', '[':
		l.items = append(l.items, i)
		return min(t.link, l.end-1) + 1
	case '.':
		if len(l.own()) == 0 {
			return l.assembler(i)
		}
		if end := l.fields(i); end > 0 {
			return end
		}
		l.items = append(l.items, i)
	case '<':
		l.items = append(l.items, i)
		if l.lang == CPlusPlus {
			return l.angle(i)
		}
	case ':':
		if l.lang == CPlusPlus && l.inType() && l.accessLabel() {
			l.reset()
			return i + 1
		}
		l.items = append(l.items, i)
	default:
		l.items = append(l.items, i)
		if t.kind == kIdent && l.lang == CPlusPlus && l.word(i) == "operator" {
			return l.operatorName(i, l.end)
		}
	}
	return i + 1
}

// fields reads the designated fields between a pair of macros, as in
//
//	MACHINE_START(BOARD, "board")
//		.init_irq = board_init_irq,
//	MACHINE_END
//
// and returns the place behind them, 0 when this is something else.
func (l *level) fields(i int32) int32 {
	items := l.own()
	n := len(items)
	if n < 2 || l.toks[items[n-1]].kind != '(' || !l.capital(items[n-2]) || l.toks[i-1].kind != ')' {
		return 0
	}
	j := i
	for j < l.end && !l.column0(j) && l.toks[j].kind != ';' {
		j = max(l.toks[j].link, j) + 1
	}
	last := min(j, l.end) - 1
	if j < l.end && l.capital(j) {
		last = j
	}
	l.invocation(items[n-2], items[0], items[n-1], last, l.context)
	l.reset()
	return last + 1
}

// skipAssembly returns the place behind the marker at i, or the end of the arm
// it opens when that is no C.
func (l *level) skipAssembly(i int32) int32 {
	if next := l.toks[i].link; next > i && l.assemblyArm(int32(l.toks[i].end)) {
		return next
	}
	return i + 1
}

// assembler skips an assembler directive in a header that C and assembly share:
// a line, or all of a .macro.
func (l *level) assembler(i int32) int32 {
	if i+1 < l.end && l.word(i+1) == "macro" && i >= l.noEndm {
		for j := i + 2; j < l.end; j++ {
			if l.toks[j].kind == '.' && j+1 < l.end && l.word(j+1) == "endm" {
				return j + 2
			}
		}
		l.noEndm = l.end
	}
	for i++; i < l.end && l.toks[i].kind < kIf; i++ {
		if newline, _ := l.newline(i-1, i); newline {
			break
		}
	}
	return i
}

func (l *level) accessLabel() bool {
	items := l.own()
	for _, it := range items[max(0, len(items)-2):] {
		switch l.word(it) {
		case "public", "private", "protected", "signals", "Q_SIGNALS":
			return true
		}
	}
	return false
}

// operatorName skips the name of the operator function at i: it may hold any
// punctuation. It stops at the parenthesis that opens the parameters.
func (p *parser) operatorName(i, end int32) int32 {
	j := i + 1
	if j < end && p.toks[j].kind == '(' && p.toks[j].link == j+1 {
		j += 2
	}
	for j < end && p.toks[j].kind != '(' && p.toks[j].kind != ';' && p.toks[j].kind != '{' && p.toks[j].kind < kIf {
		j++
	}
	return j
}

// angle returns the place behind a template's argument list that opens at i.
func (l *level) angle(i int32) int32 {
	return min(l.angleEnd(i), l.end-1) + 1
}

// angleEnd returns the > that matches the < at i, or i when there is none.
func (p *parser) angleEnd(i int32) int32 {
	depth := 0
	for j := i; j < int32(len(p.toks)) && j < i+1000; j++ {
		switch t := p.toks[j]; t.kind {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return j
			}
		case '(', '[':
			if t.link > j {
				j = t.link
			}
		case ';', '{', '}', kIf, kElse, kEndif:
			return i
		}
	}
	return i
}

func (l *level) pushFrame(i int32) {
	f := frame{first: i, next: l.toks[i].link, done: l.done, apart: l.deadArm(int32(l.toks[i].end))}
	if items := l.own(); len(items) > 0 {
		f.items = slices.Clone(items)
	}
	l.frames = append(l.frames, f)
}

// frameOf returns the frame of the conditional that the marker at i belongs to,
// and forgets those inside it whose end was jumped over.
func (l *level) frameOf(i int32) *frame {
	first := l.arms[l.toks[i].end].first
	for k := len(l.frames) - 1; k >= l.frameBase; k-- {
		if l.frames[k].first == first {
			l.frames = l.frames[:k+1]
			return &l.frames[k]
		}
	}
	return nil
}

func (l *level) nextArm(i int32) {
	f := l.frameOf(i)
	if f == nil {
		return
	}
	if items := l.own(); len(items) > len(f.items) && len(l.variants) < maxVariants && !f.apart {
		l.variants = append(l.variants, variant{slices.Clone(items), -1})
	}
	f.next, f.apart = l.toks[i].link, l.deadArm(int32(l.toks[i].end))
	f.ended = f.ended || l.done > f.done
	f.done = l.done
	l.items = append(l.items[:l.base], f.items...)
}

func (l *level) endif(i int32) int32 {
	f := l.frameOf(i)
	if f == nil {
		return i + 1
	}
	resume := f.resume
	if f.apart {
		l.items = append(l.items[:l.base], f.items...)
	}
	// What the last arm has nothing to add to and another arm finished is
	// finished: the last arm is an #error.
	if f.ended && l.done == f.done && len(l.own()) == len(f.items) {
		l.reset()
	}
	l.frames = l.frames[:len(l.frames)-1]
	if resume > i {
		l.reset()
		return min(resume, l.end)
	}
	for k := range l.variants {
		if l.variants[k].join < 0 {
			l.variants[k].join = len(l.own())
		}
	}
	return i + 1
}

// each calls read with the present declaration and its variants.
func (l *level) each(read func(items []int32)) {
	items := l.own()
	for _, v := range l.variants {
		if v.join >= 0 && v.join <= len(items) {
			read(append(v.items, items[v.join:]...))
		} else {
			read(v.items)
		}
	}
	read(items)
}

// semicolon ends a declaration, unless it stands between the header and the
// body of an old-style function.
func (l *level) semicolon(i int32) int32 {
	if header, body := l.oldStyle(l.own(), i, l.end); body > 0 {
		l.items = l.items[:l.base+header]
		return l.body(body)
	}
	l.each(func(items []int32) { l.declare(items, i, l.context) })
	l.reset()
	return i + 1
}

// brace reads the block that opens at i, as what the items before it make it.
func (l *level) brace(i int32) int32 {
	end := min(max(l.toks[i].link, i), l.end)
	items := l.own()
	switch l.braceRole(items).role {
	case opensInitializer:
		l.items = append(l.items, i)
		return end + 1
	case opensType:
		next, crosses := l.crossing(i, end)
		read := !crosses || l.lastArm()
		l.each(func(variant []int32) {
			// Each variant names the type; its members are read once.
			if h := l.braceRole(variant); h.role == opensType {
				l.aggregate(variant, h.keyword, i, end, l.context, read && len(variant) == len(items) && &variant[0] == &items[0])
			}
		})
		if crosses {
			l.reset()
			return next
		}
		l.items = append(l.items, i)
		return end + 1
	case opensContainer:
		l.container(items, i, end)
		l.reset()
		return end + 1
	case opensBody:
		return l.body(i)
	}
	l.localTypes(i+1, end)
	l.reset()
	return end + 1
}

// body reads a function whose header has been read and whose body opens at i.
func (l *level) body(i int32) int32 {
	end := min(max(l.toks[i].link, i), l.end)
	l.each(func(items []int32) { l.function(items, i, end, l.context) })
	next, crosses := l.crossing(i, end)
	if !crosses || l.lastArm() {
		l.localTypes(i+1, end)
	}
	l.reset()
	if crosses {
		return next
	}
	return end + 1
}

// crossing reports whether the block from i to end closes outside the arm that
// opened it. Then reading goes on at the arm's end, since the next arm holds
// another header of the same block.
func (l *level) crossing(i, end int32) (next int32, crosses bool) {
	for k := l.frameBase; k < len(l.frames); k++ {
		f := &l.frames[k]
		if f.first < i && f.next > i && f.next < end {
			f.resume = max(f.resume, end+1)
			l.frames = l.frames[:k+1]
			return f.next, true
		}
	}
	return 0, false
}

// lastArm reports whether the innermost frame's arm is its last.
func (l *level) lastArm() bool {
	if len(l.frames) == l.frameBase {
		return true
	}
	next := l.frames[len(l.frames)-1].next
	return next < 0 || l.toks[next].kind == kEndif
}

func (l *level) container(items []int32, i, end int32) {
	c := l.context
	if n := slices.IndexFunc(items, func(t int32) bool { return l.word(t) == "namespace" }); n >= 0 {
		var names []string
		for _, t := range items[n+1:] {
			if w := l.word(t); l.toks[t].kind == kIdent && w != "inline" && !l.attributeWord(w) {
				names = append(names, w)
			}
		}
		name := strings.Join(names, "::")
		if name != "" {
			last := items[len(items)-1]
			s := l.symbol(Namespace, last, items[0], end, c)
			s.Name = name
			l.opens(&s, i)
			l.emit(s)
		}
		c = c.inside(name, Namespace)
	}
	c.depth++
	l.parser.declarations(i+1, end, c)
}

// localTypes reads the types and typedefs that a function's body defines.
func (p *parser) localTypes(i, end int32) {
	for i < end {
		switch p.toks[i].kind {
		case kStruct, kUnion, kEnum, kClass:
			if open := p.typeBody(i, end); open > 0 {
				items := make([]int32, 0, 8)
				for j := i; j < open; j++ {
					items = append(items, j)
					if k := p.toks[j].kind; (k == '(' || k == '[') && p.toks[j].link > j {
						j = p.toks[j].link
					}
				}
				stop := min(max(p.toks[open].link, open), end)
				p.aggregate(items, 0, open, stop, context{local: true, depth: 1}, true)
				i = stop
			}
		case kTypedef:
			stop := i
			for stop < end && p.toks[stop].kind != ';' {
				if k := p.toks[stop].kind; (k == '{' || k == '(') && p.toks[stop].link > stop {
					stop = p.toks[stop].link
				}
				stop++
			}
			p.declarations(i, min(stop+1, end), context{local: true, depth: 1})
			i = stop
		}
		i++
	}
}

// typeBody returns the brace that opens the body of the type whose keyword is
// at i, 0 if the type is only named there.
func (p *parser) typeBody(i, end int32) int32 {
	for j := i + 1; j < end && j < i+32; j++ {
		switch t := p.toks[j]; t.kind {
		case '{':
			return j
		case '(', '[': // an attribute
			if t.link > j {
				j = t.link
			}
		case kIdent, kColons, kClass, kStruct:
		case ':', ',', '<', '>':
			if p.lang != CPlusPlus {
				return 0
			}
		default:
			return 0
		}
	}
	return 0
}
