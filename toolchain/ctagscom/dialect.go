package ctagscom

import (
	"path"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// dialect says how the names of one language are read from the tokens of a lexer.
type dialect struct {
	// lexer is the name of the lexer; "" is the name by which ctags knows the
	// language.
	lexer string
	// inner holds the ASCII characters that belong to a name besides letters,
	// digits and underscores. Any other one separates two names.
	inner string
	// sigil begins names that count with and without it.
	sigil string
	// quote stands before a keyword that is used as a name.
	quote string
	// takes says whether a token is a name, given the one before it in the same
	// line; nil: every token of the class Name is.
	takes func(t chroma.Token, last string) bool
	// prepare changes the text before the lexer sees it, line for line; nil: not
	// at all.
	prepare func(string) string
	// scan reads the names without a lexer; nil: with one.
	scan func(text string, found func(name string, line int))
	// commands makes the words in a shell's command position names.
	commands bool
}

const lispNames = "-+*/<>=!?&%$"

// dialects holds the languages of ctags whose lexer has another name, or whose
// lexer has slips that would cost names. The others are looked up by name.
var dialects = map[string]dialect{
	"Clojure":    {inner: "-+*<>=!?&%$"}, // a slash comes after the namespace
	"Cobol":      {inner: "-"},
	"Elixir":     {inner: "?!"},
	"EmacsLisp":  {inner: lispNames},
	"Go":         {scan: scanGo},
	"Haskell":    {inner: "'"},
	"JavaScript": {inner: "$#", sigil: "#", takes: scriptName},
	"Julia":      {inner: "!"},
	"Lisp":       {lexer: "Common Lisp", inner: lispNames},
	"OCaml":      {inner: "'"},
	"ObjectiveC": {lexer: "Objective-C"},
	"Perl6":      {lexer: "Raku", inner: "-'"},
	"PowerShell": {inner: "-"},
	"Protobuf":   {lexer: "Protocol Buffer"},
	"Python":     {scan: scanPython},
	"Raku":       {inner: "-'"},
	"Ruby":       {inner: "?!@$", takes: rubySymbol, prepare: maskHeredocs},
	"Rust":       {quote: "r#", takes: rustName},
	"SML":        {lexer: "Standard ML", inner: "'"},
	"Scheme":     {inner: lispNames},
	"Sh":         {lexer: "Bash", inner: "-", commands: true},
	"Pascal":     {lexer: "ObjectPascal", takes: plainWord},
	"Basic":      {lexer: "QBasic"},
	"TypeScript": {inner: "$#", sigil: "#", takes: typeScriptName},
	"Vim":        {lexer: "VimL"},
	"CUDA":       {lexer: "C++"},
}

func isName(t chroma.Token) bool { return t.Type.InCategory(chroma.Name) }

// plainWord takes the words that the lexer has no class for.
func plainWord(t chroma.Token, _ string) bool {
	return isName(t) || (t.Type == chroma.Text || t.Type == chroma.GenericEmph) && strings.IndexFunc(t.Value, isNameRune) == 0
}

// rubySymbol takes :symbols, by which Ruby names the methods of callbacks and
// accessors. The keys of `key: value` are none.
func rubySymbol(t chroma.Token, _ string) bool {
	return isName(t) || t.Type == chroma.LiteralStringSymbol && strings.HasPrefix(t.Value, ":")
}

// rustName leaves lifetimes out and takes the traits that are derived.
func rustName(t chroma.Token, _ string) bool {
	if t.Type == chroma.CommentPreproc {
		return strings.HasPrefix(t.Value, "derive(")
	}
	return isName(t) && t.Type != chroma.NameAttribute
}

var scriptDeclarers = words("const function let return var")

// scriptName takes the sign of private names, of which the lexer does not know, and
// leaves out the `as` and `from` of imports.
func scriptName(t chroma.Token, last string) bool {
	if t.Value == "as" || t.Value == "from" {
		end := strings.TrimRightFunc(last, func(r rune) bool { return r == '}' || r == '*' || isNameRune(r) })
		return isName(t) && (end == last || scriptDeclarers[last])
	}
	return isName(t) || t.Type == chroma.Error && t.Value == "#" || t.Type == chroma.KeywordReserved && oldReserved[t.Value]
}

// oldReserved are the words that only old editions of JavaScript reserve: there
// are functions of these names.
var oldReserved = words(`abstract boolean byte char double final float goto int long native package short synchronized
	throws transient volatile`)

// typeScriptWords are no names, whatever the lexer calls them.
var typeScriptWords = words(`abstract any async bigint boolean false keyof never new null number object string symbol this true
	typeof undefined unknown void`)

// typeScriptName takes the types after a colon and the decorators, which the
// lexer calls keywords.
func typeScriptName(t chroma.Token, last string) bool {
	switch {
	case typeScriptWords[t.Value]:
		return false
	case t.Type == chroma.KeywordDeclaration:
		return strings.HasPrefix(t.Value, "@")
	}
	return t.Type == chroma.KeywordType || scriptName(t, last)
}

// languages finds the language of a file as gtags does: the first entry of the
// langmap that has a pattern for it.
type languages struct {
	bySuffix map[string]string
	globs    []glob
}

type glob struct{ pattern, language string }

// parseLangmap reads entries "Language:.ext1.ext2(glob)" separated by commas.
func parseLangmap(langmap string) languages {
	l := languages{bySuffix: make(map[string]string)}
	for entry := range strings.SplitSeq(langmap, ",") {
		name, patterns, _ := strings.Cut(entry, ":")
		for patterns != "" {
			end := strings.IndexAny(patterns[1:], ".(") + 1
			if patterns[0] == '(' {
				end = strings.IndexByte(patterns, ')') + 1
			}
			if end <= 0 {
				end = len(patterns)
			}
			l.add(name, patterns[:end])
			patterns = patterns[end:]
		}
	}
	return l
}

func (l *languages) add(name, pattern string) {
	if inner, ok := strings.CutPrefix(pattern, "("); ok {
		l.globs = append(l.globs, glob{strings.TrimSuffix(inner, ")"), name})
	} else if _, taken := l.bySuffix[pattern]; !taken {
		l.bySuffix[pattern] = name
	}
}

// of returns the language of a file, or "".
func (l *languages) of(file string) string {
	if name, ok := l.bySuffix[path.Ext(file)]; ok {
		return name
	}
	for _, g := range l.globs {
		if ok, _ := path.Match(g.pattern, path.Base(file)); ok {
			return g.language
		}
	}
	return ""
}

// find returns the lexer of the language that ctags knows by the name, or nil.
func (d dialect) find(language string) chroma.Lexer {
	name := d.lexer
	if name == "" {
		name = language
	}
	// The registry's own Get falls back on file patterns: too generous here.
	for _, l := range lexers.GlobalLexerRegistry.Lexers {
		if strings.EqualFold(l.Config().Name, name) {
			return l
		}
	}
	return nil
}
