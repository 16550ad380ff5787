package ctagscom

import (
	"strings"

	"github.com/alecthomas/chroma/v2"
)

// shell follows the tokens of a shell script to tell commands from their
// arguments, which the lexer does not: both are words.
type shell struct {
	command bool // the next word is a command
	value   bool // inside the right side of an assignment
	names   bool // the arguments of this command are names of variables
	head    bool // between `case` and `in`
	pattern bool // before the parenthesis of a branch of `case`
	semi    bool // the last token was a semicolon
}

// carriers run the command that follows them; declarers take names of variables.
var (
	carriers  = words("builtin command coproc do elif else env eval exec if nice nohup sudo then time timeout trap until while xargs !")
	declarers = words("declare export local read readonly typeset unset")
)

func words(list string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

// isName says whether the token is a name: a variable, a builtin, or a word in
// command position.
func (s *shell) isName(t chroma.Token) bool {
	word := strings.TrimSpace(t.Value)
	semi := s.semi
	s.semi = false
	switch {
	case t.Type.InCategory(chroma.Comment):
	case t.Type.InCategory(chroma.Literal):
		if t.Type != chroma.LiteralStringEscape {
			s.argument()
		}
	case t.Type == chroma.NameVariable:
		if strings.HasPrefix(word, "$") {
			s.argument()
		}
		return true
	case t.Type == chroma.NameBuiltin, t.Type == chroma.Keyword && word != ")" && word != "":
		return s.builtin(word) && t.Type == chroma.NameBuiltin
	case word == "":
		s.blank(t.Value)
	case t.Type == chroma.Text:
		return s.word(word)
	default:
		s.operator(word, semi)
	}
	return isName(t)
}

func (s *shell) argument() {
	if !s.value {
		s.command = false
	}
}

// blank ends an assignment and, with a newline, a command.
func (s *shell) blank(text string) {
	if text != "" {
		s.value = false
	}
	if strings.Contains(text, "\n") {
		s.command, s.names = !s.pattern, false
	}
}

func (s *shell) builtin(word string) bool {
	command := s.command
	switch word {
	case "case":
		s.head, s.command = true, false
	case "esac":
		s.pattern, s.command = false, false
	case "$(", "$((", "`":
		s.command, s.value = true, false
	default:
		s.command = carriers[word]
	}
	s.names = declarers[word]
	return command || !s.pattern
}

// word says whether a plain word is a name.
func (s *shell) word(word string) bool {
	switch {
	case s.head && word == "in":
		s.head, s.pattern = false, true
		return false
	case s.value, s.pattern:
		return false
	case s.names:
		return true
	case !s.command, strings.HasPrefix(word, "-"):
		return false
	}
	s.command = carriers[word]
	return !strings.ContainsAny(word, "/.~*?[")
}

func (s *shell) operator(op string, semi bool) {
	switch op {
	case "=", "+=":
		s.value = true
	case ";":
		s.semi = true
		s.pattern = s.pattern || semi // `;;` ends a branch
		s.command, s.value, s.names = !s.pattern, false, false
	case ")":
		s.command, s.pattern, s.names = s.pattern, false, false
	case "&&", "||", "|", "&", "{", "(", "!":
		s.command, s.value, s.names = !s.pattern, false, false
	default:
		s.argument()
	}
}
