package toolchain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	buildglobal "github.com/gtagsmcp/gtagsmcp/build-global"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
)

const (
	sourceSpace   = 192 << 20 // archives 6, unpacked 60, objects and programs 30 MB were seen
	sourceFetch   = 5 * time.Minute
	compileLimit  = 20 * time.Minute // a minute and a half of processor time was seen
	sourceLogName = "source-build.log"
	sourcesDir    = "cache/sources"
)

// compilers are tried in this order. Which of them is one is told by compiling:
// a compiler without the C library's headers is common.
var compilers = []string{"cc", "gcc", "clang", "tcc", "musl-gcc"}

// sourceBuild is the rung that compiles the pinned sources with a C compiler of
// this machine. It needs neither make nor configure; see buildglobal.CompileHere.
type sourceBuild struct{ net *network }

func (b sourceBuild) installer() installer {
	return installer{RungSource, planSource, b.install}
}

func planSource(c Config) (string, error) {
	var found []string
	for _, name := range compilers {
		if path := c.systemTool(name); path != "" {
			found = append(found, path)
		}
	}
	if found == nil {
		return "", errNoCompiler
	}
	if err := needSpace(c.Home, sourceSpace); err != nil {
		return "", err
	}
	return fmt.Sprintf("compile GNU Global and Universal Ctags with %s below %s (one to ten minutes)", found[0], c.Home), nil
}

var errNoCompiler = fmt.Errorf("no C compiler found (looked for %s)", strings.Join(compilers, ", "))

func (b sourceBuild) install(ctx context.Context, c Config, staged string, step stepper) (string, error) {
	if _, err := planSource(c); err != nil {
		return "", err
	}
	cc, err := c.findCompiler(ctx, staged)
	if err != nil {
		return "", err
	}
	sources, err := b.fetch(ctx, c, step)
	if err != nil {
		return "", err
	}
	if err := c.compile(ctx, cc, sources, staged, step); err != nil {
		return "", err
	}
	m := manifest{Rung: RungSource, Compiler: cc}
	for _, s := range buildglobal.CompiledSources(c.NoCtags) {
		m.Sources = append(m.Sources, s.Name+" "+s.Version)
	}
	if err := m.write(staged); err != nil {
		return "", err
	}
	return buildglobal.Version + "-source", errors.Join(os.RemoveAll(sources), os.RemoveAll(filepath.Join(staged, "build")))
}

// findCompiler returns the first compiler whose two-line program runs.
func (c Config) findCompiler(ctx context.Context, dir string) (string, error) {
	var reasons []string
	for _, name := range compilers {
		path := c.systemTool(name)
		if path == "" {
			continue
		}
		err := c.probeCompiler(ctx, path, filepath.Join(dir, "probe-"+name))
		if err == nil {
			return path, nil
		}
		reasons = append(reasons, err.Error())
	}
	if reasons == nil {
		return "", errNoCompiler
	}
	return "", fmt.Errorf("no C compiler works: %s", strings.Join(reasons, "; "))
}

const probeProgram = "#include <stdio.h>\nint main(void) { return puts(\"compiled\") < 0; }\n"

func (c Config) probeCompiler(ctx context.Context, path, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "probe.c"), []byte(probeProgram), 0o600); err != nil {
		return err
	}
	compile := command{path: path, args: []string{"probe.c", "-o", "probe"}, env: c.compilerEnv(), dir: dir, timeout: time.Minute}
	if err := explain(path, compile.run(ctx)); err != nil {
		return err
	}
	out, err := output(ctx, command{path: filepath.Join(dir, "probe"), env: baseEnv(c, ""), dir: dir})
	if err == nil && out != "compiled\n" {
		err = fmt.Errorf("%s: what it compiles says %q", path, firstLine([]byte(out)))
	}
	return err
}

// compilerEnv is the user's, since compilers in unusual places need it, but
// messages come in one language, and the assembler is found where systemTool
// would find it: a server started from a desktop has a short PATH.
func (c Config) compilerEnv() []string {
	path := strings.Join(c.toolDirs(), string(filepath.ListSeparator))
	return append(withoutPython(c.Environ), "LC_ALL=C", "PATH="+path)
}

// fetch gets the sources into the home: from beside the prebuilt archives, or from
// where they belong unless a mirror is to be asked and nobody else. What somebody
// put there is not fetched.
func (b sourceBuild) fetch(ctx context.Context, c Config, step stepper) (dir string, err error) {
	locked, err := c.readPins()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(c.Home, sourcesDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, sourceFetch, fmt.Errorf("no end after %s", sourceFetch))
	defer cancel()
	for _, s := range buildglobal.CompiledSources(c.NoCtags) {
		a := s.Archives[0]
		asset := fetch.Asset{Name: a.File, Size: a.Size, SHA256: a.SHA256}
		if _, err := b.net.fetch(ctx, c, asset, func(client *fetch.Client) []string {
			urls := []string{locked.url(client, a.File), a.URL}
			if c.getenv(fetch.EnvMirror) != "" {
				urls = urls[:1]
			}
			return urls
		}, dir, step); err != nil {
			return "", fmt.Errorf("source of %s %s: %w (or put the file into %s)", s.Name, s.Version, err, dir)
		}
	}
	return dir, nil
}

// compile makes bin in staged and keeps a log in the home.
func (c Config) compile(ctx context.Context, cc, sources, staged string, step stepper) error {
	logPath := filepath.Join(c.Home, sourceLogName)
	log, err := os.Create(logPath)
	if err != nil {
		return err
	}
	defer log.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, compileLimit, fmt.Errorf("no end after %s", compileLimit))
	defer cancel()
	step.say("compiling with " + cc)
	last := time.Now()
	err = buildglobal.CompileHere(ctx, buildglobal.Options{
		CC: []string{cc}, Environ: c.compilerEnv(), NoCtags: c.NoCtags, Sources: sources,
		Out: filepath.Join(staged, "bin"), Cache: filepath.Join(staged, "build"),
		Jobs: runtime.NumCPU(), Log: slog.New(slog.NewTextHandler(log, nil)),
		Progress: func(done, total int) {
			if now := time.Now(); now.Sub(last) >= time.Second {
				last = now
				step(fmt.Sprintf("compiling with %s, %d of %d files", cc, done, total), int64(done), int64(total))
			}
		},
	})
	if err == nil {
		return nil
	}
	if _, logErr := io.WriteString(log, err.Error()+"\n"); logErr != nil {
		return err
	}
	return fmt.Errorf("%s; the whole is in %s", shortened(err.Error(), 400), logPath)
}

// shortened cuts what a compiler says to what a report line can hold.
func shortened(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > limit {
		text = text[:limit] + "…"
	}
	return strings.ToValidUTF8(text, "?")
}
