package java

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

// TestACompilationThatBreaksIsSaid has every compilation take too long.
func TestACompilationThatBreaksIsSaid(t *testing.T) {
	f := ownFrontEnd(t, Options{ResolveTime: time.Nanosecond})
	p := projectAt(t, write(t, "\n-- A.java --\nclass A { int same; }\n-- B.java --\nclass B { int same; }"))
	r := resolve(t, f, p, semantic.Query{Name: "same"})
	if len(r.Declarations) != 0 || r.BindingComplete || r.InputCoverage.Complete {
		t.Errorf("got %+v", r)
	}
	missing := 0
	for _, l := range r.Limitations {
		if strings.HasPrefix(l, "1 declarations of the main sources are missing from the answer: the JDK's compiler broke down: it took more than 1ns") {
			missing++
		}
	}
	if missing != 2 {
		t.Errorf("limitations %q, want each file's", r.Limitations)
	}
}

// TestManyFilesOfOneName asks for what more files declare than are analyzed, and
// than one compilation takes.
func TestManyFilesOfOneName(t *testing.T) {
	const files = compiledFiles + 10
	var tree strings.Builder
	for i := range files {
		fmt.Fprintf(&tree, "\n-- p/C%03d.java --\npackage p;\nclass C%03d { C%03d next() { return 1; } }", i, i, (i+1)%files)
	}
	p := projectAt(t, write(t, tree.String()))
	r := resolve(t, frontEnd(t), p, semantic.Query{Name: "next"})
	if len(r.Declarations) != files || !r.BindingComplete || !r.InputCoverage.Complete || r.InputCoverage.Files != files {
		t.Fatalf("%d declarations of %d, %+v", len(r.Declarations), files, r.InputCoverage)
	}
	for i, d := range r.Declarations {
		if want := fmt.Sprintf("()p.C%03d", (i+1)%files); d.Facts.ErasedType != want || d.Path != fmt.Sprintf("p/C%03d.java", i) {
			t.Fatalf("answer %d: %s, want %s", i, facts(d), want)
		}
	}
	want := fmt.Sprintf("the bodies of %d files were not analyzed, because more than %d files declare the name", compiledFiles, analyzedFiles)
	if r.DiagnosticCoverage.Complete || !slices.Contains(r.Limitations, want) {
		t.Errorf("%+v, limitations %q", r.DiagnosticCoverage, r.Limitations)
	}
	if r = resolve(t, frontEnd(t), p, semantic.Query{Name: "C007.next"}); !r.DiagnosticCoverage.Complete || r.DiagnosticCoverage.Errors == 0 {
		t.Errorf("one alone: %+v", r.DiagnosticCoverage)
	}
}

func TestFirstFiles(t *testing.T) {
	var all []candidate
	for _, path := range []string{"a", "a", "b", "c", "c"} {
		all = append(all, candidate{file: semantic.File{Path: path}})
	}
	for n, want := range []int{0, 2, 3, 5, 5} {
		if got := len(firstFiles(all, n)); got != want {
			t.Errorf("firstFiles(%d) has %d, want %d", n, got, want)
		}
	}
}
