package csource

import (
	"sort"
	"strings"
)

// Guards returns the conditions under which a line is compiled, outermost
// first, as expressions in the preprocessor's own language:
//
//	#ifdef X              defined(X)
//	#ifndef X             !defined(X)
//	#if E                 E, without comments and in single spaces
//	#elif F after #if E   !(E) && F
//	#else after these     !(E) && !(F)
//
// !(defined(X)) is written !defined(X) and its negation defined(X); a
// condition with an operator that binds more loosely than && is parenthesised
// where it is joined. Include guards, #if 1 and the #else of #if 0 are left
// out; #if 0 is "0". The lines of a directive stand outside its own arm.
// The result is empty, never nil, for a line of the file.
func (f *File) Guards(line int) []string {
	conds := []string{}
	for a := f.armAt(line); a >= 0; a = f.arms[a].outer {
		if f.arms[a].guard {
			continue
		}
		if c := f.condition(a); c != "1" {
			conds = append(conds, c)
		}
	}
	for i, j := 0, len(conds)-1; i < j; i, j = i+1, j-1 {
		conds[i], conds[j] = conds[j], conds[i]
	}
	return conds
}

// Dead reports whether a line can never be compiled because it stands under
// #if 0 or in the #else of #if 1.
func (f *File) Dead(line int) bool {
	for a := f.armAt(line); a >= 0; a = f.arms[a].outer {
		if f.deadArm(a) {
			return true
		}
	}
	return false
}

func (f *File) deadArm(a int32) bool {
	arms := &f.arms[a]
	if arms.op == opIf && arms.hi-arms.lo < 64 && never(f.operand(*arms)) {
		return true
	}
	if arms.prev < 0 {
		return false
	}
	prev := f.arms[arms.prev]
	return prev.op == opIf && prev.hi-prev.lo < 32 && f.operand(prev) == "1"
}

// never reports whether an expression is 0 whatever its names mean.
func never(expr string) bool {
	return expr == "0" || strings.HasPrefix(expr, "0 &&") && !strings.ContainsAny(expr, "|?")
}

// assemblyArm reports whether an arm is read by the assembler alone.
func (f *File) assemblyArm(a int32) bool {
	if f.lang == Assembly {
		return false
	}
	cur := f.arms[a]
	if cur.hi-cur.lo > 64 || cur.op == opElse && cur.prev < 0 {
		return false
	}
	if cur.op != opElse {
		return assemblyMacro(f.expression(cur))
	}
	rest, not := strings.CutPrefix(f.expression(f.arms[cur.prev]), "!")
	return not && assemblyMacro(rest)
}

func assemblyMacro(cond string) bool {
	return Display(cond) == "__ASSEMBLY__" || Display(cond) == "__ASSEMBLER__"
}

// armAt returns the innermost arm that holds a line, -1 for none.
func (f *File) armAt(line int) int32 {
	i := sort.Search(len(f.changes), func(i int) bool { return int(f.changes[i].line) > line })
	if i == 0 {
		return -1
	}
	return f.changes[i-1].arm
}

// condition composes what holds in an arm: the negations of all arms before it
// and its own operand.
func (f *File) condition(a int32) string {
	var chain []int32
	for p := a; p >= 0; p = f.arms[p].prev {
		chain = append(chain, p)
	}
	var terms []string
	for i := len(chain) - 1; i >= 0; i-- {
		cur := f.arms[chain[i]]
		if cur.op == opElse && i > 0 {
			continue // a second #else: the text is wrong, and this arm says nothing
		}
		expr := f.expression(cur)
		switch {
		case i > 0:
			expr = negate(expr)
		case cur.op == opElse:
			continue
		}
		if expr != "1" {
			terms = append(terms, expr)
		}
	}
	switch len(terms) {
	case 0:
		return "1"
	case 1:
		return terms[0]
	}
	for i, t := range terms {
		if loose(t) {
			terms[i] = "(" + t + ")"
		}
	}
	return strings.Join(terms, " && ")
}

// expression is an arm's own operand as an expression.
func (f *File) expression(a arm) string {
	cond := f.operand(a)
	switch a.op {
	case opIfdef:
		return "defined(" + cond + ")"
	case opIfndef:
		return "!defined(" + cond + ")"
	}
	return cond
}

// operand returns the text behind an arm's directive without comments and
// continuations and with single spaces; of #ifdef only the name counts.
func (s *source) operand(a arm) string {
	text := s.text[a.lo:a.hi]
	var b strings.Builder
	gap := false
	for i := 0; i < len(text); {
		c := text[i]
		if c == '/' {
			if end := skipComment(s.text, int(a.lo)+i); end > int(a.lo)+i {
				i, gap = end-int(a.lo), true
				continue
			}
		}
		if class[c] == cBlank || class[c] == cNewline {
			gap = true
			i++
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteByte(c)
		i++
	}
	cond := b.String()
	if a.op == opIfdef || a.op == opIfndef {
		cond, _, _ = strings.Cut(cond, " ")
	}
	return cond
}

func negate(expr string) string {
	switch {
	case expr == "0":
		return "1"
	case expr == "1":
		return "0"
	case atom(strings.TrimPrefix(expr, "!")):
		if rest, ok := strings.CutPrefix(expr, "!"); ok {
			return rest
		}
		return "!" + expr
	}
	return "!(" + expr + ")"
}

// atom reports whether expr is one identifier or identifier(…), such as
// defined(X) or IS_ENABLED(CONFIG_X), which binds tighter than any operator.
func atom(expr string) bool {
	open := strings.IndexByte(expr, '(')
	if open < 0 {
		return isIdentifier(expr)
	}
	return isIdentifier(expr[:open]) && strings.IndexByte(expr, ')') == len(expr)-1
}

// loose reports whether expr holds an operator outside parentheses that binds
// more loosely than &&.
func loose(expr string) bool {
	depth := 0
	for i := range len(expr) {
		switch c := expr[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth == 0 && (c == '?' || c == ',' || c == '|' && i > 0 && expr[i-1] == '|'):
			return true
		}
	}
	return false
}

// Display turns a condition of Guards into the short form for people: a macro
// that must be defined stands for itself, CONFIG_SMP && !MODULE.
func Display(cond string) string {
	var b strings.Builder
	for {
		i := strings.Index(cond, "defined")
		if i < 0 {
			break
		}
		name, rest, ok := definedOperand(cond[i+len("defined"):])
		if !ok || i > 0 && identPart[cond[i-1]] {
			b.WriteString(cond[:i+len("defined")])
			cond = cond[i+len("defined"):]
			continue
		}
		b.WriteString(cond[:i])
		b.WriteString(name)
		cond = rest
	}
	b.WriteString(cond)
	return b.String()
}

// definedOperand splits "(X) rest" and " X rest".
func definedOperand(s string) (name, rest string, ok bool) {
	t := strings.TrimLeft(s, " ")
	if inner, found := strings.CutPrefix(t, "("); found {
		name, rest, found = strings.Cut(inner, ")")
		name = strings.TrimSpace(name)
		return name, rest, found && isIdentifier(name)
	}
	n := 0
	for n < len(t) && identPart[t[n]] {
		n++
	}
	return t[:n], t[n:], len(t) < len(s) && isIdentifier(t[:n])
}
