package csource

import (
	"slices"
	"testing"
)

// TestInvocationsInARow: macros that stand in a row without semicolons, on one
// line or on several, are items of their own.
func TestInvocationsInARow(t *testing.T) {
	for _, test := range []struct {
		src  string
		want []string
	}{
		{"FLAG(A, a) TESTFLAG(A, a)\n\t__CLEARFLAG(A, a)\nFLAG(B, b)\n\tTESTFLAG(B, b)\nint x;\n",
			[]string{"FLAG(A, a)", "TESTFLAG(A, a)", "__CLEARFLAG(A, a)", "FLAG(B, b)", "TESTFLAG(B, b)"}},
		{"AA(a) BB(b)\nint f(void) { return 0; }\n", []string{"AA(a)", "BB(b)"}},
		{"DECLARE(int) f(void) { return 0; }\n", nil},
		{"ATTRIBUTE(1) NORETURN(2) void f(void) { }\n", nil},
	} {
		var got []string
		for _, s := range Scan([]byte(test.src), Header).Symbols() {
			if s.Kind == Invocation {
				got = append(got, s.Name+s.Signature)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%q: got %q, want %q", test.src, got, test.want)
		}
	}
}
