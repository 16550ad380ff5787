package csource

import (
	"path"
	"slices"
	"sort"
	"strings"
)

// Lang is the language that decides how a file is read.
type Lang uint8

const (
	C Lang = iota
	CPlusPlus
	// Header is a .h file: C, unless its text shows that it is C++.
	Header
	// Assembly is a .S file, which the preprocessor reads before the assembler.
	Assembly
)

// LangOf tells the language from a file's name. ok is false for names that this
// package has nothing to say about.
func LangOf(name string) (lang Lang, ok bool) {
	switch path.Ext(name) {
	case ".c":
		return C, true
	case ".h":
		return Header, true
	case ".cc", ".cpp", ".cxx", ".c++", ".C", ".CPP", ".hh", ".hpp", ".hxx", ".h++", ".H", ".inl", ".ipp", ".tcc", ".ixx", ".cppm", ".cu", ".cuh":
		return CPlusPlus, true
	case ".S", ".s":
		return Assembly, true
	}
	return C, false
}

// source is a text with the places of its lines.
type source struct {
	text  string // with one NUL appended
	lines []uint32
}

// A File is what one scan found.
type File struct {
	source
	lang    Lang
	toks    []token
	arms    []arm
	macros  []macro
	changes []change
	symbols []Symbol
	blocks  []block
}

// A Scanner scans files one after the other in the same buffers. Its zero value
// is ready. It is not safe for concurrent use.
type Scanner struct {
	File
	open  int32 // innermost open arm, -1 for none
	guard guardState
	line  int // where lineAt last was
	// fragment is set for text that holds no directives.
	fragment bool
	match    matcher
	parse    parser
}

// Scan reads one file.
func Scan(text []byte, lang Lang) *File {
	return new(Scanner).Scan(text, lang)
}

// Scan reads one file, at most its first GiB. The result is valid until the
// next call.
func (s *Scanner) Scan(text []byte, lang Lang) *File {
	s.tokens(text, lang)
	s.symbols = s.symbols[:0]
	s.match.Scanner, s.parse.Scanner = s, s
	s.parse.items, s.parse.frames, s.parse.line = s.parse.items[:0], s.parse.frames[:0], 0
	s.parse.noEndm = 0
	if s.lang == Assembly {
		s.parse.assembly()
	} else {
		s.match.match()
		s.parse.declarations(0, int32(len(s.toks)), context{})
	}
	s.parse.macroSymbols()
	s.nest()
	s.markDead()
	return &s.File
}

// tokens reads the text up to its tokens and directives.
func (s *Scanner) tokens(text []byte, lang Lang) {
	s.text = withNUL(text[:min(len(text), maxText)])
	s.lang = lang
	if lang == Header {
		s.lang = headerLang(s.text)
	}
	s.open, s.guard, s.line = -1, guardState{arm: -1}, 0
	s.toks, s.arms, s.macros, s.changes = s.toks[:0], s.arms[:0], s.macros[:0], s.changes[:0]
	s.splitLines()
	s.lex()
	s.settleGuard()
}

// macroSymbols adds the #defines.
func (p *parser) macroSymbols() {
	p.line = 0
	for _, m := range p.macros {
		s := Symbol{Name: p.text[m.name:m.nameEnd], Kind: Macro, from: m.start, to: m.end, name: m.name}
		if m.pclose > 0 {
			s.Signature = p.squeeze(m.params, m.pclose+1)
		}
		s.Line = p.lineNear(m.name)
		s.Col = int(m.name-p.lines[s.Line-1]) + 1
		s.Start, s.End = p.lineNear(m.start), p.lineNear(max(m.end, m.start+1)-1)
		p.symbols = append(p.symbols, s)
	}
}

// markDead marks the symbols under #if 0.
func (f *File) markDead() {
	if !slices.ContainsFunc(f.arms, func(a arm) bool { return a.op == opIf }) {
		return
	}
	for k := range f.symbols {
		f.symbols[k].Dead = f.Dead(f.symbols[k].Line)
	}
}

// Symbols returns everything that the file defines or declares, in file order.
func (f *File) Symbols() []Symbol { return f.symbols }

// maxText keeps positions and token indices within 32 bits.
const maxText = 1 << 30

func withNUL(text []byte) string {
	var b strings.Builder
	b.Grow(len(text) + 1)
	b.Write(text)
	b.WriteByte(0)
	return b.String()
}

// headerLang looks for what no C header has.
func headerLang(text string) Lang {
	for _, sign := range []string{"\nnamespace ", "\nclass ", "\ntemplate<", "\ntemplate <", "\npublic:"} {
		if strings.Contains(text, sign) {
			return CPlusPlus
		}
	}
	return C
}

func (s *Scanner) splitLines() {
	lines := append(s.lines[:0], 0)
	text := s.text[:len(s.text)-1]
	for i := 0; ; {
		nl := strings.IndexByte(text[i:], '\n')
		if nl < 0 {
			break
		}
		i += nl + 1
		lines = append(lines, uint32(i))
	}
	s.lines = lines
}

// lineAt is LineOf for positions that only grow within one scan.
func (s *Scanner) lineAt(pos uint32) int32 {
	for s.line+1 < len(s.lines) && s.lines[s.line+1] <= pos {
		s.line++
	}
	return int32(s.line + 1)
}

// lineOf returns the line, counted from 1, of a position.
func (s *source) lineOf(pos uint32) int {
	return sort.Search(len(s.lines), func(i int) bool { return s.lines[i] > pos })
}

// col returns the column, counted from 1 in bytes, of a position.
func (s *source) col(pos uint32) int {
	return int(pos-s.lines[s.lineOf(pos)-1]) + 1
}

// Lines returns the number of lines; a final line without newline counts.
func (s *source) Lines() int {
	if n := len(s.lines); int(s.lines[n-1]) < len(s.text)-1 {
		return n
	}
	return len(s.lines) - 1
}
