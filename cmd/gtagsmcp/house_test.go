package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/gtagsmcp/gtagsmcp/"

// layers is the table of ARCHITECTURE.md: which packages of this module a
// package may import. A package that is not listed may not exist.
var layers = map[string][]string{
	"cmd/demo":           {},
	"cmd/gtagsmcp":       {"bootstrap", "bootstrap/client", "bootstrap/service", "bootstrap/release", "bootstrap/upgrade", "evals", "nav", "nav/ctags", "nav/index", "nav/semantic/golang", "nav/semantic/java", "server", "toolchain", "toolchain/ctagscom", "toolchain/fetch"},
	"bootstrap":          {"toolchain"},
	"bootstrap/bundle":   {},
	"bootstrap/client":   {"bootstrap/runner"},
	"bootstrap/runner":   {},
	"bootstrap/service":  {"bootstrap/runner"},
	"cmd/bundle":         {"bootstrap/bundle", "server"},
	"toolchain":          {"build-global", "toolchain/fetch", "toolchain/unpack"},
	"toolchain/fetch":    {},
	"toolchain/unpack":   {},
	"toolchain/ctagscom": {},
	"build-global":       {"toolchain/fetch", "toolchain/unpack"},
	"cmd/build-global":   {"build-global"},
	"cmd/release":        {"bootstrap/release"},
	"bootstrap/release":  {},
	"bootstrap/upgrade":  {"bootstrap/release", "toolchain/fetch", "toolchain/unpack"},
	"server":             {"nav"},
	"evals":              {"server"},
	"nav":                {"nav/callgraph", "nav/csource", "nav/ctags", "nav/gtagsdb", "nav/guard", "nav/index", "nav/kconfig", "nav/macro", "nav/outline", "nav/semantic", "nav/semantic/golang", "nav/semantic/java"},
	"nav/index":          {"nav/csource", "nav/gtagsdb", "nav/macro", "nav/outline"},
	"nav/gtagsdb":        {"nav/mapped"},
	"nav/mapped":         {},
	"nav/csource":        {},
	"nav/guard":          {},
	"nav/kconfig":        {},
	"nav/macro":          {},
	"nav/outline":        {"nav/csource", "nav/macro", "nav/mapped"},
	"nav/ctags":          {},
	"nav/callgraph":      {},
	"nav/semantic":       {"nav/csource", "nav/ctags"},
	"nav/semantic/java":  {"nav/semantic"},
	"nav/navtest":        {},

	"nav/semantic/golang":         {"nav/semantic"},
	"toolchain/fetch/releasetest": {},
}

type listedPackage struct {
	ImportPath, Dir, Doc string
	GoFiles, Imports     []string
}

func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Doc,GoFiles,Imports", "./...")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []listedPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p listedPackage
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
	if len(pkgs) < len(layers)/2 {
		t.Fatalf("go list found %d packages, far fewer than the layer table has", len(pkgs))
	}
	return pkgs
}

func TestLayers(t *testing.T) {
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		allowed, known := layers[name]
		if !known {
			t.Errorf("package %s is not in the layer table", name)
			continue
		}
		for _, imp := range p.Imports {
			if dep, ours := strings.CutPrefix(imp, module); ours && !slices.Contains(allowed, dep) {
				t.Errorf("%s imports %s, which the layer table does not allow", name, dep)
			}
		}
	}
}

func TestEveryPackageHasADoc(t *testing.T) {
	for _, p := range listPackages(t) {
		if p.Doc == "" {
			t.Errorf("package %s has no doc comment", p.ImportPath)
		}
	}
}

// TestOnlyCmdPrintsAndExits keeps standard output for the protocol: a library
// that prints breaks every MCP client, and one that exits takes the server down.
func TestOnlyCmdPrintsAndExits(t *testing.T) {
	forbidden := map[string][]string{
		"os":  {"Stdout", "Exit"},
		"fmt": {"Print", "Println", "Printf"},
		"log": {"Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln"},
	}
	for _, p := range listPackages(t) {
		if strings.HasPrefix(p.ImportPath, module+"cmd/") {
			continue
		}
		for _, file := range p.GoFiles {
			fset := token.NewFileSet()
			tree, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if pkg, ok := sel.X.(*ast.Ident); ok && slices.Contains(forbidden[pkg.Name], sel.Sel.Name) {
						t.Errorf("%s uses %s.%s; only cmd may", fset.Position(sel.Pos()), pkg.Name, sel.Sel.Name)
					}
				}
				if id, ok := n.(*ast.CallExpr); ok {
					if fn, ok := id.Fun.(*ast.Ident); ok && (fn.Name == "print" || fn.Name == "println") {
						t.Errorf("%s uses the builtin %s", fset.Position(id.Pos()), fn.Name)
					}
				}
				return true
			})
		}
	}
}
