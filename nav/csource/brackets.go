package csource

import (
	"slices"
	"strings"
)

// matcher pairs the brackets of a token list across conditional arms.
//
// The stack of open brackets is a tree of nodes, so that the state at an #if
// can be restored for each further arm at no cost. At the #endif there are as
// many stacks as arms:
//
//   - Equal depth: the arms are variants of each other, if (a) { against
//     if (b) {. One bracket closes all variants of an opening one.
//   - Different depth: only some arms belong to one well-formed program. One is
//     followed, and the choice is remembered with the condition, so that a
//     brace opened under #ifdef X is closed by the one under the next #ifdef X.
//     A condition met for the first time counts as false.
//
// A top-level bracket that is never closed in that program makes the matcher
// read on from there by layout: a } in the first column closes everything, and
// a definition that starts in the first column is at file level.
type matcher struct {
	*Scanner
	nodes []node
	conds []condFrame
	// cur is the innermost open bracket, -1 for none.
	cur int32
	// layout is on while a broken block is read by its columns.
	layout bool
	// last is the opening bracket of the last top-level block that closed, and
	// lastArm the conditional arm in which it did.
	last, lastArm int32
	// pairs are openings that one closing bracket ends: the second takes the
	// end of the first.
	pairs [][2]int32
	steps int // spent on finding pairs
	// chosen remembers, by condition, which way was taken.
	chosen map[string]bool
}

type node struct {
	tok    int32
	parent int32
	depth  int32
}

// condFrame is one open conditional.
type condFrame struct {
	before int32    // the stack at the #if
	arm    int32    // the arm being read
	ends   []armEnd // the stacks at the ends of the earlier arms
}

type armEnd struct {
	arm, cur int32
}

// maxRestarts bounds how often a file is read again from an unclosed bracket.
const maxRestarts = 8

func (m *matcher) match() {
	from := int32(0)
	m.chosen = nil
	for range maxRestarts {
		m.run(from)
		bottom := m.cur
		if bottom < 0 {
			return
		}
		for m.nodes[bottom].parent >= 0 {
			bottom = m.nodes[bottom].parent
		}
		from = m.nodes[bottom].tok
		if m.toks[from].kind == '{' && !m.layout {
			m.layout = true
			continue
		}
		// Not even the layout closes it: it reaches to the end of the file if
		// it is a block, and is void if it is a parenthesis.
		m.layout = false
		if m.toks[from].kind == '{' {
			break
		}
		from++
	}
	for m.cur >= 0 {
		m.endAll(int32(len(m.toks) - 1))
	}
}

// run matches from a token at file level to the end.
func (m *matcher) run(from int32) {
	m.nodes, m.conds, m.pairs = m.nodes[:0], m.conds[:0], m.pairs[:0]
	m.cur, m.last, m.steps = -1, -1, 4*len(m.toks)
	toks := m.toks
	for i := from; i < int32(len(toks)); i++ {
		switch toks[i].kind {
		case '(', '[':
			m.push(i)
		case ')', ']':
			m.pop(i)
		case '{':
			if m.layout && m.cur >= 0 {
				m.definitionAt(i)
			}
			m.push(i)
		case '}':
			m.closeBrace(i)
		case kIf:
			m.openCond(i)
		case kElse:
			m.nextArm(i)
		case kEndif:
			m.closeCond(i)
		}
	}
	for _, p := range slices.Backward(m.pairs) {
		first, second := &m.toks[m.nodes[p[0]].tok], &m.toks[m.nodes[p[1]].tok]
		second.link = max(second.link, first.link)
	}
}

func (m *matcher) push(i int32) {
	depth := int32(1)
	if m.cur >= 0 {
		depth = m.nodes[m.cur].depth + 1
	}
	m.nodes = append(m.nodes, node{tok: i, parent: m.cur, depth: depth})
	m.cur = int32(len(m.nodes) - 1)
	m.toks[i].link = -1
}

// pop closes a parenthesis or square bracket; one of another kind is ignored.
func (m *matcher) pop(i int32) {
	m.toks[i].link = -1
	if m.cur < 0 {
		return
	}
	open := m.toks[m.nodes[m.cur].tok].kind
	if open == '(' && m.toks[i].kind == ')' || open == '[' && m.toks[i].kind == ']' {
		m.close(i)
	}
}

// close makes i the closing bracket of the innermost open one.
func (m *matcher) close(i int32) {
	open := m.nodes[m.cur].tok
	m.cur = m.nodes[m.cur].parent
	m.toks[i].link, m.toks[open].link = open, i
	if m.cur < 0 {
		m.last, m.lastArm = open, m.arm()
	}
}

// arm is the innermost conditional arm, -1 for none.
func (m *matcher) arm() int32 {
	if len(m.conds) == 0 {
		return -1
	}
	return m.conds[len(m.conds)-1].arm
}

// closeBrace closes a block, and parentheses left open inside it.
func (m *matcher) closeBrace(i int32) {
	m.toks[i].link = -1
	column0 := m.column0(i)
	if m.layout && column0 && m.cur >= 0 {
		m.endAll(i)
		return
	}
	n := m.cur
	for n >= 0 && m.toks[m.nodes[n].tok].kind != '{' {
		n = m.nodes[n].parent
	}
	if n < 0 {
		// One brace too many. In the first column it ends a top-level block
		// that an inner brace seemed to end before.
		if column0 && m.cur < 0 && m.last >= 0 && m.lastArm == m.arm() && m.brokenOff(m.last) {
			m.toks[m.last].link, m.toks[i].link = i, m.last
		}
		return
	}
	m.cur = n
	m.close(i)
}

// brokenOff reports whether the block that opens at i ends like an inner one: on
// another line, and not in the first column.
func (m *matcher) brokenOff(i int32) bool {
	end := m.toks[i].link
	return !m.column0(end) && strings.IndexByte(m.text[m.toks[i].pos:m.toks[end].pos], '\n') >= 0
}

// endAll ends every open bracket at token i, up to the innermost container such
// as a namespace (or that container itself, when nothing else is open), and
// goes back to counting.
func (m *matcher) endAll(i int32) {
	for inner := m.cur; m.cur >= 0; m.cur = m.nodes[m.cur].parent {
		open := m.nodes[m.cur].tok
		if m.cur != inner && m.container(open) {
			break
		}
		m.toks[open].link = i
	}
	m.layout = m.layout && m.cur >= 0
}

// container reports whether the brace at i opens a namespace or linkage block.
func (m *matcher) container(i int32) bool {
	for back := int32(1); back <= 3 && i-back >= 0; back++ {
		t := m.toks[i-back]
		switch {
		case t.kind == kString && i-back > 0 && m.word(i-back-1) == "extern":
			return true
		case t.kind == kIdent && m.word(i-back) == "namespace":
			return true
		case t.kind != kIdent && t.kind != kColons:
			return false
		}
	}
	return false
}

// definitionAt closes what is open when the block that starts at token i
// belongs to a function whose header starts in the first column.
func (m *matcher) definitionAt(i int32) {
	if i == 0 || m.toks[i-1].kind != ')' || m.toks[i-1].link < 0 || m.container(m.nodes[m.cur].tok) {
		return
	}
	words := 0
	for j := m.toks[i-1].link - 1; j >= 0 && i-j < 200; j-- {
		switch k := m.toks[j].kind; {
		case k == kIdent || k >= kStruct && k <= kClass:
			words++
			if m.column0(j) {
				if words >= 2 && !statementWord(m.word(j)) {
					m.endAll(j - 1)
				}
				return
			}
		case k == '*':
		case k == ')' && m.toks[j].link >= 0: // an attribute's arguments
			j = m.toks[j].link
		default:
			return
		}
	}
}

func statementWord(w string) bool {
	switch w {
	case "if", "else", "for", "while", "do", "switch", "case", "return", "goto", "default":
		return true
	}
	return false
}

func (m *matcher) openCond(i int32) {
	a := int32(m.toks[i].end)
	if n := len(m.conds); n < cap(m.conds) {
		m.conds = m.conds[:n+1] // keeps the buffer of ends
	} else {
		m.conds = append(m.conds, condFrame{})
	}
	c := &m.conds[len(m.conds)-1]
	c.before, c.arm, c.ends = m.cur, a, c.ends[:0]
	m.enterArm(a)
}

// enterArm keeps dead code from closing anything that stands around it.
func (m *matcher) enterArm(a int32) {
	if m.apart(a) {
		m.cur, m.last = -1, -1
	}
}

// apart reports whether an arm is no part of the C program.
func (m *matcher) apart(a int32) bool {
	return m.deadArm(a) || m.assemblyArm(a)
}

func (m *matcher) nextArm(i int32) {
	if len(m.conds) == 0 {
		return
	}
	c := &m.conds[len(m.conds)-1]
	m.endArm(c, i)
	m.cur, c.arm = c.before, int32(m.toks[i].end)
	m.enterArm(c.arm)
}

func (m *matcher) endArm(c *condFrame, i int32) {
	if m.apart(c.arm) {
		m.voidTo(-1, i)
		m.last = -1
		return
	}
	c.ends = append(c.ends, armEnd{c.arm, m.cur})
}

func (m *matcher) closeCond(i int32) {
	if len(m.conds) == 0 {
		return
	}
	c := &m.conds[len(m.conds)-1]
	m.conds = m.conds[:len(m.conds)-1]
	m.endArm(c, i)
	if last := m.arms[c.arm]; last.op != opElse && !m.deadElse(c.arm) {
		c.ends = append(c.ends, armEnd{-1, c.before}) // none of the arms
	}
	if len(c.ends) == 0 { // #if 0 … #else under #if 1: nothing was alive
		m.cur = c.before
		return
	}
	m.cur = c.ends[0].cur
	pick := 0
	for k := range c.ends {
		if m.depth(c.ends[k].cur) != m.depth(m.cur) {
			pick = m.choose(c)
			m.cur = c.ends[pick].cur
			break
		}
	}
	for k, e := range c.ends {
		switch {
		case k == pick || e.cur == m.cur:
		case m.depth(e.cur) == m.depth(m.cur):
			m.pair(m.cur, e.cur)
		case e.arm >= 0:
			after := m.toks[m.arms[e.arm].marker].link
			m.cur, e.cur = e.cur, m.cur
			m.voidTo(e.cur, after)
		}
	}
}

// deadElse reports whether a missing #else could never be taken.
func (m *matcher) deadElse(last int32) bool {
	a := m.arms[last]
	return a.op == opIf && a.hi-a.lo < 32 && m.operand(a) == "1"
}

func (m *matcher) depth(n int32) int32 {
	if n < 0 {
		return 0
	}
	return m.nodes[n].depth
}

// pair lets one bracket close what is open in a and what is open in b; both
// stacks have the same depth.
func (m *matcher) pair(a, b int32) {
	for a != b && a >= 0 && b >= 0 && m.steps > 0 {
		if m.toks[m.nodes[a].tok].kind == m.toks[m.nodes[b].tok].kind {
			m.pairs = append(m.pairs, [2]int32{a, b})
		}
		a, b = m.nodes[a].parent, m.nodes[b].parent
		m.steps--
	}
}

// voidTo ends the brackets above base, which an arm that is not followed left
// open, before the marker that ends the arm, and makes base the stack.
func (m *matcher) voidTo(base, marker int32) {
	keep := m.depth(base)
	for m.cur >= 0 && m.depth(m.cur) > keep {
		m.toks[m.nodes[m.cur].tok].link = -1
		if t := &m.toks[m.nodes[m.cur].tok]; t.kind == '{' {
			t.link = marker - 1
		}
		m.cur = m.nodes[m.cur].parent
	}
	m.cur = base
}

// choose returns the index in c.ends of the arm to follow when the arms leave
// different brackets open.
func (m *matcher) choose(c *condFrame) int {
	if m.chosen == nil {
		m.chosen = map[string]bool{"defined(__cplusplus)": m.lang == CPlusPlus}
	}
	for k, e := range c.ends {
		if e.arm < 0 || m.arms[e.arm].op == opElse {
			return k
		}
		cond, negated := trimNot(m.expression(m.arms[e.arm]))
		val, known := m.chosen[cond]
		if !known {
			m.chosen[cond] = false
		}
		if val != negated {
			return k
		}
	}
	return len(c.ends) - 1
}

// trimNot strips the negations in front of an atom.
func trimNot(expr string) (cond string, negated bool) {
	for {
		rest, ok := cutNot(expr)
		if !ok {
			return expr, negated
		}
		expr, negated = rest, !negated
	}
}

func cutNot(expr string) (string, bool) {
	if len(expr) > 1 && expr[0] == '!' && atom(expr[1:]) {
		return expr[1:], true
	}
	return expr, false
}
