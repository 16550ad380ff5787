package guard

import "math/bits"

// Value is an answer about a condition. The zero value is Unknown.
type Value int8

const (
	False   Value = -1
	Unknown Value = 0
	True    Value = 1
)

func (v Value) String() string {
	switch v {
	case False:
		return "false"
	case True:
		return "true"
	}
	return "unknown"
}

func (v Value) not() Value { return -v }

// number is the value of a subexpression: 64 bits read as signed or unsigned, or
// unknown (the zero value). An operation that means the same in both readings has
// a known result even where the signedness is open, as that of (X ? 1 : 2u) is
// while X is unknown.
type number struct {
	known bool
	bits  uint64
	sign  signedness
}

type signedness uint8

const (
	signed signedness = iota
	unsigned
	either
)

func integer(v int64) number { return number{known: true, bits: uint64(v)} }

func boolean(b bool) number {
	if b {
		return integer(1)
	}
	return integer(0)
}

// number turns an answer into the int that the preprocessor computes with.
func (v Value) number() number {
	if v == Unknown {
		return number{}
	}
	return boolean(v == True)
}

func (n number) truth() Value {
	switch {
	case !n.known:
		return Unknown
	case n.bits == 0:
		return False
	}
	return True
}

// common is the signedness in which two operands meet: one unsigned operand makes
// both unsigned.
func common(a, b number) signedness {
	switch {
	case a.known && a.sign == unsigned || b.known && b.sign == unsigned:
		return unsigned
	case a.known && a.sign == signed && b.known && b.sign == signed:
		return signed
	}
	return either
}

// binary applies an arithmetic operator.
func binary(op string, a, b number) number {
	if !a.known || !b.known {
		return number{}
	}
	sign := common(a, b)
	if op == "<<" || op == ">>" {
		sign = a.sign // shifts keep the type of their left operand
		if b.sign == signed && int64(b.bits) < 0 || b.bits >= 64 {
			return number{}
		}
	}
	return inBoth(sign, func(s signedness) number {
		if s == unsigned {
			return binaryUnsigned(op, a.bits, b.bits)
		}
		return binarySigned(op, int64(a.bits), int64(b.bits))
	})
}

// inBoth computes a result in the given signedness; where that is open, in both,
// and knows the result only if they agree.
func inBoth(sign signedness, compute func(signedness) number) number {
	if sign != either {
		return compute(sign)
	}
	s, u := compute(signed), compute(unsigned)
	if !s.known || !u.known || s.bits != u.bits {
		return number{}
	}
	if s.sign != u.sign {
		s.sign = either
	}
	return s
}

func binaryUnsigned(op string, a, b uint64) number {
	n := number{known: true, sign: unsigned}
	switch op {
	case "+":
		n.bits = a + b
	case "-":
		n.bits = a - b
	case "*":
		n.bits = a * b
	case "/", "%":
		if b == 0 {
			return number{}
		}
		if n.bits = a / b; op == "%" {
			n.bits = a % b
		}
	case "<<":
		n.bits = a << b
	case ">>":
		n.bits = a >> b
	case "<":
		return boolean(a < b)
	case ">":
		return boolean(a > b)
	case "<=":
		return boolean(a <= b)
	case ">=":
		return boolean(a >= b)
	default:
		return bitwise(op, a, b, unsigned)
	}
	return n
}

// binarySigned knows no result where the exact one does not fit.
func binarySigned(op string, a, b int64) number {
	switch op {
	case "+":
		if s := a + b; (s > a) == (b > 0) {
			return integer(s)
		}
		return number{}
	case "-":
		if d := a - b; (d < a) == (b > 0) {
			return integer(d)
		}
		return number{}
	case "*":
		return multiply(a, b)
	case "/", "%":
		if b == 0 || b == -1 && a == -a && a != 0 {
			return number{}
		}
		if op == "%" {
			return integer(a % b)
		}
		return integer(a / b)
	case "<<":
		if s := a << b; s>>b == a {
			return integer(s)
		}
		return number{}
	case ">>":
		return integer(a >> b)
	case "<":
		return boolean(a < b)
	case ">":
		return boolean(a > b)
	case "<=":
		return boolean(a <= b)
	case ">=":
		return boolean(a >= b)
	}
	return bitwise(op, uint64(a), uint64(b), signed)
}

// bitwise is for the operators that are the same in both readings.
func bitwise(op string, a, b uint64, s signedness) number {
	n := number{known: true, sign: s}
	switch op {
	case "&":
		n.bits = a & b
	case "^":
		n.bits = a ^ b
	case "|":
		n.bits = a | b
	case "==":
		return boolean(a == b)
	case "!=":
		return boolean(a != b)
	default:
		return number{}
	}
	return n
}

func multiply(a, b int64) number {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	negative := (a < 0) != (b < 0)
	switch {
	case hi != 0 || lo > 1<<63 || lo == 1<<63 && !negative:
		return number{}
	case negative:
		return integer(int64(-lo))
	}
	return integer(int64(lo))
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// unary applies +, -, ~ or !.
func unary(op string, a number) number {
	if op == "!" {
		return a.truth().not().number()
	}
	if !a.known {
		return a
	}
	switch op {
	case "-":
		return inBoth(a.sign, func(s signedness) number {
			if s == signed && a.bits == 1<<63 {
				return number{}
			}
			return number{known: true, bits: -a.bits, sign: s}
		})
	case "~":
		a.bits = ^a.bits
	}
	return a
}

// choose is c ? a : b. Both branches give the result its signedness.
func choose(c Value, a, b number) number {
	picked := a
	switch c {
	case False:
		picked = b
	case Unknown:
		if !a.known || !b.known || a.bits != b.bits {
			return number{}
		}
	}
	picked.sign = common(a, b)
	return picked
}
