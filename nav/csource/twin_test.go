package csource

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// twin reads a text the slow way, one character after the other through a state
// machine, and says of every character what it is. The lexer, which skips from
// landmark to landmark, must agree.
type twin struct {
	text  string
	lang  Lang
	i     int
	class []byte // code, comment, quoted, directive or blank, by character
	marks []mark // conditional directives
}

type mark struct {
	pos  int
	kind uint8
}

const (
	isBlank     = ' '
	isCode      = 'c'
	isComment   = '/'
	isQuoted    = '"'
	isDirective = '#'
)

func readSlowly(text string, lang Lang) *twin {
	w := &twin{text: text, lang: lang, class: make([]byte, len(text))}
	if strings.HasPrefix(text, "\ufeff") {
		w.take(3, isBlank)
	}
	fresh := true
	word := "" // the identifier or number that ends at i
	for w.i < len(text) {
		c := w.at(0)
		switch {
		case c == '\n':
			w.take(1, isBlank)
			fresh, word = true, ""
		case c <= ' ' || c == 0x7f || c == '\\':
			w.take(1, isBlank)
			word = ""
		case c == '/' && (w.at(1) == '*' || w.at(1) == '/'):
			w.comment()
			word = ""
		case c == '#' && fresh:
			w.directive()
			fresh = true
		case c == '"' && lang == CPlusPlus && rawPrefix(word) && w.raw():
			fresh, word = false, ""
		case c == '"':
			w.quoted(c)
			fresh, word = false, ""
		case c == '\'' && isNumber(word) && wordChar(w.at(1)):
			w.take(2, isCode)
			word += "'x"
		case c == '\'' && lang == Assembly:
			w.take(1, isBlank)
			word = ""
		case c == '\'':
			w.quoted(c)
			fresh, word = false, ""
		case wordChar(c) || c == '.' && isNumber(word):
			word += string(rune(c))
			w.take(1, isCode)
			fresh = false
		case (c == '+' || c == '-') && isNumber(word) && strings.ContainsAny(word[len(word)-1:], "eEpP") &&
			!(strings.HasPrefix(strings.ToLower(word), "0x") && strings.HasSuffix(strings.ToLower(word), "e")):
			word += string(rune(c))
			w.take(1, isCode)
		default:
			w.take(1, isCode)
			fresh, word = false, ""
		}
	}
	return w
}

func wordChar(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

func isNumber(word string) bool { return word != "" && word[0] >= '0' && word[0] <= '9' }

func (w *twin) at(k int) byte {
	if w.i+k < len(w.text) {
		return w.text[w.i+k]
	}
	return 0
}

func (w *twin) take(n int, class byte) {
	for ; n > 0 && w.i < len(w.text); n-- {
		w.class[w.i] = class
		w.i++
	}
}

// spliced reports whether the newline here is continued.
func (w *twin) spliced() bool {
	k := w.i - 1
	if k >= 0 && w.text[k] == '\r' {
		k--
	}
	return k >= 0 && w.text[k] == '\\'
}

func (w *twin) comment() {
	if w.at(1) == '/' {
		for w.i < len(w.text) && (w.at(0) != '\n' || w.spliced()) {
			w.take(1, isComment)
		}
		return
	}
	w.take(2, isComment)
	for w.i < len(w.text) && !(w.at(0) == '*' && w.at(1) == '/') {
		w.take(1, isComment)
	}
	w.take(2, isComment)
}

func (w *twin) quoted(quote byte) {
	w.take(1, isQuoted)
	for w.i < len(w.text) && w.at(0) != '\n' {
		c := w.at(0)
		w.take(1, isQuoted)
		if c == quote {
			return
		}
		if c == '\\' {
			if w.at(0) == '\r' && w.at(1) == '\n' {
				w.take(1, isQuoted)
			}
			w.take(1, isQuoted)
		}
	}
}

// raw takes a raw string, if the quote here opens one.
func (w *twin) raw() bool {
	for k := 1; k <= 17; k++ {
		switch w.at(k) {
		case '(':
			end := ")" + w.text[w.i+1:w.i+k] + `"`
			for w.i < len(w.text) && !strings.HasPrefix(w.text[w.i:], end) {
				w.take(1, isQuoted)
			}
			w.take(len(end), isQuoted)
			return true
		case '\n', '\\', ' ', ')', 0:
			return false
		}
	}
	return false
}

func (w *twin) directive() {
	start := w.i
	w.take(1, isDirective)
	w.gap()
	from := w.i
	for wordChar(w.at(0)) {
		w.take(1, isDirective)
	}
	quotes := true
	switch name := w.text[from:w.i]; name {
	case "if", "ifdef", "ifndef":
		w.marks = append(w.marks, mark{start, kIf})
	case "elif", "elifdef", "elifndef", "else":
		w.marks = append(w.marks, mark{start, kElse})
	case "endif":
		w.marks = append(w.marks, mark{start, kEndif})
	case "define":
	case "error", "warning", "include", "pragma":
		quotes = false
	default:
		quotes = w.lang != Assembly
	}
	for w.i < len(w.text) && (w.at(0) != '\n' || w.spliced()) {
		switch c := w.at(0); {
		case c == '/' && (w.at(1) == '*' || w.at(1) == '/'):
			w.comment()
		case quotes && (c == '"' || c == '\''):
			w.quoted(c)
		default:
			w.take(1, isDirective)
		}
	}
}

// gap takes blanks, spliced newlines and comments.
func (w *twin) gap() {
	for {
		c := w.at(0)
		switch {
		case w.i >= len(w.text):
			return
		case c == '\\' && (w.at(1) == '\n' || w.at(1) == '\r'):
			w.take(2, isDirective)
			if w.text[w.i-1] == '\r' && w.at(0) == '\n' {
				w.take(1, isDirective)
			}
		case c == '/' && w.at(1) == '*':
			w.comment()
		case c != '\n' && c != '\\' && (c <= ' ' || c == 0x7f):
			w.take(1, isDirective)
		default:
			return
		}
	}
}

// compare reports the first place where the two readings differ.
func compare(t *testing.T, text string, lang Lang) {
	t.Helper()
	f, w := Scan([]byte(text), lang), readSlowly(text, lang)
	covered := 0
	var marks []mark
	for k, tok := range f.toks {
		if tok.kind >= kIf {
			marks = append(marks, mark{int(tok.pos), tok.kind})
			continue
		}
		want := byte(isCode)
		if tok.kind == kString || tok.kind == kChar {
			want = isQuoted
		}
		for i := tok.pos; i < tok.end; i++ {
			// A raw string's prefix is code for the twin.
			if w.class[i] != want && !(want == isQuoted && i < tok.pos+3 && w.class[i] == isCode && rawPrefix(text[tok.pos:tok.pos+uint32(strings.IndexByte(text[tok.pos:], '"'))])) {
				t.Fatalf("%v %q: token %d %q at %d: got %q, the twin says %q", lang, text, k, text[tok.pos:tok.end], i, want, w.class[i])
			}
			if w.class[i] == isCode {
				covered++
			}
		}
	}
	code := 0
	for _, c := range w.class {
		if c == isCode {
			code++
		}
	}
	if covered != code {
		t.Fatalf("%v %q: tokens cover %d characters, the twin has %d of code", lang, text, covered, code)
	}
	matched := 0 // stray #else and #endif leave no marker
	for _, m := range w.marks {
		if matched < len(marks) && marks[matched] == m {
			matched++
		} else if m.kind == kIf {
			t.Fatalf("%v %q: the #if at %d is missing", lang, text, m.pos)
		}
	}
	if matched != len(marks) {
		t.Fatalf("%v %q: got markers %v, the twin has %v", lang, text, marks, w.marks)
	}
}

// TestGuardsAgainstTwin computes the conditional nesting of each line from the
// twin's directives.
func TestGuardsAgainstTwin(t *testing.T) {
	for _, path := range faultFiles(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, w := Scan(text, C), readSlowly(string(text), C)
		depth, next := 0, 0
		for line := 1; line <= f.Lines(); line++ {
			start := int(f.lines[line-1])
			for next < len(w.marks) && w.marks[next].pos < start {
				switch w.marks[next].kind {
				case kIf:
					depth++
				case kEndif:
					depth--
				}
				next++
			}
			got := 0
			for a := f.armAt(line); a >= 0; a = f.arms[a].outer {
				got++
			}
			if next < len(w.marks) && w.marks[next].pos < start+len("#endif") {
				continue // a directive's own line
			}
			if got != depth {
				t.Errorf("%s:%d: got depth %d, want %d", path, line, got, depth)
			}
		}
	}
}

func faultFiles(t testing.TB) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir("testdata", func(path string, d os.DirEntry, err error) error {
		if _, ok := LangOf(path); ok && err == nil {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files under testdata, %v", len(files), err)
	}
	return files
}

func TestTwin(t *testing.T) {
	for _, path := range faultFiles(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, lang := range []Lang{C, CPlusPlus, Assembly} {
			compare(t, string(text), lang)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, path := range faultFiles(f) {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(text) < 10_000 {
			f.Add(string(text), uint8(C))
			f.Add(string(text), uint8(CPlusPlus))
		}
	}
	f.Add("x = R\"a(\n)b\" 1'0 /* \\\n // \\\r\n#if 'a \\\n# else /*\n*/ x", uint8(CPlusPlus))
	f.Add("ENTRY(x)\n.macro y\n.endm\n.globl z\nz: END(x)", uint8(Assembly))
	f.Fuzz(func(t *testing.T, text string, lang uint8) {
		if len(text) > 8192 {
			return // the questions below are asked of every line
		}
		l := []Lang{C, CPlusPlus, Assembly}[lang%3]
		compare(t, text, l)
		file := Scan([]byte(text), l)
		checkLinks(t, file)
		checkSymbols(t, file)
		for line := 0; line <= file.Lines()+1; line++ {
			file.Guards(line)
			file.Enclosing(line)
		}
		file.Calls(1, file.Lines())
		for _, s := range file.Symbols()[:min(16, len(file.Symbols()))] {
			file.Occurrences(s.Line, s.Name)
		}
	})
}

// checkLinks holds that closing brackets point back at what opened them and
// that nothing points outside.
func checkLinks(t *testing.T, f *File) {
	t.Helper()
	for i, tok := range f.toks {
		if int(tok.link) >= len(f.toks) || tok.link < -1 {
			t.Fatalf("token %d links to %d of %d", i, tok.link, len(f.toks))
		}
	}
}

func checkSymbols(t *testing.T, f *File) {
	t.Helper()
	for _, s := range f.Symbols() {
		if s.Name == "" || s.Start < 1 || s.Start > s.Line || s.Line > s.End || s.End > len(f.lines) || s.Col < 1 {
			t.Fatalf("%q: impossible symbol %+v", f.text, s)
		}
		if s.Body != 0 && (s.Body < s.Start || s.Body > s.End) {
			t.Fatalf("%q: body outside %+v", f.text, s)
		}
		if len(s.Name) > 0 && f.text[s.name] != s.Name[0] && s.Kind != Namespace {
			t.Fatalf("%q: the name of %+v stands elsewhere", f.text, s)
		}
	}
	for k, b := range f.blocks {
		if b.outer < 0 {
			continue
		}
		if in, out := f.symbols[b.symbol], f.symbols[f.blocks[b.outer].symbol]; in.from < out.from || in.from >= out.to {
			t.Fatalf("%q: block %d %+v begins outside %+v", f.text, k, in, out)
		}
	}
}

// TestAdversarial would not end in reasonable time if any step were quadratic.
func TestAdversarial(t *testing.T) {
	const n = 30_000
	rep := strings.Repeat
	tests := map[string]string{
		"open braces":      rep("{", n),
		"open parens":      rep("(", n),
		"closed parens":    rep("(", n) + rep(")", n),
		"structs":          rep("struct s {", n),
		"closed structs":   rep("struct s {", n) + rep("};", n),
		"functions":        rep("int f(int a) {", n),
		"column 0":         rep("int f(int a)\n{\nif (x) {\n", n/4),
		"words":            rep("a ", n) + ";",
		"calls":            "int x " + rep("__a(b) ", n) + ";",
		"nested calls":     rep("a(", n) + rep(")", n) + ";",
		"ifs":              rep("#if A\n", n),
		"elifs":            "#if A\n" + rep("#elif B\nint f(void) {\n", n/4) + "#endif\n}\n",
		"arms of headers":  "#if A\n" + rep("#elif B\nint f(void)\n", n/4) + "#endif\n{\n}\n",
		"crossing arms":    rep("#if A\n{\n#else\n(\n#endif\n", n/4),
		"closing arms":     rep("{", n/8) + rep("#if A\n}\n#else\n}{\n#endif\n", n/8),
		"commas":           "int a" + rep(", a", n) + ";",
		"old style":        rep("int f(a) int a;\n", n/4),
		"angles":           "std::map" + rep("<int", n),
		"designators":      rep("MACHINE_START(a) .x = ", n/4),
		"asm":              rep(".macro a\n", n/4),
		"enumerators":      "enum {" + rep("A(", n),
		"comments":         rep("/*", n),
		"line comments":    rep("//\\\n", n),
		"strings":          rep("\"\n", n),
		"raw":              rep("R\"(", n),
		"defines":          rep("#define A(", n),
		"typedefs in body": "void f(void) {" + rep("typedef {", n),
		"structs in body":  "void f(void) {" + rep("struct {", n),
		"qualifiers":       rep("A::", n) + "f() {}",
		"operators":        rep("operator", n),
		"leading macros":   rep("M(x)\n", n/2) + "int x;",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, lang := range []Lang{C, CPlusPlus, Assembly} {
				f := Scan([]byte(text), lang)
				if f.Lines() == 0 {
					t.Error("got no lines")
				}
			}
		})
	}
}
