package kconfig

import (
	"path"
	"regexp"
	"strings"
)

// symbol is one option, with all that the files say about it.
type symbol struct {
	name     string
	kind     kind
	debug    bool // for debugging only
	arch     bool // of the architecture itself
	choice   *choice
	depends  *expr // what any of its declarations requires
	blocks   int
	prompts  []*expr // when it can be set
	defaults []value
	selects  []target
	implies  []target
}

type kind int8

const (
	boolean kind = iota
	tristateKind
	other // a number or a text
)

// value is a default and the condition under which it counts.
type value struct{ is, when *expr }

// target is an option that another one switches on, under a condition.
type target struct {
	name string
	when *expr
}

// choice is a set of options of which one is on.
type choice struct {
	prompts  []*expr
	defaults []value
	members  []*symbol
	optional bool
}

// parser reads a Kconfig file and those that it includes.
type parser struct {
	read    func(path string) ([]byte, error)
	arch    string
	symbols map[string]*symbol
	choices []*choice
	macros  map[string]string

	scopes  []scope
	current entry
	attrs   pending
	files   int
	err     error
}

// scope is an open menu, if or choice.
type scope struct {
	end     string // the word that closes it
	depends *expr
	choice  *choice
}

// entry is what attributes are about: an option, a choice or a menu.
type entry struct {
	symbol  *symbol
	choice  *choice
	menu    bool
	depends *expr // of this declaration, with what it stands in
	file    fileFacts
}

// fileFacts is what the place of a file says about the options in it.
type fileFacts struct{ debug, arch bool }

// maxFiles bounds how many files are included; Linux 6.1 has 1,704.
const maxFiles = 50_000

// include reads one file. One that cannot be read has no options.
func (p *parser) include(name string, from fileFacts, depth int) {
	if p.files++; p.files > maxFiles || depth > maxNesting {
		return
	}
	content, err := p.read(name)
	if err != nil {
		if depth == 0 {
			p.err = err
		}
		return
	}
	facts := fileFacts{
		debug: from.debug || strings.HasSuffix(path.Base(name), ".debug"),
		arch:  strings.HasPrefix(name, "arch/"),
	}
	open := len(p.scopes)
	help := -1 // the indentation of a help text; 0: not known yet
	for text := string(content); text != ""; {
		var line string
		line, text = logicalLine(text)
		if help >= 0 {
			if inHelp(line, &help) {
				continue
			}
			help = -1
		}
		if p.line(line, facts, depth) {
			help = 0
		}
	}
	p.finish()
	p.scopes = p.scopes[:min(open, len(p.scopes))]
}

// logicalLine takes a line that a backslash may continue.
func logicalLine(text string) (line, rest string) {
	line, rest, _ = strings.Cut(text, "\n")
	for strings.HasSuffix(line, "\\") && rest != "" {
		var more string
		more, rest, _ = strings.Cut(rest, "\n")
		line = line[:len(line)-1] + " " + more
	}
	return line, rest
}

// inHelp reports whether a line belongs to a help text, which ends where a line
// is indented less than its first one.
func inHelp(line string, indent *int) bool {
	trimmed := strings.TrimLeft(line, " \t")
	if strings.TrimRight(trimmed, "\r") == "" {
		return true
	}
	width := 0
	for _, c := range line[:len(line)-len(trimmed)] {
		width++
		if c == '\t' {
			width = (width + 7) / 8 * 8
		}
	}
	if *indent == 0 {
		*indent = width
		return width > 0
	}
	return width >= *indent
}

// line reads one line. help: a help text follows.
func (p *parser) line(line string, facts fileFacts, depth int) (help bool) {
	trimmed := strings.TrimLeft(line, " \t")
	if trimmed == "" || trimmed[0] == '#' {
		return false
	}
	if name, text, ok := strings.Cut(trimmed, "="); ok && isAssignment(name) {
		p.macros[strings.TrimRight(name, " \t:+?")] = strings.TrimSpace(text)
		return false
	}
	if trimmed[0] == '$' {
		return false // a macro that is called for its effect
	}
	l := &lexer{rest: trimmed, macro: p.macro}
	word, _, _ := l.next()
	switch word {
	case "config", "menuconfig":
		p.finish()
		name, _, _ := l.next()
		p.current = entry{symbol: p.symbol(name), depends: p.depends(), file: facts}
	case "choice":
		p.finish()
		c := &choice{}
		p.choices = append(p.choices, c)
		p.scopes = append(p.scopes, scope{end: "endchoice", choice: c, depends: p.depends()})
		p.current = entry{choice: c, depends: p.depends(), file: facts}
	case "menu":
		p.finish()
		p.scopes = append(p.scopes, scope{end: "endmenu", depends: p.depends()})
		p.current = entry{menu: true}
	case "if":
		p.finish()
		p.scopes = append(p.scopes, scope{end: "endif", depends: both(p.depends(), l.expr())})
	case "endchoice", "endmenu", "endif":
		p.finish()
		if n := len(p.scopes); n > 0 && p.scopes[n-1].end == word {
			p.scopes = p.scopes[:n-1]
		}
	case "comment", "mainmenu":
		p.finish()
	case "source", "rsource", "osource", "orsource":
		p.finish()
		name, _, _ := l.next()
		p.include(path.Clean(name), facts, depth+1)
	case "help", "---help---":
		return true
	default:
		p.attribute(word, l)
	}
	return false
}

func isAssignment(name string) bool {
	name = strings.TrimRight(name, " \t:+?")
	return name != "" && !strings.ContainsAny(name, " \t\"'$()&|!<>")
}

func (p *parser) depends() *expr {
	if len(p.scopes) == 0 {
		return nil
	}
	return p.scopes[len(p.scopes)-1].depends
}

func (p *parser) symbol(name string) *symbol {
	s := p.symbols[name]
	if s == nil {
		s = &symbol{name: name}
		p.symbols[name] = s
	}
	return s
}

// condition reads `if EXPR`, if it is there, and joins what the entry requires.
func (p *parser) condition(l *lexer) *expr {
	if l.accept("if") {
		return l.expr()
	}
	return nil
}

// pending are the attributes of the entry that is being read. What it depends on
// may follow them and yet holds for all.
type pending struct {
	prompts  []*expr
	defaults []value
	selects  []target
	implies  []target
}

func (p *parser) attribute(word string, l *lexer) {
	e := &p.current
	if e.symbol == nil && e.choice == nil && !e.menu {
		return
	}
	switch word {
	case "depends":
		l.accept("on")
		e.depends = both(e.depends, l.expr())
		if e.menu {
			p.scopes[len(p.scopes)-1].depends = both(p.depends(), e.depends)
			e.depends = nil
		}
	case "bool", "tristate", "int", "hex", "string", "prompt":
		p.setKind(word)
		if _, _, ok := l.next(); ok {
			p.attrs.prompts = append(p.attrs.prompts, p.condition(l))
		}
	case "def_bool", "def_tristate":
		p.setKind(word[len("def_"):])
		p.attrs.defaults = append(p.attrs.defaults, value{l.expr(), p.condition(l)})
	case "default":
		p.attrs.defaults = append(p.attrs.defaults, value{l.expr(), p.condition(l)})
	case "select", "imply":
		name, _, _ := l.next()
		t := target{name, p.condition(l)}
		if word == "select" {
			p.attrs.selects = append(p.attrs.selects, t)
		} else {
			p.attrs.implies = append(p.attrs.implies, t)
		}
	case "optional":
		if e.choice != nil {
			e.choice.optional = true
		}
	}
}

func (p *parser) setKind(word string) {
	s := p.current.symbol
	switch {
	case s == nil || word == "prompt":
	case word == "bool":
		s.kind = boolean
	case word == "tristate":
		s.kind = tristateKind
	default:
		s.kind = other
	}
}

// finish ends the entry that is being read.
func (p *parser) finish() {
	e, a := p.current, p.attrs
	p.current, p.attrs = entry{}, pending{}
	for i := range a.prompts {
		a.prompts[i] = both(e.depends, a.prompts[i])
	}
	for i := range a.defaults {
		a.defaults[i].when = both(e.depends, a.defaults[i].when)
	}
	if c := e.choice; c != nil {
		c.prompts, c.defaults = append(c.prompts, a.prompts...), append(c.defaults, a.defaults...)
		p.scopes[len(p.scopes)-1].depends = e.depends
	}
	s := e.symbol
	if s == nil {
		return
	}
	if s.blocks++; s.blocks == 1 {
		s.depends, s.debug, s.arch = e.depends, e.file.debug || debugName.MatchString(s.name), e.file.arch
	} else {
		s.depends = either(s.depends, e.depends)
		s.arch = s.arch && e.file.arch
	}
	s.prompts, s.defaults = append(s.prompts, a.prompts...), append(s.defaults, a.defaults...)
	s.selects, s.implies = append(s.selects, a.selects...), append(s.implies, a.implies...)
	if c := p.openChoice(); c != nil && s.choice == nil {
		s.choice = c
		c.members = append(c.members, s)
	}
}

// openChoice is the choice that an option belongs to which is declared now.
func (p *parser) openChoice() *choice {
	for i := len(p.scopes) - 1; i >= 0 && p.scopes[i].end != "endmenu"; i-- {
		if p.scopes[i].choice != nil {
			return p.scopes[i].choice
		}
	}
	return nil
}

var debugName = regexp.MustCompile(`DEBUG(_|$)`)

// either is a || b, where nil holds always.
func either(a, b *expr) *expr {
	if a == nil || b == nil {
		return nil
	}
	return &expr{op: or, a: a, b: b}
}

// macro is the value of $(body). Tests of the tools succeed: they are GCC's.
func (p *parser) macro(body string) string {
	name, args, call := strings.Cut(body, ",")
	lower := strings.ToLower(args)
	switch {
	case name == "ARCH" || name == "SRCARCH" || name == "SUBARCH":
		return p.arch
	case name == "cc-version":
		return gccVersion
	case name == "ld-version":
		return ldVersion
	case name == "as-version":
		return ldVersion
	case name == "cc-name":
		return "GCC"
	case name == "as-name" || name == "ld-name":
		return "GNU"
	case name == "shell":
		return ""
	case name == "failure" || strings.Contains(lower, "clang\"") || strings.HasSuffix(lower, "= clang") || strings.HasSuffix(lower, "= lld") || strings.HasSuffix(lower, "= llvm") || strings.Contains(lower, "-qi llvm"):
		return "n"
	case call:
		return "y"
	}
	return p.macros[name]
}

// What a Debian of the year 2023 has.
const (
	gccVersion = "120200"
	ldVersion  = "24000"
)
