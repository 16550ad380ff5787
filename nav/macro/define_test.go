package macro

import (
	"strings"
	"testing"
)

// definitions makes Definitions of the lines of a text, one directive a line.
func definitions(text string) Definitions {
	return func(macro string) (defs []string) {
		for _, line := range strings.Split(text, "\n") {
			if d, ok := parseDefine(line); ok && d.name == macro {
				defs = append(defs, line)
			}
		}
		return defs
	}
}

// TestMintedBy: what a call M(A, B, C) declares, a declaration marked with '.
func TestMintedBy(t *testing.T) {
	for _, c := range []struct{ what, defs, want string }{
		{"a variable", `#define M(name) struct lock name = INIT(name)`, "A"},
		{"a variable with attributes", `#define M(name) static struct thing thing_##name __used __section("x") = { .n = #name }`, "thing_A"},
		{"an array", `# define M(type, name) type name[4] __aligned(8)`, "B"},
		{"a type behind typeof", `#define M(type, name) __typeof__(type) __percpu *name`, "B"},
		{"types from arguments", `#define M(t, name) static t##_t name##_cache; u##t get_##name(int);`, "B_cache get_B'"},
		{"an extern", `#define M(name) extern struct key name`, "A'"},
		{"functions", `#define M(name) static inline int name##_get(int x) { return x.name; } static void name ## _put(void) { name = 1; }`, "A_get A_put"},
		{"a prototype and its function", `#define M(name) void do_##name(int); void do_##name(int a) { }`, "do_A"},
		{"a function's head", `#define M(name, ...) long sys_##name(void); long sys_##name(void)`, "sys_A"},
		{"a struct, and a variable", `#define M(name) struct name##_entry { int name; }; static struct { int x; } name##_table[] = { { name } }`, "A_entry A_table"},
		{"an enum", `#define M(name) enum { FIRST_##name = 1, SECOND_##name, OTHER }`, "FIRST_A SECOND_A"},
		{"a function pointer", `#define M(name) typedef int (*name##_fn)(int); static void (*hook_##name)(void);`, "A_fn hook_A"},
		{"two arguments", `#define M(a, b) static struct attr a##_attr_##b = { a##_show }`, "A_attr_B"},
		{"one that is no name", `#define M(a, b) static int a##b;`, ""},
		{"an expression", `#define M(start, len) { .start = (start), .end = (start) + (len) }`, ""},
		{"a statement", `#define M(a, b) do { f(a, b); } while (0)`, ""},
		{"no parameter in the name", `#define M(a) static int fixed = a;`, ""},
		{"a known macro inside", `#define M(a, b) static DEFINE_PER_CPU(struct x, b##_count); LIST_HEAD(a);`, "B_count A"},
		{"an event of a class", `#define M(name) DEFINE_EVENT_NOP(the_class, sub_##name, TP_PROTO(int a))`, "trace_sub_A trace_sub_A_enabled"},
		{"a macro of the tree", "#define M(a) DEFINE_X(pre_##a, 1) int last_##a;\n#define DEFINE_X(n, v) int n##_x = v;", "pre_A_x last_A"},
		{"a macro that nobody knows", `#define M(a) DEFINE_X(a)`, ""},
		{"a macro in a circle", "#define M(a) N(a)\n#define N(a) M(a) int n_##a;", "n_A"},
		{"several definitions", "#define M(a) int a##_1;\n#define M(b) int b##_2;", "A_1 A_2"},
		{"kernel types", `#define M(a) __u8 a##_byte; __le32 a##_word;`, "A_byte A_word"},
		{"comments", `#define M(a) /* int no_##a; */ int yes_##a; // int no_##a;`, "yes_A"},
		{"no macro with arguments", "#define M int a;\n#undef M(a)", ""},
		{"cut off", `#define M(a) static struct a##_t {`, "A_t"},
	} {
		names, known := Builtin().MintedBy(definitions(c.defs), "a.c", "M", []string{"A", "B", "C"})
		var out []string
		for _, n := range names {
			s := n.Name
			if n.Role == Declare {
				s += "'"
			}
			out = append(out, s)
			if n.Label != "macro:M" || n.Weak {
				t.Errorf("%s: %+v", c.what, n)
			}
		}
		if got := strings.Join(out, " "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.what, got, c.want)
		}
		if known != (c.want != "") {
			t.Errorf("%s: known %v", c.what, known)
		}
	}
}

func TestContinuedDefine(t *testing.T) {
	define := "#\tdefine M(a, b)\t\\\n\tint a##_x;\t\\\r\n\tint b##_y\nint next;"
	names, _ := Builtin().MintedBy(func(string) []string { return []string{define} }, "a.c", "M", []string{"A", "B"})
	if len(names) != 2 || names[0].Name != "A_x" || names[1].Name != "B_y" {
		t.Errorf("got %+v", names)
	}
}

// FuzzMintedBy: whatever a definition is, what a call mints are names.
func FuzzMintedBy(f *testing.F) {
	f.Add("#define M(name) struct lock name = INIT(name)")
	f.Add("#define M(a,b) enum { X_##a = 1, b } a##_##b[(; M(b, a)")
	f.Add("#define M(a, ...) static DEFINE_PER_CPU(struct x, a##_) = { [0] = 1 }; SYSCALL_DEFINE0(a##b)")
	f.Fuzz(func(t *testing.T, define string) {
		names, known := Builtin().MintedBy(func(string) []string { return []string{define} }, "a.c", "M", []string{"A", "b_1", "x"})
		for _, n := range names {
			if !isName(n.Name) || !known {
				t.Fatalf("%+v, known %v", n, known)
			}
		}
	})
}
