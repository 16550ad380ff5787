package ctagscom

import (
	"strings"
	"testing"
	"time"
)

// names lexes the content and returns its names, line by line.
func names(t *testing.T, language, content string) string {
	t.Helper()
	lexer, d := lexerOf(language)
	if lexer == nil {
		t.Fatalf("no lexer for %s", language)
	}
	refs, err := lex(lexer, d, []byte(content), time.Minute)
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
		{"Go", "package p\nimport foo \"bar/baz\"\ntype T struct { N int `json:\"n,omitempty\"` }\n" +
			"func (t *T) Name() string { return `}` + tail(t.n) } // tail\nfunc G[K comparable](k K) { fmt.Println(\"unused(\", 'a') }\n",
			"\nfoo\nT N\nt T Name tail n\nG K comparable k fmt Println\n"},
		{"Rust", "use std::io::Read;\n#[derive(Debug, MyTrait)]\npub fn rrun<'a>(x: &'a i32) -> Foo {\n    println!(\"{}\", rgo(x)); let c = '{';\n    m::n::<T>::p(r#type); self.q }\n",
			"std io Read\nderive Debug MyTrait\nrrun x Foo\nprintln rgo x c\nm n T p type self q\n"},
		{"JavaScript", "import {a as b} from './mod.js';\nconst t = `hi ${name} ${f(`in ${deep}`)} no`;\nclass A extends B { #priv = 1; get() { return this.#priv } }\n" +
			"const tokenize_1 = /ab[/]c/g.exec(START_POS); $scope.$apply(() => obj?.prop);\n",
			"a as b from\nt name f deep\nA B priv get\ntokenize_1 exec START_POS $scope $apply obj prop\n"},
		{"TypeScript", "interface I<T> extends J { m(x: Foo): Promise<Bar>; p?: string }\n@Component({selector: 'x'})\nclass C { constructor(private svc: Service) { this.svc.go<K>(a as B) } }\n",
			"I T J m x Foo Promise Bar p\nComponent selector\nC svc Service go K a B\n"},
		{"Ruby", "class K < Base::Foo\n  before_action :auth, only: [1]\n  def foo?; @ivar ||= bar!(1); \"s #{interp(y)} t\"; end\n  x = <<~EOS + tail\n    text #{z}\n  EOS\n  /re#{gex}/ =~ $glob\nend\n",
			"K Base Foo\nbefore_action auth\nfoo? ivar bar! interp y\nx EOS tail\n\n\ngex glob\n\n"},
		{"Sh", "shrun() {\n\tshgo \"}\" && other_fn -x arg || die \"no $var ${var2}\"\n}\ncase $x in\na) go_a ;;\nb|c) my-go_b\nesac\ntrap cleanup EXIT\n" +
			"FOO=bar with_env; x=$(assigned arg); export LIST\nif check_it; then three | four; fi\nlong_one \\\n  cont_arg\ncat <<EOF\nhere doc\nEOF\n# comment\n! negated a b\n",
			"shrun\nshgo other_fn die var var2\n\nx\ngo_a\nmy-go_b\n\ntrap cleanup\n" +
				"FOO with_env x assigned export LIST\ncheck_it three four\nlong_one\n\ncat\n\n\n\nnegated\n"},
		{"Perl", "use Foo::Bar;\nsub run { my ($x, @list) = @_; $self->go($x); Foo::bar(\\%hash); }\n", "Foo Bar Foo::Bar\nrun x list _ self go Foo bar hash\n"},
		{"Lua", "local function lrun(x)\n  return lgo(x.y) -- comment\nend\n", "lrun x\nlgo x y x.y\n\n"},
		{"Kotlin", "fun run(x: Foo) { go(x) }\n", "run x Foo go\n"},
		{"EmacsLisp", "(defun my-run (x) (other-go x)) ; comment\n", "defun my-run x other-go\n"},
	} {
		if got := names(t, test.language, test.content); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.language, got, test.want)
		}
	}
}
