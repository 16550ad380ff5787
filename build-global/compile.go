package buildglobal

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// recipe is this folder: its C files are compiled, and all of it lies beside the
// archives, as the GPL's "scripts used to control compilation".
//
//go:embed c *.go
var recipe embed.FS

// Programs are what Compile makes.
var Programs = []string{"gtags", "global", "ctags"}

// Workplace is the folder where programs are compiled: the unpacked sources
// src/global, src/ctags and src/jansson, this package's files in c, and what is
// made of them in gen and obj. The compiler runs in a source folder and sees
// relative paths only, so no path of the machine gets into a binary.
type Workplace struct {
	Dir      string
	Jobs     int                   // compilers at a time; 0: 1
	NoCtags  bool                  // make gtags and global alone
	Progress func(done, total int) // files compiled; nil: not told
}

// unit is one C file to compile.
type unit struct {
	dir, src string // src is relative to dir
	flags    []string
}

// generated are the parsers that ctags' own packcc makes from peg/NAME.peg.
var generated = []string{"elm", "kotlin", "thrift", "toml", "varlink"}

// Prepare puts the sources and this package's files in place and generates what
// upstream's makefiles would. host compiles the generator, which runs here.
func (w Workplace) Prepare(ctx context.Context, host Compiler, found map[string]Found) error {
	for _, s := range CompiledSources(w.NoCtags) {
		if err := unpackSource(ctx, found[s.Name].Path, filepath.Join(w.Dir, "src", s.Name)); err != nil {
			return err
		}
	}
	ours, err := fs.Sub(recipe, "c")
	if err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(w.Dir, "c"), ours); err != nil {
		return err
	}
	if w.NoCtags {
		return nil
	}
	return w.generate(ctx, host)
}

// program is what one link makes.
type program struct {
	name  string
	units []unit
}

func (w Workplace) programs() ([]program, error) {
	shared, err := w.globalUnits()
	if err != nil {
		return nil, fmt.Errorf("files of GNU Global: %w", err)
	}
	all := []program{
		{"gtags", slices.Concat(w.unitsIn("global", globalFlags(), "gtags/gtags.c"), shared)},
		{"global", slices.Concat(w.unitsIn("global", globalFlags(), "global/global.c", "global/literal.c"), shared)},
	}
	if w.NoCtags {
		return all, nil
	}
	ctags, err := w.ctagsUnits()
	if err != nil {
		return nil, fmt.Errorf("files of Universal Ctags: %w", err)
	}
	return append(all, program{"ctags", ctags}), nil
}

// Compile makes the programs in the folder out, for one platform. name sets its
// objects apart from those of other platforms.
func (w Workplace) Compile(ctx context.Context, cc Compiler, name, out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	programs, err := w.programs()
	if err != nil {
		return err
	}
	tick := w.counter(programs)
	for _, p := range programs {
		if err := w.build(ctx, cc, p.units, name, filepath.Join(out, p.name), tick); err != nil {
			return fmt.Errorf("compile %s: %w", p.name, err)
		}
	}
	return nil
}

// counter tells w.Progress of each call.
func (w Workplace) counter(programs []program) func() {
	if w.Progress == nil {
		return func() {}
	}
	total := 0
	for _, p := range programs {
		total += len(p.units)
	}
	var mu sync.Mutex
	done := 0
	return func() {
		mu.Lock()
		defer mu.Unlock()
		done++
		w.Progress(done, total)
	}
}

func globalFlags() []string {
	return []string{
		"-DHAVE_CONFIG_H", `-DGLOBAL_VERSION="` + source("global").Version + `"`,
		"-I../../c/global", "-Ilibutil", "-Ilibparser", "-Ilibdb", "-Ilibglibc",
	}
}

// globalUnits are the files that gtags and global share.
func (w Workplace) globalUnits() ([]unit, error) {
	var files []string
	for _, lib := range []struct{ dir, variable string }{
		{"libutil", "libgloutil_a_SOURCES"}, {"libparser", "libgloparser_a_SOURCES"}, {"libdb", "SRCS"}, {"libglibc", "SRCS"},
	} {
		names, err := w.listed("global/"+lib.dir+"/Makefile.am", lib.variable)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			files = append(files, lib.dir+"/"+n)
		}
	}
	units := w.unitsIn("global", globalFlags(), append(files, "../../c/global/linked-parsers.c")...)
	parser := w.unitsIn("global", append(globalFlags(), "-DUSE_EXTRA_FIELDS", "-Dparser=universal_ctags_parser"), "plugin-factory/exuberant-ctags.c")
	return append(units, parser...), nil
}

func (w Workplace) ctagsUnits() ([]unit, error) {
	flags := []string{
		"-DHAVE_CONFIG_H", `-DCTAGS_VERSION="` + source("ctags").Version + `"`,
		// ctags --version prints them, and a build must not know when it ran.
		`-D__DATE__="Jan  1 1980"`, `-D__TIME__="00:00:00"`,
		"-I../../c/ctags", "-I../../c/jansson", "-I../jansson/src", "-I../../gen",
		"-I.", "-Imain", "-Idsl", "-Ipeg", "-Ignulib",
	}
	files, err := w.listed("ctags/source.mak", "LIB_SRCS", "PARSER_SRCS", "DEBUG_SRCS", "OPTSCRIPT_DSL_SRCS", "CMDLINE_SRCS")
	if err != nil {
		return nil, err
	}
	files = append(files, "gnulib/regex.c")
	for _, part := range []string{"at_failure", "emplace_enlarge", "finalize", "resize"} {
		files = append(files, "gnulib/malloc/dynarray_"+part+".c")
	}
	for _, g := range generated {
		files = append(files, "../../gen/peg/"+g+".c")
	}
	units := w.unitsIn("ctags", flags, files...)

	json, err := filepath.Glob(filepath.Join(w.Dir, "src/jansson/src/*.c"))
	if err != nil || len(json) == 0 {
		return nil, fmt.Errorf("no C files in jansson: %w", err)
	}
	for _, path := range json {
		units = append(units, w.unitsIn("jansson", []string{"-DHAVE_CONFIG_H", "-I../../c/jansson", "-Isrc"}, "src/"+filepath.Base(path))...)
	}
	return units, nil
}

// listed are the C files in variables of an upstream makefile.
func (w Workplace) listed(makefile string, variables ...string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(w.Dir, "src", makefile))
	if err != nil {
		return nil, err
	}
	vars := parseMakefile(string(text))
	var files []string
	for _, v := range variables {
		more, err := vars.files(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", makefile, err)
		}
		files = append(files, more...)
	}
	return files, nil
}

func (w Workplace) unitsIn(tree string, flags []string, files ...string) []unit {
	var units []unit
	for _, f := range files {
		units = append(units, unit{filepath.Join(w.Dir, "src", tree), f, flags})
	}
	return units
}

// generate builds packcc for this machine and lets it write the parsers.
func (w Workplace) generate(ctx context.Context, host Compiler) error {
	if err := os.MkdirAll(filepath.Join(w.Dir, "gen/peg"), 0o755); err != nil {
		return err
	}
	tree := filepath.Join(w.Dir, "src/ctags")
	argv := slices.Concat(host.Argv, []string{"-O1", "-w", "-fsigned-char", "-D_GNU_SOURCE", "-DPCC_USE_SYSTEM_STRNLEN",
		"-o", "../../gen/packcc", "misc/packcc/src/packcc.c"})
	if err := host.run(ctx, tree, argv); err != nil {
		return fmt.Errorf("compile packcc: %w", err)
	}
	for _, g := range generated {
		if err := host.run(ctx, tree, []string{"../../gen/packcc", "-o", "../../gen/peg/" + g, "peg/" + g + ".peg"}); err != nil {
			return err
		}
	}
	return nil
}

func (c Compiler) run(ctx context.Context, dir string, argv []string) error {
	_, err := runOutput(ctx, argv, func(cmd *exec.Cmd) {
		cmd.Dir = dir
		if cmd.Env = c.Base; cmd.Env == nil {
			cmd.Env = cmd.Environ()
		}
		cmd.Env = append(slices.Clone(cmd.Env), c.Env...)
	})
	return err
}

// build compiles the units that are not yet compiled and links them all.
func (w Workplace) build(ctx context.Context, cc Compiler, units []unit, name, out string, tick func()) error {
	objects := make([]string, len(units))
	g, compiling := errgroup.WithContext(ctx)
	g.SetLimit(max(1, w.Jobs))
	for i, u := range units {
		objects[i] = w.object(u, name)
		g.Go(func() error {
			defer tick()
			return w.compile(compiling, cc, u, objects[i])
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return cc.run(ctx, w.Dir, slices.Concat(cc.Argv, []string{"-o", out}, objects, []string{"-lm"}, cc.Link))
}

// object is where u's object goes, relative to w.Dir.
func (w Workplace) object(u unit, name string) string {
	rel, _ := filepath.Rel(w.Dir, filepath.Join(u.dir, u.src)) // both are below Dir
	return filepath.Join("obj", name, strings.NewReplacer("/", "_", ".c", ".o").Replace(rel))
}

func (w Workplace) compile(ctx context.Context, cc Compiler, u unit, object string) error {
	path := filepath.Join(w.Dir, object)
	if _, err := os.Stat(path); err == nil {
		return nil // gtags and global share most of theirs
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	rel, err := filepath.Rel(u.dir, path)
	if err != nil {
		return err
	}
	return cc.run(ctx, u.dir, slices.Concat(cc.Argv, []string{"-O2", "-w"}, u.flags, []string{"-c", u.src, "-o", rel}))
}
