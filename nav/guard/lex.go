package guard

import (
	"strconv"
	"strings"
)

type kind uint8

const (
	endToken   kind = iota
	nameToken       // an identifier
	valueToken      // a constant, which may be unknown
	signToken       // an operator or a parenthesis
	junkToken       // anything else
)

type token struct {
	kind kind
	text string
	num  number // of a value
}

// operators, longest first.
var operators = []string{"<=>", "<<=", ">>=", "...", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "##", "::", "->"}

// spelled are the words that C++ and <iso646.h> have for operators.
var spelled = map[string]string{
	"and": "&&", "or": "||", "not": "!", "bitand": "&", "bitor": "|", "xor": "^", "compl": "~", "not_eq": "!=",
}

// tokenize cuts a condition into tokens. It never fails: what it cannot read
// becomes junk, which no expression allows outside the arguments of a macro.
func tokenize(s string) []token {
	tokens := make([]token, 0, 4+len(s)/4)
	for s = skipSpace(s); s != ""; s = skipSpace(s) {
		t, n := next(s)
		tokens = append(tokens, t)
		s = s[n:]
	}
	return tokens
}

// next reads the token that s begins with, and its length.
func next(s string) (token, int) {
	switch c := s[0]; {
	case isDigit(c) || c == '.' && len(s) > 1 && isDigit(s[1]):
		n := numberLength(s)
		return token{valueToken, s[:n], parseNumber(s[:n])}, n
	case isLetter(c):
		n := identLength(s)
		if quote := s[n:]; encodingPrefix(s[:n]) && quote != "" && (quote[0] == '\'' || quote[0] == '"') {
			t, m := quoted(quote)
			if t.num.known {
				t.num.sign = either // wchar_t and its kin differ from platform to platform
			}
			return t, n + m
		}
		if op := spelled[s[:n]]; op != "" {
			return token{kind: signToken, text: op}, n
		}
		return token{kind: nameToken, text: s[:n]}, n
	case c == '\'' || c == '"':
		return quoted(s)
	}
	for _, op := range operators {
		if s[0] == op[0] && strings.HasPrefix(s, op) {
			return token{kind: signToken, text: op}, len(op)
		}
	}
	if strings.IndexByte("+-*/%~!<>&^|?:,()", s[0]) >= 0 {
		return token{kind: signToken, text: s[:1]}, 1
	}
	return token{kind: junkToken, text: s[:1]}, 1
}

// skipSpace drops blanks, comments and line continuations.
func skipSpace(s string) string {
	for {
		for s != "" && (s[0] == ' ' || '\t' <= s[0] && s[0] <= '\r') {
			s = s[1:]
		}
		switch {
		case s == "" || s[0] != '/' && s[0] != '\\':
			return s
		case strings.HasPrefix(s, "/*"):
			_, s, _ = strings.Cut(s[2:], "*/")
		case strings.HasPrefix(s, "//"):
			_, s, _ = strings.Cut(s, "\n")
		case strings.HasPrefix(s, "\\\n"), strings.HasPrefix(s, "\\\r"):
			s = s[2:]
		default:
			return s
		}
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool {
	return c == '_' || c == '$' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

func identLength(s string) int {
	n := 0
	for n < len(s) && (isLetter(s[n]) || isDigit(s[n])) {
		n++
	}
	return n
}

// numberLength is the length of a preprocessing number, which is more than a
// number: it takes in exponents, suffixes and digit separators.
func numberLength(s string) int {
	n := 0
	for n < len(s) {
		switch c := s[n]; {
		case isDigit(c) || isLetter(c) || c == '.':
		case c == '\'' && n+1 < len(s) && (isDigit(s[n+1]) || isLetter(s[n+1])):
		case (c == '+' || c == '-') && strings.IndexByte("eEpP", s[n-1]) >= 0:
		default:
			return n
		}
		n++
	}
	return n
}

// parseNumber reads an integer constant: 10, 0x1fUL, 0b11, 0644, 1'000'000. What
// is no integer constant, or has more than 64 bits, is unknown. A constant that
// does not fit the signed type is unsigned.
func parseNumber(text string) number {
	s := strings.ReplaceAll(strings.ToLower(text), "'", "")
	digits := strings.TrimRight(s, "ulz")
	var sign signedness
	switch s[len(digits):] {
	case "", "l", "ll", "z":
	case "u", "ul", "ull", "lu", "llu", "uz", "zu":
		sign = unsigned
	default:
		return number{}
	}
	base := 10
	switch {
	case strings.HasPrefix(digits, "0x"):
		digits, base = digits[2:], 16
	case strings.HasPrefix(digits, "0b"):
		digits, base = digits[2:], 2
	case strings.HasPrefix(digits, "0"):
		base = 8
	}
	v, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return number{}
	}
	if v >= 1<<63 {
		sign = unsigned
	}
	return number{known: true, bits: v, sign: sign}
}

func encodingPrefix(word string) bool {
	return word == "L" || word == "u" || word == "U" || word == "u8"
}

// quoted reads a character constant or a string. Only the constants of one
// character within ASCII mean the same everywhere.
func quoted(s string) (token, int) {
	n := 1
	for n < len(s) && s[n] != s[0] && s[n] != '\n' {
		if s[n] == '\\' && n+1 < len(s) {
			n++
		}
		n++
	}
	if n >= len(s) || s[n] != s[0] {
		return token{kind: junkToken, text: s[:1]}, 1
	}
	t := token{kind: valueToken, text: s[:n+1]}
	if s[0] == '\'' {
		t.num = character(s[1:n])
	}
	return t, n + 1
}

var escapes = map[byte]int64{
	'n': '\n', 't': '\t', 'r': '\r', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v',
	'\\': '\\', '\'': '\'', '"': '"', '?': '?',
}

func character(s string) number {
	if len(s) == 1 && s[0] < 0x80 {
		return integer(int64(s[0]))
	}
	if len(s) < 2 || s[0] != '\\' {
		return number{}
	}
	if v, ok := escapes[s[1]]; ok && len(s) == 2 {
		return integer(v)
	}
	digits, base := s[1:], 8
	if s[1] == 'x' {
		digits, base = s[2:], 16
	} else if len(digits) > 3 {
		return number{}
	}
	v, err := strconv.ParseUint(digits, base, 64)
	if err != nil || v >= 0x80 {
		return number{}
	}
	return integer(int64(v))
}
