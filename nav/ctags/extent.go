package ctags

import (
	"bytes"
	"slices"
	"strings"
)

// Older versions of ctags know no ends in several languages (5.9: JavaScript,
// TypeScript, Rust, shell, Lua, and Go functions with type parameters). There the
// block that follows a tag's name gives the end: the text is read once for its
// brackets, or in Lua its keywords, outside of strings and comments.

// syntax is what tells code from strings and comments in a language, and blocks.
type syntax struct {
	line          string // begins a comment up to the end of the line
	open, shut    string // a comment
	nested        bool   // comments nest
	quotes        string // begin and end strings of one line, in which \ escapes
	long          string // begin and end strings of many lines
	words         bool   // blocks go from function, if, do, repeat to end or until
	kinds         string // of tags that have a block, in blanks
	loose         string // of tags that may have one
	braceTypes    bool   // a result type may have braces
	regexp, shell bool   // a / or a # needs a look at what is before it
	rust          bool   // lifetimes, and raw strings r#"…"#
	text3         string // begins and ends strings of many lines, and is tried first
}

var (
	cKinds      = " function method class getter setter generator interface enum namespace func struct "
	scriptLoose = " constant variable alias field property "
	script      = syntax{line: "//", open: "/*", shut: "*/", quotes: `"'`, long: "`", regexp: true, kinds: cKinds, loose: scriptLoose}
	syntaxes    = map[string]syntax{
		"JavaScript": script,
		"TypeScript": {line: "//", open: "/*", shut: "*/", quotes: `"'`, long: "`", regexp: true, kinds: cKinds, loose: scriptLoose, braceTypes: true},
		"Go":         {line: "//", open: "/*", shut: "*/", quotes: `"'`, long: "`", kinds: cKinds, loose: " var const ", braceTypes: true},
		"Java":       {line: "//", open: "/*", shut: "*/", quotes: `"'`, text3: `"""`, kinds: cKinds + "record "},
		"Rust":       {line: "//", open: "/*", shut: "*/", nested: true, long: `"`, rust: true, kinds: cKinds + "module implementation macro "},
		"Sh":         {line: "#", long: `"'`, shell: true, kinds: " function "},
		"Lua":        {line: "--", quotes: `"'`, words: true, kinds: " function "},
	}
)

// complete gives an end to the tags that lack one and have a block, and mends
// what ctags says of some languages.
func complete(tags []Tag, path string, content []byte) []Tag {
	read := fillEnds(tags, content)
	for language, ext := range mended {
		if strings.HasSuffix(path, ext) && read[language] == nil {
			read[language] = syntaxes[language].read(content)
		}
	}
	for language, b := range read {
		tags = mend(tags, language, b)
	}
	return tags
}

// fillEnds returns what it read of the languages that it met.
func fillEnds(tags []Tag, content []byte) map[string]*blocks {
	read := map[string]*blocks{} // a file may hold two languages
	for i := range tags {
		t := &tags[i]
		s, known := syntaxes[t.Language]
		kind := " " + t.Kind + " "
		loose := strings.Contains(s.loose, kind)
		if t.End != 0 || !known || !t.Defines() || !loose && !strings.Contains(s.kinds, kind) {
			continue
		}
		if read[t.Language] == nil {
			read[t.Language] = s.read(content)
		}
		t.End = read[t.Language].end(t, loose)
	}
	return read
}

// mark is a place where a block begins or ends, or a statement ends.
type mark struct {
	at, line int
	sign     byte // one of ( [ { ) ] } ; and > for an arrow =>
	partner  int  // of a {, the mark of its }; 0 when it has none
}

type blocks struct {
	syntax
	content []byte
	lines   []int // where each line begins
	marks   []mark
	firsts  []int // where lines of code begin, if with a word
}

// maxHead is how many marks may stand before a tag's block, as in a parameter list.
const maxHead = 1000

// end is the last line of the block that follows the tag's name: 0 when none does
// before the statement ends. A loose tag, one that need not have a block, has it
// only where the block begins on a line that the statement has reached already.
func (b *blocks) end(t *Tag, loose bool) int {
	first, line, depth := b.after(t), t.Line, 0
	for i := first; i < min(len(b.marks), first+maxHead) && depth >= 0; i++ {
		m := b.marks[i]
		if loose && depth == 0 && m.line > line {
			return 0
		}
		line = m.line
		switch m.sign {
		case '(', '[':
			depth++
		case ')', ']', '}':
			depth--
		case '{':
			if depth == 0 && loose && m.partner > 0 && b.inType(m.at) {
				i = m.partner
				line = b.marks[i].line
			} else if depth == 0 {
				return b.closing(i)
			} else {
				depth++
			}
		case ';':
			if depth == 0 && !loose {
				return m.line
			}
			if depth == 0 {
				return 0
			}
		case '>':
			// An arrow function whose body is an expression has no block, but an
			// arrow may also stand in the type of one that has.
			if depth == 0 && !loose && !b.blockFollows(m.at) {
				return 0
			}
		}
	}
	return 0
}

// inType reports whether a brace belongs to a type: it stands behind a character
// that a value's would not.
func (b *blocks) inType(at int) bool {
	before := bytes.TrimRight(b.content[:at], " \t\r\n")
	return len(before) > 0 && strings.IndexByte("<:|&", before[len(before)-1]) >= 0
}

// after is the first mark behind the tag's name; keywords stand before the name.
func (b *blocks) after(t *Tag) int {
	if t.Line > len(b.lines) {
		return len(b.marks)
	}
	from := b.lines[t.Line-1]
	line, _, _ := bytes.Cut(b.content[from:], []byte("\n"))
	if i := bytes.Index(line, []byte(t.Name)); i >= 0 && !b.words {
		from += i
	}
	i, _ := slices.BinarySearchFunc(b.marks, from, func(m mark, at int) int { return m.at - at })
	return i
}

// closing is the line of the brace that closes the one at mark i, or 0. In
// languages where a result type may have braces, the body is the last block.
func (b *blocks) closing(i int) int {
	j := b.marks[i].partner
	if j == 0 {
		return 0
	}
	if b.braceTypes && j+1 < len(b.marks) && b.marks[j+1].sign == '{' && b.blockFollows(b.marks[j].at) {
		return b.closing(j + 1)
	}
	return b.marks[j].line
}

// pair finds the partners of the opening braces.
func (b *blocks) pair() {
	var open []int
	for i, m := range b.marks {
		switch {
		case m.sign == '{':
			open = append(open, i)
		case m.sign == '}' && len(open) > 0:
			b.marks[open[len(open)-1]].partner = i
			open = open[:len(open)-1]
		}
	}
}

func (b *blocks) blockFollows(at int) bool {
	return bytes.HasPrefix(bytes.TrimLeft(b.content[at+1:], " \t\r\n"), []byte("{"))
}

// read finds the marks of a text.
func (s syntax) read(content []byte) *blocks {
	r := &blockReader{syntax: s, text: content, blocks: blocks{syntax: s, content: content, lines: []int{0}}}
	for i, c := range content {
		if c == '\n' {
			r.blocks.lines = append(r.blocks.lines, i+1)
		}
	}
	r.code(false)
	r.blocks.pair()
	return &r.blocks
}

// blockReader walks over a text.
type blockReader struct {
	syntax
	text   []byte
	at     int
	before byte // the last character of code, without blanks
	depth  int  // of templates in one another
	lineNo int  // the line of the last mark, from 1
	blocks blocks
}

func (r *blockReader) has(prefix string) bool {
	return prefix != "" && bytes.HasPrefix(r.text[r.at:], []byte(prefix))
}

func (r *blockReader) add(sign byte) {
	for r.lineNo < len(r.blocks.lines) && r.blocks.lines[r.lineNo] <= r.at {
		r.lineNo++
	}
	r.blocks.marks = append(r.blocks.marks, mark{at: r.at, line: r.lineNo, sign: sign})
}

// code reads code, inside a template's ${ } up to its closing brace.
func (r *blockReader) code(template bool) {
	for depth := 0; r.at < len(r.text); {
		c := r.text[r.at]
		switch {
		case r.skipped():
			continue
		case isWord(c):
			r.word()
			continue
		case strings.IndexByte("([{)]};", c) >= 0 && !(r.shell && c != '{' && c != '}') && !r.words:
			if template && c == '}' && depth == 0 {
				return
			}
			if c == '{' {
				depth++
			} else if c == '}' {
				depth--
			}
			r.add(c)
		case c == '>' && r.before == '=':
			r.add('>')
		}
		if c > ' ' {
			r.before = c
		}
		r.at++
	}
}

// word reads a word, which is a mark in a language of keywords.
func (r *blockReader) word() {
	start := r.at
	if r.beginsLine() {
		r.blocks.firsts = append(r.blocks.firsts, start)
	}
	for r.at < len(r.text) && isWord(r.text[r.at]) {
		r.at++
	}
	word := string(r.text[start:r.at])
	if r.words {
		end := r.at
		r.at = start
		switch word {
		case "function", "if", "do", "repeat":
			r.add('{')
		case "end", "until":
			r.add('}')
		}
		r.at = end
	}
	r.before = 'x'
	if r.regexp && (word == "return" || word == "typeof" || word == "case" || word == "in" || word == "of") {
		r.before = ' ' // a / behind it begins a regular expression
	}
}

// beginsLine reports whether only blanks stand before the place on its line.
func (r *blockReader) beginsLine() bool {
	i := r.at
	for i > 0 && (r.text[i-1] == ' ' || r.text[i-1] == '\t') {
		i--
	}
	return i == 0 || r.text[i-1] == '\n'
}

// skipped passes over a comment or a string, if one begins here.
func (r *blockReader) skipped() bool {
	switch c := r.text[r.at]; {
	case r.words && (r.has("--[") || c == '['):
		return r.luaLong()
	case r.has(r.line) && (!r.shell || r.at == 0 || strings.IndexByte(" \t\n;", r.text[r.at-1]) >= 0):
		r.to("\n")
	case r.has(r.open):
		r.comment()
	case r.rust && c == '\'':
		return r.rustQuote()
	case r.rust && c == 'r' && r.before != 'x' && r.rustRaw():
	case r.regexp && c == '/' && strings.IndexByte("(,=:[!&|?{};+-*%~^< \x00", r.before) >= 0:
		r.regularExpression()
	case r.shell && r.has("<<") && !r.has("<<<"):
		r.hereDocument()
	case r.shell && c == '\\':
		r.at = min(r.at+2, len(r.text))
	case r.has(r.text3):
		r.at += len(r.text3)
		r.past(r.text3)
		r.before = 'x'
	case strings.IndexByte(r.quotes, c) >= 0:
		r.quoted(c, "\n")
	case strings.IndexByte(r.long, c) >= 0:
		r.quoted(c, "")
	default:
		return false
	}
	return true
}

// to moves to the next occurrence of the text, or to the end.
func (r *blockReader) to(text string) {
	if i := bytes.Index(r.text[r.at:], []byte(text)); i >= 0 {
		r.at += i
	} else {
		r.at = len(r.text)
	}
}

// past moves behind it.
func (r *blockReader) past(text string) {
	r.to(text)
	r.at = min(r.at+len(text), len(r.text))
}

func (r *blockReader) comment() {
	for depth := 0; r.at < len(r.text); {
		switch {
		case r.has(r.open) && (r.nested || depth == 0):
			depth++
			r.at += len(r.open)
		case r.has(r.shut):
			r.at += len(r.shut)
			if depth--; depth == 0 {
				return
			}
		default:
			r.at++
		}
	}
}

// maxTemplates bounds the recursion over `${`${`.
const maxTemplates = 100

// quoted passes over a string that ends with the quote, or with a line where it
// cannot go on.
func (r *blockReader) quoted(quote byte, stop string) {
	for r.at++; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '\\' && !(r.shell && quote == '\'') && !(quote == '`' && !r.regexp):
			r.at++
		case c == quote:
			r.at++
			r.before = 'x'
			return
		case stop != "" && c == stop[0]:
			return
		case quote == '`' && r.regexp && r.has("${") && r.depth < maxTemplates:
			r.at += 2
			r.depth++
			r.code(true)
			r.depth--
		}
	}
	r.at = min(r.at, len(r.text))
}

func (r *blockReader) regularExpression() {
	class := false
	for r.at++; r.at < len(r.text) && r.text[r.at] != '\n'; r.at++ {
		switch c := r.text[r.at]; {
		case c == '\\':
			r.at++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			r.at++
			r.before = 'x'
			return
		}
	}
	r.at = min(r.at, len(r.text))
}

// rustQuote passes over 'c' and leaves the lifetime 'a.
func (r *blockReader) rustQuote() bool {
	rest := r.text[r.at+1:]
	if len(rest) > 0 && rest[0] != '\\' {
		if i := bytes.IndexByte(rest[:min(len(rest), 6)], '\''); i < 1 || i > 1 && rest[0] < 0x80 {
			return false
		}
	}
	r.quoted('\'', "\n")
	return true
}

// rustRaw passes over r"…" and r##"…"##.
func (r *blockReader) rustRaw() bool {
	n := 1
	for r.at+n < len(r.text) && r.text[r.at+n] == '#' {
		n++
	}
	if r.at+n >= len(r.text) || r.text[r.at+n] != '"' {
		return false
	}
	end := `"` + strings.Repeat("#", n-1)
	r.at += n + 1
	r.past(end)
	return true
}

// hereDocument passes over << WORD and the lines up to WORD.
func (r *blockReader) hereDocument() {
	r.at += 2
	start := r.at
	for start < len(r.text) && strings.IndexByte("-~ \t\"'\\", r.text[start]) >= 0 {
		start++
	}
	end := start
	for end < len(r.text) && isWord(r.text[end]) {
		end++
	}
	word := string(r.text[start:end])
	if word == "" {
		return // arithmetic, or nothing
	}
	r.to("\n")
	for r.at < len(r.text) {
		r.past("\n")
		end := bytes.IndexByte(r.text[r.at:], '\n')
		if end < 0 {
			end = len(r.text) - r.at
		}
		if string(bytes.TrimSpace(r.text[r.at:r.at+end])) == word {
			r.at += end
			return
		}
		r.at += end
	}
}

// luaLong passes over [[…]], [=[…]=] and comments of that form or up to the end of
// the line.
func (r *blockReader) luaLong() bool {
	comment := r.has("--")
	i := r.at
	if comment {
		i += 2
	}
	level := 0
	for i++; i < len(r.text) && r.text[i] == '='; i++ {
		level++
	}
	if i < len(r.text) && r.text[i] == '[' {
		r.at = i
		r.past("]" + strings.Repeat("=", level) + "]")
		return true
	}
	if comment {
		r.to("\n")
	}
	return comment
}
