package csource

import "strings"

// A token is one lexical element. Markers of conditional directives are tokens
// too: pos is then the directive's place and end the index of the arm it opens
// (of the last arm, for #endif).
type token struct {
	pos, end uint32
	// link is the matching bracket of a bracket (set by the matcher, -1 for
	// none) and the conditional's next marker of a marker (-1 for the last).
	link int32
	// kind is the character itself for punctuation.
	kind uint8
}

const (
	kIdent uint8 = 128 + iota
	kNumber
	kString
	kChar
	kArrow // ->
	kColons
	// Keywords that open a definition anywhere, so that a function's body can
	// be searched for local types by kind alone.
	kStruct
	kUnion
	kEnum
	kClass
	kTypedef
	kIf    // #if, #ifdef, #ifndef
	kElse  // #else, #elif, #elifdef, #elifndef
	kEndif // #endif
)

// Character classes that steer the lexer.
const (
	cBlank uint8 = iota
	cNewline
	cIdent
	cDigit
	cQuote
	cSlash
	cHash
	cPunct
)

var class = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c >= 0x80:
			t[c] = cIdent
		case c >= '0' && c <= '9':
			t[c] = cDigit
		case c > ' ' && c < 0x7f:
			t[c] = cPunct
		}
	}
	t['\n'], t['"'], t['\''], t['/'], t['#'] = cNewline, cQuote, cQuote, cSlash, cHash
	// A backslash outside literals only ever continues a line.
	t['\\'] = cBlank
	return t
}()

// identPart holds the characters that continue an identifier or a number.
var identPart = func() (t [256]bool) {
	for c := range t {
		t[c] = class[c] == cIdent || class[c] == cDigit
	}
	return t
}()

// lex fills s.toks, and s.arms and s.macros through directive. s.text ends
// with a NUL that is not part of the file, so that looking one character ahead
// needs no check; NULs inside the file are blanks.
func (s *Scanner) lex() {
	text, n := s.text, len(s.text)-1
	toks := s.toks[:0]
	lineStart := true // only blanks and comments so far on this line
	i := 0
	if strings.HasPrefix(text, "\ufeff") {
		i = 3
	}
	for i < n {
		start := i
		kind := uint8(0)
		switch c := text[i]; class[c] {
		case cBlank:
			i++
			continue
		case cNewline:
			i++
			lineStart = true
			continue
		case cIdent:
			for i++; identPart[text[i]]; i++ {
			}
			if text[i] == '"' && s.lang == CPlusPlus && rawPrefix(text[start:i]) {
				i, kind = skipRaw(text, i), kString
				break
			}
			if kind = wordKind(text[start:i]); kind == kClass && s.lang != CPlusPlus {
				kind = kIdent
			}
		case cDigit:
			i, kind = skipNumber(text, i), kNumber
		case cQuote:
			if c == '\'' && s.lang == Assembly {
				i++ // a character constant needs no closing quote there
				continue
			}
			kind = kString
			if c == '\'' {
				kind = kChar
			}
			i = skipQuoted(text, i)
		case cSlash:
			if end := skipComment(text, i); end > i {
				i = end
				continue
			}
			i, kind = i+1, c
		case cHash:
			if lineStart && !s.fragment {
				s.toks = toks
				i = s.directive(i)
				toks = s.toks
				continue
			}
			i, kind = i+1, c
		default:
			i, kind = i+1, c
			switch {
			case c == '-' && text[i] == '>':
				i, kind = i+1, kArrow
			case c == ':' && text[i] == ':':
				i, kind = i+1, kColons
			}
		}
		lineStart = false
		toks = append(toks, token{pos: uint32(start), end: uint32(i), link: -1, kind: kind})
	}
	s.toks = toks
}

func wordKind(w string) uint8 {
	switch len(w) {
	case 4:
		if w == "enum" {
			return kEnum
		}
	case 5:
		if w == "union" {
			return kUnion
		}
		if w == "class" {
			return kClass
		}
	case 6:
		if w == "struct" {
			return kStruct
		}
	case 7:
		if w == "typedef" {
			return kTypedef
		}
	}
	return kIdent
}

// skipNumber returns the end of the preprocessing number at i: exponents keep
// their sign, and a quote between two digits separates them.
func skipNumber(text string, i int) int {
	for i++; ; i++ {
		switch c := text[i]; {
		case identPart[c] || c == '.':
		case c == '\'' && identPart[text[i+1]]:
		case (c == '+' || c == '-') && strings.IndexByte("eEpP", text[i-1]) >= 0 && !hexWithoutExponent(text, i):
		default:
			return i
		}
	}
}

// hexWithoutExponent tells the sum 0x1e+2 from the exponent 1e+2.
func hexWithoutExponent(text string, sign int) bool {
	start := sign - 1
	for start > 0 && identPart[text[start-1]] {
		start--
	}
	return text[sign-1]|0x20 == 'e' && text[start] == '0' && text[start+1]|0x20 == 'x'
}

// skipQuoted returns the end of the string or character constant at i. A line
// that ends without a backslash ends the literal too: an apostrophe in the
// prose of an #if 0 must not swallow the file.
func skipQuoted(text string, i int) int {
	quote := text[i]
	for i++; i < len(text)-1; i++ {
		switch text[i] {
		case quote:
			return i + 1
		case '\\':
			if text[i+1] == '\r' && text[i+2] == '\n' {
				i++
			}
			i++
		case '\n':
			return i
		}
	}
	return len(text) - 1
}

func rawPrefix(w string) bool {
	switch w {
	case "R", "LR", "uR", "UR", "u8R":
		return true
	}
	return false
}

// skipRaw returns the end of the C++ raw string whose opening quote is at i.
// The standard allows a delimiter of at most 16 characters.
func skipRaw(text string, i int) int {
	paren := strings.IndexByte(text[i:min(i+18, len(text))], '(')
	if paren < 0 || strings.ContainsAny(text[i+1:i+paren], "\n\\ )") {
		return skipQuoted(text, i)
	}
	closing := ")" + text[i+1:i+paren] + `"`
	end := strings.Index(text[i+paren:], closing)
	if end < 0 {
		return len(text) - 1
	}
	return i + paren + end + len(closing)
}

// skipComment returns the end of the comment at i, or i when there is none. The
// newline that ends a // comment is not part of it.
func skipComment(text string, i int) int {
	n := len(text) - 1
	switch text[i+1] {
	case '*':
		end := strings.Index(text[i+2:], "*/")
		if end < 0 {
			return n
		}
		return i + 2 + end + 2
	case '/':
		for {
			nl := strings.IndexByte(text[i:], '\n')
			if nl < 0 {
				return n
			}
			i += nl
			if !continued(text, i) {
				return i
			}
			i++
		}
	}
	return i
}

// continued reports whether the newline at nl is spliced away by a backslash.
func continued(text string, nl int) bool {
	if nl > 0 && text[nl-1] == '\r' {
		nl--
	}
	return nl > 0 && text[nl-1] == '\\'
}
