// Command release makes a release of gtagsmcp: the archives of all platforms,
// the bill of materials, the digests and their signature. Two runs on one
// commit, with one version of Go, give the same bytes. What publishes them, and
// holds the private key, is the release workflow; docs/releasing.md tells the
// whole way.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/gtagsmcp/gtagsmcp/bootstrap/release"
)

const usage = `Usage:
  release build -version V [flags]          the archives and the bill of materials
  release sign -version V -key FILE [flags] checksums.txt over all files, and its signature
  release verify -version V [flags]         what a user checks: signature, digests, no file more or less
  release key -key FILE                     a new key pair; the public half goes into the repository

Flags:
`

// options are the flags of all commands.
type options struct {
	tag    string // "v1.2.3"
	dist   string
	public string
	key    string
	// programs keeps the executables, for what else is made of them.
	programs string
	log      io.Writer
}

const (
	committedPublic = "bootstrap/release.pub"
	installer       = "bootstrap/install.sh"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stderr io.Writer) error {
	o := options{log: stderr}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	version := flags.String("version", "", "`version` of the release, such as v1.2.3")
	flags.StringVar(&o.dist, "dist", "dist", "`folder` of the release's files")
	flags.StringVar(&o.public, "public", committedPublic, "`file` with the public key that the programs are to trust")
	flags.StringVar(&o.key, "key", "", "`file` with the private key; - reads it from standard input")
	flags.StringVar(&o.programs, "programs", filepath.Join(".cache", "release"), "`folder` for the executables, which the bundle is made of")
	if len(args) == 0 {
		flags.Usage()
		return flag.ErrHelp
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if args[0] == "key" {
		return newKey(o)
	}
	var err error
	if _, o.tag, err = release.ParseVersion(*version); err != nil {
		return fmt.Errorf("-version: %w", err)
	}
	switch args[0] {
	case "build":
		return build(ctx, o)
	case "sign":
		return sign(o)
	case "verify":
		return verify(o)
	}
	return fmt.Errorf("unknown command %q; -help lists them", args[0])
}

func (o options) path(name string) string { return filepath.Join(o.dist, name) }
