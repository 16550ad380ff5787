package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

func TestRootLadder(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder := func(parts ...string) string {
		path := filepath.Join(append([]string{top}, parts...)...)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b, deep := folder("a"), folder("b"), folder("a", "x", "y")
	folder("a", ".git")
	folder("home", ".gtags-mcp") // a toolchain's home is no index
	bare := folder("home", "work")
	spaced := folder("with space \"and:quote")
	file := filepath.Join(top, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	roots := func(uris ...string) func() []string { return func() []string { return uris } }
	for _, test := range []struct {
		name      string
		ladder    rootLadder
		want, err string
	}{
		{"argument wins", rootLadder{argument: b, configured: a, roots: roots("file://" + a), cwd: deep}, b, ""},
		{"relative argument", rootLadder{argument: "x", cwd: a, roots: roots()}, filepath.Join(a, "x"), ""},
		{"odd characters", rootLadder{argument: spaced, cwd: a, roots: roots()}, spaced, ""},
		{"configured", rootLadder{configured: a, clientDir: b, roots: roots(), cwd: deep}, a, ""},
		{"client's folder", rootLadder{clientDir: b, roots: roots("file://" + a), cwd: deep}, b, ""},
		{"one client root", rootLadder{roots: roots("file://" + b), cwd: deep}, b, ""},
		{"escaped client root", rootLadder{roots: roots("file://" + top + "/with%20space%20%22and:quote"), cwd: deep}, spaced, ""},
		{"the client root around cwd", rootLadder{roots: roots("file://"+b, "file://"+a), cwd: deep}, a, ""},
		{"several client roots", rootLadder{roots: roots("file://"+b, "file://"+a), cwd: bare}, "", "several workspaces are open: " + b + ", " + a},
		{"remote client root", rootLadder{roots: roots("https://example.com/x"), cwd: deep}, "", "none of the client's workspace roots is a local folder"},
		{"walk up to .git", rootLadder{roots: roots(), cwd: deep}, a, ""},
		{"no project", rootLadder{roots: roots(), cwd: bare}, "", "pass project_root"},
		{"missing", rootLadder{argument: filepath.Join(top, "none"), roots: roots(), cwd: a}, "", "no such folder"},
		{"a file", rootLadder{argument: file, roots: roots(), cwd: a}, "", "is a file"},
		{"below a file", rootLadder{argument: file + "/x", roots: roots(), cwd: a}, "", "not a directory"},
		{"NUL", rootLadder{argument: "a\x00b", roots: roots(), cwd: a}, "", "is not a path"},
		{"too long", rootLadder{argument: strings.Repeat("x", 10000), roots: roots(), cwd: a}, "", "file name too long"},
	} {
		test.ladder.around = test.ladder.cwd
		got, err := test.ladder.resolve()
		if got != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: got %q, error %v; want %q, error with %q", test.name, got, err, test.want, test.err)
		}
	}
}

// TestRootLadderInAFence goes down the ladder of a server that serves some folders only.
func TestRootLadderInAFence(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := filepath.Join(top, "a"), filepath.Join(top, "b"), filepath.Join(top, "c")
	for _, dir := range []string{a, b, c} {
		if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	one, err := nav.NewFence(a)
	if err != nil {
		t.Fatal(err)
	}
	two, err := nav.NewFence(a, b)
	if err != nil {
		t.Fatal(err)
	}
	roots := func(uris ...string) func() []string { return func() []string { return uris } }
	for _, test := range []struct {
		name      string
		ladder    rootLadder
		want, err string
	}{
		{"the only folder", rootLadder{fence: one, roots: roots(), around: c}, a, ""},
		{"the working directory", rootLadder{fence: two, roots: roots(), around: b}, b, ""},
		{"a working directory outside", rootLadder{fence: two, roots: roots(), around: c}, "", "pass project_root, below " + a + " or " + b},
		{"configured outside", rootLadder{fence: two, configured: c, roots: roots(), around: b}, "", "outside the folders"},
		{"the client's folder outside", rootLadder{fence: two, clientDir: c, roots: roots(), around: b}, "", "outside the folders"},
		{"a client's root", rootLadder{fence: two, roots: roots("file://" + b), around: a}, b, ""},
		{"a client's root outside", rootLadder{fence: two, roots: roots("file://" + c), around: a}, "", "outside the folders"},
		{"several of a client's roots", rootLadder{fence: two, roots: roots("file://"+a, "file://"+b), around: a}, "", "several workspaces are open"},
	} {
		got, err := test.ladder.resolve()
		if got != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: got %q, error %v; want %q, error with %q", test.name, got, err, test.want, test.err)
		}
	}
}
