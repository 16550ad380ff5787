package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/gtagsmcp/gtagsmcp/bootstrap"
	"github.com/gtagsmcp/gtagsmcp/nav"
	"github.com/gtagsmcp/gtagsmcp/nav/ctags"
	"github.com/gtagsmcp/gtagsmcp/nav/index"
	"github.com/gtagsmcp/gtagsmcp/nav/semantic/golang"
	"github.com/gtagsmcp/gtagsmcp/nav/semantic/java"
	"github.com/gtagsmcp/gtagsmcp/server"
	"github.com/gtagsmcp/gtagsmcp/toolchain"
	"github.com/gtagsmcp/gtagsmcp/toolchain/ctagscom"
)

// app joins the halves of the program: the server's workspaces get their
// toolchain from the gates of bootstrap.
type app struct {
	*server.Server
	gates     gates
	frontEnds *nav.FrontEnds
}

func newServer(std streams, flags *globalFlags) (*app, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	cfg, err := flags.toolchainConfig(std)
	if err != nil {
		return nil, err
	}
	above, below, problems := flags.settings()
	log := std.logger(flags.level)
	a := &app{
		frontEnds: nav.NewFrontEnds(goOptions(cfg, log), javaOptions(cfg, log)),
		gates:     gates{base: bootstrap.Options{Toolchain: cfg, NoAutoSetup: !flags.autoSetup(), Follow: flags.serving}},
	}
	a.Server = server.New(server.Config{
		Version: version(), Above: above, Below: below, Problems: problems,
		ClientDir: os.Getenv("CLAUDE_PROJECT_DIR"), Dir: dir, Logger: log, Fence: flags.fence, Metrics: flags.metrics,
		Toolchain: func(ctx context.Context) error {
			_, err := ready(ctx, a.gates.with(above.Over(below)))
			return err
		},
		Open: func(root string, s server.Settings) (*nav.Workspace, error) {
			gate := a.gates.with(s)
			return nav.OpenWorkspace(root, nav.Options{
				Toolchain: func(ctx context.Context) (nav.Toolchain, error) { return ready(ctx, gate) },
				Fence:     flags.fence,
				Index:     indexOptions(s, gate),
				NoEnrich:  isOff(s.Enrich),
				NoGuards:  isOff(s.Guards),
				NoMacros:  isOff(s.MacroResolve),
				Macros:    s.Macros,
				FrontEnds: a.frontEnds,
				Logger:    log,

				AwaitOutline: !flags.serving,
			})
		},
	})
	return a, nil
}

// goOptions runs the resolver for Go, which is this program in another role, when
// there is a go command.
func goOptions(cfg toolchain.Config, log *slog.Logger) golang.Options {
	o := golang.Options{Env: os.Environ(), Log: log}
	if path, err := exec.LookPath("go"); err == nil && filepath.IsAbs(path) {
		o.Go, o.Child = path, []string{cfg.Helper, goResolver}
	}
	return o
}

// javaOptions keeps the compiled helper beside the toolchain.
func javaOptions(cfg toolchain.Config, log *slog.Logger) java.Options {
	o := java.Options{Log: log}
	if home, err := cfg.ManagedHome(); err == nil {
		o.Dir = filepath.Join(home, "java")
	}
	return o
}

func indexOptions(s server.Settings, gate *bootstrap.Gate) index.Options {
	return index.Options{
		Expect: func() (label, fingerprint string, ok bool) {
			set := gate.Known()
			if set == nil {
				return "", "", false
			}
			return set.Label, set.Fingerprint, true
		},
		SkipGlobs:      s.SkipGlobs,
		IncludeIgnored: isOff(s.RespectGitignore),
		AllowAny:       s.AllowAnyRoot != nil && *s.AllowAnyRoot,
	}
}

// indexOpener opens the index of the current project for the index commands,
// which wait for the toolchain where a server's call would answer "retry".
func indexOpener(std streams, flags *globalFlags) openIndex {
	return func(ctx context.Context, allowAny bool) (*index.Index, error) {
		a, err := newServer(std, flags)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { a.Close() })
		root, settings, err := a.Project()
		if err != nil {
			return nil, err
		}
		gate, show := a.gates.with(settings), newProgressLine(std.err)
		opts := indexOptions(settings, gate)
		opts.AllowAny = opts.AllowAny || allowAny
		opts.Logger = std.logger(flags.level)
		opts.Tools = func(ctx context.Context) (index.Tools, error) {
			for {
				changed := gate.Changed()
				tc, err := ready(ctx, gate)
				if !nav.Temporary(err) {
					return tc.Index, err
				}
				show(err.Error(), 0, 0)
				select {
				case <-ctx.Done():
					return index.Tools{}, ctx.Err()
				case <-changed:
				case <-time.After(time.Second):
				}
			}
		}
		return index.Open(root, opts)
	}
}

// isOff reads a switch that is on unless somebody turned it off.
func isOff(setting *bool) bool { return setting != nil && !*setting }

func (a *app) Close() error {
	err := a.Server.Close()
	a.frontEnds.Close()
	a.gates.close()
	return err
}

// gates has one gate for each toolchain that the settings of some project ask
// for; nearly always there is one.
type gates struct {
	base bootstrap.Options

	mu   sync.Mutex
	open map[gateKey]*bootstrap.Gate
}

type gateKey struct{ label, binDir string }

func (g *gates) with(s server.Settings) *bootstrap.Gate {
	opts := g.base
	if s.Label != nil {
		opts.Toolchain.Label = *s.Label
	}
	if s.BinDir != nil {
		opts.Toolchain.BinDir = *s.BinDir
	}
	key := gateKey{opts.Toolchain.Label, opts.Toolchain.BinDir}
	g.mu.Lock()
	defer g.mu.Unlock()
	if gate, ok := g.open[key]; ok {
		return gate
	}
	if g.open == nil {
		g.open = map[gateKey]*bootstrap.Gate{}
	}
	gate := bootstrap.New(opts)
	g.open[key] = gate
	return gate
}

func (g *gates) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, gate := range g.open {
		gate.Close()
	}
}

// installing is a gate's "not yet" in the words of the engine: it passes.
type installing struct{ *bootstrap.NotReadyError }

func (installing) Temporary() bool { return true }

// ready asks a gate and puts its answer into the engine's terms.
func ready(ctx context.Context, gate *bootstrap.Gate) (nav.Toolchain, error) {
	set, err := gate.Ready(ctx)
	var notReady *bootstrap.NotReadyError
	if errors.As(err, &notReady) {
		return nav.Toolchain{}, installing{notReady}
	}
	if err != nil {
		return nav.Toolchain{}, err
	}
	return engineTools(set), nil
}

func engineTools(set *toolchain.Set) nav.Toolchain {
	tc := nav.Toolchain{Index: index.Tools{
		Gtags: set.Gtags.Path, Env: set.Env, Label: set.Label, Fingerprint: set.Fingerprint,
		FilesEnv: ctagscom.EnvFiles,
	}}
	if set.Ctags != nil {
		tc.Ctags = ctags.Command{Path: set.Ctags.Path, Env: set.CtagsEnv}
	}
	return tc
}
