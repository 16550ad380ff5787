package java

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

var (
	_ semantic.Resolver = (*FrontEnd)(nil)
	_ semantic.Moduler  = (*FrontEnd)(nil)
)

const (
	// compiledFiles is how many files one compilation is given. It is cut in two when
	// the compiler breaks down, which includes a heap that is too small for all.
	compiledFiles = 250
	// analyzedFiles is up to how many files the bodies are looked at too. A name that
	// more files declare is a common one, and its declarations are the answer.
	analyzedFiles = 20
	// named is how many of a kind a limitation names.
	named = 10
)

// Modules implements [semantic.Moduler].
func (f *FrontEnd) Modules(_ context.Context, p semantic.Project) ([]semantic.Module, error) {
	var modules []semantic.Module
	for _, m := range readBuilds(p, f.options.Getenv("HOME")).modules {
		modules = append(modules, m.Module)
	}
	return modules, nil
}

// layout is that of the project, kept for one generation.
func (f *FrontEnd) layout(p semantic.Project) *layout {
	f.layouts.Lock()
	defer f.layouts.Unlock()
	if l := f.layouts.last; l != nil && l.project.Root == p.Root && l.project.Generation == p.Generation && p.Generation != "" {
		return l
	}
	f.layouts.last = newLayout(p, f.options.Getenv("HOME"))
	return f.layouts.last
}

// candidate is a declaration with the name that was asked for.
type candidate struct {
	file    semantic.File
	ordinal int // in the file, counted from 0 in the order of the source, outer before inner
	unit    *unit
}

// Resolve implements [semantic.Resolver].
//
// The files that may declare the name are parsed; those that do are compiled, for each
// module and scope by themselves, with the other sources of the module and of the
// modules that it depends on read as the compiler asks for them. A member that a type
// inherits is found when it is asked for through the type.
func (f *FrontEnd) Resolve(ctx context.Context, p semantic.Project, q semantic.Query) (semantic.Resolution, error) {
	r := &resolution{frontEnd: f, layout: f.layout(p), project: p, query: q, read: map[string]bool{}}
	name := strings.ReplaceAll(strings.TrimSpace(q.Name), "#", ".")
	if type_, ok := strings.CutSuffix(name, ".<init>"); ok {
		name = type_ + "." + simpleName(type_)
	}
	found, err := r.candidates(ctx, name, q.Kind)
	if err != nil {
		return semantic.Resolution{}, err
	}
	inherited := ""
	if dot := strings.LastIndexByte(name, '.'); len(found) == 0 && dot > 0 {
		inherited = name[dot+1:]
		if found, err = r.candidates(ctx, name[:dot], ""); err != nil {
			return semantic.Resolution{}, err
		}
	}
	if err := r.compileAll(ctx, found, inherited); err != nil {
		return semantic.Resolution{}, err
	}
	return r.finish(), nil
}

// resolution gathers an answer.
type resolution struct {
	frontEnd *FrontEnd
	layout   *layout
	project  semantic.Project
	query    semantic.Query

	declarations []semantic.Declaration
	reasons      []string // why the input is not complete
	limits       []string
	read         map[string]bool // files that the compiler read
	bytes        int64
	unbound      []string
	factless     int
	unanalyzed   int // files whose bodies were not looked at
	errors       int
	problems     []semantic.Problem
}

// candidates finds the declarations whose name ends in the given one.
func (r *resolution) candidates(ctx context.Context, name, kind string) ([]candidate, error) {
	simple := simpleName(name)
	if simple == "" {
		return nil, nil
	}
	var files []semantic.File
	for _, file := range r.project.Files {
		if !strings.HasSuffix(file, ".java") || !r.wanted(r.layout.unitOf(file)) {
			continue
		}
		content, err := r.project.Content(file)
		switch {
		case err != nil:
			r.reasons = append(r.reasons, fmt.Sprintf("%s cannot be read: %v", file, err))
		case len(content) > maxFile:
			r.reasons = append(r.reasons, fmt.Sprintf("%s has more than %d bytes", file, maxFile))
		case mayDeclare(file, content, simple):
			files = append(files, semantic.File{Path: file, Content: content})
		}
	}
	var found []candidate
	for some := range slices.Chunk(files, batchFiles) {
		parsed, err := r.frontEnd.Parse(ctx, some)
		if err != nil {
			return nil, err
		}
		for i, p := range parsed {
			if !p.Complete {
				r.reasons = append(r.reasons, p.Path+" has errors of syntax")
			}
			ordinal := 0
			walk(p.Declarations, func(d *semantic.Declaration) {
				if (kind == "" || kind == d.Kind) && (d.QualifiedName == name || strings.HasSuffix(d.QualifiedName, "."+name)) {
					found = append(found, candidate{some[i], ordinal, r.layout.unitOf(p.Path)})
				}
				ordinal++
			})
		}
	}
	return found, nil
}

func (r *resolution) wanted(u *unit) bool {
	return (r.query.Module == "" || r.query.Module == u.module.ID) && (r.query.Scope == "" || r.query.Scope == u.scope)
}

// simpleName is the last part of a name.
func simpleName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

func walk(declarations []semantic.Declaration, visit func(*semantic.Declaration)) {
	for i := range declarations {
		visit(&declarations[i])
		walk(declarations[i].Children, visit)
	}
}

// compileAll compiles the files of the candidates unit by unit.
func (r *resolution) compileAll(ctx context.Context, found []candidate, inherited string) error {
	byUnit := map[*unit][]candidate{}
	var units []*unit
	for _, c := range found {
		if byUnit[c.unit] == nil {
			units = append(units, c.unit)
		}
		byUnit[c.unit] = append(byUnit[c.unit], c)
	}
	for _, u := range units {
		r.layout.complete(u)
		r.limitUnit(u)
		for len(byUnit[u]) > 0 {
			some := firstFiles(byUnit[u], compiledFiles)
			byUnit[u] = byUnit[u][len(some):]
			if err := r.compile(ctx, u, some, inherited); err != nil {
				return err
			}
		}
	}
	return nil
}

// firstFiles are the candidates of the first n files.
func firstFiles(all []candidate, n int) []candidate {
	files := 0
	for i, c := range all {
		if i == 0 || all[i-1].file.Path != c.file.Path {
			if files == n {
				return all[:i]
			}
			files++
		}
	}
	return all
}

type resolveRequest struct {
	Op         string       `json:"op"`
	Root       string       `json:"root"`
	Files      []sourceFile `json:"files"`
	Targets    [][2]int     `json:"targets"` // file and ordinal
	Inherited  *string      `json:"inherited"`
	SourcePath []string     `json:"sourcePath"`
	ClassPath  []string     `json:"classPath"`
	Patch      *string      `json:"patch"`
	Options    []string     `json:"options"`
	Bodies     bool         `json:"bodies"`
	MaxBytes   int          `json:"maxBytes"`
}

type resolveAnswer struct {
	Error        string                 `json:"error"`
	Found        []semantic.Declaration `json:"found"`
	Unbound      []string               `json:"unbound"`
	Analyzed     bool                   `json:"analyzed"`
	Errors       int                    `json:"errors"`
	Problems     []semantic.Problem     `json:"problems"`
	SyntaxErrors []string               `json:"syntaxErrors"` // files that have some
	FilesRead    []string               `json:"filesRead"`
	BytesRead    int64                  `json:"bytesRead"`
	Refused      []string               `json:"refused"`
}

// compile asks the helper about the candidates, all of one unit.
func (r *resolution) compile(ctx context.Context, u *unit, some []candidate, inherited string) error {
	request, contents := r.request(u, some)
	if inherited != "" {
		request.Inherited = &inherited
	}
	var answer resolveAnswer
	err := r.frontEnd.exchange(ctx, r.frontEnd.options.ResolveTime, request, contents, &answer)
	if err == nil && answer.Error != "" {
		err = fmt.Errorf("%w: %s", errBroke, answer.Error)
	}
	if n := len(request.Files); errors.Is(err, errBroke) && n > 1 {
		first := firstFiles(some, n/2)
		if err := r.compile(ctx, u, first, inherited); err != nil {
			return err
		}
		return r.compile(ctx, u, some[len(first):], inherited)
	}
	if errors.Is(err, errBroke) {
		r.limits = append(r.limits, fmt.Sprintf("%d declarations of %s are missing from the answer: %v", len(some), u, err))
		r.reasons = append(r.reasons, err.Error())
		r.factless += len(some)
		return nil
	}
	if err != nil {
		return err
	}
	r.add(u, answer, len(request.Files))
	return nil
}

// request makes one compilation of the candidates.
func (r *resolution) request(u *unit, some []candidate) (resolveRequest, [][]byte) {
	request := resolveRequest{Op: "resolve", Root: r.project.Root, MaxBytes: maxFile, Options: r.options(u),
		SourcePath: []string{}, ClassPath: append([]string{}, u.classPath...)}
	for _, root := range u.path {
		request.SourcePath = append(request.SourcePath, filepath.Join(r.project.Root, filepath.FromSlash(root)))
	}
	if u.patches(r.frontEnd) {
		request.Patch = &u.module.jpms
	}
	var contents [][]byte
	for i, c := range some {
		if i == 0 || some[i-1].file.Path != c.file.Path {
			request.Files = append(request.Files, sourceFile{c.file.Path, len(c.file.Content)})
			contents = append(contents, c.file.Content)
		}
		request.Targets = append(request.Targets, [2]int{len(request.Files) - 1, c.ordinal})
	}
	request.Bodies = len(request.Files) <= analyzedFiles
	return request, contents
}

// patches reports whether the sources are those of a module of the JDK itself, which
// only compile in its place.
func (u *unit) patches(f *FrontEnd) bool {
	return u.module.jpms != "" && slices.Contains(f.systemModules(), u.module.jpms)
}

// options sets the language level. One that this JDK does not know is left out, and
// said.
func (r *resolution) options(u *unit) []string {
	level := featureOf(cmp.Or(u.module.release, u.module.source))
	feature := r.frontEnd.feature()
	switch {
	case level == 0 || u.patches(r.frontEnd):
		return []string{}
	case level > feature:
		r.limit("the build asks for Java %d; this JDK knows %d", level, feature)
		return []string{}
	case level < 8:
		r.limit("the build asks for Java %d, which this JDK no longer compiles as such", level)
		return []string{}
	case u.module.release != "":
		return []string{"--release", fmt.Sprint(level)}
	}
	return []string{"-source", fmt.Sprint(level)}
}

func (r *resolution) limit(format string, args ...any) {
	r.limits = append(r.limits, fmt.Sprintf(format, args...))
}

func (u *unit) String() string {
	if u.module.ID == "" {
		return "the " + u.scope + " sources"
	}
	return "the " + u.scope + " sources of " + u.module.ID
}

// limitUnit says what is not modelled of the unit.
func (r *resolution) limitUnit(u *unit) {
	for i, c := range u.missing {
		if i == named {
			r.limit("%d more libraries of %s are not on this machine", len(u.missing)-i, u)
			break
		}
		r.limit("the library %s of %s is not on this machine", c, u)
	}
	for i, p := range u.module.problems {
		if i == named {
			break
		}
		r.limits = append(r.limits, p)
	}
	switch {
	case u.patches(r.frontEnd):
		r.limit("the module %s is compiled in place of that of the JDK %s", u.module.jpms, strings.TrimPrefix(r.frontEnd.name(), "jdk "))
	case u.module.jpms != "":
		r.limit("the module %s is compiled on the class path: what other modules export is not checked", u.module.jpms)
	}
}

// add takes over the answer of one compilation.
func (r *resolution) add(u *unit, a resolveAnswer, files int) {
	for _, d := range a.Found {
		var owner *unit
		if d.Path != "" && strings.HasSuffix(d.Path, ".java") && !path.IsAbs(d.Path) {
			owner = r.layout.unitOf(d.Path)
		} else {
			d.Path = ""
			owner = &unit{module: &module{}}
		}
		d.Module = owner.module.ID
		if d.Facts == nil {
			r.factless++
		} else {
			d.Facts.Scope = owner.scope
		}
		if r.query.Kind == "" || r.query.Kind == d.Kind {
			r.declarations = append(r.declarations, d)
		}
	}
	for _, file := range a.FilesRead {
		r.read[file] = true
	}
	for _, file := range a.SyntaxErrors {
		r.reasons = append(r.reasons, file+" has errors of syntax")
	}
	for _, file := range a.Refused {
		r.reasons = append(r.reasons, file+" was not read: it is too large or leads out of the tree")
	}
	r.bytes += a.BytesRead
	r.unbound = append(r.unbound, a.Unbound...)
	r.errors += a.Errors
	r.problems = append(r.problems, a.Problems...)
	if !a.Analyzed {
		r.unanalyzed += files
	}
}

// finish writes the answer out.
func (r *resolution) finish() semantic.Resolution {
	slices.SortStableFunc(r.declarations, func(a, b semantic.Declaration) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), a.Line-b.Line)
	})
	r.declarations = slices.CompactFunc(r.declarations, sameDeclaration)
	r.unbound = sorted(r.unbound)
	for i, name := range r.unbound {
		if i == named {
			r.limit("%d more types could not be bound", len(r.unbound)-i)
			break
		}
		r.limit("the type %s could not be bound", name)
	}
	if len(r.unbound) > 0 {
		r.limit("annotation processors do not run: what they would generate is known only when a build left it below target or build")
	}
	if r.unanalyzed > 0 {
		r.limit("the bodies of %d files were not analyzed, because more than %d files declare the name", r.unanalyzed, analyzedFiles)
	}
	if r.factless > 0 {
		r.limit("the compiler has nothing to say about %d declarations, such as one of two types of the same name", r.factless)
	}
	r.limits = append(r.limits, r.layout.problems[:min(named, len(r.layout.problems))]...)
	reasons := sorted(r.reasons)
	return semantic.Resolution{
		FrontEnd:           strings.Replace(r.frontEnd.name(), "jdk", "javac", 1),
		Declarations:       r.declarations,
		InputCoverage:      semantic.Coverage{Complete: len(reasons) == 0, Reasons: reasons[:min(named, len(reasons))], Files: len(r.read), Bytes: r.bytes},
		BindingComplete:    len(r.unbound) == 0 && r.factless == 0,
		DiagnosticCoverage: semantic.Diagnostics{Complete: r.unanalyzed == 0, Errors: r.errors, Problems: r.problems[:min(10, len(r.problems))]},
		Limitations:        r.limits,
	}
}

// sameDeclaration holds for a member that is inherited on two ways.
func sameDeclaration(a, b semantic.Declaration) bool {
	return a.Path == b.Path && a.Line == b.Line && a.QualifiedName == b.QualifiedName && a.Signature == b.Signature
}

func sorted(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}
