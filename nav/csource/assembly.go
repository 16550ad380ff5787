package csource

import "strings"

// assembly reads the entry points of a preprocessed assembly file: names that a
// macro of linkage.h or its older kin introduces, labels that the file makes
// global, and .macro definitions. Comment characters differ from machine to
// machine, so only the first word of a statement counts.
func (p *parser) assembly() {
	global := p.globals()
	open := -1 // the entry that ends where the next one starts, at the latest
	closeAt := func(pos uint32) {
		if open >= 0 {
			p.extend(&p.symbols[open], pos)
			open = -1
		}
	}
	for i := int32(0); i < int32(len(p.toks)); i++ {
		if p.toks[i].kind >= kIf || !p.statement(i) {
			continue
		}
		word := p.word(i)
		name, last := i, i+1
		if i+2 < int32(len(p.toks)) && p.toks[i+1].kind == '(' {
			name, last = i+2, i+2
		}
		if p.toks[i].kind == '.' && p.follows(i, "macro") && p.follows(i+1, "") {
			closeAt(p.endOf(max(i-1, 0)))
			p.asmMacro(i)
			continue
		}
		if p.toks[i].kind != kIdent || p.toks[name].kind != kIdent {
			continue
		}
		if p.text[p.toks[name].pos-min(1, p.toks[name].pos)] == '\\' {
			continue // a parameter of the .macro around it
		}
		switch {
		case name != i && endMacro(word):
			if p.ended(p.word(name), p.toks[name].end+1) >= 0 {
				open = -1 // what follows, such as NOKPROBE(name), is outside
			}
		case name != i && entryMacro(word), name == i && last < int32(len(p.toks)) && p.toks[last].kind == ':' && global[word]:
			closeAt(p.endOf(max(i-1, 0)))
			p.emit(p.symbol(Label, name, i, last, context{}))
			open = len(p.symbols) - 1
		}
	}
	closeAt(uint32(len(p.text) - 1))
}

func (p *parser) extend(s *Symbol, to uint32) {
	s.to = max(s.to, min(to, uint32(len(p.text)-1)))
	s.End = p.lineNear(s.to - 1)
}

// ended extends an entry to its END macro, past the labels inside it, and returns
// the entry's index, or -1 when there is none.
func (p *parser) ended(name string, to uint32) int {
	for k := len(p.symbols) - 1; k >= max(0, len(p.symbols)-64); k-- {
		if s := &p.symbols[k]; s.Name == name && s.Kind == Label {
			p.extend(s, to)
			return k
		}
	}
	return -1
}

// statement reports whether the token at i begins a line.
func (p *parser) statement(i int32) bool {
	if i == 0 {
		return true
	}
	newline, _ := p.newline(i-1, i)
	return newline || p.toks[i-1].kind >= kIf
}

// follows reports whether the token behind i is the word w, any for "".
func (p *parser) follows(i int32, w string) bool {
	return i+1 < int32(len(p.toks)) && p.toks[i+1].kind == kIdent && (w == "" || p.word(i+1) == w)
}

func (p *parser) asmMacro(i int32) {
	s := p.symbol(Macro, i+2, i, i+2, context{})
	for j := max(i+3, p.noEndm); j+1 < int32(len(p.toks)); j++ {
		if p.toks[j].kind == '.' && p.follows(j, "endm") {
			s.to = p.toks[j+1].end
			p.emit(s)
			return
		}
	}
	p.noEndm = int32(len(p.toks))
	p.emit(s)
}

// globals returns the names that .globl, .global and .weak list.
func (p *parser) globals() map[string]bool {
	names := map[string]bool{}
	for i := int32(0); i < int32(len(p.toks)); i++ {
		if p.toks[i].kind != '.' || !p.statement(i) || !(p.follows(i, "globl") || p.follows(i, "global") || p.follows(i, "weak")) {
			continue
		}
		for i += 2; i < int32(len(p.toks)) && !p.statement(i) && (p.toks[i].kind == kIdent || p.toks[i].kind == ','); i++ {
			names[p.word(i)] = true
		}
		i--
	}
	return names
}

// entryMacro holds the macros whose argument is an entry point.
func entryMacro(w string) bool {
	switch w {
	case "ENTRY", "WEAK", "GLOBAL", "_GLOBAL", "_GLOBAL_TOC", "_ENTRY", "LEAF", "NESTED", "FEXPORT", "EXPORT", "ENTRY_CFI",
		"GLOBAL_ENTRY", "GLOBAL_LEAF_ENTRY", "PIENTRY", "ENTRY_NP", "ASM_ENTRY":
		return true
	}
	return strings.HasPrefix(w, "SYM_") && (strings.Contains(w, "_START") || strings.Contains(w, "_ALIAS") || strings.Contains(w, "_LABEL") || strings.HasPrefix(w, "SYM_DATA")) &&
		!strings.Contains(w, "_END")
}

func endMacro(w string) bool {
	switch w {
	case "END", "ENDPROC", "ENDPIPROC", "ENDPROC_CFI":
		return true
	}
	return strings.HasPrefix(w, "SYM_") && strings.Contains(w, "_END")
}
