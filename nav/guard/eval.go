package guard

import "strings"

// Eval answers for a stack of conditions, all of which must hold.
func (c *Config) Eval(guards []string) Value {
	all := True
	for _, g := range guards {
		if all = min(all, c.Condition(g)); all == False {
			break
		}
	}
	return all
}

// Condition answers for one condition.
func (c *Config) Condition(expr string) Value {
	if len(expr) > maxLength {
		return Unknown
	}
	return c.evaluate(tokenize(expr), 0).truth()
}

// Limits that no sane condition reaches; beyond them the answer is Unknown.
const (
	maxLength = 1 << 20 // bytes
	maxDepth  = 200     // parentheses and unary operators in one another
)

// evaluate computes a whole token list. It is unknown when that is no expression.
func (c *Config) evaluate(tokens []token, depth int) number {
	p := parser{config: c, rest: tokens, depth: depth}
	n := p.comma()
	if p.failed || p.peek().kind != endToken {
		return number{}
	}
	return n
}

// parser computes an expression while it reads it. Both sides of every operator
// are read, whatever the one side says: a macro that turns out to be unknown must
// not change how the rest is read.
type parser struct {
	config *Config
	rest   []token
	depth  int
	failed bool
}

func (p *parser) peek() token {
	if len(p.rest) == 0 {
		return token{}
	}
	return p.rest[0]
}

// accept takes the next token if it is this symbol.
func (p *parser) accept(text string) bool {
	if t := p.peek(); t.kind != signToken || t.text != text {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *parser) fail() number {
	p.failed = true
	p.rest = nil
	return number{}
}

// deeper guards the recursion.
func (p *parser) deeper(read func() number) number {
	if p.depth >= maxDepth {
		return p.fail()
	}
	p.depth++
	n := read()
	p.depth--
	return n
}

func (p *parser) comma() number {
	n := p.conditional()
	for p.accept(",") {
		n = p.conditional()
	}
	return n
}

func (p *parser) conditional() number {
	cond := p.binary(0)
	if !p.accept("?") {
		return cond
	}
	a := p.deeper(p.comma)
	if !p.accept(":") {
		return p.fail()
	}
	b := p.deeper(p.conditional)
	return choose(cond.truth(), a, b)
}

// tightness is how tight a binary operator binds, 0 for what is none.
func tightness(t token) int {
	if t.kind != signToken {
		return 0
	}
	switch t.text {
	case "||":
		return 1
	case "&&":
		return 2
	case "|":
		return 3
	case "^":
		return 4
	case "&":
		return 5
	case "==", "!=":
		return 6
	case "<", ">", "<=", ">=":
		return 7
	case "<<", ">>":
		return 8
	case "+", "-":
		return 9
	case "*", "/", "%":
		return 10
	}
	return 0
}

// binary reads operands and the operators between them that bind at least so
// tight.
func (p *parser) binary(atLeast int) number {
	n := p.unary()
	for {
		op := p.peek()
		tight := tightness(op)
		if tight == 0 || tight < atLeast {
			return n
		}
		p.rest = p.rest[1:]
		m := p.binary(tight + 1)
		switch op.text {
		case "||":
			n = max(n.truth(), m.truth()).number()
		case "&&":
			n = min(n.truth(), m.truth()).number()
		default:
			n = binary(op.text, n, m)
		}
	}
}

func (p *parser) unary() number {
	t := p.peek()
	if t.kind != signToken || t.text == "(" || !strings.Contains("!-+~", t.text) {
		return p.primary()
	}
	p.rest = p.rest[1:]
	return unary(t.text, p.deeper(p.unary))
}

func (p *parser) primary() number {
	if p.accept("(") {
		n := p.deeper(p.comma)
		if !p.accept(")") {
			return p.fail()
		}
		return n
	}
	t := p.peek()
	if t.kind != nameToken && t.kind != valueToken {
		return p.fail()
	}
	p.rest = p.rest[1:]
	switch {
	case t.kind == valueToken:
		return t.num
	case t.text == "defined":
		return p.defined()
	case p.accept("("):
		return p.call(t.text)
	}
	return p.macro(t.text)
}

// defined reads the operand of defined: X or (X).
func (p *parser) defined() number {
	open := p.accept("(")
	t := p.peek()
	if t.kind != nameToken {
		return p.fail()
	}
	p.rest = p.rest[1:]
	if open && !p.accept(")") {
		return p.fail()
	}
	return p.config.defined(t.text).number()
}

// call reads the arguments of NAME( and computes the few macros that it knows.
// Any other is unknown, even one that the configuration says is not defined: if
// that were an error, knowing it would undo the decided answer of 1 || NAME(x).
func (p *parser) call(name string) number {
	args, ok := p.arguments()
	if !ok {
		return p.fail()
	}
	if name == "KERNEL_VERSION" {
		return p.kernelVersion(args)
	}
	if len(args) != 1 || len(args[0]) != 1 || args[0][0].kind != nameToken {
		return number{}
	}
	option, c := args[0][0].text, p.config
	switch name {
	case "__is_defined", "IS_BUILTIN":
		return c.isOne(option, 0).number()
	case "IS_MODULE":
		return c.isOne(option+moduleSuffix, 0).number()
	case "IS_ENABLED":
		return max(c.isOne(option, 0), c.isOne(option+moduleSuffix, 0)).number()
	case "IS_REACHABLE":
		return max(c.isOne(option, 0), min(c.isOne(option+moduleSuffix, 0), c.isOne("MODULE", 0))).number()
	}
	return number{}
}

// arguments cuts everything up to the matching parenthesis at its commas. The
// tokens may be anything, as in __has_include(<linux/x.h>).
func (p *parser) arguments() (args [][]token, ok bool) {
	depth, start := 0, 0
	for i, t := range p.rest {
		if t.kind != signToken {
			continue
		}
		switch {
		case t.text == "(":
			depth++
		case t.text == ")" && depth > 0:
			depth--
		case t.text == ")":
			args = append(args, p.rest[start:i])
			p.rest = p.rest[i+1:]
			return args, true
		case t.text == "," && depth == 0:
			args = append(args, p.rest[start:i])
			start = i + 1
		}
	}
	return nil, false
}

// kernelVersion is (a << 16) + (b << 8) + c. Newer kernels cut c at 255, so that
// more than that depends on the kernel.
func (p *parser) kernelVersion(args [][]token) number {
	if len(args) != 3 || p.depth >= maxDepth {
		return number{}
	}
	var v [3]number
	for i, arg := range args {
		v[i] = p.config.evaluate(arg, p.depth+1)
		if !v[i].known || v[i].bits > 1<<16 || i > 0 && v[i].bits > 255 {
			return number{}
		}
	}
	return integer(int64(v[0].bits<<16 + v[1].bits<<8 + v[2].bits))
}

// macro is the value of a name that is not called: what it is defined as, or 0
// when it is known not to be defined.
func (p *parser) macro(name string) number {
	switch p.config.defined(name) {
	case False:
		return integer(0)
	case Unknown:
		return number{}
	}
	return p.config.macro(name).num
}

// isOne is the kernel's __is_defined: whether the name is defined as the very
// token 1, if need be by way of other names.
func (c *Config) isOne(name string, depth int) Value {
	if d := c.defined(name); d != True {
		return d
	}
	tokens := c.macro(name).tokens
	switch {
	case len(tokens) != 1:
		return False
	case tokens[0].kind == nameToken && depth == maxDepth:
		return Unknown
	case tokens[0].kind == nameToken:
		return c.isOne(tokens[0].text, depth+1)
	case tokens[0].text == "1":
		return True
	}
	return False
}

// moduleSuffix makes the name of the macro that stands for =m.
const moduleSuffix = "_MODULE"

func isOption(name string) bool { return strings.HasPrefix(name, "CONFIG_") }
