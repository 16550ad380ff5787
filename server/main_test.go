package server

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav"
	"github.com/gtagsmcp/gtagsmcp/nav/semantic/golang"
	"github.com/gtagsmcp/gtagsmcp/nav/semantic/java"
)

// TestMain lets the test binary play the resolver for Go, which a server runs as
// a child.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "go-resolver" {
		if err := golang.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	dir, err := os.MkdirTemp("", "java")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	javaDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// javaDir keeps the compiled helper of the Java front end from test to test.
var javaDir string

// frontEnds are those of a server, with the go command that runs the tests.
func frontEnds(t testing.TB) *nav.FrontEnds {
	path, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	f := nav.NewFrontEnds(golang.Options{Child: []string{os.Args[0], "go-resolver"}, Go: path, Env: os.Environ()}, java.Options{Dir: javaDir})
	t.Cleanup(f.Close)
	return f
}
