package macro

import (
	"slices"
	"strings"
)

// Definitions returns the texts of a macro's #define directives, each with all its
// lines; there are several when #if arms differ.
type Definitions func(macro string) []string

// MintedBy returns the names that a call declares as the macro's own definitions
// have it. It is for macros that no family knows, or only one that is Weak: those
// guess that DEFINE_XYZ(a, b) makes a. Known is false when the definitions declare
// nothing that can be told.
func (t *Table) MintedBy(defs Definitions, file, macro string, args []string) (names []Name, known bool) {
	r := reader{table: t, defs: defs, file: file}
	minted := r.minted(macro)
	for _, m := range minted {
		text, ok := m.tmpl.fill(args)
		if !ok {
			continue
		}
		n := Name{Name: text, Label: "macro:" + macro, Role: m.role, Rank: rankGenerator}
		if m.role == Declare {
			n.Rank = rankDeclarer
		}
		// A prototype and then the function: the function counts.
		i := slices.IndexFunc(names, func(o Name) bool { return o.Name == n.Name })
		switch {
		case i < 0:
			names = append(names, n)
		case n.Role == Define:
			names[i] = n
		}
	}
	return names, len(minted) > 0
}

// reader reads definitions, and those of the macros that they use.
type reader struct {
	table *Table
	defs  Definitions
	file  string
	open  []string // the macros being read, each inside the one before
}

// maxNesting bounds how deep macros are followed into each other.
const maxNesting = 6

func (r *reader) minted(macro string) (all []mint) {
	if len(r.open) == maxNesting || slices.Contains(r.open, macro) {
		return nil
	}
	r.open = append(r.open, macro)
	defer func() { r.open = r.open[:len(r.open)-1] }()
	for _, text := range r.defs(macro) {
		if d, ok := parseDefine(text); ok && d.name == macro {
			d.reader = r
			all = append(all, d.declarations()...)
		}
	}
	return all
}

// definition is a macro being read.
type definition struct {
	name   string
	params []string
	body   []unit
	minted []mint
	reader *reader
}

type mint struct {
	tmpl template
	role Role
}

// unit is a token of the body. Tokens that are pasted together are one unit: with
// the parameter name, a_##name##_b is the template a_{1}_b.
type unit struct {
	text   string
	word   bool
	params bool // text is a template, with at least one parameter
}

// parseDefine reads "#define NAME(params) body".
func parseDefine(text string) (*definition, bool) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\\\r\n", " "), "\\\n", " ")
	text, ok := strings.CutPrefix(strings.TrimLeft(text, " \t"), "#")
	if !ok {
		return nil, false
	}
	text, ok = strings.CutPrefix(strings.TrimLeft(text, " \t"), "define")
	if !ok || text == strings.TrimLeft(text, " \t") {
		return nil, false
	}
	text = strings.TrimLeft(text, " \t")
	open, shut := strings.IndexByte(text, '('), strings.IndexByte(text, ')')
	if open < 1 || shut < open || !isName(text[:open]) {
		return nil, false
	}
	d := &definition{name: text[:open]}
	for p := range strings.SplitSeq(text[open+1:shut], ",") {
		d.params = append(d.params, strings.TrimSpace(p))
	}
	body, _, _ := strings.Cut(text[shut+1:], "\n")
	d.body = d.units(body)
	return d, len(d.params) <= 9
}

// units cuts the body into tokens and pastes them.
func (d *definition) units(body string) (units []unit) {
	paste := false
	for i := 0; i < len(body); {
		n := lexeme(body[i:])
		text := body[i : i+n]
		i += n
		switch {
		case strings.TrimSpace(text) == "", strings.HasPrefix(text, "//"), strings.HasPrefix(text, "/*"):
			continue
		case text == "##":
			paste = len(units) > 0
			continue
		}
		u := unit{text: text, word: isName(text)}
		if p := slices.Index(d.params, text); p >= 0 {
			u.text, u.params = "{"+string(rune('1'+p))+"}", true
		}
		if last := len(units) - 1; paste && u.word && units[last].word {
			units[last].text += u.text
			units[last].params = units[last].params || u.params
		} else {
			units = append(units, u)
		}
		paste = false
	}
	return units
}

// lexeme is the length of a word, a comment, a string, ## or a single byte.
func lexeme(s string) int {
	n := 0
	for n < len(s) && isWord(s[n]) {
		n++
	}
	if n > 0 {
		return n
	}
	if strings.HasPrefix(s, "##") {
		return 2
	}
	return literalLength(s)
}

// declarations reads the body as declarations at file scope.
func (d *definition) declarations() []mint {
	for rest := d.body; len(rest) > 0; {
		rest = d.declaration(rest)
	}
	return d.minted
}

// declaration reads one declaration, or one call of another macro, and returns
// what follows. The name that is declared is the first word made of parameters
// that a type stands before and that is not the type itself.
func (d *definition) declaration(units []unit) (rest []unit) {
	h := head{role: Define}
	for i := 0; i < len(units); i++ {
		u, after := units[i], units[i+1:]
		switch {
		case u.text == ";":
			if h.function {
				h.role = Declare // a prototype
			}
			d.mint(h.name, h.role)
			return after
		case u.text == "=":
			d.mint(h.name, h.role)
			return skipInitializer(after)
		case u.text == "{" && !h.isType():
			d.mint(h.name, h.role)
			return units[i+inBrackets(units[i:]):]
		case u.text == "{":
			if h.tag == "enum" {
				d.enumerators(after)
			}
			i += inBrackets(units[i:]) - 1 // a variable of this type may follow
		case u.text == "(" || u.text == "[":
			if h.name.text == "" && isPointer(after) && len(after) > 1 && after[1].params {
				h.name = after[1] // type (*name)(…)
			}
			i += inBrackets(units[i:]) - 1
		case u.word && h.name.text == "" && h.isCall(u, after):
			return d.call(u.text, after, h.role)
		case u.word && h.name.text == "":
			if h.word(u, after) {
				i++ // the tag of a struct
				if len(after) > 1 && after[1].text == "{" {
					d.mint(after[0], Define)
				}
			}
		}
	}
	d.mint(h.name, h.role) // the head of a function that the call goes on with
	return nil
}

// head is what a declaration says before its name, and the name.
type head struct {
	role     Role
	typed    bool   // a type stood there
	tag      string // struct, union or enum
	name     unit
	function bool // the name is a function's
}

// isType: a brace that comes now holds the members of a type.
func (h *head) isType() bool { return h.tag != "" && h.name.text == "" }

// isCall: the word begins a call of another macro.
func (h *head) isCall(u unit, after []unit) bool {
	return !h.typed && !u.params && !isTypeof(u.text) && len(after) > 0 && after[0].text == "(" && !isPointer(after[1:])
}

// word takes in a word before the name, or the name. It reports whether the next
// word is the tag of a struct.
func (h *head) word(u unit, after []unit) (tagFollows bool) {
	var next unit
	if len(after) > 0 {
		next = after[0]
	}
	switch {
	case u.text == "extern":
		h.role = Declare
	case u.text == "struct" || u.text == "union" || u.text == "enum":
		h.typed, h.tag = true, u.text
		return next.word
	case h.typed && u.params && next.text != "*" && (!next.word || isSpecifier(next.text)):
		h.name, h.function = u, next.text == "("
	case !isSpecifier(u.text):
		h.typed = true
	}
	return false
}

// enumerators takes in the names of an enum's body, which ends at its brace.
func (d *definition) enumerators(body []unit) {
	for i, u := range body {
		if u.text == "}" {
			return
		}
		if i == 0 || body[i-1].text == "," {
			d.mint(u, Define)
		}
	}
}

func (d *definition) mint(u unit, role Role) {
	if !u.params {
		return
	}
	if tmpl, err := parseTemplate(u.text); err == nil {
		d.minted = append(d.minted, mint{tmpl, role})
	}
}

// call takes in what another macro mints and returns what follows the call.
func (d *definition) call(macro string, units []unit, role Role) (rest []unit) {
	end := inBrackets(units)
	words := wordArguments(units[1:end])
	for _, m := range d.reader.mintedOrKnown(macro) {
		if text, ok := m.tmpl.replace(words); ok {
			if m.role == Declare {
				role = Declare
			}
			d.mint(unit{text: text, word: true, params: strings.Contains(text, "{")}, role)
		}
	}
	if rest = units[end:]; len(rest) > 0 && rest[0].text == "=" {
		return skipInitializer(rest[1:])
	}
	return rest
}

// wordArguments cuts the arguments of a call, with its closing parenthesis, at
// their commas. One that is more than a word is empty.
func wordArguments(args []unit) (words []string) {
	depth, start := 0, 0
	for i, u := range args {
		if depth == 0 && (u.text == "," || i == len(args)-1) {
			word := ""
			if i == start+1 && args[start].word {
				word = args[start].text
			}
			words = append(words, word)
			start = i + 1
		}
		depth += nesting(u)
	}
	return words
}

// mintedOrKnown prefers what the table knows to what a definition says, but not
// what it only guesses.
func (r *reader) mintedOrKnown(macro string) (all []mint) {
	for _, f := range r.table.responsible(r.file, macro) {
		if f.weak {
			return r.minted(macro)
		}
		if f.role == Define || f.role == Declare {
			for _, t := range f.templates {
				all = append(all, mint{t, f.role})
			}
		}
	}
	if all == nil {
		return r.minted(macro)
	}
	return all
}

// replace puts words, which may hold placeholders themselves, into a template.
func (t template) replace(words []string) (string, bool) {
	var text strings.Builder
	for i, arg := range t.args {
		if arg > len(words) || words[arg-1] == "" {
			return "", false
		}
		text.WriteString(t.literals[i])
		text.WriteString(words[arg-1])
	}
	text.WriteString(t.literals[len(t.args)])
	return text.String(), true
}

// nesting is 1 for an opening bracket, -1 for a closing one.
func nesting(u unit) int {
	switch u.text {
	case "(", "[", "{":
		return 1
	case ")", "]", "}":
		return -1
	}
	return 0
}

// inBrackets is the number of units from an opening bracket to the one that closes
// it, both included.
func inBrackets(units []unit) int {
	depth := 0
	for i, u := range units {
		if depth += nesting(u); depth <= 0 {
			return i + 1
		}
	}
	return len(units)
}

// skipInitializer returns what follows the semicolon that ends an initializer.
func skipInitializer(units []unit) []unit {
	depth := 0
	for i, u := range units {
		if depth += nesting(u); depth <= 0 && u.text == ";" {
			return units[i+1:]
		}
	}
	return nil
}

// isSpecifier tells words that are no type: storage classes, qualifiers and the
// attribute macros, whose names begin with underscores as a rule.
func isSpecifier(word string) bool {
	switch word {
	case "static", "const", "volatile", "inline", "noinline", "asmlinkage", "typedef", "notrace", "noinstr", "register", "extern":
		return true
	}
	return strings.HasPrefix(word, "__") && !strings.Contains(word, "{") && !isKernelType(word) && !isTypeof(word)
}

// isKernelType: __u8 and __le32 are types in spite of their underscores.
func isKernelType(word string) bool {
	last := word[len(word)-1]
	return '0' <= last && last <= '9'
}

// isPointer: what follows a parenthesis makes "int (*" of a type, not a call.
func isPointer(units []unit) bool { return len(units) > 0 && units[0].text == "*" }

func isTypeof(word string) bool {
	return word == "typeof" || word == "__typeof__" || word == "__typeof" || word == "typeof_member"
}
