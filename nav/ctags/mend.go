package ctags

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Some declarations are unknown to some versions of ctags: constants of Rust,
// records of Java and their methods, and in TypeScript overloaded methods and
// whatever follows a class that declares members in its constructor's parameters. They are found by the
// words that a line of code begins with, where no function's body is open.

// declaration is how one kind of declaration begins.
type declaration struct {
	begins *regexp.Regexp // its last group is the name
	kind   string
	holds  bool   // its block holds declarations
	within string // only right in the block of this kind; "" anywhere
	loose  bool   // it need not have a block
}

// declarations of a language come in the order in which they are tried.
var declarations = map[string][]declaration{
	"Rust": {
		{begins: regexp.MustCompile(`^(?:pub(?:\([^)]*\))?\s+)?const\s+(\w+)\s*:`), kind: "constant", loose: true},
		{begins: regexp.MustCompile(`^(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+)?(?:mod|impl|trait)\b()`), holds: true},
	},
	"Java": {
		{begins: regexp.MustCompile(`^` + javaModifiers + `record\s+(\w+)\s*[<(]`), kind: "record", holds: true},
		{begins: regexp.MustCompile(`^` + javaModifiers + `(?:class|interface|enum)\s+()\w`), holds: true},
		{begins: regexp.MustCompile(`^` + javaModifiers + `(?:<[^()]*>\s*)?[\w.]+(?:<[^()]*>)?(?:\[\])*\s+(\w+)\s*\([^()]*\)\s*(?:throws\s[\w.,\s]+)?\{`), kind: "method", within: "record"},
	},
	"TypeScript": {
		{begins: regexp.MustCompile(`^` + tsModifiers + `(?:namespace|module)\s+(\w+)`), kind: "namespace", holds: true},
		{begins: regexp.MustCompile(`^` + tsModifiers + `(?:async\s+)?function\b\s*\*?\s*(\w+)`), kind: "function"},
		{begins: regexp.MustCompile(`^` + tsModifiers + `(?:abstract\s+)?class\s+(\w+)`), kind: "class", holds: true},
		{begins: regexp.MustCompile(`^(?:(?:public|protected|private|static|override|async)\s+)*(\w+)\s*(?:<[^()]*>)?\([^{};]*\)\s*(?::[^;{}=]+)?\{`), kind: "method", within: "class"},
		{begins: regexp.MustCompile(`^` + tsModifiers + `interface\s+(\w+)`), kind: "interface"},
		{begins: regexp.MustCompile(`^` + tsModifiers + `(?:const\s+)?enum\s+(\w+)`), kind: "enum"},
		{begins: regexp.MustCompile(`^` + tsModifiers + `type\s+(\w+)\s*[=<]`), kind: "alias", loose: true},
		{begins: regexp.MustCompile(`^` + tsModifiers + `const\s+(\w+)`), kind: "constant", loose: true},
		{begins: regexp.MustCompile(`^` + tsModifiers + `(?:let|var)\s+(\w+)`), kind: "variable", loose: true},
	},
}

const (
	javaModifiers = `(?:(?:public|protected|private|static|final|abstract|sealed|non-sealed|strictfp|synchronized|default)\s+)*`
	tsModifiers   = `(?:(?:export|default|declare)\s+)*`
)

// mended are the languages whose files are read even if ctags finds nothing in
// them, and how the names of such files end.
var mended = map[string]string{"Rust": ".rs", "Java": ".java", "TypeScript": ".ts"}

// mend adds the declarations that ctags left out and corrects what it says of
// those that it misread. read is the text as the block reader sees it.
func mend(tags []Tag, language string, read *blocks) []Tag {
	found := read.declared(declarations[language])
	added := false
	for _, d := range found {
		i := slices.IndexFunc(tags, func(t Tag) bool { return t.Name == d.Name && t.Line == d.Line })
		switch {
		case i < 0:
			d.Language, added = language, true
			tags = append(tags, d)
		case tags[i].Kind != d.Kind && (language == "TypeScript" || d.Kind == "record"):
			tags[i].Kind, tags[i].End = d.Kind, d.End
		}
	}
	if added {
		slices.SortStableFunc(tags, func(a, b Tag) int { return cmp.Compare(a.Line, b.Line) })
	}
	for i := range tags {
		if t := &tags[i]; added && t.Scope == "" && t.Language == language || strayed(tags, t) {
			t.Scope, t.ScopeKind = scopeOf(tags, t)
		}
	}
	switch language {
	case "Go":
		goReceivers(tags, read)
	case "JavaScript":
		tags = slices.DeleteFunc(tags, read.shorthand)
		callFunctions(tags, read)
	case "TypeScript":
		callFunctions(tags, read)
	}
	return tags
}

// declared finds the declarations of a text that stand in no function's body.
func (b *blocks) declared(known []declaration) (found []Tag) {
	var open []*declaration // of each open brace what its block belongs to; nil: a body
	var next *declaration
	marks := b.marks
	for _, at := range b.firsts {
		for ; len(marks) > 0 && marks[0].at < at; marks = marks[1:] {
			switch marks[0].sign {
			case '{':
				open, next = append(open, next), nil
			case '}':
				open = open[:max(len(open)-1, 0)]
			case ';':
				next = nil
			}
		}
		if slices.Contains(open, nil) {
			continue
		}
		for i := range known {
			d := &known[i]
			m := d.begins.FindSubmatchIndex(b.content[at:min(at+maxDeclaration, len(b.content))])
			if m == nil || d.within != "" && (len(open) == 0 || open[len(open)-1].kind != d.within) {
				continue
			}
			if d.holds {
				next = d
			}
			if name := m[len(m)-2:]; name[0] < name[1] {
				found = append(found, b.tag(d, at+name[0], at+name[1]))
			}
			break
		}
	}
	return found
}

// maxDeclaration is how far a declaration is looked at.
const maxDeclaration = 1000

func (b *blocks) tag(d *declaration, from, to int) Tag {
	line, exact := slices.BinarySearch(b.lines, from)
	if !exact {
		line-- // the line that holds the place
	}
	t := Tag{Name: string(b.content[from:to]), Kind: d.kind, Line: line + 1}
	t.End = b.end(&t, d.loose)
	return t
}

// strayed reports whether ctags gave a tag a scope that ended above it.
func strayed(tags []Tag, t *Tag) bool {
	if t.Language != "TypeScript" || t.Scope == "" {
		return false
	}
	name := t.Scope[strings.LastIndexByte(t.Scope, '.')+1:]
	i := slices.IndexFunc(tags, func(s Tag) bool { return s.Name == name && s.Kind == t.ScopeKind })
	return i >= 0 && tags[i].End > 0 && (t.Line < tags[i].Line || t.Line > tags[i].End)
}

// scopeOf is the innermost block around a tag's line.
func scopeOf(tags []Tag, t *Tag) (scope, kind string) {
	var best *Tag
	for i := range tags {
		s := &tags[i]
		switch s.Kind {
		case "namespace", "module", "class", "interface", "enum", "record", "implementation", "struct":
			if s.Line < t.Line && t.Line <= s.End && (best == nil || s.Line >= best.Line) {
				best = s
			}
		}
	}
	switch {
	case best == nil:
		return "", ""
	case best.Scope == "":
		return best.Name, best.Kind
	case best.Language == "Rust":
		return best.Scope + "::" + best.Name, best.Kind
	}
	return best.Scope + "." + best.Name, best.Kind
}

// bound tells a function that is bound to a name from other values by the text
// behind the name.
var bound = regexp.MustCompile(`^\s*(?::(?:[^=;]|=>)+)?=\s*(?:async\s*)?(?:function\b|\w+\s*=>|(?:<[^>]*>)?\((?:[^()]|\([^()]*\))*\)\s*(?::(?:[^=;{]|=>)+)?=>)`)

// callFunctions gives the name of a function the kind of one, however the
// function is bound to it.
func callFunctions(tags []Tag, b *blocks) {
	for i := range tags {
		t := &tags[i]
		if strings.Contains(scriptLoose, " "+t.Kind+" ") && t.Line <= len(b.lines) {
			from := b.lines[t.Line-1]
			text := b.content[from:min(from+maxDeclaration, len(b.content))]
			if at := bytes.Index(text, []byte(t.Name)); at >= 0 && bound.Match(text[at+len(t.Name):]) {
				t.Kind = "function"
			}
		}
	}
}

// shorthand reports whether a tag is a property {name}, which only mentions what
// is defined elsewhere.
func (b *blocks) shorthand(t Tag) bool {
	if t.Kind != "field" && t.Kind != "property" || t.Line > len(b.lines) {
		return false
	}
	line, _, _ := bytes.Cut(b.content[b.lines[t.Line-1]:], []byte("\n"))
	at := bytes.Index(line, []byte(t.Name))
	if at < 0 {
		return false
	}
	rest := bytes.TrimSpace(line[at+len(t.Name):])
	return len(rest) > 0 && (rest[0] == ',' || rest[0] == '}')
}

// receiver is a Go method's, with type parameters, which ctags 5.9 takes for
// the type's name.
var receiver = regexp.MustCompile(`^func\s*\(\s*(?:\w+\s+)?\*?\s*(\w+)\s*\[[^\]]*\]\s*\)`)

func goReceivers(tags []Tag, b *blocks) {
	for i := range tags {
		t := &tags[i]
		if t.ScopeKind != "unknown" || t.Kind != "func" || t.Line > len(b.lines) {
			continue
		}
		if m := receiver.FindSubmatch(b.content[b.lines[t.Line-1]:]); m != nil {
			pkg, _, _ := strings.Cut(t.Scope, ".")
			t.Scope, t.ScopeKind = pkg+"."+string(m[1]), "struct"
		}
	}
}
