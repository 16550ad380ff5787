package golang

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

// TestMain lets the test binary play the child.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "child" {
		if err := Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func newTool(t *testing.T, change func(*Options)) *Tool {
	t.Helper()
	path, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Child: []string{os.Args[0], "child"}, Go: path, Env: os.Environ()}
	if change != nil {
		change(&o)
	}
	tool := New(o)
	t.Cleanup(tool.Close)
	return tool
}

// project writes the files of a txtar archive and lists the Go files among them.
func project(t *testing.T, archive string) semantic.Project {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := semantic.Project{Root: root, FS: os.DirFS(root), Generation: "1"}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, f.Data, 0o644)); err != nil {
			t.Fatal(err)
		}
		p.Files = append(p.Files, f.Name)
	}
	slices.Sort(p.Files)
	return p
}

func resolve(t *testing.T, tool *Tool, p semantic.Project, name string) semantic.Resolution {
	t.Helper()
	r, err := tool.Resolve(t.Context(), p, semantic.Query{Name: name})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

// written is a declaration with its facts on one line.
func written(d semantic.Declaration) string {
	return fmt.Sprintf("%s:%d %s %s | %s | super %v | over %v | impl %v | from %s | %v", d.Path, d.Line, d.Kind, d.QualifiedName,
		d.Facts.GenericType, d.Facts.Supertypes, d.Facts.Overrides, d.Facts.Implements, d.Facts.PromotedFrom, d.Facts.Annotations)
}

const zoo = `
-- go.mod --
module example.com/zoo

go 1.21
-- zoo.go --
package zoo

import (
	"io"
	"sync"
)

type Animal interface{ Noise() string }

type Loud interface {
	Animal
	Volume() int
}

type Base struct {
	sync.Mutex
	Name string ` + "`json:\"name\"`" + `
}

func (b Base) Noise() string { return "" }

type Dog struct {
	*Base
	io.Reader
}

func (d *Dog) Noise() string { return "woof" }

type Box[T any] struct{ item T }

func (b *Box[T]) Get() T { return b.item }

type Kennel = Box[Dog]

type Flock struct{ Box[*Dog] }

//go:noinline
func Fed[T Animal](list ...T) (n int, err error) { return 0, nil }

var Zero, One = 0, Fed[*Dog]

type Celsius float64

const Boiling Celsius = 100
-- zoo_test.go --
package zoo

func Helper() {}
-- outer_test.go --
package zoo_test

func Outer() {}
`

func TestResolve(t *testing.T) {
	p, tool := project(t, zoo), newTool(t, nil)
	for _, test := range []struct{ name, want string }{
		{"Dog", "zoo.go:22 struct example.com/zoo.Dog | example.com/zoo.Dog | super [*example.com/zoo.Base io.Reader] | over [] | " +
			"impl [example.com/zoo.Animal (by pointer) io.Reader sync.Locker] | from  | []"},
		{"Dog.Noise", "zoo.go:27 method example.com/zoo.Dog.Noise | func() string | super [] | over [example.com/zoo.Base.Noise] | impl [example.com/zoo.Animal.Noise] | from  | []"},
		{"Dog.Name", "zoo.go:17 field example.com/zoo.Base.Name | string | super [] | over [] | impl [] | from example.com/zoo.Base | [`json:\"name\"`]"},
		{"zoo.Dog.Lock", " 0 method sync.Mutex.Lock"},
		{"Dog.Read", " 0 method io.Reader.Read"},
		{"Loud", "zoo.go:10 interface example.com/zoo.Loud | example.com/zoo.Loud | super [example.com/zoo.Animal] | over [] | impl [example.com/zoo.Animal] | from  | []"},
		{"Loud.Noise", "zoo.go:8 method example.com/zoo.Animal.Noise | func() string | super [] | over [] | impl [] | from example.com/zoo.Animal | []"},
		{"zoo.Box", "zoo.go:29 struct example.com/zoo.Box | example.com/zoo.Box[T any]"},
		{"(*Box).Get", "zoo.go:31 method example.com/zoo.Box.Get | func() T"},
		{"Kennel", "zoo.go:33 alias example.com/zoo.Kennel | example.com/zoo.Kennel"},
		{"Flock.Get", "zoo.go:31 method example.com/zoo.Box.Get | func() T | super [] | over [] | impl [] | from example.com/zoo.Box | []"},
		{"Flock.item", "zoo.go:29 field example.com/zoo.Box.item | T | super [] | over [] | impl [] | from example.com/zoo.Box | []"},
		{"Fed", "zoo.go:38 function example.com/zoo.Fed | func[T example.com/zoo.Animal](list ...T) (n int, err error) | super [] | over [] | impl [] | from  | [//go:noinline]"},
		{"One", "zoo.go:40 variable example.com/zoo.One | func(list ...*example.com/zoo.Dog) (n int, err error)"},
		{"example.com/zoo.Boiling", "zoo.go:44 constant example.com/zoo.Boiling | example.com/zoo.Celsius"},
		{"Helper", "zoo_test.go:3 function example.com/zoo.Helper"},
		{"zoo_test.Outer", "outer_test.go:3 function example.com/zoo_test.Outer"},
		{"io.Reader", " 0 interface io.Reader | io.Reader"},
		{"sync.Mutex.TryLock", " 0 method sync.Mutex.TryLock | func() bool"},
	} {
		r := resolve(t, tool, p, test.name)
		if len(r.Declarations) != 1 {
			t.Errorf("%s: got %d declarations: %v", test.name, len(r.Declarations), r.Declarations)
			continue
		}
		got := strings.Replace(written(r.Declarations[0]), ":0 ", " 0 ", 1)
		if !strings.HasPrefix(got, test.want) {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, test.want)
		}
		if !r.BindingComplete || !r.InputCoverage.Complete || r.InputCoverage.Files != 3 || r.DiagnosticCoverage.Errors != 0 {
			t.Errorf("%s: got %+v", test.name, r)
		}
	}
	for _, name := range []string{"dog", "Nois", "oo.Dog", "Dog.Bark", "zoo", "b", "T", "io.reader", "", ".", "Dog.", "..", "a/b/c"} {
		if r := resolve(t, tool, p, name); len(r.Declarations) != 0 {
			t.Errorf("%q: got %v, want nothing", name, r.Declarations)
		}
	}
}

// TestFaultsAreTold has a missing dependency, a syntax error, a file for another
// system, one with cgo and one in testdata.
func TestFaultsAreTold(t *testing.T) {
	p := project(t, `
-- go.mod --
module example.com/sick

go 1.21

require example.com/absent v1.0.0
-- a.go --
package sick

import "example.com/absent"

type Uses struct{ absent.Thing }

type Fine struct{ n int }
-- bad/b.go --
package bad

func Whole() {}

func Broken() { return 1 2 }
-- a_plan9.go --
package sick
-- c.go --
package sick

import "C"
-- testdata/x.go --
package x
`)
	tool := newTool(t, nil)
	r := resolve(t, tool, p, "Uses")
	if len(r.Declarations) != 1 || r.BindingComplete {
		t.Errorf("what mentions a missing type: got %+v", r)
	}
	if r.DiagnosticCoverage.Errors == 0 || !slices.ContainsFunc(r.DiagnosticCoverage.Problems, func(p semantic.Problem) bool { return p.Path == "bad/b.go" }) {
		t.Errorf("got diagnostics %+v", r.DiagnosticCoverage)
	}
	want := []string{
		"ignoredFolders: 1 Go file lies in testdata, vendor or hidden folders, which the go command leaves out",
		"excludedFiles: 2 Go files are in no package built for this system without cgo, a_plan9.go for one",
		"syntaxErrors: 1 Go file has syntax errors, behind which declarations may be missed, bad/b.go for one",
	}
	if c := r.InputCoverage; c.Complete || !slices.Equal(c.Reasons, want) {
		t.Errorf("got %+v, want the reasons %q", c, want)
	}
	if r := resolve(t, tool, p, "Fine"); len(r.Declarations) != 1 || !r.BindingComplete {
		t.Errorf("what does not mention it: got %+v", r)
	}
	if r := resolve(t, tool, p, "Whole"); len(r.Declarations) != 1 {
		t.Errorf("before a syntax error: got %+v", r)
	}
}

func TestSeveralModules(t *testing.T) {
	const two = `
-- a/go.mod --
module example.com/a

go 1.21
-- a/a.go --
package a

type Thing struct{}
-- b/go.mod --
module example.com/b

go 1.21
-- b/b.go --
package b

type Thing struct{}
`
	tool := newTool(t, nil)
	for name, p := range map[string]semantic.Project{
		"without go.work": project(t, two),
		"with go.work":    project(t, two+"-- go.work --\ngo 1.21\n\nuse ./a\nuse ./b\n"),
	} {
		r := resolve(t, tool, p, "Thing")
		var got []string
		for _, d := range r.Declarations {
			got = append(got, d.QualifiedName+" of "+d.Module)
		}
		if want := []string{"example.com/a.Thing of example.com/a", "example.com/b.Thing of example.com/b"}; !slices.Equal(got, want) || !r.InputCoverage.Complete {
			t.Errorf("%s: got %v, %+v", name, got, r)
		}
		only, err := tool.Resolve(t.Context(), p, semantic.Query{Name: "Thing", Module: "example.com/b"})
		if err != nil || len(only.Declarations) != 1 || only.Declarations[0].Path != "b/b.go" {
			t.Errorf("%s, one module: got %+v, %v", name, only.Declarations, err)
		}
	}
	r := resolve(t, tool, project(t, "-- a.go --\npackage a\n\ntype Thing struct{}\n"), "Thing")
	if len(r.Declarations) != 0 || r.InputCoverage.Complete || !strings.HasPrefix(r.InputCoverage.Reasons[0], "noModule: ") {
		t.Errorf("without go.mod: got %+v", r)
	}
}

// TestANewGenerationIsReadAnew edits a file and go.mod.
func TestANewGenerationIsReadAnew(t *testing.T) {
	p, tool := project(t, zoo), newTool(t, nil)
	if r := resolve(t, tool, p, "Cat"); len(r.Declarations) != 0 {
		t.Fatalf("got %v", r.Declarations)
	}
	if err := os.WriteFile(filepath.Join(p.Root, "zoo_test.go"), []byte("package zoo\n\ntype Cat struct{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.Generation = "2"
	if r := resolve(t, tool, p, "Cat"); len(r.Declarations) != 1 {
		t.Errorf("after an edit: got %v", r.Declarations)
	}
	if err := os.WriteFile(filepath.Join(p.Root, "go.mod"), []byte("module example.com/park\n\ngo 1.21\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := resolve(t, tool, p, "Cat"); len(r.Declarations) != 1 || r.Declarations[0].QualifiedName != "example.com/park.Cat" {
		t.Errorf("after an edit of go.mod: got %v", r.Declarations)
	}
}

// listing is every file below a folder with its size, mode and time.
func listing(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		fmt.Fprintln(&b, path, info.Size(), info.Mode(), info.ModTime())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestNothingOfTheTreeRuns plants every trap by which a tree or an environment
// can make the go command run or write something.
func TestNothingOfTheTreeRuns(t *testing.T) {
	p := project(t, `
-- go.mod --
module example.com/trap

go 1.21

require example.com/gone v1.2.3
-- a.go --
package main

//go:generate ./trap
import _ "example.com/gone"

type Bait struct{}

func main() {}
-- c.go --
package main

// #cgo pkg-config: trap
// #cgo CFLAGS: -fplugin=./trap
import "C"
-- trap --
#!/bin/sh
touch "$(dirname "$0")/sprung"
exit 1
-- env --
GOFLAGS=-toolexec=trap -mod=mod
GOTOOLCHAIN=go1.99.0+path
GOPROXY=file:///trap
`)
	trap := filepath.Join(p.Root, "trap")
	for _, name := range []string{"go", "gopackagesdriver", "git", "gcc", "pkg-config", "go1.99.0"} {
		if err := os.Link(trap, filepath.Join(p.Root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(trap, 0o755); err != nil {
		t.Fatal(err)
	}
	git := exec.Command("git", "init", "-q")
	git.Dir = p.Root
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	git = exec.Command("git", "config", "core.fsmonitor", trap)
	git.Dir = p.Root
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	before := listing(t, p.Root)
	tool := newTool(t, func(o *Options) {
		o.Env = append(slices.Clone(o.Env), "PATH="+p.Root+":"+os.Getenv("PATH"), "GOENV="+filepath.Join(p.Root, "env"),
			"GOFLAGS=-toolexec="+trap+" -mod=mod", "GOTOOLCHAIN=go1.99.0+path", "GOPACKAGESDRIVER="+trap, "CGO_ENABLED=1", "CC="+trap, "GOPROXY=off", "GOCACHEPROG="+trap)
	})
	if r := resolve(t, tool, p, "Bait"); len(r.Declarations) != 1 {
		t.Errorf("got %+v", r)
	}
	if after := listing(t, p.Root); after != before {
		t.Errorf("the tree changed:\n%s\nwas\n%s", after, before)
	}
}

// TestANewerGoIsNotFetched has a module that asks for a toolchain that is not
// there.
func TestANewerGoIsNotFetched(t *testing.T) {
	p := project(t, "-- go.mod --\nmodule example.com/new\n\ngo 1.99.0\n\ntoolchain go1.99.1\n-- a.go --\npackage a\n\ntype New struct{}\n")
	r := resolve(t, newTool(t, nil), p, "New")
	if c := r.InputCoverage; c.Complete || !strings.Contains(strings.Join(c.Reasons, " "), "1.99") || r.DiagnosticCoverage.Complete {
		t.Errorf("got %+v", r)
	}
}

// TestAChildThatHangsIsKilledWithItsOwn starts a child that never answers and has
// a child itself.
func TestAChildThatHangsIsKilledWithItsOwn(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	tool := newTool(t, func(o *Options) {
		o.Child = []string{"/bin/sh", "-c", "sleep 1000 & echo $! $$ > " + pids + ".new; mv " + pids + ".new " + pids + "; wait"}
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for { // until both run
			if _, err := os.Stat(pids); err == nil {
				cancel()
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	p := project(t, zoo)
	if _, err := tool.Resolve(ctx, p, semantic.Query{Name: "Dog"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	content, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range strings.Fields(string(content)) {
		pid, _ := strconv.Atoi(field)
		deadline := time.Now().Add(10 * time.Second)
		for alive(pid) && time.Now().Before(deadline) {
			time.Sleep(5 * time.Millisecond)
		}
		if alive(pid) {
			t.Errorf("process %d is still there", pid)
		}
	}
}

// alive reports whether a process runs; one that is dead and not yet waited for
// does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func TestWithoutGo(t *testing.T) {
	_, err := New(Options{}).Resolve(t.Context(), project(t, zoo), semantic.Query{Name: "Dog"})
	if !errors.Is(err, semantic.ErrUnavailable) || !strings.Contains(err.Error(), "the go command is not available on this machine") {
		t.Errorf("got %v", err)
	}
	broken := newTool(t, func(o *Options) { o.Child = []string{"/bin/sh", "-c", "echo no such luck >&2; exit 1"} })
	if _, err := broken.Resolve(t.Context(), project(t, zoo), semantic.Query{Name: "Dog"}); err == nil || !strings.Contains(err.Error(), "its last words: no such luck") {
		t.Errorf("a child that fails: got %v", err)
	}
}

// FuzzParse parses anything: whatever is declared has a name and lies in the file,
// members within what they belong to.
func FuzzParse(f *testing.F) {
	f.Add(zoo)
	f.Add("package a; type T[P interface{ ~int }] struct { *T[P]; _ int; A, B func() struct{ x int } }")
	f.Add("package a; func (T) m() {}; func () n() {}; func (a, b T) o(); var a, _ = 1")
	f.Add("package a\nconst (\n\tA = iota\n\tB\n)\ntype (\n\tX = Y\n\tI interface { m(); ~int | X; J }\n)")
	f.Fuzz(func(t *testing.T, text string) {
		p := parseFile(semantic.File{Path: "a.go", Content: []byte(text)})
		lines := strings.Count(text, "\n") + 1
		var check func(list []semantic.Declaration, container string)
		check = func(list []semantic.Declaration, container string) {
			for _, d := range list {
				if d.Name == "" || d.Name == "_" || d.QualifiedName != d.Container+"."+d.Name || container != "" && d.Container != container {
					t.Errorf("%+v in %q", d, container)
				}
				if !strings.Contains(text, "//line") && !strings.Contains(text, "/*line") && (d.Line < 1 || d.EndLine < d.Line || d.EndLine > lines) {
					t.Errorf("%s has lines %d to %d of %d", d.Name, d.Line, d.EndLine, lines)
				}
				check(d.Children, d.QualifiedName)
			}
		}
		check(p.Declarations, "")
		if !p.Complete && len(p.Problems) == 0 {
			t.Error("incomplete without a problem")
		}
	})
}

// FuzzWork reads anything as a go.work file.
func FuzzWork(f *testing.F) {
	f.Add("go 1.21\nuse ./a\nuse (\n\t./b\n\t../c\n)\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, dir := range used([]byte(text)) {
			if dir == "" {
				t.Errorf("an empty folder in %q", text)
			}
		}
	})
}

func TestQualify(t *testing.T) {
	for _, test := range []struct{ name, file, dir, want string }{
		{"a.T", "a.go", ".", "m.T"},
		{"a.T.M", "x/y/a.go", ".", "m/x/y.T.M"},
		{"a", "x/a.go", "x", "m"},
		{"a.T", "x/y/a.go", "x", "m/y.T"},
		{"a_test.T", "x/y/a_test.go", "x", "m/y_test.T"},
	} {
		if got := Qualify(test.name, test.file, semantic.Module{ID: "m", Dir: test.dir}); got != test.want {
			t.Errorf("%s in %s: got %s, want %s", test.name, test.file, got, test.want)
		}
	}
	if got := Qualify("a.T", "a.go", semantic.Module{}); got != "a.T" {
		t.Errorf("without a module: got %s", got)
	}
}

// goRun runs the go command of the tests in a project and returns what it printed.
func goRun(t *testing.T, dir string, arguments ...string) string {
	t.Helper()
	cmd := exec.Command("go", arguments...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		var failed *exec.ExitError
		errors.As(err, &failed)
		t.Fatalf("go %v: %v\n%s%s", arguments, err, out, failed.Stderr)
	}
	return string(out)
}

// TestAgainstTheRunningProgram compares with what package reflect finds in the
// compiled types: every method and every promoted field, and no other.
func TestAgainstTheRunningProgram(t *testing.T) {
	p := project(t, zoo+`
-- show/main.go --
package main

import (
	"fmt"
	"reflect"

	"example.com/zoo"
)

func main() {
	for _, v := range []any{new(zoo.Base), new(zoo.Dog), new(zoo.Box[int]), new(zoo.Flock)} {
		t := reflect.TypeOf(v)
		name := t.Elem().Name()
		for i := 0; i < t.NumMethod(); i++ {
			fmt.Println(name, t.Method(i).Name, t.Method(i).Type.NumIn()-1, false)
		}
		for _, f := range reflect.VisibleFields(t.Elem()) {
			if f.IsExported() || f.PkgPath == "example.com/zoo" {
				fmt.Println(name, f.Name, -1, len(f.Index) > 1)
			}
		}
	}
}
`)
	tool := newTool(t, nil)
	seen := 0
	for line := range strings.Lines(goRun(t, p.Root, "run", "./show")) {
		var owner, name string
		var parameters int
		var promoted bool
		if _, err := fmt.Sscan(line, &owner, &name, &parameters, &promoted); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		owner, _, _ = strings.Cut(owner, "[")
		seen++
		r := resolve(t, tool, p, "zoo."+owner+"."+name)
		if len(r.Declarations) != 1 {
			t.Errorf("%s.%s: got %v", owner, name, r.Declarations)
			continue
		}
		d := r.Declarations[0]
		if isField := d.Kind == "field"; isField != (parameters < 0) || isField && promoted != (d.Facts.PromotedFrom != "") {
			t.Errorf("%s.%s: got %s, want a field %v, promoted %v", owner, name, written(d), parameters < 0, promoted)
		}
	}
	if seen < 20 {
		t.Errorf("the program showed %d members, far fewer than there are", seen)
	}
}

// TestAgainstGoDoc compares signatures with those that go doc prints.
func TestAgainstGoDoc(t *testing.T) {
	p, tool := project(t, zoo), newTool(t, nil)
	for _, name := range []string{"Fed", "Base.Noise", "Dog.Noise", "Box.Get"} {
		d := resolve(t, tool, p, "zoo."+name).Declarations[0]
		text := goRun(t, p.Root, "doc", "example.com/zoo."+name)
		if want := " " + d.Name + d.Signature; !strings.Contains(strings.ReplaceAll(text, ") "+d.Name, " "+d.Name), want) {
			t.Errorf("%s: go doc prints\n%swhich lacks %q", name, text, want)
		}
	}
}
