package guard

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// exact is the slow twin of number: an integer of any size and the type that it
// has. ok is false where the C standard gives no value.
type exact struct {
	v        *big.Int
	unsigned bool
	ok       bool
}

var twoTo64 = new(big.Int).Lsh(big.NewInt(1), 64)

// fit brings a result into its type: unsigned ones wrap, signed ones must fit.
func fit(v *big.Int, unsigned bool) exact {
	if unsigned {
		return exact{new(big.Int).Mod(v, twoTo64), true, true}
	}
	return exact{v, false, v.IsInt64()}
}

func exactBool(b bool) exact {
	if b {
		return exact{big.NewInt(1), false, true}
	}
	return exact{new(big.Int), false, true}
}

func (e exact) nonzero() bool { return e.v.Sign() != 0 }

// binaryExact computes a op b as the standard words it.
func binaryExact(op string, a, b exact) exact {
	switch op { // the only operators that may do without one side
	case "&&":
		if a.ok && !a.nonzero() || b.ok && !b.nonzero() {
			return exactBool(false)
		}
	case "||":
		if a.ok && a.nonzero() || b.ok && b.nonzero() {
			return exactBool(true)
		}
	}
	if !a.ok || !b.ok {
		return exact{}
	}
	z := new(big.Int)
	if op == "<<" || op == ">>" {
		if b.v.Sign() < 0 || b.v.Cmp(big.NewInt(64)) >= 0 {
			return exact{}
		}
		if n := uint(b.v.Uint64()); op == "<<" {
			return fit(z.Lsh(a.v, n), a.unsigned)
		} else {
			return fit(z.Rsh(a.v, n), a.unsigned)
		}
	}
	unsigned := a.unsigned || b.unsigned
	x, y := a.v, b.v
	if unsigned {
		x, y = new(big.Int).Mod(x, twoTo64), new(big.Int).Mod(y, twoTo64)
	}
	cmp := x.Cmp(y)
	switch op {
	case "&&", "||":
		return exactBool(op == "&&")
	case "==":
		return exactBool(cmp == 0)
	case "!=":
		return exactBool(cmp != 0)
	case "<":
		return exactBool(cmp < 0)
	case "<=":
		return exactBool(cmp <= 0)
	case ">":
		return exactBool(cmp > 0)
	case ">=":
		return exactBool(cmp >= 0)
	case "+":
		z.Add(x, y)
	case "-":
		z.Sub(x, y)
	case "*":
		z.Mul(x, y)
	case "&":
		z.And(x, y)
	case "|":
		z.Or(x, y)
	case "^":
		z.Xor(x, y)
	case "/", "%":
		if y.Sign() == 0 {
			return exact{}
		}
		q, r := z.QuoRem(x, y, new(big.Int))
		if !unsigned && !q.IsInt64() {
			return exact{} // INT64_MIN / -1, and its remainder too
		}
		if op == "%" {
			q = r
		}
		return fit(q, unsigned)
	}
	return fit(z, unsigned)
}

// generate returns a random expression without macros, in as few parentheses as
// its meaning allows or with more, and its value by the twin.
func generate(r *rand.Rand, depth int) (text string, level int, v exact) {
	if depth == 0 || r.IntN(6) == 0 {
		return constant(r)
	}
	operand := func(atLeast int) (string, exact) {
		t, l, v := generate(r, depth-1)
		if l < atLeast || r.IntN(8) == 0 {
			t = "(" + t + ")"
		}
		return t, v
	}
	const unaryLevel = 11
	switch r.IntN(8) {
	case 0:
		op := []string{"!", "-", "+", "~"}[r.IntN(4)]
		t, a := operand(unaryLevel)
		return op + " " + t, unaryLevel, unaryExact(op, a)
	case 1:
		ct, c := operand(1)
		at, a := operand(0)
		bt, b := operand(0)
		text := ct + " ? " + at + " : " + bt
		if !a.ok || !b.ok {
			return "0", 12, exactBool(false) // the twin has no type for these
		}
		picked := a
		if !c.ok {
			return "0", 12, exactBool(false)
		}
		if !c.nonzero() {
			picked = b
		}
		return text, 0, fit(picked.v, a.unsigned || b.unsigned)
	}
	ops := strings.Fields("|| && | ^ & == != < <= > >= << >> + - * / %")
	op := ops[r.IntN(len(ops))]
	level = tightness(token{kind: signToken, text: op})
	at, a := operand(level)
	bt, b := operand(level + 1)
	return at + " " + op + " " + bt, level, binaryExact(op, a, b)
}

func unaryExact(op string, a exact) exact {
	if !a.ok {
		return a
	}
	switch op {
	case "!":
		return exactBool(!a.nonzero())
	case "-":
		return fit(new(big.Int).Neg(a.v), a.unsigned)
	case "~":
		return fit(new(big.Int).Not(a.v), a.unsigned)
	}
	return a
}

// constant favours the edges of the types.
func constant(r *rand.Rand) (string, int, exact) {
	v := []uint64{0, 1, 2, 3, 7, 63, 64, 1<<31 - 1, 1 << 32, 1<<63 - 1, 1 << 63, 1<<64 - 1, r.Uint64()}[r.IntN(13)]
	text := fmt.Sprintf([]string{"%d", "%#x", "%#b", "0%o"}[r.IntN(4)], v)
	suffix := []string{"", "", "u", "L", "ull"}[r.IntN(5)]
	e := exact{new(big.Int).SetUint64(v), v >= 1<<63 || strings.Contains(suffix, "u"), true}
	return text + suffix, 12, e
}

// TestAgainstExactArithmetic: parser and arithmetic against the twin.
func TestAgainstExactArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	known := 0
	for range 20_000 {
		text, _, want := generate(r, 1+r.IntN(4))
		got := (*Config)(nil).evaluate(tokenize(text), 0)
		if got.known != want.ok {
			t.Fatalf("%s: known %v, want %v", text, got.known, want.ok)
		}
		if !want.ok {
			continue
		}
		known++
		bits := new(big.Int).Mod(want.v, twoTo64).Uint64()
		if got.bits != bits || (got.sign == unsigned) != want.unsigned {
			t.Fatalf("%s: got %x %v, want %x, unsigned %v", text, got.bits, got.sign, bits, want.unsigned)
		}
	}
	if known < 10_000 {
		t.Errorf("only %d expressions had a value", known)
	}
}

// vocabulary for random conditions over macros.
var atoms = []string{
	"defined(A)", "defined B", "A", "B", "C", "D", "CONFIG_X", "IS_ENABLED(CONFIG_X)", "IS_MODULE(CONFIG_X)", "IS_BUILTIN(CONFIG_X)",
	"IS_REACHABLE(CONFIG_X)", "defined(CONFIG_X_MODULE)", "CONFIG_Y", "__is_defined(C)", "F(A, B)", "A(1)", "0", "1", "2", "-1", "3u", "KERNEL_VERSION(A, 1, 1)",
}

func randomCondition(r *rand.Rand, depth int) string {
	if depth == 0 {
		return atoms[r.IntN(len(atoms))]
	}
	a, b := randomCondition(r, r.IntN(depth)), randomCondition(r, r.IntN(depth))
	switch n := r.IntN(14); n {
	case 0:
		return "!(" + a + ")"
	case 1:
		return "(" + a + " ? " + b + " : " + randomCondition(r, r.IntN(depth)) + ")"
	case 2:
		return "-" + a
	default:
		return "(" + a + " " + []string{"&&", "||", "&&", "||", "==", "<", ">=", "+", "/", "|", "<<"}[n-3] + " " + b + ")"
	}
}

// says is what can be said about each name, as elements of a list.
var says = [][]string{
	{"A", "!A", "A=0", "A=B", "A=(B+1)", "A=x", `A="s"`}, {"B", "!B", "B=3", "B=-1", "B=C"}, {"C", "!C", "C=2", "C=A", "C="}, {"D", "!D", "D=0u"},
	{"CONFIG_X", "CONFIG_X=m", "CONFIG_X=n", "!CONFIG_X"}, {"CONFIG_Y", "CONFIG_Y=n", "CONFIG_Y=4"}, {"MODULE", "!MODULE"}, {"F", "!F"},
}

// TestMonotone: a configuration that says more, up to one that says everything,
// agrees with every answer that one which says less decides.
func TestMonotone(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	decided := 0
	for range 1_500 {
		expr := randomCondition(r, 4)
		var list []string
		before := (*Config)(nil).Condition(expr)
		for _, i := range r.Perm(len(says)) {
			list = append(list, says[i][r.IntN(len(says[i]))])
			now := parse(t, strings.Join(list, ","), "").Condition(expr)
			if before != Unknown {
				decided++
				if now != before {
					t.Fatalf("%s: %v, but %v under %s", expr, before, now, strings.Join(list, ","))
				}
			}
			before = now
		}
	}
	if decided < 2_500 {
		t.Errorf("only %d answers were decided early", decided)
	}
}

// TestClosedWorldKnowsMore: a .config agrees with every answer that a list of some
// of its lines decides.
func TestClosedWorldKnowsMore(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	states := []string{"y", "m", "n", "7"}
	for range 2_000 {
		expr := randomCondition(r, 4)
		x, y := states[r.IntN(4)], states[r.IntN(4)]
		closed := parse(t, ".config", "CONFIG_X="+x+"\nCONFIG_Y="+y+"\n").Condition(expr)
		for _, list := range []string{"CONFIG_X=" + x, "CONFIG_Y=" + y} {
			if open := parse(t, list, "").Condition(expr); open != Unknown && open != closed {
				t.Fatalf("%s: %v under %s, %v under the whole .config", expr, open, list, closed)
			}
		}
	}
}

// FuzzCondition: any text gives an answer, the same one again, the opposite one
// for its negation, and one that knowing more does not turn around.
func FuzzCondition(f *testing.F) {
	for _, seed := range append(atoms, "A == 0644 || L'a' - 1 < '\\x41'", "(A ? 1 : 2u) > -1, B", "__has_include(<a/b.h>)", "1'0 /* */ ") {
		f.Add(seed)
	}
	configs := []*Config{nil}
	for _, list := range []string{"A=3", "A=3,CONFIG_X=m", "A=3,CONFIG_X=m,!B,C=(A+1),F,D=A"} {
		configs = append(configs, parse(f, list, ""))
	}
	f.Fuzz(func(t *testing.T, expr string) {
		before := Unknown
		for i, c := range configs {
			now := c.Condition(expr)
			if now != c.Condition(expr) {
				t.Fatal("another answer the second time")
			}
			if before != Unknown && now != before {
				t.Fatalf("%v, but %v under configuration %d", before, now, i)
			}
			if not := c.Condition("!(" + expr + "\n)"); not != Unknown && now != Unknown && not != -now {
				t.Fatalf("%v and %v for the negation", now, not)
			}
			before = now
		}
	})
}

// FuzzParseConfig: any text is a configuration or an error that says which input
// it is about.
func FuzzParseConfig(f *testing.F) {
	f.Add("A,!B,C=1", "")
	f.Add(".config", kernelConfig)
	f.Fuzz(func(t *testing.T, config, content string) {
		c, err := ParseConfig(config, func(string) ([]byte, error) { return []byte(content), nil })
		if err != nil {
			if !strings.HasPrefix(err.Error(), "active_config") {
				t.Fatalf("error %v", err)
			}
			return
		}
		c.Eval([]string{"A", "defined(CONFIG_X) || IS_ENABLED(CONFIG_SMP)"})
	})
}
