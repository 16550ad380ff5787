package nav

import (
	"context"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
	"github.com/gtagsmcp/gtagsmcp/nav/ctags"
)

// snippetLimit is the longest part of a source line that an answer quotes, in
// characters.
const snippetLimit = 200

// Symbol is one place where a name stands in the source. Empty strings mean
// that the fact is not known.
type Symbol struct {
	Name      string
	Path      string // relative to the root, with slashes
	Line, Col int    // counted from 1; Col 0 when the line does not hold the name
	Kind      string
	Typeref   string
	Scope     string
	Signature string
	// Guards is the stack of #if conditions around the line, outermost first:
	// empty when it was looked at and is unconditional, nil when not known.
	Guards  []string
	Snippet string

	// Start and End are the first and last line of what the symbol names, from
	// the attributes before it to the closing brace; 0 when not known.
	Start, End int
	// Declares marks what only promises a definition elsewhere: a prototype, an
	// extern variable, a forward declaration.
	Declares bool
	// Dead marks text that no configuration compiles (#if 0).
	Dead bool
	// Static marks a function that other files cannot call by its name.
	Static bool
	// Family names the macros that mint the symbol, "macro:SYSCALL_DEFINE"; ""
	// for a name that stands in the source as it is.
	Family string
	// declarer marks a name that its macro declares, or defines if nobody else does.
	declarer bool
	// guessed is the macro invocation of a name that the macro is only guessed
	// to mint.
	guessed *csource.Symbol
	// local marks a type defined inside a function, and its members.
	local bool
}

// Conditions returns the #if stack as people write it, outermost first: a macro
// that must be defined stands for itself. Nil when the stack is not known.
func (s *Symbol) Conditions() []string {
	if s.Guards == nil {
		return nil
	}
	shown := make([]string, len(s.Guards))
	for i, g := range s.Guards {
		shown[i] = csource.Display(g)
	}
	return shown
}

// contains reports whether a line belongs to what the symbol names.
func (s *Symbol) contains(line int) bool { return s.Start <= line && line <= s.End }

// qualified is the name with what it belongs to: V::init, A.run.
func (s *Symbol) qualified() string {
	if s.Scope == "" {
		return s.Name
	}
	switch path.Ext(s.Path) {
	case ".go":
		if _, receiver, ok := strings.Cut(s.Scope, "."); ok {
			return receiver + "." + s.Name
		}
		return s.Name // the scope is the package
	case ".py", ".java", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".rb", ".kt", ".cs", ".lua", ".scala", ".swift":
		return s.Scope + "." + s.Name
	}
	return s.Scope + "::" + s.Name
}

// callable reports whether the symbol has a body that runs.
func (s *Symbol) callable() bool {
	switch s.Kind {
	case "function", "method", "func", "macro", "label", "constructor", "subroutine", "singletonMethod", "procedure", "generator", "getter", "setter":
		return true
	}
	return s.Family != "" && s.Kind == "function"
}

// symbols returns everything that a file defines or declares, in line order:
// by our own scan for C-like files, by Universal Ctags for the others. ok is
// false when the file's language cannot be parsed here. The error is Temporary
// when the parser is on its way.
func (v *View) symbols(ctx context.Context, src *source) (found []Symbol, ok bool, err error) {
	if f := v.facts(src.path); f != nil {
		return scanSymbols(src, f), true, nil
	}
	service, err := v.w.tagger(ctx)
	if err != nil || service == nil {
		return nil, false, err
	}
	tags, err := service.Tags(ctx, src.path, src.content)
	if err != nil {
		return nil, false, err
	}
	for _, tag := range tags {
		if tag.Defines() || tag.Declares() {
			found = append(found, fromTag(src, tag))
		}
	}
	return found, true, nil
}

func scanSymbols(src *source, f facts) (found []Symbol) {
	for _, s := range f.symbols() {
		found = append(found, fromScan(src, f, s))
	}
	return found
}

func fromScan(src *source, f facts, s csource.Symbol) Symbol {
	text := src.line(s.Line)
	return Symbol{
		Name: s.Name, Path: src.path, Line: s.Line, Col: characters(text, s.Col),
		Kind: s.Kind.String(), Typeref: typeref(s.Type), Scope: s.Scope, Signature: s.Signature,
		Guards: f.guards(s.Line), Snippet: snippet(text),
		Start: s.Start, End: s.End, Declares: !s.Kind.Definition(), Dead: s.Dead,
		Static: isStatic(src, s), local: s.Local,
	}
}

// typeref writes a C type as Universal Ctags does: "struct:page *" or
// "typename:int".
func typeref(declared string) string {
	if declared == "" {
		return ""
	}
	for _, word := range []string{"struct", "union", "enum", "class"} {
		if rest, ok := strings.CutPrefix(declared, word+" "); ok {
			return word + ":" + rest
		}
	}
	return "typename:" + declared
}

// kindOf is what ctags calls a symbol, but that it calls the methods of Python
// members of their class, as it does data elsewhere.
func kindOf(tag ctags.Tag) string {
	if tag.Language == "Python" && tag.Kind == "member" {
		return "method"
	}
	return tag.Kind
}

func fromTag(src *source, tag ctags.Tag) Symbol {
	text := src.line(tag.Line)
	end := tag.End
	if end == 0 {
		end = tag.Line
	}
	return Symbol{
		Name: tag.Name, Path: src.path, Line: tag.Line, Col: column(text, tag.Name),
		Kind: kindOf(tag), Typeref: tag.Typeref, Scope: tag.Scope, Signature: tag.Signature,
		Snippet: snippet(text),
		Start:   tag.Line, End: end, Declares: tag.Declares(),
	}
}

// at makes the record of a name on one line of one file. A file that cannot be
// read any more costs the record its text, not its place.
func (v *View) at(name, path string, line int) Symbol {
	s := Symbol{Name: name, Path: path, Line: line}
	src, err := v.w.files.read(path)
	if err != nil {
		return s
	}
	text := src.line(line)
	s.Col, s.Snippet = column(text, name), snippet(text)
	if f := v.facts(path); f != nil {
		s.Guards, s.Dead = f.guards(line), f.dead(line)
	}
	return s
}

// snippet is a source line as an answer quotes it.
func snippet(line string) string {
	line = strings.TrimSpace(line)
	if len(line) <= snippetLimit {
		return strings.ToValidUTF8(line, "\uFFFD")
	}
	runes := 0
	for i := range line {
		if runes == snippetLimit {
			return strings.ToValidUTF8(line[:i], "\uFFFD") + "…"
		}
		runes++
	}
	return strings.ToValidUTF8(line, "\uFFFD")
}

// column finds name as a whole word and returns where it begins, counted in
// characters from 1, or 0.
func column(line, name string) int {
	i := wordIndex(line, name)
	if i < 0 {
		return 0
	}
	return characters(line, i+1)
}

// wordIndex is the offset of name as a whole word, or -1.
func wordIndex(line, name string) int {
	for from := 0; ; {
		i := strings.Index(line[from:], name)
		if i < 0 || name == "" {
			return -1
		}
		i += from
		end := i + len(name)
		if (i == 0 || !isWord(line[i-1]) || !isWord(name[0])) &&
			(end == len(line) || !isWord(line[end]) || !isWord(name[len(name)-1])) {
			return i
		}
		from = i + 1
	}
}

// characters turns a column in bytes into one in characters.
func characters(line string, col int) int {
	if col < 1 || col > len(line)+1 {
		return col
	}
	return utf8.RuneCountInString(line[:col-1]) + 1
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}
