package ctagscom

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

var pythonKeywords = words(`False None True and as assert async await break class continue def del elif else except
	finally for from global if import in is lambda nonlocal not or pass raise return try while with yield`)

// pythonStrings are the prefixes of strings.
var pythonStrings = words("b br rb r u f fr rf t tr rt")

// pythonScan reads the names of a Python file in one pass: by the lexer that takes
// some 50 times as long.
type pythonScan struct {
	text  string
	at    int
	line  int
	depth int // of strings inside fields of strings
	found func(name string, line int)
}

func scanPython(text string, found func(name string, line int)) {
	s := pythonScan{text: text, line: 1, found: found}
	for s.at < len(text) {
		s.code(false)
		s.at++ // past a brace that closes nothing
	}
}

// maxStringDepth bounds the recursion: Python itself allows a few levels.
const maxStringDepth = 50

// code reads names up to the end of the text; in a field of a string, up to the
// character that ends its expression: a closing brace, a colon, or an exclamation
// mark.
func (s *pythonScan) code(field bool) {
	begins := !field // only blanks so far in this line
	dotted := false  // names with dots count as a whole too: after import and @
	for brackets := 0; s.at < len(s.text); {
		c := s.text[s.at]
		switch {
		case c == '\n':
			s.line++
			begins, dotted = !field, false
			s.at++
			continue
		case c == ' ' || c == '\t' || c == '\f':
			s.at++
			continue
		case c == '#':
			s.comment()
			continue
		case c == '\'' || c == '"':
			s.quoted("")
		case c >= '0' && c <= '9':
			s.skip(func(r rune) bool { return r == '.' || isPythonName(r) })
		case isPythonName(s.rune()):
			dotted = s.word(begins, dotted)
		case field && brackets == 0 && (c == '}' || c == ':' || c == '!' && !strings.HasPrefix(s.text[s.at:], "!=")):
			return
		case c == '@' && begins:
			dotted = true
			s.at++
		case strings.IndexByte("([{", c) >= 0:
			brackets++
			s.at++
		case strings.IndexByte(")]}", c) >= 0:
			brackets--
			s.at++
		default:
			s.at++
		}
		begins = false
	}
}

// rune is the character at the current place.
func (s *pythonScan) rune() rune {
	r, _ := utf8.DecodeRuneInString(s.text[s.at:])
	return r
}

// skip goes on to the first character that is not in the set, and returns the text
// up to there.
func (s *pythonScan) skip(in func(rune) bool) string {
	rest := s.text[s.at:]
	end := strings.IndexFunc(rest, func(r rune) bool { return !in(r) })
	if end < 0 {
		end = len(rest)
	}
	s.at += end
	return rest[:end]
}

func (s *pythonScan) comment() { s.skip(func(r rune) bool { return r != '\n' }) }

func isPythonName(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// word reads a name, a keyword, or the prefix of a string, and says whether the rest
// of the line holds dotted names.
func (s *pythonScan) word(begins, dotted bool) bool {
	from := s.at
	name := s.skip(isPythonName)
	switch {
	case s.at < len(s.text) && (s.text[s.at] == '\'' || s.text[s.at] == '"') && pythonStrings[strings.ToLower(name)]:
		s.quoted(strings.ToLower(name))
		return dotted
	case pythonKeywords[name]:
		return dotted || begins && (name == "import" || name == "from")
	case begins && (name == "match" || name == "case") && s.opensBlock():
		return false
	}
	s.found(name, s.line)
	for dotted && strings.HasPrefix(s.text[s.at:], ".") {
		s.at++
		if part := s.skip(isPythonName); part != "" {
			s.found(part, s.line)
		}
	}
	if whole := s.text[from:s.at]; whole != name {
		s.found(strings.TrimSuffix(whole, "."), s.line)
	}
	return dotted
}

// opensBlock says whether a word that is a keyword only before a block is one: a
// subject follows it, and a colon ends the line.
func (s *pythonScan) opensBlock() bool {
	rest, _, _ := strings.Cut(s.text[s.at:], "\n")
	subject := strings.TrimLeft(rest, " \t")
	return subject != "" && strings.IndexByte("=.,:)]}", subject[0]) < 0 && strings.Contains(subject, ":")
}

// quoted reads a string with the prefix, and the expressions in its fields.
func (s *pythonScan) quoted(prefix string) {
	end := s.text[s.at : s.at+1]
	if strings.HasPrefix(s.text[s.at:], strings.Repeat(end, 3)) {
		end = strings.Repeat(end, 3)
	}
	s.at += len(end)
	fields := strings.ContainsAny(prefix, "ft") && s.depth < maxStringDepth
	s.depth++
	defer func() { s.depth-- }()
	for s.at < len(s.text) {
		switch rest := s.text[s.at:]; {
		case strings.HasPrefix(rest, end):
			s.at += len(end)
			return
		case rest[0] == '\n' && len(end) == 1:
			return // it is not closed
		case rest[0] == '\n':
			s.line++
		case fields && strings.HasPrefix(rest, `\N{`) && !strings.Contains(prefix, "r"):
			s.skip(func(r rune) bool { return r != '}' && r != '\n' })
			continue
		case rest[0] == '\\' && len(rest) > 1 && rest[1] != '\n':
			s.at++
		case rest[0] == '\\' && len(rest) > 1:
			s.line++
			s.at++
		case fields && strings.HasPrefix(rest, "{{"):
			s.at++
		case fields && rest[0] == '{':
			s.at++
			s.code(true)
			continue
		}
		s.at++
	}
}
