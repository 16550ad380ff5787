package golang

import (
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/sync/errgroup"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

const parserName = "go/parser"

// Parse reads files with the parser of the Go distribution.
func (t *Tool) Parse(ctx context.Context, files []semantic.File) ([]semantic.Parsed, error) {
	out := make([]semantic.Parsed, len(files))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, f := range files {
		group.Go(func() error {
			out[i] = parseFile(f)
			return ctx.Err()
		})
	}
	return out, group.Wait()
}

// parseFile reads one file. A fault of the parser costs that file's answer.
func parseFile(f semantic.File) (p semantic.Parsed) {
	defer func() {
		if v := recover(); v != nil {
			p = semantic.Parsed{Path: f.Path, Parser: parserName, Problems: []semantic.Problem{{Path: f.Path, Message: fmt.Sprintf("the parser broke down: %v", v)}}}
		}
	}()
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, f.Path, f.Content, parser.ParseComments|parser.SkipObjectResolution)
	p = semantic.Parsed{Path: f.Path, Parser: parserName, Complete: err == nil}
	var several scanner.ErrorList
	if errors.As(err, &several) {
		for _, e := range several {
			p.Problems = append(p.Problems, semantic.Problem{Path: f.Path, Line: e.Pos.Line, Message: e.Msg})
		}
	} else if err != nil {
		p.Problems = []semantic.Problem{{Path: f.Path, Message: err.Error()}}
	}
	if tree != nil && tree.Name != nil {
		p.Declarations = plain((&declarer{fset, tree.Name.Name}).file(tree))
	}
	return p
}

// Qualify puts the import path in the place of the package's name.
func Qualify(name, file string, m semantic.Module) string {
	pkg, rest, _ := strings.Cut(name, ".")
	if m.ID == "" {
		return name
	}
	where := m.ID
	if below := strings.TrimPrefix(strings.TrimPrefix(path.Dir(file), strings.TrimPrefix(m.Dir, ".")), "/"); below != "" && below != "." {
		where += "/" + below
	}
	if strings.HasSuffix(pkg, "_test") {
		where += "_test"
	}
	if rest == "" {
		return where
	}
	return where + "." + rest
}

// maxGoMod is far above every go.mod in earnest, in bytes.
const maxGoMod = 4 << 20

// Modules finds the go.mod files above the Go files of a project.
func (t *Tool) Modules(ctx context.Context, p semantic.Project) ([]semantic.Module, error) {
	seen := map[string]bool{}
	var modules []semantic.Module
	for _, file := range p.Files {
		if path.Ext(file) != ".go" {
			continue
		}
		for dir := path.Dir(file); !seen[dir]; dir = path.Dir(dir) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			seen[dir] = true
			description := path.Join(dir, "go.mod")
			content, err := readAtMost(p.FS, description, maxGoMod)
			if err != nil {
				continue
			}
			if id := modfile.ModulePath(content); id != "" {
				modules = append(modules, semantic.Module{ID: id, Dir: dir, File: description})
			}
		}
	}
	slices.SortFunc(modules, func(a, b semantic.Module) int { return strings.Compare(a.Dir, b.Dir) })
	return modules, nil
}

// used are the folders that a go.work joins; none when it has errors.
func used(content []byte) (dirs []string) {
	work, err := modfile.ParseWork("go.work", content, nil)
	if err != nil {
		return nil
	}
	for _, use := range work.Use {
		dirs = append(dirs, path.Clean(use.Path))
	}
	return dirs
}

func readAtMost(tree fs.FS, name string, limit int64) ([]byte, error) {
	// Looked at before it is opened: a pipe would wait for its writer.
	if info, err := fs.Stat(tree, name); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	f, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}
