package java

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

var structures = []struct{ name, path, source, want string }{
	{"nested order, several types, variables in a row", "p/A.java", `package p;
class A<T extends Comparable<T>> extends B<T> implements C, D {
  int a = 1, b[] = {2}, /* b */ c;
  static { int local; }
  protected static final synchronized
      <Q> java.util.List<Q> make(final int x, String... more)[] throws Exception {
    class Local { int inside; }
    return null;
  }
  A() { new Object() { int anonymous; }; }
  interface In { default void d() {} }
  volatile int last;
}
@interface Mark { String value() default "x"; int[] n() default {}; }
`, `2-13 class p.A | <T extends Comparable<T>> extends B<T> implements C, D
  3-3 field p.A.a | int
  3-3 field p.A.b | int[]
  3-3 field p.A.c | int
  6-9 protected static final synchronized method p.A.make | <Q>(int x, String... more): java.util.List<Q>[] throws Exception
  10-10 constructor p.A.A | ()
  11-11 interface p.A.In
    11-11 default method p.A.In.d | (): void
  12-12 volatile field p.A.last | int
14-14 annotation p.Mark
  14-14 annotationElement p.Mark.value | (): String
  14-14 annotationElement p.Mark.n | (): int[]
`},
	{"enum constants with bodies", "E.java", `enum E implements I {
  @Deprecated A(1) {
    void inBody() {}
  },
  B, E;
  final E field = E;
  E() {}
}`, `1-8 enum E | implements I
  2-4 enumConstant E.A
  5-5 enumConstant E.B
  5-5 enumConstant E.E
  6-6 final field E.field | E
  7-7 constructor E.E | ()
`},
	{"an enum's field of its own type", "F.java", "enum F { X;\n static F F = new F();\n static final F\n Y = new F() {}; }", `1-4 enum F
  1-1 enumConstant F.X
  2-2 static field F.F | F
  4-4 static final field F.Y | F
`},
	{"annotations with names in them", "G.java", `@A(name = "class G", value = @B(x = 1))
public
class G {
  @A(m = ")") @p.q.B int @C [] m() { return null; }
  int m @C [];
}`, `3-6 public class G
  4-4 method G.m | (): int @C []
  5-5 field G.m | int @C []
`},
	{"module", "x/module-info.java", "/** Doc. */\n@Deprecated\nopen module a.b.c {\n  requires java.base;\n}\n", "3-5 open module a.b.c\n"},
	{"package", "x/package-info.java", "/* package no; */\n@Deprecated\npackage x.y;\n", "3-3 package x.y\n"},
	{"a package statement declares nothing elsewhere", "x/Y.java", "package x;\n", ""},
	{"escapes, Latin-1 and odd line ends", "U.java", "class U {\r\n int \\u0061b;\r // caf\xe9\n int c;\r\n}", `1-5 class U
  2-2 field U.ab | int
  4-4 field U.c | int
`},
	{"empty", "Empty.java", "", ""},
}

// modern is what only newer parsers read.
var modern = []struct{ name, path, source, want string }{
	{"records", "R.java", `record R<T>(int x, @A T... rest) implements I {
  static int count;
  R {
    count++;
  }
  R(int x) { this(x, null); }
  @Override public int x() { return x; }
  record Empty() {}
}`, `1-9 record R | <T>(int x, T... rest) implements I
  1-1 recordComponent R.x | int
  1-1 recordComponent R.rest | T[]
  2-2 static field R.count | int
  3-5 constructor R.R
  6-6 constructor R.R | (int x)
  7-7 public method R.x | (): int
  8-8 record R.Empty | ()
`},
	{"sealed types", "S.java", "public sealed interface S permits P, Q {}\nnon-sealed class P implements S {}\nfinal class Q implements S { String t = \"\"\"\n  class Fake {}\n  \"\"\"; int after; }", `1-1 public sealed interface S | permits P, Q
2-2 non-sealed class P | implements S
3-5 final class Q | implements S
  3-5 field Q.t | String
  5-5 field Q.after | int
`},
}

func TestStructure(t *testing.T) {
	f := frontEnd(t)
	cases := structures
	f.Parse(t.Context(), nil)
	if parse(t, f, "V.java", "class V {}"); featureOf(f.Status().JDK) >= 17 {
		cases = append(cases, modern...)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := parse(t, f, c.path, c.source)
			if s := lines(got.Declarations, ""); s != c.want {
				t.Errorf("got\n%swant\n%s", s, c.want)
			}
			if !got.Complete || len(got.Problems) > 0 {
				t.Errorf("not complete: %v", got.Problems)
			}
			if !strings.HasPrefix(got.Parser, "jdk ") || got.Path != c.path {
				t.Errorf("parser %q, path %q", got.Parser, got.Path)
			}
		})
	}
}

func TestSyntaxErrorsLowerCoverageOnly(t *testing.T) {
	got := parse(t, frontEnd(t), "a/B.java", "package a;\nclass B {\n  int ok;\n  void broken( { }\n  void after() {}\n}\n")
	if got.Complete {
		t.Error("complete in spite of a syntax error")
	}
	if len(got.Problems) == 0 || got.Problems[0].Path != "a/B.java" || got.Problems[0].Line != 4 {
		t.Errorf("problems %+v, want one in line 4", got.Problems)
	}
	if s := lines(got.Declarations, ""); !strings.Contains(s, "4-4 method a.B.broken\n") {
		t.Errorf("the broken method has another signature than none:\n%s", s)
	}
	for _, want := range []string{"a.B.ok", "a.B.after"} {
		if s := lines(got.Declarations, ""); !strings.Contains(s, want) {
			t.Errorf("%s is missing from\n%s", want, s)
		}
	}
}

func TestManyFilesInOrder(t *testing.T) {
	var files []semantic.File
	for i := range 250 {
		name := "C" + strings.Repeat("x", i)
		files = append(files, semantic.File{Path: name + ".java", Content: []byte("class " + name + " {}")})
	}
	files[7].Content = append(files[7].Content, bytes.Repeat([]byte(" "), maxFile)...)
	parsed, err := frontEnd(t).Parse(t.Context(), files)
	if err != nil || len(parsed) != len(files) {
		t.Fatalf("%d answers, %v", len(parsed), err)
	}
	for i, p := range parsed {
		if i == 7 {
			if p.Complete || len(p.Problems) != 1 || !strings.Contains(p.Problems[0].Message, "limit is 1048576") {
				t.Errorf("too large: %+v", p)
			}
			continue
		}
		if p.Path != files[i].Path || len(p.Declarations) != 1 || p.Declarations[0].Name+".java" != p.Path {
			t.Fatalf("answer %d is %+v, asked for %s", i, p, files[i].Path)
		}
	}
}

// TestDeepNesting gives the parser what overflows its stack: the other files of
// the request do not suffer.
func TestDeepNesting(t *testing.T) {
	deep := "class Deep { int x = " + strings.Repeat("(", 200_000) + "1" + strings.Repeat(")", 200_000) + "; }"
	parsed, err := frontEnd(t).Parse(t.Context(), []semantic.File{
		{Path: "A.java", Content: []byte("class A {}")}, {Path: "Deep.java", Content: []byte(deep)}, {Path: "Z.java", Content: []byte("class Z {}")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"A", "", "Z"} {
		if name == "" {
			if parsed[i].Complete || len(parsed[i].Problems) == 0 {
				t.Errorf("%s: %+v", parsed[i].Path, parsed[i])
			}
		} else if len(parsed[i].Declarations) != 1 || parsed[i].Declarations[0].Name != name || !parsed[i].Complete {
			t.Errorf("%s: %+v", name, parsed[i])
		}
	}
}
