package java

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

// shared is the one helper of this test binary; tests that kill helpers start
// their own.
var shared struct {
	sync.Once
	*FrontEnd
	dir string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.FrontEnd != nil {
		shared.Close()
		os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

// frontEnd returns the shared front end.
func frontEnd(t testing.TB) *FrontEnd {
	t.Helper()
	shared.Do(func() {
		home := navtest.JDK(t)
		dir, err := os.MkdirTemp("", "java-test-")
		if err != nil {
			t.Fatal(err)
		}
		shared.dir, shared.FrontEnd = dir, New(Options{Dir: dir, Getenv: jdkAt(home)})
	})
	if shared.FrontEnd == nil {
		t.Fatal("there is no JDK for the tests")
	}
	return shared.FrontEnd
}

// ownFrontEnd returns one that the test may break.
func ownFrontEnd(t *testing.T, o Options) *FrontEnd {
	t.Helper()
	frontEnd(t)
	o.Dir, o.Getenv = shared.dir, shared.options.Getenv
	f := New(o)
	t.Cleanup(f.Close)
	return f
}

// jdkAt is an environment that names nothing but a JDK.
func jdkAt(home string) func(string) string {
	return func(name string) string {
		if name == "JAVA_HOME" {
			return home
		}
		return ""
	}
}

// parse parses one file.
func parse(t testing.TB, f *FrontEnd, path, content string) semantic.Parsed {
	t.Helper()
	parsed, err := f.Parse(t.Context(), []semantic.File{{Path: path, Content: []byte(content)}})
	if err != nil || len(parsed) != 1 {
		t.Fatalf("Parse(%s): %d answers, %v", path, len(parsed), err)
	}
	return parsed[0]
}

// lines writes declarations one a line, members indented.
func lines(declarations []semantic.Declaration, indent string) string {
	var out strings.Builder
	for _, d := range declarations {
		fmt.Fprintf(&out, "%s%d-%d %s%s %s", indent, d.Line, d.EndLine, strings.Join(append(d.Modifiers, ""), " "), d.Kind, d.QualifiedName)
		if d.Signature != "" {
			fmt.Fprintf(&out, " | %s", d.Signature)
		}
		fmt.Fprintf(&out, "\n%s", lines(d.Children, indent+"  "))
	}
	return out.String()
}
