package kconfig

import (
	"strconv"
	"strings"
)

// tristate is the value of an option: n, m or y.
type tristate int8

const (
	no tristate = iota
	module
	yes
)

func parseTristate(s string) tristate {
	switch s {
	case "y":
		return yes
	case "m":
		return module
	}
	return no
}

// expr is a condition. A nil *expr holds always.
type expr struct {
	op   op
	a, b *expr
	name string // of an option, or a constant
}

type op int8

const (
	option op = iota
	constant
	not
	and
	or
	equal
	unequal
	less
	lessEqual
	greater
	greaterEqual
)

// both is a && b.
func both(a, b *expr) *expr {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return &expr{op: and, a: a, b: b}
}

// values is what an expression is evaluated with.
type values interface {
	tristate(name string) tristate
	text(name string) string
	// lacking is the value of !e.
	lacking(e *expr) tristate
}

func (e *expr) eval(v values) tristate {
	if e == nil {
		return yes
	}
	switch e.op {
	case option:
		return v.tristate(e.name)
	case constant:
		return parseTristate(e.name)
	case not:
		return v.lacking(e.a)
	case and:
		return min(e.a.eval(v), e.b.eval(v))
	case or:
		return max(e.a.eval(v), e.b.eval(v))
	}
	if e.compare(e.a.text(v), e.b.text(v)) {
		return yes
	}
	return no
}

func (e *expr) text(v values) string {
	if e.op == option {
		return v.text(e.name)
	}
	return e.name
}

// compare compares two values as numbers if they are some, else as texts.
func (e *expr) compare(a, b string) bool {
	order := strings.Compare(a, b)
	x, errX := strconv.ParseInt(a, 0, 64)
	y, errY := strconv.ParseInt(b, 0, 64)
	if errX == nil && errY == nil {
		order = 0
		if x < y {
			order = -1
		} else if x > y {
			order = 1
		}
	}
	switch e.op {
	case equal:
		return order == 0
	case unequal:
		return order != 0
	case less:
		return order < 0
	case lessEqual:
		return order <= 0
	case greater:
		return order > 0
	}
	return order >= 0
}

// conjuncts calls f for every option that must be on for e to hold.
func (e *expr) conjuncts(f func(name string)) {
	switch {
	case e == nil:
	case e.op == option:
		f(e.name)
	case e.op == and:
		e.a.conjuncts(f)
		e.b.conjuncts(f)
	}
}

// options calls f for every option in e.
func (e *expr) options(f func(name string)) {
	switch {
	case e == nil:
	case e.op == option:
		f(e.name)
	default:
		e.a.options(f)
		e.b.options(f)
	}
}

// lexer cuts a line of a Kconfig file into words, quoted strings and operators.
type lexer struct {
	rest  string
	depth int
	macro func(body string) string // the value of $(body)
}

// maxNesting bounds parentheses and ! in one another.
const maxNesting = 100

// next takes the next token. quoted tells a string from a word; the text is ""
// and ok false at the end of the line or at a comment.
func (l *lexer) next() (text string, quoted, ok bool) {
	l.rest = strings.TrimLeft(l.rest, " \t\r")
	if l.rest == "" || l.rest[0] == '#' {
		return "", false, false
	}
	switch c := l.rest[0]; c {
	case '"', '\'':
		return l.quoted(c), true, true
	case '(', ')':
		return l.cut(1), false, true
	case '&', '|', '!', '=', '<', '>':
		for _, two := range []string{"&&", "||", "!=", "<=", ">="} {
			if strings.HasPrefix(l.rest, two) {
				return l.cut(2), false, true
			}
		}
		return l.cut(1), false, true
	}
	return l.word(), false, true
}

func (l *lexer) cut(n int) string {
	s := l.rest[:n]
	l.rest = l.rest[n:]
	return s
}

func (l *lexer) quoted(mark byte) string {
	var b strings.Builder
	i := 1
	for ; i < len(l.rest) && l.rest[i] != mark; i++ {
		if l.rest[i] == '\\' && i+1 < len(l.rest) {
			i++
		}
		b.WriteByte(l.rest[i])
	}
	l.rest = l.rest[min(i+1, len(l.rest)):]
	return l.expand(b.String())
}

func (l *lexer) word() string {
	i := 0
	for i < len(l.rest) && !strings.ContainsRune(" \t\r\"'()&|!=<>#", rune(l.rest[i])) {
		if strings.HasPrefix(l.rest[i:], "$(") {
			i += macroLength(l.rest[i:])
		} else {
			i++
		}
	}
	return l.expand(l.cut(max(i, 1)))
}

// macroLength is the length of the $(…) that s begins with.
func macroLength(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// expand replaces the macros in a text.
func (l *lexer) expand(s string) string {
	for {
		at := strings.Index(s, "$(")
		if at < 0 {
			return s
		}
		n := macroLength(s[at:])
		body := strings.TrimSuffix(s[at+2:at+n], ")")
		value := l.macro(body)
		if strings.Contains(value, "$(") {
			value = ""
		}
		s = s[:at] + value + s[at+n:]
	}
}

// accept takes the next token if it is this operator or word.
func (l *lexer) accept(text string) bool {
	saved := l.rest
	got, quoted, ok := l.next()
	if ok && !quoted && got == text {
		return true
	}
	l.rest = saved
	return false
}

// expr reads an expression: || binds loosest, then &&, then !, then comparisons.
func (l *lexer) expr() *expr {
	e := l.conjunction()
	for l.accept("||") {
		e = &expr{op: or, a: e, b: l.conjunction()}
	}
	return e
}

func (l *lexer) conjunction() *expr {
	e := l.factor()
	for l.accept("&&") {
		e = &expr{op: and, a: e, b: l.factor()}
	}
	return e
}

func (l *lexer) factor() *expr {
	if l.depth++; l.depth > maxNesting {
		l.rest = ""
	}
	defer func() { l.depth-- }()
	switch {
	case l.accept("!"):
		return &expr{op: not, a: l.factor()}
	case l.accept("("):
		e := l.expr()
		l.accept(")")
		return e
	}
	e := l.operand()
	for text, op := range comparisons {
		if l.accept(text) {
			return &expr{op: op, a: e, b: l.operand()}
		}
	}
	return e
}

var comparisons = map[string]op{
	"=": equal, "!=": unequal, "<": less, "<=": lessEqual, ">": greater, ">=": greaterEqual,
}

func (l *lexer) operand() *expr {
	text, quoted, ok := l.next()
	if !ok {
		return &expr{op: constant, name: "n"}
	}
	if quoted || text == "y" || text == "m" || text == "n" || text == "" || text[0] == '-' || text[0] >= '0' && text[0] <= '9' && !isName(text) {
		return &expr{op: constant, name: text}
	}
	return &expr{op: option, name: text}
}

// isName tells an option such as 64BIT from a number.
func isName(text string) bool {
	_, err := strconv.ParseInt(text, 0, 64)
	return err != nil
}
