package ctagscom

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/chroma/v2"
)

// names lexes the content and returns its names, line by line.
func names(t *testing.T, language, content string) string {
	t.Helper()
	refs, err := lex(language, []byte(content), time.Minute)
	if err != nil {
		t.Fatalf("%s: %v", language, err)
	}
	lines := make([]string, strings.Count(content, "\n")+1)
	for _, ref := range refs {
		lines[ref.line-1] += " " + ref.name
	}
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

func TestNames(t *testing.T) {
	for _, test := range []struct{ language, content, want string }{
		{"Python", "import os.path as osp\nfrom .pkg import run\n@functools.cache\n@app.route('/x')\ndef f(a: int) -> Foo:\n" +
			"    '''doc string'''\n    x = f'hi {name!r:>{width}} {{lit}}' # comment\n    self.step().go(run)\n    return re.match(x)\nmatch x:\n    case Point(y=0): pass\n",
			"os path os.path osp\npkg run\nfunctools cache functools.cache\napp route app.route\nf a int Foo\n" +
				"\nx name width\nself step go run\nre match x\nx\nPoint y\n"},
		{"Python", `f"\N{GREEK DELTA}{a['k']!r}{b:{w}.{p}}{{c}}{d != e}{f'{g}'}"; rb'no'; R"\"no"; u''; o
'open
x = '''q{'''; y
"""
'
"""; s = 'a\
b'; t
match = re.match(match)
match(v)
match v, w:
  case 'x': 0xAB + 1e5j; e5.real
@a.b.c(d.e)
import f.g, h
class K(
  L): M = (yield)
`, `a b w p d e g o

x y


s
t
match re
match v
v w
e5 real
a b c a.b.c d e d.e
f g f.g h
K
L M
`},
		{"Go", "package p\nimport foo \"bar/baz\"\ntype T struct { N int `json:\"n,omitempty\"` }\n" +
			"func (t *T) Name() string { return `}` + tail(t.n) } // tail\nfunc G[K comparable](k K) { fmt.Println(\"unused(\", 'a') }\n",
			"\nfoo\nT N\nt T Name tail n\nG K comparable k fmt Println\n"},
		{"Go", "package p\n\n//line gen.y:400\nvar x = y\n", "\n\n\nx y\n"},
		{"Rust", "use std::io::Read;\n#[derive(Debug, MyTrait)]\npub fn rrun<'a>(x: &'a i32) -> Foo {\n    println!(\"{}\", rgo(x)); let c = '{';\n    m::n::<T>::p(r#type); self.q }\n",
			"std io Read\nderive Debug MyTrait\nrrun x Foo\nprintln rgo x c\nm n T p type self q\n"},
		{"JavaScript", "import {a as b} from './mod.js';\nconst t = `hi ${name} ${f(`in ${deep}`)} no`;\nclass A extends B { #priv = 1; get() { return this.#priv } }\n" +
			"const tokenize_1 = /ab[/]c/g.exec(START_POS); $scope.$apply(() => obj?.prop);\n",
			"a b\nt name f deep\nA B #priv priv get\ntokenize_1 exec START_POS $scope $apply obj prop\n"},
		{"JavaScript", "goto(native.final);\n", "goto native final\n"},
		{"TypeScript", "abstract class C {}\n", "C\n"},
		{"TypeScript", "interface I<T> extends J { m(x: Foo): Promise<Bar>; p?: string }\n@Component({selector: 'x'})\nclass C { constructor(private svc: Service) { this.svc.go<K>(a as B); x.get<string>(true) } }\n",
			"I T J m x Foo Promise Bar p\nComponent selector\nC svc Service go K a B x get\n"},
		{"Ruby", "class K < Base::Foo\n  before_action :auth, only: [1]\n  def foo?; @ivar ||= bar!(1); \"s #{interp(y)} t\"; end\n  x = <<~EOS + tail\n    text #{z}\n  EOS\n  /re#{gex}/ =~ $glob\nend\n",
			"K Base Foo\nbefore_action auth\nfoo? @ivar bar! interp y\nx EOS tail\n\n\ngex $glob\n\n"},
		{"Sh", "shrun() {\n\tshgo \"}\" && other_fn -x arg || die \"no $var ${var2}\"\n}\ncase $x in\na) go_a ;;\nb|c) my-go_b\nesac\ntrap cleanup EXIT\n" +
			"FOO=bar with_env; x=$(assigned arg); export LIST\nif check_it; then three | four; fi\nlong_one \\\n  cont_arg\ncat <<EOF\nhere doc\nEOF\n# comment\n! negated a b\n",
			"shrun\nshgo other_fn die var var2\n\nx\ngo_a\nmy-go_b\n\ntrap cleanup\n" +
				"FOO with_env x assigned export LIST\ncheck_it three four\nlong_one\n\ncat\n\n\n\nnegated\n"},
		{"Perl", "use Foo::Bar;\nsub run { my ($x, @list) = @_; $self->go($x); Foo::bar(\\%hash); }\n", "Foo Bar Foo::Bar\nrun x list _ self go Foo bar hash\n"},
		{"Ruby", "no_line_end", "no_line_end"},
		{"Lua", "local function lrun(x)\n  return lgo(x.y) -- comment\nend\n", "lrun x\nlgo x y x.y\n\n"},
		{"Kotlin", "fun run(x: Foo) { go(x) }\n", "run x Foo go\n"},
		{"EmacsLisp", "(defun my-run (x) (other-go x)) ; comment\n", "defun my-run x other-go\n"},
	} {
		if got := names(t, test.language, test.content); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.language, got, test.want)
		}
	}
}

// Every language that has a lexer gives the callee of a call.
func TestEveryLanguageHasNames(t *testing.T) {
	samples := map[string]string{
		"Clojure": "(defn my-run [x] (the-callee x))\n", "Lisp": "(defun my-run (x) (the-callee x))\n",
		"EmacsLisp": "(defun my-run (x) (the-callee x))\n", "Scheme": "(define (my-run x) (the-callee x))\n",
		"Cobol":      "       PROCEDURE DIVISION.\n       MAIN-PARA.\n           PERFORM the-callee.\n",
		"PowerShell": "function My-Run { the-callee $x }\n", "Tcl": "proc run {x} {\n  the_callee $x\n}\n",
		"Haskell": "run x = the_callee x\n", "OCaml": "let run x = the_callee x\n", "SML": "fun run x = the_callee x\n",
		"Elm": "run x =\n    the_callee x\n", "Nix": "{ run = x: the_callee x; }\n", "Thrift": "struct S {\n  1: the_callee x\n}\n",
		"Protobuf": "message S {\n  the_callee x = 1;\n}\n", "Terraform": "locals {\n  x = the_callee(y)\n}\n",
		"SQL": "SELECT the_callee(x) FROM t;\n", "Vim": "\" no_name\ncall the_callee(x)\n", "Fortran": "program p\n  call the_callee(x)\nend program\n",
		"Ada": "procedure P is begin the_callee (x); end P;\n", "VHDL": "architecture a of b is begin\n p: process begin the_callee(x); end process;\nend a;\n",
		"Pascal": "begin\n  the_callee(x);\nend.\n", "Awk": "{ print the_callee($1) }\n", "Julia": "f(x) = the_callee(x)\n",
	}
	for language := range strings.FieldsSeq(`Python Go Rust JavaScript TypeScript Ruby Perl Sh Kotlin Scala C# Lua ObjectiveC Swift Zig
		CUDA D Dart Haskell OCaml SML Elm Erlang Elixir Clojure Lisp EmacsLisp Scheme Julia R Fortran Ada Pascal Cobol Basic
		Haxe Vala Tcl Awk PowerShell Vim SQL Protobuf Thrift Verilog SystemVerilog VHDL Perl6 Raku Groovy GDScript Nix Terraform`) {
		sample, callee := samples[language], "the_callee"
		if sample == "" {
			sample = "x = the_callee(y)\n"
		}
		if !strings.Contains(sample, callee) {
			callee = "the-callee"
		}
		got := strings.Fields(names(t, language, sample))
		if !slices.Contains(got, callee) || slices.Contains(got, "no_name") {
			t.Errorf("%s: got %q, want %s among them", language, got, callee)
		}
	}
}

// The scanner of Go finds in this repository's own files what the lexer finds, but
// for the end of numbers like 0o644, which the lexer takes for names.
func TestScanGoAgreesWithLexer(t *testing.T) {
	files, err := filepath.Glob("../*.go")
	if err != nil || len(files) < 20 {
		t.Fatalf("got %d files, %v", len(files), err)
	}
	twin := dialect{takes: func(t chroma.Token, last string) bool { return isName(t) && last != "package" }}
	octal := regexp.MustCompile(`^o[0-7]+$`)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fast, err := lex("Go", content, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		slow := collector{dialect: twin, line: 1, seen: make(map[reference]bool)}
		if err := slow.read(twin.find("Go"), string(content), time.Minute); err != nil {
			t.Fatal(err)
		}
		slow.refs = slices.DeleteFunc(slow.refs, func(r reference) bool { return octal.MatchString(r.name) })
		for i := range max(len(fast), len(slow.refs)) {
			if i >= len(fast) || i >= len(slow.refs) || fast[i] != slow.refs[i] {
				t.Errorf("%s: got %v, want %v", file, fast[min(i, len(fast)):], slow.refs[min(i, len(slow.refs)):])
				break
			}
		}
	}
}

func TestNamesKeepTheirBytes(t *testing.T) {
	for content, want := range map[string]string{
		"caf\xe9_x = gr\u00f6\u00dfe(\u6f22)":     "caf\xe9_x gr\u00f6\u00dfe \u6f22",
		"\ufeffa = 1\r\nb = c\rd\r\n":             "a\nb c d\n",
		"\U00014405x = \xff\xfe":                  "\U00014405x \xff\xfe", // an escape letter in the file itself
		strings.Repeat("n", maxName) + "(y)":      strings.Repeat("n", maxName) + " y",
		"y(" + strings.Repeat("n", maxName+1):     "y",
		"x = '\xff' + \"\xfe{\xe9}\" # \xe4\ny":   "x\ny",
		"a\n\n\n    b\\\n  .c\n":                  "a\n\n\nb\nc\n",
		"from a import (\n  b,\n  c.d as e,\n)\n": "a\nb\nc d e\n\n",
	} {
		if got := names(t, "Python", content); got != want {
			t.Errorf("%q: got %q, want %q", content, got, want)
		}
	}
}

func TestLimits(t *testing.T) {
	const limit = time.Minute
	line := "x = y\n"
	chdirTree(t, map[string]string{
		"fine.py":     line,
		"nul.py":      line + "\x00",
		"large.py":    strings.Repeat(line, maxLexed/len(line)+1),
		"large.rb":    strings.Repeat(line, maxLexed/len(line)+1),
		"minified.rb": strings.Repeat("x=y;", minifiedSize/4) + "z",
		"minified.py": strings.Repeat("x=y;", minifiedSize/4) + "z",
		"wide.rb":     strings.Repeat("x=y;", minifiedWidth), // one long line in a small file
	})
	for _, test := range []struct {
		file, language string
		limit          time.Duration
		refs           int
		want           string
	}{
		{"fine.py", "Python", limit, 2, ""},
		{"fine.py", "", limit, 0, ""},
		{"fine.py", "NoSuchLanguage", limit, 0, ""},
		{"absent.py", "Python", limit, 0, ""},
		{".", "Python", limit, 0, ""},
		{"nul.py", "Python", limit, 0, "NUL"},
		{"large.rb", "Ruby", limit, 0, "larger than 2 MB"},
		{"large.py", "Python", limit, 2 * (maxLexed/len(line) + 1), ""},
		{"minified.rb", "Ruby", limit, 0, "minified"},
		{"minified.py", "Python", limit, 3, ""},
		{"wide.rb", "Ruby", limit, 2, ""},
		{"fine.py", "Ruby", -1, 0, "processor time"},
	} {
		refs, err := readReferences(test.file, test.language, test.limit)
		if len(refs) != test.refs || fmt.Sprint(err) != "<nil>" && (test.want == "" || !strings.Contains(err.Error(), test.want)) || err == nil && test.want != "" {
			t.Errorf("%s as %q: got %d references and %v, want %d and an error with %q", test.file, test.language, len(refs), err, test.refs, test.want)
		}
	}
}

func TestMaskHeredocs(t *testing.T) {
	for text, want := range map[string]string{
		"a <<~X, <<-'Y'\n x\n X\ny\nY\nb\n": "a <<~X, <<-'Y'\n\n\n\n\nb\n",
		"a <<X\n X\nX\n":                    "a <<X\n\n\n",
		"list <<CONST\nb\n":                 "list <<CONST\nb\n",
		"a <<~X":                            "a <<~X",
	} {
		if got := maskHeredocs(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestLanguageOf(t *testing.T) {
	l := parseLangmap("Python:.py.pyx(SConscript)([Ss]Construct),Go:.go,Late:.py(x.*)")
	for file, want := range map[string]string{
		"a/b.py": "Python", "b.pyx": "Python", "SConscript": "Python", "d/sConstruct": "Python", "x.go": "Go",
		"x.txt": "Late", "y.txt": "", "py": "", ".py": "Python", "a.go/b": "",
	} {
		if got := l.of(file); got != want {
			t.Errorf("%s: got %q, want %q", file, got, want)
		}
	}
}

// FuzzLex: whatever a file holds, each name stands in its line.
func FuzzLex(f *testing.F) {
	languages := []string{"Python", "Go", "Rust", "JavaScript", "TypeScript", "Ruby", "Sh", "Perl", "Lua", "Kotlin", "C#", "Haskell", "Lisp", "PowerShell"}
	f.Add(uint8(0), []byte("x = f'{a!r:>{w}}' \\\n@a.b\r\nmatch x:\r case \xff"))
	f.Add(uint8(0), []byte("@A.\nA0"))
	f.Add(uint8(5), []byte("x <<~A\n#{y}\nA\n"))
	f.Add(uint8(6), []byte("case x in\na|b) c;; esac; f() { $(g `h`) }\nx=1 y <<E\n$z\nE\n"))
	f.Add(uint8(3), []byte("`${`${a}`}` /re/ #\U00014400"))
	f.Fuzz(func(t *testing.T, n uint8, content []byte) {
		language := languages[int(n)%len(languages)]
		refs, err := lex(language, content, 10*time.Second)
		if err != nil {
			t.Fatalf("%s: %v", language, err)
		}
		lines := bytes.Split(content, []byte("\n"))
		for _, ref := range refs {
			if ref.line < 1 || ref.line > len(lines) || !bytes.Contains(lines[ref.line-1], []byte(ref.name)) {
				t.Fatalf("%s: the name %q is not in line %d", language, ref.name, ref.line)
			}
			if len(ref.name) == 0 || len(ref.name) > maxName || bytes.ContainsFunc([]byte(ref.name), isBlank) {
				t.Fatalf("%s: got the name %q", language, ref.name)
			}
		}
	})
}
