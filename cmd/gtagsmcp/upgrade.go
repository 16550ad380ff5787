package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gtagsmcp/gtagsmcp/bootstrap"
	"github.com/gtagsmcp/gtagsmcp/bootstrap/release"
	"github.com/gtagsmcp/gtagsmcp/bootstrap/upgrade"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
)

func newUpgradeCommand(std streams, flags *globalFlags) *cobra.Command {
	var want string
	var check, pre, rollback, look bool
	cmd := &cobra.Command{
		Use:   "upgrade",
		Short: "Replace this program by the newest release, or another",
		Long: `Replace this program by the newest release. The release's list of digests must be
signed, for that very version, with the key that this program holds; the new
program is started once before and once after it takes the place of the old.
Whatever happens meanwhile, the file is the whole old program or the whole new
one. The old one is kept for --rollback.

Only stable releases count, unless --pre is given or --version names one, which may
also be older. A copy that a package manager installed, a symbolic link, and a file
that belongs to another user are refused with the command to use instead.

Afterwards a running background service is restarted, and a managed toolchain that
the new program does not go with is replaced in the background.

GTAGS_MCP_MIRROR names a server to use in place of https://github.com/,
GTAGS_MCP_GITHUB_TOKEN is sent to GitHub's API alone, and the usual proxy variables
are obeyed. On a terminal other commands tell of a new release, at most once a day;
GTAGS_MCP_NO_UPDATE_CHECK=1 turns that off.

Exit code 0: done, or nothing to do; 1: failed, and the program is as it was;
4: another upgrade is under way; 5: with --check alone: there is a newer release.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(oneOf(cmd, "check", "rollback", "look", "version"), oneOf(cmd, "pre", "rollback", "version")); err != nil {
				return &exitError{exitUsage, err}
			}
			if _, _, err := release.ParseVersion(want); want != "" && err != nil {
				return &exitError{exitUsage, fmt.Errorf("--version: %w", err)}
			}
			o, err := upgradeOptions(std, flags)
			if err != nil {
				return err
			}
			o.Want, o.Pre = want, pre
			change := upgrade.Run
			switch {
			case look:
				return lookForNewer(cmd.Context(), std, flags, o)
			case check:
				return explained(std, printCheck(cmd.Context(), std, o))
			case rollback:
				change = upgrade.Rollback
			}
			done, err := change(cmd.Context(), o)
			if err != nil {
				return explained(std, err)
			}
			fmt.Fprintf(std.out, "%s: %s -> %s\n", o.Target, done.From, done.To)
			restartService(cmd.Context(), std, o.Target)
			followToolchain(std, flags, o.Target)
			_, err = fmt.Fprintln(std.out, "to go back, type: gtagsmcp upgrade --rollback")
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&check, "check", false, "only say whether there is a newer release, by exit code 5")
	f.StringVar(&want, "version", "", "go to this release, up or down")
	f.BoolVar(&pre, "pre", false, "take prereleases too")
	f.BoolVar(&rollback, "rollback", false, "go back to the program before")
	f.BoolVar(&look, "look", false, "look for a newer release and remember it")
	_ = f.MarkHidden("look") // the flag exists
	return cmd
}

func upgradeOptions(std streams, flags *globalFlags) (upgrade.Options, error) {
	target, err := programAsNamed()
	if err != nil {
		return upgrade.Options{}, err
	}
	network := fetch.FromEnvironment(os.Getenv)
	network.Log, network.Progress = std.logger(flags.level), downloadProgress(std.err)
	client, err := fetch.New(network)
	if err != nil {
		return upgrade.Options{}, fmt.Errorf("%s: %w", fetch.EnvMirror, err)
	}
	return upgrade.Options{
		Target: target, Version: version(), Key: bootstrap.ReleaseKey(), Client: client,
		Step: func(text string) { fmt.Fprintln(std.err, text) },
	}, nil
}

// programAsNamed is the path by which this program was started. The system
// knows only where a symbolic link leads.
func programAsNamed() (string, error) {
	path, err := programPath()
	if err != nil {
		return "", err
	}
	named, err := exec.LookPath(os.Args[0])
	if err != nil {
		return path, nil
	}
	if named, err = filepath.Abs(named); err != nil {
		return path, nil
	}
	a, errA := os.Stat(path)
	b, errB := os.Stat(named)
	if errA == nil && errB == nil && os.SameFile(a, b) {
		return named, nil
	}
	return path, nil
}

// downloadProgress shows a line a second, and none of what takes less.
func downloadProgress(out io.Writer) func(done, total int64) {
	show, began := newProgressLine(out), time.Now()
	return func(done, _ int64) {
		if time.Since(began) > time.Second {
			show(fmt.Sprintf("downloaded %.1f MB", float64(done)/1e6), 0, 0)
		}
	}
}

func printCheck(ctx context.Context, std streams, o upgrade.Options) error {
	c, err := upgrade.Check(ctx, o)
	if err != nil {
		return err
	}
	if c.Newer {
		fmt.Fprintf(std.out, "%s is out, this is %s\n", c.Tag, o.Version)
		return &exitError{code: exitNewer}
	}
	note := ""
	if c.FromSource {
		note = ", which was built from source"
	}
	_, err = fmt.Fprintf(std.out, "this is %s%s; the newest release is %s\n", o.Version, note, c.Tag)
	return err
}

// explained turns why nothing was changed into words and an exit code.
func explained(std streams, err error) error {
	switch {
	case errors.Is(err, upgrade.ErrUpToDate):
		_, err = fmt.Fprintln(std.out, "gtagsmcp is", err)
	case errors.Is(err, upgrade.ErrBusy):
		return &exitError{exitRetry, err}
	case errors.Is(err, release.ErrNoKey):
		return fmt.Errorf("%w; to have one that can, install a release: %s", err, upgrade.InstallCommand)
	}
	return err
}

// serviceLimit is what a service may take to end its calls and start again.
const serviceLimit = time.Minute

// restartService asks the new program to restart a background service that
// runs. A release that knows no service has none running.
func restartService(ctx context.Context, std streams, target string) {
	ctx, cancel := context.WithTimeout(ctx, serviceLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, target, "service", "restart", "--if-running").CombinedOutput()
	text := strings.TrimSpace(string(out))
	switch {
	case err == nil && text != "":
		fmt.Fprintln(std.err, text)
	case err != nil && !strings.Contains(text, "unknown command") && !strings.Contains(text, "unknown flag"):
		fmt.Fprintf(std.err, "the background service still runs the program before: %v: %s\n", err, text)
	}
}

// followToolchain starts the new program's own setup, which outlives this one,
// where there is a managed toolchain that may have to follow.
func followToolchain(std streams, flags *globalFlags, target string) {
	home, err := managedHome(std, flags)
	if err != nil {
		return
	}
	if _, err := os.Lstat(filepath.Join(home, "current")); err != nil {
		return
	}
	if err := startDetached(target, "setup", "--follow"); err != nil {
		fmt.Fprintf(std.err, "the toolchain was not looked at: %v; type: gtagsmcp setup --follow\n", err)
	}
}

func managedHome(std streams, flags *globalFlags) (string, error) {
	cfg, err := flags.toolchainConfig(std)
	if err != nil {
		return "", err
	}
	return cfg.ManagedHome()
}

// startDetached starts a program in a session of its own, without our streams,
// so that neither the end of this process nor its terminal's ends it.
func startDetached(program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// lookLimit bounds the process that looks for a newer release in the background.
const lookLimit = time.Minute

func lookForNewer(ctx context.Context, std streams, flags *globalFlags, o upgrade.Options) error {
	home, err := managedHome(std, flags)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	return upgrade.Notice{Home: home, Version: version()}.Look(ctx, o)
}

// tellOfNewer prints a line about a newer release that is known of, and has
// another process look for one, each at most once a day. Only a person at a
// terminal is told, and never by what runs for others.
func tellOfNewer(cmd *cobra.Command, std streams, flags *globalFlags) {
	switch cmd.Name() {
	case "serve", "upgrade", "version", "completion", "__complete", "__completeNoDesc":
		return
	}
	terminal, ok := std.err.(*os.File)
	if !ok || !term.IsTerminal(int(terminal.Fd())) || cmd == cmd.Root() || os.Getenv(upgrade.EnvNoCheck) != "" || os.Getenv("CI") != "" {
		return
	}
	if _, err := release.ParseKey(bootstrap.ReleaseKey()); err != nil {
		return
	}
	home, err := managedHome(std, flags)
	if err != nil {
		return
	}
	notice := upgrade.Notice{Home: home, Version: version()}
	if tag := notice.Take(); tag != "" {
		fmt.Fprintf(std.err, "gtagsmcp %s is out, this is %s; type: gtagsmcp upgrade\n", tag, version())
	}
	if notice.Due() {
		if program, err := programPath(); err == nil {
			_ = startDetached(program, "upgrade", "--look") // tomorrow is another day
		}
	}
}
