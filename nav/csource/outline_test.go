package csource

import (
	"strings"
	"testing"
)

// TestOutline covers constructs that derail keyword scanners.
func TestOutline(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"annotated prototype", "static void slow(int *l) __acquires(l);\nint other; void mutex_lock(int *l){\n}\n", "variable other 2-2\nfunction mutex_lock 2-3\n"},
		{"annotated header", "int printk2(const char *f,...) __printf(1,2) __cold;\nstatic inline int first_after(void){ return 0; }\nint f5(void) __init;\nint f6(void) {}\nstatic void quit(void) NORETURN;\nint f7(void) {}\n",
			"function first_after 2-2\nfunction f6 4-4\nfunction f7 6-6\n"},
		{"attribute before the name", "extern void __compiletime_error(\"x\")\n__bad_mask(void);\nstatic inline u64 field_mult(u64 f)\n{\n}\nstatic inline void NORETURN PRINTF(1,2) die(const char *x)\n{\n}\n__declspec(noinline) int ms(int a) {}\n",
			"function field_mult 3-5\nfunction die 6-8\nfunction ms 9-9\n"},
		{"macro item without semicolon", "DEFINE_ALE_FIELD(speed,64,1)\nstatic inline void after_field(int a){}\nEXPORT_SYMBOL(foo)\nint realfn(void){}\nDEFINE_FREE(kfree, void *, if (x) kfree(x))\nint next(int a) {}\n",
			"function after_field 2-2\nfunction realfn 4-4\nfunction next 6-6\n"},
		{"section of a macro variable", "static DECLARE_BITMAP(isa,64) __section(\".data\");\nint after_bitmap(void){}\n", "function after_bitmap 2-2\n"},
		{"macro among parameters", "int func1(MACRO1(a), MACRO2(b)){}\nAP_DECLARE(int) func2(int x) {}\n", "function func1 1-1\nfunction func2 2-2\n"},
		{"brace in one arm only", "int f(void)\n{\n#ifdef C\n\twhile(1){\n#endif\n\ty();\n}\nint g(void)\n{\n}\n", "function f 1-7\nfunction g 8-10\n"},
		{"brace opened in one arm, closed in another", "int f(void)\n{\n#if X\nif (a) {\n#endif\nb();\n#if X\n}\n#endif\n}\nint h(void)\n{\n}\n", "function f 1-10\nfunction h 11-13\n"},
		{"brace opened and closed under opposite tests", "int f(void)\n{\n#ifdef X\nif (a) {\n#else\nb();\n#endif\nc();\n#ifndef X\nd();\n#else\n}\n#endif\n}\nint h(void) {}\n", "function f 1-14\nfunction h 15-15\n"},
		{"brace lost in every arm", "int f(void)\n{\n\tif (a) {\n\t\tb();\n}\n\nint g(int x)\n{\n\treturn x;\n}\nint h(void) { return 0; }\n", "function f 1-5\nfunction g 7-10\nfunction h 11-11\n"},
		{"brace too many", "int f(void)\n{\n\tif (a)\n\t}\n}\nint g(int x)\n{\n}\n", "function f 1-5\nfunction g 6-8\n"},
		{"unclosed at the end of a definition", "int f(void)\n{\n\tif (a) {\nint g(int x)\n{\n}\n", "function f 1-3\nfunction g 4-6\n"},
		{"two headers, one body", "#ifdef A\nint f(int a)\n#else\nint f(long a)\n#endif\n{\n}\nint g(void) {}\n", "function f 2-7\nfunction f 4-7\nfunction g 8-8\n"},
		{"two headers with braces", "#ifdef A\nint f1(int a)\n{\n#else\nint f2(long a)\n{\n#endif\n\treturn 1;\n}\nint g(void) {}\n", "function f1 2-9\nfunction f2 5-9\nfunction g 10-10\n"},
		{"storage in arms", "#ifdef A\nstatic\n#else\nextern\n#endif\nint f(void)\n{\n}\n", "function f 2-8 at 6\n"},
		{"error in an arm", "static int mode =\n#ifdef A\n1;\n#elif defined(B)\n2;\n#else\n#error none\n#endif\n\nint f(void)\n{\n}\n", "variable mode 1-5\nfunction f 10-12\n"},
		{"dead prose", "#if 0\nthis isn't a program { ( \"\n#endif\nint f(void) {}\n", "function f 4-4\n"},
		{"dead brace in a function", "int f(void)\n{\n#if 0\n}\n}\n#endif\n}\nint g(void) {}\n", "function f 1-7\nfunction g 8-8\n"},
		{"define inside an enum", "enum { A1,\n#define F_(x,y) x=y\nA2 };\n", "enumerator A1 1-1\nmacro F_ 2-2\nenumerator A2 3-3\n"},
		{"old style", "int main(argc, argv)\n\tint argc;\n\tchar **argv;\n{\n\treturn 0;\n}\nfoo(a)\n{\n}\n", "function main 1-6\nfunction foo 7-9\n"},
		{"return type above", "static const struct r *\nlookup(int key)\n{\n}\n", "function lookup 1-4 at 2\n"},
		{"function pointers", "void (*handler)(int) = 0;\nint (*table[3])(void);\nvoid (*signal(int sig, void (*func)(int)))(int)\n{\n}\nint (max)(int a, int b) { return a; }\n",
			"variable handler 1-1\nvariable table 2-2\nfunction signal 3-5\nfunction max 6-6\n"},
		{"annotated variables", "static int a __initdata = 1;\nstatic const struct x *b __ro_after_init, c[3] __aligned(8);\nu8 FOO UNUSED;\nKB_STATE_T state;\n__fs32 key;\nint __bar;\n",
			"variable a 1-1\nvariable b 2-2\nvariable c 2-2\nvariable FOO 3-3\nvariable state 4-4\nvariable key 5-5\nvariable __bar 6-6\n"},
		{"type and variable at once", "struct s { int a; } x, *y = 0;\ntypedef struct { int b; } t, *tp;\ntypedef enum e { E1, E2 = sizeof(int) } e_t;\n",
			"variable x 1-1\nvariable y 1-1\nstruct s 1-1\nmember s::a 1-1\ntypedef t 2-2\ntypedef tp 2-2\nmember t::b 2-2\ntypedef e_t 3-3\nenum e 3-3\nenumerator e::E1 3-3\nenumerator e::E2 3-3\n"},
		{"two heads of a struct", "#ifdef A\nstruct __x1 a\n#elif defined(B)\nstatic struct b\n#else\nstruct c\n#endif\n{\n\tint m;\n};\nint z;\n", "struct a 2-10\nstruct b 4-10\nstruct c 6-10\nmember c::m 9-9\nvariable z 11-11\n"},
		{"packed", "struct p {\n\tu8 a;\n} __packed;\nstruct __attribute__((packed)) q { int b:3, :2, c; } __aligned(4);\n", "struct p 1-3\nmember p::a 2-2\nstruct q 4-4\nmember q::b 4-4\nmember q::c 4-4\n"},
		{"nested", "struct a {\n\tstruct {\n\t\tint x;\n\t};\n\tunion {\n\t\tint y;\n\t} u;\n\tstruct in { int z; } i;\n};\n",
			"struct a 1-9\nmember a::x 3-3\nmember a::u 5-7 at 7\nmember a::u::y 6-6\nmember a::i 8-8\nstruct a::in 8-8\nmember a::in::z 8-8\n"},
		{"members in a macro's arguments", "struct a {\n\tstruct_group(addrs,\n\t\tu8 src[6];\n\t\tu8 dst[6];\n\t);\n\tint last;\n};\n", "struct a 1-7\nmember a::src 3-3\nmember a::dst 4-4\nmember a::last 6-6\n"},
		{"local types", "int f(void)\n{\n\tstruct loc { int m; } v;\n\tenum { L1 };\n\ttypedef int my_t;\n\tstruct loc w = { .m = 1 };\n}\n", "function f 1-7\nstruct loc 3-3\nmember loc::m 3-3\nenumerator L1 4-4\ntypedef my_t 5-5\n"},
		{"struct in a signature", "struct foo *mk(struct bar { int q; } *b);\nstruct foo get(void) { struct foo f = {}; return f; }\n", "function get 2-2\n"},
		{"statement expression", "#define max(a, b) ({ a > b ? a : b; })\nint x = ({ int y = 1; y; });\nint f(void) { return ({ struct s t; 1; }); }\n", "macro max 1-1\nvariable x 2-2\nfunction f 3-3\n"},
		{"designated", "struct ops o = {\n\t.open = my_open,\n\t.sub = { .x = (struct s){ 1, 2 } },\n\t[3] = 4,\n};\nint f(void) {}\n", "variable o 1-5\nfunction f 6-6\n"},
		{"assembly in C", "asm(\".globl x\\nx: {\");\nint f(void) { asm volatile(\"{\" : \"=r\"(a) : \"r\"(b)); }\n#ifdef __ASSEMBLY__\n.macro foo a, b\n\tmov a, b }\n.endm\n#else\nint g(void) {}\n#endif\n", "function f 2-2\nfunction g 8-8\n"},
		{"machine", "MACHINE_START(A, \"a\")\n\t.map_io = a_map,\n\t.init = a_init,\nMACHINE_END\n\nint x;\n", "variable x 6-6\n"},
		{"extern C", "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void) { return 1; }\nint p(void);\n#ifdef __cplusplus\n}\n#endif\n", "function f 4-4\n"},
		{"words of C++", "struct s { void *private; int class, public; int (*final)(void); };\nint new, template;\nint *delete(int this) {}\n", "struct s 1-1\nmember s::private 1-1\nmember s::class 1-1\nmember s::public 1-1\nmember s::final 1-1\nvariable new 2-2\nvariable template 2-2\nfunction delete 3-3\n"},
		{"K&R prototype is none", "int f();\nextern int g(a, b);\nint h(int), (*i)(int);\n", "variable i 3-3\n"},
		{"trailing junk", "int f(void) {}\n} } ) ]\nint g(void) {}\n", "function f 1-1\nfunction g 3-3\n"},
		{"unclosed parenthesis", "int f(int a\nint g(void)\n{\n}\nint h(void)\n{\n}\n", "function g 1-4 at 2\nfunction h 5-7\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := outline(Scan([]byte(tt.src), C)); got != tt.want {
				t.Errorf("%s\ngot\n%s\nwant\n%s", tt.src, got, tt.want)
			}
			crlf := strings.ReplaceAll(tt.src, "\n", "\r\n")
			if got := outline(Scan([]byte(crlf), C)); got != tt.want {
				t.Errorf("with CRLF: got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestOutlineCPlusPlus(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"nested namespaces", "namespace a::b {\nint nf() { return 1; }\nnamespace { int hidden; }\n}\nint out;\n", "namespace a::b 1-4\nfunction a::b::nf 2-2\nvariable a::b::hidden 3-3\nvariable out 5-5\n"},
		{"qualified constructor", "v1::S::S() : x{1}, y(2)\n{\n}\nv1::S::~S() {}\n", "function v1::S::S 1-3\nfunction v1::S::~S 4-4\n"},
		{"template", "template <class T, int N = (1 > 0)>\nclass Box final : public Base<T> {\npublic:\n\tT get() const noexcept { return v; }\n\tstd::map<int, T> m;\nprivate:\n\tT v{};\n};\ntemplate <> int Box<int>::get() const { return 0; }\n",
			"class Box 1-8 at 2\nfunction Box::get 4-4\nmember Box::m 5-5\nmember Box::v 7-7\nfunction Box::get 9-9\n"},
		{"scoped enum", "enum class Color : unsigned { Red, Green };\nenum struct E2 { A };\n", "enum Color 1-1\nenumerator Color::Red 1-1\nenumerator Color::Green 1-1\nenum E2 2-2\nenumerator E2::A 2-2\n"},
		{"operators", "struct V {\n\tbool operator<(const V &o) const { return 1; }\n\tV &operator=(V &&) = default;\n\toperator bool() const { return true; }\n\tint operator[](int i) { return i; }\n};\nstd::ostream &operator<<(std::ostream &s, const V &v) { return s; }\n",
			"struct V 1-6\nfunction V::operator< 2-2\nfunction V::operator bool 4-4\nfunction V::operator[] 5-5\nfunction operator<< 7-7\n"},
		{"qualified variables", "constinit std::handler __cxa_handler = x;\nQIcon Item::icon;\nlocale::id codecvt<char>::id;\ntemplate class VIS money_get<char>;\nexport module B;\n", "variable __cxa_handler 1-1\nvariable Item::icon 2-2\nvariable codecvt::id 3-3\n"},
		{"operator across arms", "struct V {\n\tint operator()\n#if A\n\t(int a)\n#else\n\t(long a)\n#endif\n\t{\n\t}\n};\nint z;\n", "struct V 1-10\nfunction V::operator() 2-9\nvariable z 11-11\n"},
		{"exported class", "class EXPORT_MACRO Worker : public QObject {\n\tQ_OBJECT\npublic slots:\n\tvoid run() {}\n};\n", "class Worker 1-5\nfunction Worker::run 4-4\n"},
		{"raw string", "const char *raw = R\"x(}{ \" int fake(int x) { )x\";\nint after(int x)\n{\n}\n", "variable raw 1-1\nfunction after 2-4\n"},
		{"trailing return", "auto f(int x) -> std::vector<int>\n{\n}\nauto l = [](int q) { return q; };\n", "function f 1-3\nvariable l 4-4\n"},
		{"using", "using Vec = std::vector<int>;\nusing namespace std;\nusing std::swap;\n", "typedef Vec 1-1\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := outline(Scan([]byte(tt.src), CPlusPlus)); got != tt.want {
				t.Errorf("%s\ngot\n%s\nwant\n%s", tt.src, got, tt.want)
			}
		})
	}
}

func TestHeaderLanguage(t *testing.T) {
	f := Scan([]byte("#pragma once\nclass A {\n\tint x;\n};\n"), Header)
	if got, want := outline(f), "class A 2-4\nmember A::x 3-3\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	f = Scan([]byte("struct class *c;\nint class;\n"), Header)
	if got, want := outline(f), "variable c 1-1\nvariable class 2-2\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSymbolDetails(t *testing.T) {
	src := "static __always_inline const struct r *\nfind(struct r *from,\n     int key) __must_hold(x)\n{\n}\nunsigned long a, *b;\n#define M(x, ...) \\\n\tx\n"
	var find, b, m Symbol
	for _, s := range Scan([]byte(src), C).Symbols() {
		switch s.Name {
		case "find":
			find = s
		case "b":
			b = s
		case "M":
			m = s
		}
	}
	if got, want := find.Type+"|"+find.Signature, "const struct r *|(struct r *from, int key)"; got != want {
		t.Errorf("find: got %s, want %s", got, want)
	}
	if find.Line != 2 || find.Col != 1 || find.Body != 4 {
		t.Errorf("find: got line %d, column %d, body %d, want 2, 1, 4", find.Line, find.Col, find.Body)
	}
	if got, want := b.Type, "unsigned long*"; got != want {
		t.Errorf("b: got type %q, want %q", got, want)
	}
	if got, want := m.Signature, "(x, ...)"; got != want || m.End != 8 {
		t.Errorf("M: got %q to line %d, want %q to line 8", got, m.End, want)
	}
}

func TestCalls(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"keywords", "if (a) while (b) for (;;) switch (c) return (d); sizeof(e(1)); typeof(g()) x;", ""},
		{"nested", "a(b(c(1)), d());", "a direct; b direct; c direct; d direct"},
		{"casts", "x = (int (*)(void))p; y = (u32)z; q(int)(1);", "q direct"},
		{"declarations", "int foo(int); struct s bar(x); char *baz(void);", ""},
		{"multiplication", "x = a * foo(1);", "foo direct"},
		{"after keyword", "return f(1); else g(); do h(); while (0); goto out; case K: i();", "f direct; g direct; h direct; i direct"},
		{"members", "p->open(1); s.close(2); p->ops->read(3); a[1].go(4);", "open member; close member; read member; go member"},
		{"pointers", "(*fp)(1); (*p->fn)(2); tab[3](4); p->tab[3](4);", "fp pointer; fn member; tab member; tab member"},
		{"local pointer", "int (*cb)(int) = x; handler_t h = y, i; cb(1); h(2); i(3);", "cb pointer; h pointer; i direct"},
		{"literals", "/* a() */ \"b()\"; 'c'; // d()", ""},
		{"assembly", "asm volatile(\"x\" : \"=r\"(a) : \"r\"(f(1)));", "f direct"},
		{"attribute", "struct s x __attribute__((cleanup(foo)));", ""},
		{"compound literal", "g((struct s){ .a = h(1), .b = i });", "g direct; h direct"},
		{"statement expression", "x = ({ f(); 1; });", "f direct"},
		{"dead", "\n#if 0\nf();\n#endif\ng();", "f direct dead; g direct"},
		{"labels", "out: f(); x ? g() : h();", "f direct; g direct; h direct"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := Scan([]byte("void fn(struct p *p)\n{\n"+tt.body+"\n}\n"), C)
			var calls []string
			for _, c := range f.Calls(1, f.Lines()) {
				text := c.Name + " " + c.Kind.String()
				if c.Dead {
					text += " dead"
				}
				calls = append(calls, text)
			}
			if got := strings.Join(calls, "; "); got != tt.want {
				t.Errorf("%s: got %q, want %q", tt.body, got, tt.want)
			}
		})
	}
}

func TestCallsOfMacro(t *testing.T) {
	f := Scan([]byte("#define A(x, cb) do { f(x); cb(x); x##_open(1); #x; \\\n\tg(\"h()\"); } while (0)\n#define B f\n"), C)
	if got, want := callees(t, f, "A", Macro), "f direct; g direct"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := f.Calls(2, 2); len(got) != 1 || got[0].Name != "g" || got[0].Col != 2 {
		t.Errorf("line 2: got %+v, want g at column 2", got)
	}
}

func TestEnclosing(t *testing.T) {
	src := "int a;\n\nint f(void)\n{\n#define L 1\n\treturn L;\n}\n/* f */\nstruct s t = {\n\tf,\n};\nint p(int);\nint g(void) { return 0; } int h(void) { return f(); }\n"
	f := Scan([]byte(src), C)
	for line, want := range []string{1: "a", 2: "", 3: "f", 4: "f", 5: "L", 6: "f", 7: "f", 8: "", 9: "t", 10: "t", 11: "t", 12: "p", 13: "g", 14: ""} {
		if line == 0 {
			continue
		}
		if got, ok := f.Enclosing(line); got.Name != want || ok != (want != "") {
			t.Errorf("line %d: got %q, want %q", line, got.Name, want)
		}
	}
	if got, _ := f.EnclosingAt(13, 50); got.Name != "h" {
		t.Errorf("13:50: got %q, want h", got.Name)
	}
}
