package nav

import (
	"path"
	"slices"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// calledName is one call expression in a body.
type calledName struct {
	name string
	line int
	how  manner
}

// bareCalls are the extensions of languages that call without parentheses: there
// every name in a body may be a call.
var bareCalls = []string{".sh", ".bash", ".ksh", ".zsh", ".rb", ".pl", ".pm", ".lua", ".tcl", ".ex", ".exs"}

// lexedCalls finds the calls in the lines of a file of any language that has a
// lexer: a name before an opening parenthesis that does not begin a definition.
// maybe holds the names that are calls only if the tree defines a function of
// that name.
func lexedCalls(src *source, def Symbol) (sure, maybe []calledName) {
	lexer := lexers.Match(path.Base(src.path))
	if lexer == nil {
		return nil, nil
	}
	var text strings.Builder
	for n := def.Start; n <= def.End; n++ {
		text.WriteString(src.line(n))
		text.WriteByte('\n')
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, text.String())
	if err != nil {
		return nil, nil
	}
	bare := slices.Contains(bareCalls, strings.ToLower(path.Ext(src.path)))
	scan := tokenScan{line: def.Start, own: def.Name, ownLine: def.Line}
	for token := tokens(); token != chroma.EOF; token = tokens() {
		scan.add(token)
	}
	scan.flush("")
	for _, c := range scan.names {
		switch {
		case c.called && !c.word:
			sure = append(sure, c.calledName)
		case c.called || bare:
			maybe = append(maybe, c.calledName)
		}
	}
	return sure, maybe
}

// tokenScan collects the names of a token stream and sees which are followed by
// a parenthesis.
type tokenScan struct {
	line    int
	own     string // the name being defined, which its own head does not call
	ownLine int    // where it stands; 0 once it was seen
	names   []scannedName
	pending *scannedName
	defines bool // the last word was one that introduces a definition
}

type scannedName struct {
	calledName
	called bool
	word   bool // reserved for a keyword by the language or by its past
}

// definingWords come before a name that is defined, not called.
var definingWords = []string{"def", "func", "function", "fn", "class", "sub", "proc", "fun", "struct", "interface", "impl", "new"}

func (s *tokenScan) add(t chroma.Token) {
	switch {
	case t.Type.InCategory(chroma.Comment), t.Type.InCategory(chroma.Literal):
		s.flush("x")
	case t.Type == chroma.NameBuiltin, t.Type == chroma.NameBuiltinPseudo, t.Type == chroma.KeywordType:
		s.flush("x")
		s.defines = false
	case t.Type == chroma.KeywordReserved && !slices.Contains(definingWords, strings.TrimSpace(t.Value)):
		s.flush("x")
		if name := strings.TrimSpace(t.Value); !s.defines && isName(name) {
			s.pending = &scannedName{calledName: calledName{name: name, line: s.line}, word: true}
		}
		s.defines = false
	case t.Type.InCategory(chroma.Keyword):
		s.flush("x")
		s.defines = slices.Contains(definingWords, strings.TrimSpace(t.Value)) && strings.TrimSpace(t.Value) != "new"
	case t.Type.InCategory(chroma.Name), t.Type == chroma.Text && isName(strings.TrimSpace(t.Value)):
		s.flush("x")
		name := strings.TrimSpace(t.Value)
		if i := strings.LastIndexAny(name, ".:"); i >= 0 {
			name = name[i+1:]
		}
		if name == s.own && s.line == s.ownLine {
			s.ownLine = 0
		} else if !s.defines && isName(name) {
			s.pending = &scannedName{calledName: calledName{name: name, line: s.line}}
		}
		s.defines = false
	case strings.TrimSpace(t.Value) != "":
		s.flush(strings.TrimSpace(t.Value))
		s.defines = false
	}
	s.line += strings.Count(t.Value, "\n")
}

// flush decides about the last name by what follows it.
func (s *tokenScan) flush(next string) {
	if s.pending == nil {
		return
	}
	s.pending.called = strings.HasPrefix(next, "(")
	s.names = append(s.names, *s.pending)
	s.pending = nil
}

func isName(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	for i := range len(s) {
		if !isWord(s[i]) && s[i] != '?' && s[i] != '!' {
			return false
		}
	}
	return true
}
