// Command build-global makes the prebuilt toolchain archives. See the package
// build-global for the recipe; "build-global -help" lists the commands.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	buildglobal "github.com/gtagsmcp/gtagsmcp/build-global"
)

const usage = `Usage:
  build-global [build] [flags]            make the archives
  build-global here -cc CC -out FOLDER    the three programs alone, for this machine
  build-global check PLATFORM FILE…       the ceiling check alone, on ELF files
  build-global prove [flags] ARCHIVE…     the proof alone: unpack, index, query
  build-global pinned LOCK ARCHIVE…       the digests alone, against a lock file
  build-global sources                    the pinned sources

Flags:
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "build-global:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	command := "build"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		command, args = args[0], args[1:]
	}
	o := buildglobal.Options{Log: slog.New(slog.NewTextHandler(stderr, nil)), Table: stdout}
	flags := flag.NewFlagSet("build-global", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	var platforms, runner, cc string
	var timeout time.Duration
	flags.StringVar(&platforms, "platforms", "", "comma-separated `names`; default: all that zig builds")
	flags.StringVar(&o.Out, "out", filepath.Join("build-global", "dist"), "output `folder`")
	flags.StringVar(&o.Cache, "cache", filepath.Join(".cache", "build-global"), "`folder` for sources, compiler and work")
	flags.StringVar(&o.Sources, "sources", "", "take the source archives from this `folder` alone")
	flags.BoolVar(&o.Debian, "debian", false, "take the source archives from Debian's source packages")
	flags.StringVar(&o.ZigPackage, "zig", "", "the compiler's npm package as a `file`; default: npm downloads it")
	flags.StringVar(&cc, "cc", "", "build for this machine with this C `compiler`, without zig")
	flags.IntVar(&o.Jobs, "jobs", 1, "compilers at a `time`")
	flags.StringVar(&runner, "runner", "", "`emulator` to prove archives of other processors with")
	flags.DurationVar(&timeout, "timeout", 2*time.Hour, "limit of the whole run")
	if err := flags.Parse(args); err != nil {
		return err
	}
	o.CC = strings.Fields(cc)
	o.Runner = strings.Fields(runner)
	if runner == "" {
		o.Runner = nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not done after %s (-timeout)", timeout))
	defer cancel()
	switch command {
	case "build":
		var err error
		if o.Platforms, err = buildglobal.Select(platforms, len(o.CC) > 0); err != nil {
			return err
		}
		return buildglobal.Build(ctx, o)
	case "here":
		return buildglobal.CompileHere(ctx, o)
	case "check":
		return check(flags.Args(), stdout)
	case "prove":
		return prove(ctx, flags.Args(), o.Runner, stdout)
	case "pinned":
		return pinned(flags.Args(), stdout)
	case "sources":
		return listSources(stdout)
	}
	return fmt.Errorf("unknown command %q; -help lists them", command)
}

func check(args []string, stdout io.Writer) error {
	if len(args) < 2 {
		return errors.New("check needs a platform and files")
	}
	p, err := buildglobal.PlatformNamed(args[0])
	if err != nil {
		return err
	}
	var faults []error
	for _, path := range args[1:] {
		n, err := buildglobal.CheckELF(path, p)
		faults = append(faults, err)
		fmt.Fprintln(stdout, n.Row(path))
	}
	return errors.Join(faults...)
}

func prove(ctx context.Context, archives, runner []string, stdout io.Writer) error {
	if len(archives) == 0 {
		return errors.New("prove needs an archive")
	}
	for _, a := range archives {
		if err := buildglobal.Prove(ctx, a, runner); err != nil {
			return err
		}
		fmt.Fprintln(stdout, "proved", a)
	}
	return nil
}

func pinned(args []string, stdout io.Writer) error {
	if len(args) < 2 {
		return errors.New("pinned needs a lock file and archives")
	}
	if err := buildglobal.CheckPinned(args[0], args[1:]); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%d archives are those of %s\n", len(args)-1, args[0])
	return nil
}

func listSources(stdout io.Writer) error {
	for _, s := range buildglobal.Sources {
		for _, a := range s.Archives {
			fmt.Fprintf(stdout, "%s  %s  %d  %s\n", a.SHA256, a.File, a.Size, a.URL)
		}
	}
	return nil
}
