package csource

import "strings"

// An arm is one branch of a conditional: the lines between an #if, #elif or
// #else and the conditional's next directive.
type arm struct {
	outer int32 // the arm around the conditional, -1 at file level
	prev  int32 // the arm before this one in the same conditional, -1 for #if
	// marker is the index of the token that opens the arm, first that of the
	// conditional's #if.
	marker, first int32
	op            armOp
	guard         bool   // an include guard: no condition at all
	lo, hi        uint32 // the operand's place in the text
}

type armOp uint8

const (
	opIf armOp = iota
	opIfdef
	opIfndef
	opElse
)

// A macro is one #define.
type macro struct {
	name, nameEnd  uint32
	params, pclose uint32 // the parentheses, both 0 without
	start, end     uint32 // from the # to the end of the logical line
	arm            int32
}

// A change says that from line on, arm is the innermost conditional.
type change struct {
	line, arm int32
}

// directive records the directive whose # is at i and returns the end of its
// logical line. In assembly, # may open a comment instead.
func (s *Scanner) directive(i int) int {
	j := s.skipBlanks(i + 1)
	word := j
	for identPart[s.text[j]] {
		j++
	}
	name := s.text[word:j]
	op, isIf := opIf, false
	switch name {
	case "if", "ifdef", "ifndef":
		isIf = true
	case "elif", "elifdef", "elifndef", "else", "endif":
	case "define":
		end := s.logicalEnd(j, true)
		s.define(i, j, end)
		return end
	case "error", "warning", "include", "pragma":
		return s.logicalEnd(j, false) // quotes need not pair there
	default:
		return s.logicalEnd(j, s.lang != Assembly)
	}
	end := s.logicalEnd(j, true)
	switch strings.TrimPrefix(strings.TrimPrefix(name, "el"), "if") {
	case "def":
		op = opIfdef
	case "ndef":
		op = opIfndef
	case "se":
		op = opElse
	}
	switch {
	case isIf:
		s.openIf(i, op, j, end)
	case name == "endif":
		s.closeIf(i, end)
	default:
		s.nextArm(i, op, j, end)
	}
	return end
}

// skipBlanks returns the first position from i on that is neither a blank, a
// spliced newline nor a comment.
func (s *Scanner) skipBlanks(i int) int {
	for i < len(s.text)-1 {
		switch c := s.text[i]; {
		case class[c] == cBlank && c != '\\':
			i++
		case c == '\\' && (s.text[i+1] == '\n' || s.text[i+1] == '\r'):
			i += 2
			if s.text[i-1] == '\r' && s.text[i] == '\n' {
				i++
			}
		case c == '/' && s.text[i+1] == '*':
			i = skipComment(s.text, i)
		default:
			return i
		}
	}
	return i
}

// logicalEnd returns the newline, or the end of file, that ends the directive
// whose rest starts at i. A comment may carry it over lines.
func (s *Scanner) logicalEnd(i int, quotes bool) int {
	text, n := s.text, len(s.text)-1
	for i < n {
		switch text[i] {
		case '\n':
			if !continued(text, i) {
				return i
			}
			i++
		case '/':
			i = max(skipComment(text, i), i+1)
		case '"', '\'':
			if quotes {
				i = skipQuoted(text, i)
			} else {
				i++
			}
		default:
			i++
		}
	}
	return n
}

func (s *Scanner) define(start, i, end int) {
	i = s.skipBlanks(i)
	j := i
	for identPart[s.text[j]] {
		j++
	}
	if i == j || j > end {
		return
	}
	m := macro{name: uint32(i), nameEnd: uint32(j), start: uint32(start), end: uint32(end), arm: s.open}
	if s.text[j] == '(' {
		if k := strings.IndexByte(s.text[j:end], ')'); k > 0 {
			m.params, m.pclose = uint32(j), uint32(j+k)
		}
	}
	s.macros = append(s.macros, m)
	s.sawDefine(s.text[i:j])
}

// marker appends the token of a conditional directive.
func (s *Scanner) marker(kind uint8, pos int, armIndex int32) int32 {
	s.toks = append(s.toks, token{pos: uint32(pos), end: uint32(armIndex), link: -1, kind: kind})
	return int32(len(s.toks) - 1)
}

// setArm makes a the innermost arm of the lines after the directive that spans
// pos to end, and around that of the directive's own lines.
func (s *Scanner) setArm(pos, end int, around, a int32) {
	first := s.lineAt(uint32(pos))
	s.changes = append(s.changes, change{first, around}, change{s.lineAt(uint32(end)) + 1, a})
	s.open = a
}

func (s *Scanner) openIf(pos int, op armOp, lo, hi int) {
	a := int32(len(s.arms))
	m := s.marker(kIf, pos, a)
	s.arms = append(s.arms, arm{outer: s.open, prev: -1, marker: m, first: m, op: op, lo: uint32(lo), hi: uint32(hi)})
	s.setArm(pos, hi, s.open, a)
	s.sawIf(a)
}

func (s *Scanner) nextArm(pos int, op armOp, lo, hi int) {
	if s.open < 0 {
		return // an #else without its #if
	}
	before := s.arms[s.open]
	a := int32(len(s.arms))
	m := s.marker(kElse, pos, a)
	s.toks[before.marker].link = m
	s.arms = append(s.arms, arm{outer: before.outer, prev: s.open, marker: m, first: before.first, op: op, lo: uint32(lo), hi: uint32(hi)})
	s.setArm(pos, hi, before.outer, a)
}

func (s *Scanner) closeIf(pos, end int) {
	if s.open < 0 {
		return
	}
	last := s.arms[s.open]
	s.toks[last.marker].link = s.marker(kEndif, pos, s.open)
	s.sawEndif(last.first)
	s.setArm(pos, end, last.outer, last.outer)
}

// guardState follows the one conditional of a file that can be its include
// guard: nothing but directives before it, its macro the first that is defined
// in it, no other arm, and no token behind it.
type guardState struct {
	arm     int32 // -1: none seen, -2: the file has no guard
	name    string
	defined bool
	// tokens is their number at the #endif, 0 while the conditional is open.
	tokens int
}

func (s *Scanner) sawIf(a int32) {
	if s.guard.arm != -1 {
		return
	}
	s.guard.arm = -2
	if len(s.toks) != 1 { // the marker of this very #if
		return
	}
	if name := guardMacro(s.arms[a].op, s.operand(s.arms[a])); name != "" {
		s.guard.arm, s.guard.name = a, name
	}
}

// guardMacro returns X for #ifndef X, #if !defined(X) and the latter followed
// by ||, which headers that are meant to be read again have.
func guardMacro(op armOp, cond string) string {
	if op == opIfndef {
		return cond
	}
	rest, ok := strings.CutPrefix(cond, "!defined")
	if op != opIf || !ok {
		return ""
	}
	rest, _, _ = strings.Cut(rest, "||")
	name := strings.Trim(strings.TrimSpace(rest), "() ")
	if !isIdentifier(name) {
		return ""
	}
	return name
}

func isIdentifier(w string) bool {
	if w == "" || class[w[0]] != cIdent {
		return false
	}
	for i := range len(w) {
		if !identPart[w[i]] {
			return false
		}
	}
	return true
}

func (s *Scanner) sawDefine(name string) {
	g := &s.guard
	if g.arm < 0 || g.defined || g.tokens > 0 {
		return
	}
	if g.defined = name == g.name && len(s.toks) == 1; !g.defined {
		g.arm = -2
	}
}

// sawEndif is called with the index of the #if's marker.
func (s *Scanner) sawEndif(first int32) {
	if s.guard.arm >= 0 && s.arms[s.guard.arm].first == first {
		s.guard.tokens = len(s.toks)
	}
}

// settleGuard decides at the end of the file.
func (s *Scanner) settleGuard() {
	g := s.guard
	if g.arm < 0 || !g.defined || g.tokens != len(s.toks) {
		return
	}
	if end := s.toks[s.arms[g.arm].marker].link; end >= 0 && s.toks[end].kind == kEndif {
		s.arms[g.arm].guard = true
	}
}
