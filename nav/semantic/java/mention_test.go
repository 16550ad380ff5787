package java

import (
	"io/fs"
	"os"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

func TestMayDeclare(t *testing.T) {
	for source, want := range map[string]bool{
		"class X {}":                    true,
		"class X<T> {}":                 true,
		"enum E { A, X }":               true,
		"enum E { @Deprecated() X(1) }": true,
		"int a = 1, X = 2;":             true,
		"int[] X;":                      true,
		"List<T> X() {}":                true,
		"record R(int a, int X) {}":     true,
		"/* c */X() {}":                 true,
		"int X\n= 1;":                   true,
		"interface X extends Y":         true,
		`int \u0058;`:                   true,
		"":                              false,
		"a.X();":                        false,
		"y = X();":                      false,
		"X x;":                          false,
		"int XY;":                       false,
		"int aX;":                       false,
		"f(X);":                         false,
		"int é = 1; X.y();":             false,
	} {
		if got := mayDeclare("a/B.java", []byte(source), "X"); got != want {
			t.Errorf("mayDeclare(%q) = %v, want %v", source, got, want)
		}
	}
	if !mayDeclare("a/module-info.java", []byte("module a.X {}"), "X") {
		t.Error("a module's last name is not found")
	}
}

// TestEveryDeclarationIsMentioned holds the quick look against the parser, over the
// sources of every case of this package and of the helper itself.
func TestEveryDeclarationIsMentioned(t *testing.T) {
	var files []semantic.File
	for _, c := range structures {
		files = append(files, semantic.File{Path: c.path, Content: []byte(c.source)})
	}
	names, _ := fs.Glob(os.DirFS("."), "*/*.java")
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, semantic.File{Path: name, Content: content})
	}
	mentioned(t, frontEnd(t), files)
}

func mentioned(t *testing.T, f *FrontEnd, files []semantic.File) {
	t.Helper()
	parsed, err := f.Parse(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for i, p := range parsed {
		walk(p.Declarations, func(d *semantic.Declaration) {
			checked++
			if !mayDeclare(p.Path, files[i].Content, simpleName(d.Name)) {
				t.Errorf("%s:%d: %s is overlooked", p.Path, d.Line, d.QualifiedName)
			}
		})
	}
	if checked < 100 {
		t.Errorf("only %d declarations checked", checked)
	}
}
