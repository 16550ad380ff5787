package golang

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

// program is a project as the type checker sees it.
type program struct {
	state   string // of the sources and of what the go command reads beside them
	root    string
	version string
	env     []string

	fset       *token.FileSet
	files      map[string]bool // of the project, as they were loaded
	decls      []*place
	byName     map[string][]*place // by simple name
	byPos      map[string]*place   // by file:line:column of the name
	packages   []*types.Package    // all, the project's first
	modules    map[string]string   // module of each import path
	interfaces []*types.TypeName

	coverage    semantic.Coverage
	diagnostics semantic.Diagnostics
	complaints  map[semantic.Problem]bool
	malformed   []string // files with syntax errors
}

// place is one declaration of the project.
type place struct {
	declared
	module string
	object types.Object
	pkg    *types.Package
	scope  string // "main", "test"
}

const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
	packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes | packages.NeedModule | packages.NeedForTest

// maxModules is how many modules without a go.work are type-checked: each brings
// its own copy of what it imports.
const maxModules = 20

// load makes the program that a request is about, unless it is the present one.
func (p *program) load(ctx context.Context, r *request) error {
	state := r.Root + " " + r.Generation + besides(r)
	if p.state == state {
		return nil
	}
	*p = program{
		root: r.Root, fset: token.NewFileSet(), files: map[string]bool{}, byName: map[string][]*place{}, byPos: map[string]*place{},
		modules: map[string]string{}, complaints: map[semantic.Problem]bool{},
	}
	p.coverage = semantic.Coverage{Reasons: []string{}}
	p.diagnostics = semantic.Diagnostics{Complete: true, Problems: []semantic.Problem{}}
	if err := p.askGo(ctx); err != nil {
		return err
	}
	var roots []*packages.Package
	for _, l := range p.loads(r) {
		found, err := p.loadModules(ctx, l)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			p.miss("unloadable", "%s: %s", l.name, oneLine(err.Error()))
			p.diagnostics.Complete = false
			continue
		}
		roots = append(roots, found...)
	}
	p.take(roots)
	p.cover(r)
	p.state = state
	debug.FreeOSMemory() // most of it was syntax, and the child may rest for minutes
	return nil
}

// besides tells one state from another of what the go command reads and no index
// lists.
func besides(r *request) string {
	var b strings.Builder
	names := []string{"go.work", "go.work.sum", "vendor/modules.txt"}
	for _, m := range r.Modules {
		names = append(names, path.Join(m.Dir, "go.mod"), path.Join(m.Dir, "go.sum"))
	}
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(r.Root, name)); err == nil {
			fmt.Fprint(&b, " ", name, info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// askGo learns where the user keeps modules and the build cache, which may be
// written in the settings that are otherwise left out.
func (p *program) askGo(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	p.env = os.Environ()
	cmd := exec.CommandContext(ctx, "go", "env", "-json", "GOVERSION", "GOMODCACHE", "GOCACHE")
	cmd.Env = slices.DeleteFunc(slices.Clone(p.env), func(v string) bool { return v == "GOENV=off" })
	cmd.Dir = "/"
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go env: %w: %s", err, oneLine(problem.String()))
	}
	var settings map[string]string
	if err := json.Unmarshal(out, &settings); err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	p.version = settings["GOVERSION"]
	for _, name := range []string{"GOMODCACHE", "GOCACHE"} {
		if settings[name] != "" && settings[name] != "off" {
			p.env = append(p.env, name+"="+settings[name])
		}
	}
	return nil
}

// moduleLoad is one call of packages.Load.
type moduleLoad struct {
	name     string
	dir      string
	work     string // GOWORK
	patterns []string
}

// loads are the calls that cover the modules of a project: one for those that a
// go.work at the root joins, one for each of the others.
func (p *program) loads(r *request) (list []moduleLoad) {
	work := filepath.Join(r.Root, "go.work")
	joined := map[string]bool{}
	if content, err := readAtMost(os.DirFS(r.Root), "go.work", maxGoMod); err == nil {
		l := moduleLoad{name: "go.work", dir: r.Root, work: work}
		for _, dir := range used(content) {
			if joined[dir] = true; filepath.IsLocal(dir) {
				l.patterns = append(l.patterns, "./"+path.Join(dir, "..."))
			}
		}
		list = append(list, l)
	}
	for _, m := range r.Modules {
		switch {
		case joined[m.Dir] || ignored(m.Dir+"/x.go"):
		case len(list) == maxModules:
			p.miss("modules", "there are more than %d modules; %s was not read", maxModules, m.ID)
			return list
		default:
			list = append(list, moduleLoad{name: m.File, dir: filepath.Join(r.Root, m.Dir), work: "off", patterns: []string{"./..."}})
		}
	}
	if len(list) == 0 {
		p.miss("noModule", "no go.mod above the Go files, so that the go command lists no packages")
	}
	return list
}

// ignored reports whether the patterns of the go command leave a file out.
func ignored(file string) bool {
	dirs := strings.Split(path.Dir(file), "/")
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return dir == "testdata" || dir == "vendor" || strings.HasPrefix(dir, "_") || len(dir) > 1 && dir[0] == '.'
	})
}

func (p *program) loadModules(ctx context.Context, l moduleLoad) ([]*packages.Package, error) {
	return packages.Load(&packages.Config{
		Mode: loadMode, Context: ctx, Dir: l.dir, Fset: p.fset, Tests: true,
		Env: append(slices.Clone(p.env), "GOWORK="+l.work),
		// Stamps are the one thing for which go list would run version control.
		BuildFlags: []string{"-buildvcs=false"},
		ParseFile: func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
			f, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
			if _, ours := p.relative(name); !ours && f != nil {
				stripBodies(f)
			}
			return f, err
		},
	}, l.patterns...)
}

// stripBodies makes a dependency cheap: only its declarations matter. A generic
// function must keep some body, so that it gets one that never returns.
func stripBodies(f *ast.File) {
	for _, decl := range f.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		at := fn.Body.Lbrace
		endless := &ast.ForStmt{For: at, Body: &ast.BlockStmt{Lbrace: at, Rbrace: at}}
		fn.Body = &ast.BlockStmt{Lbrace: at, List: []ast.Stmt{endless}, Rbrace: fn.Body.Rbrace}
	}
}

func (p *program) relative(name string) (string, bool) {
	rel, err := filepath.Rel(p.root, name)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

func (p *program) miss(name, format string, args ...any) {
	p.coverage.Reasons = append(p.coverage.Reasons, name+": "+fmt.Sprintf(format, args...))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// take keeps of the packages what questions need.
func (p *program) take(roots []*packages.Package) {
	// A package and its twin for tests declare the same: the package itself goes
	// first, and the twin adds the test files.
	slices.SortStableFunc(roots, func(a, b *packages.Package) int {
		return cmp.Or(cmp.Compare(len(a.ForTest), len(b.ForTest)), cmp.Compare(a.ID, b.ID))
	})
	for _, pkg := range roots {
		p.takePackage(pkg)
	}
	known := map[*types.Package]bool{}
	packages.Visit(roots, nil, func(pkg *packages.Package) {
		if pkg.Module != nil {
			p.modules[pkg.PkgPath] = pkg.Module.Path
		}
		if pkg.Types != nil && !known[pkg.Types] && !strings.HasSuffix(pkg.ID, ".test") {
			known[pkg.Types] = true
			p.packages = append(p.packages, pkg.Types)
		}
	})
	slices.SortStableFunc(p.packages, func(a, b *types.Package) int { return cmp.Compare(a.Path(), b.Path()) })
	p.collectInterfaces(roots)
	slices.SortStableFunc(p.decls, func(a, b *place) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	for _, d := range p.decls {
		p.byName[d.Name] = append(p.byName[d.Name], d)
	}
}

func (p *program) takePackage(pkg *packages.Package) {
	if strings.HasSuffix(pkg.ID, ".test") {
		return
	}
	for _, e := range pkg.Errors {
		p.complain(e)
	}
	for i, f := range pkg.Syntax {
		name := p.fset.Position(f.FileStart).Filename
		rel, ours := p.relative(name)
		if !ours || p.files[rel] || i >= len(pkg.CompiledGoFiles) {
			continue
		}
		p.files[rel] = true
		p.coverage.Files++
		p.coverage.Bytes += int64(f.FileEnd - f.FileStart)
		d := &declarer{p.fset, pkg.PkgPath}
		p.takeFile(pkg, rel, d.file(f))
	}
}

func (p *program) takeFile(pkg *packages.Package, file string, list []declared) {
	scope := "main"
	if strings.HasSuffix(file, "_test.go") {
		scope = "test"
	}
	for _, d := range list {
		members := d.members
		d.Path, d.members = file, nil
		at := &place{declared: d, pkg: pkg.Types, scope: scope, object: pkg.TypesInfo.Defs[d.ident]}
		if pkg.Module != nil {
			at.module = pkg.Module.Path
		}
		p.decls = append(p.decls, at)
		p.byPos[p.fset.Position(d.ident.Pos()).String()] = at
		at.ident = nil
		p.takeFile(pkg, file, members)
	}
}

// complain counts an error of the go command or the type checker.
func (p *program) complain(e packages.Error) {
	position := strings.SplitN(e.Pos, ":", 3)
	problem := semantic.Problem{Message: oneLine(e.Msg)}
	if rel, ours := p.relative(position[0]); ours {
		problem.Path = rel
	}
	if len(position) > 1 {
		fmt.Sscan(position[1], &problem.Line)
	}
	switch e.Kind {
	case packages.ListError:
		p.diagnostics.Complete = false
	case packages.ParseError:
		if !slices.Contains(p.malformed, problem.Path) {
			p.malformed = append(p.malformed, problem.Path)
		}
	}
	if p.complaints[problem] {
		return // a package and its twin for tests
	}
	p.complaints[problem] = true
	p.diagnostics.Errors++
	if len(p.diagnostics.Problems) < 10 {
		p.diagnostics.Problems = append(p.diagnostics.Problems, problem)
	}
}

// cover says which Go files of the tree belong to no package that was loaded.
func (p *program) cover(r *request) {
	aside, excluded, example := 0, 0, ""
	for _, f := range r.Files {
		switch {
		case p.files[f]:
		case ignored(f):
			aside++
		default:
			if excluded++; example == "" {
				example = f
			}
		}
	}
	if aside > 0 {
		p.miss("ignoredFolders", "%s in testdata, vendor or hidden folders, which the go command leaves out", plural(aside, "Go file lies", "Go files lie"))
	}
	if excluded > 0 {
		p.miss("excludedFiles", "%s in no package built for this system without cgo, %s for one", plural(excluded, "Go file is", "Go files are"), example)
	}
	if n := len(p.malformed); n > 0 {
		p.miss("syntaxErrors", "%s syntax errors, behind which declarations may be missed, %s for one", plural(n, "Go file has", "Go files have"), p.malformed[0])
	}
	p.coverage.Complete = len(p.coverage.Reasons) == 0
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", more)
}
