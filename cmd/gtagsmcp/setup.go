package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gtagsmcp/gtagsmcp/server"
	"github.com/gtagsmcp/gtagsmcp/toolchain"
)

// toolchainConfig is what flags, environment and configuration file say about
// the toolchain.
func (f *globalFlags) toolchainConfig(std streams) (toolchain.Config, error) {
	program, err := programPath()
	if err != nil {
		return toolchain.Config{}, err
	}
	above, below, _ := f.settings()
	s := above.Over(below)
	cfg := toolchain.Config{Helper: program, Log: std.logger(f.level)}
	if s.BinDir != nil {
		cfg.BinDir = *s.BinDir
	}
	if s.Label != nil {
		cfg.Label = *s.Label
	}
	return cfg, nil
}

const setupHelp = `Install GNU Global and Universal Ctags into ~/.gtags-mcp (GTAGS_MCP_HOME), without
root, or report the toolchain that is there. Every program is proved by running
it before it is used, and nothing that worked is removed.

The rungs are climbed in this order: what is managed or installed already, the
prebuilt archives of a release, a build from the pinned sources where a C compiler
works, the distribution's own packages. GTAGS_MCP_MIRROR names a server to use in
place of https://github.com/ for archives and sources, and the usual proxy
variables are obeyed.

With --from it installs, without any network, from an archive of a release that
you have. The archive's SHA-256 must be one that this program knows or the one
that --sha256 gives. --unverified takes the archive as it is: you then run
programs that may be damaged or another's, as far as this program can tell.

An install leaves the toolchain before it in place, and --rollback goes back to
that one. --follow installs what this version of the program goes with beside a
managed toolchain from elsewhere (an older version's archive, packages, a build from
source), as a server does by itself; what --rung source, --rung distro or --from
chose stays. --uninstall removes what setup installed, and nothing else.

Progress goes to standard error, the result to standard output. Exit code 0: a
toolchain is ready (with --dry-run: or can be installed); 1: none could be
installed, with the reason of each rung on standard error; 2: a flag or setting
is wrong.`

// setupFlags are what setup takes beside the settings of every command.
type setupFlags struct {
	asJSON, force, noCtags, dryRun, unverified bool
	rollback, follow, uninstall                bool
	rung, from, sha256                         string
}

func newSetupCommand(std streams, flags *globalFlags) *cobra.Command {
	var given setupFlags
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Install the toolchain, or say what is installed",
		Long:  setupHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := flags.toolchainConfig(std)
			if err != nil {
				return err
			}
			cfg.Force, cfg.NoCtags, cfg.Rung = given.force, given.noCtags, given.rung
			cfg.From, cfg.SHA256, cfg.Unverified = given.from, given.sha256, given.unverified
			if err := oneOf(cmd, "rollback", "follow", "uninstall", "dry-run", "from"); err != nil {
				return err
			}
			return settingExit(given.run(cmd.Context(), std, cfg))
		},
	}
	f := cmd.Flags()
	f.BoolVar(&given.asJSON, "json", false, "print the result as one JSON object")
	f.BoolVar(&given.force, "force", false, "install anew although a good toolchain is there")
	f.BoolVar(&given.noCtags, "no-ctags", false, "do without Universal Ctags: native languages only")
	f.BoolVar(&given.dryRun, "dry-run", false, "print what would be done, and do nothing")
	f.StringVar(&given.rung, "rung", "", "try only this rung: managed, system, prebuilt, source, distro")
	f.StringVar(&given.from, "from", "", "install from this local archive instead of climbing the rungs")
	f.StringVar(&given.sha256, "sha256", "", "the SHA-256 that the archive of --from must have")
	f.BoolVar(&given.unverified, "unverified", false, "use the archive of --from although nothing vouches for it")
	f.BoolVar(&given.rollback, "rollback", false, "go back to the managed toolchain before the present one")
	f.BoolVar(&given.follow, "follow", false, "bring a managed toolchain to the one that this version goes with")
	f.BoolVar(&given.uninstall, "uninstall", false, "remove what setup installed")
	return cmd
}

func (given setupFlags) run(ctx context.Context, std streams, cfg toolchain.Config) error {
	steps := newStepDisplay(std.err)
	defer steps.finish()
	switch {
	case given.dryRun:
		return printPlan(ctx, std, cfg)
	case given.uninstall:
		return printRemoval(ctx, std, cfg, given.asJSON, steps.show)
	}
	var set *toolchain.Set
	var report toolchain.Report
	var err error
	switch {
	case given.rollback:
		set, err = toolchain.Rollback(ctx, cfg, steps.show)
	case given.follow:
		set, report, err = toolchain.Follow(ctx, cfg, steps.show)
	}
	if err == nil && set == nil { // --follow: with nothing to follow, what is there
		set, report, err = toolchain.Install(ctx, cfg, steps.show)
	}
	if err != nil {
		return err
	}
	if given.asJSON {
		return printJSON(std, setupResult(set, report))
	}
	return printSet(std, set, report)
}

// stepDisplay shows the steps of an install: a line each, and on a terminal a bar
// for the steps that have a measure.
type stepDisplay struct {
	out      io.Writer
	terminal bool
	bar      *progressbar.ProgressBar // of the step that is shown, if it has one
}

func newStepDisplay(out io.Writer) *stepDisplay {
	f, ok := out.(*os.File)
	return &stepDisplay{out: out, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

func (d *stepDisplay) show(s toolchain.Step) {
	if !d.terminal || s.Total == 0 {
		d.finish()
		fmt.Fprintf(d.out, "%s %-8s %s\n", time.Now().Format(time.TimeOnly), s.Rung, s.Text)
		return
	}
	if d.bar == nil {
		d.bar = progressbar.NewOptions64(s.Total, progressbar.OptionSetWriter(d.out), progressbar.OptionClearOnFinish())
	}
	d.bar.Describe(s.Rung + " " + s.Text)
	_ = d.bar.Set64(min(s.Done, s.Total)) // a bar that cannot be drawn is no reason to stop
}

func (d *stepDisplay) finish() {
	if d.bar != nil {
		_ = d.bar.Clear()
		d.bar = nil
	}
}

// oneOf refuses flags that each ask for something else.
func oneOf(cmd *cobra.Command, names ...string) error {
	var given []string
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	if len(given) < 2 || slices.Equal(given, []string{"--dry-run", "--from"}) {
		return nil
	}
	return &exitError{exitUsage, fmt.Errorf("%s each ask for something else: give one of them", strings.Join(given, " and "))}
}

// settingExit turns a setting that cannot work into the exit code of a wrong
// command line.
func settingExit(err error) error {
	var setting *toolchain.SettingError
	if errors.As(err, &setting) {
		return &exitError{exitUsage, err}
	}
	return err
}

// setupJSON is the result of setup for programs.
type setupJSON struct {
	Gtags        string                 `json:"gtags"`
	Global       string                 `json:"global"`
	Ctags        string                 `json:"ctags"`
	GtagsVersion string                 `json:"gtags_version"`
	CtagsVersion string                 `json:"ctags_version"`
	Rung         string                 `json:"rung"`
	Home         string                 `json:"home"`
	Label        string                 `json:"label"`
	Languages    []string               `json:"languages"`
	Env          []string               `json:"env"`
	CtagsEnv     []string               `json:"ctags_env"`
	Fingerprint  string                 `json:"fingerprint"`
	Missing      []string               `json:"missing"`
	Rungs        []toolchain.RungReport `json:"rungs"`
}

func setupResult(set *toolchain.Set, report toolchain.Report) setupJSON {
	// append makes an absent list an empty one in JSON.
	r := setupJSON{
		Gtags: set.Gtags.Path, Global: set.Global.Path, GtagsVersion: set.Gtags.Version,
		Rung: set.Rung, Home: set.Home, Label: set.Label, Languages: append([]string{}, set.Languages...),
		Env: set.Env, CtagsEnv: append([]string{}, set.CtagsEnv...), Fingerprint: set.Fingerprint,
		Missing: append([]string{}, set.Missing...), Rungs: report.Rungs,
	}
	if set.Ctags != nil {
		r.Ctags, r.CtagsVersion = set.Ctags.Path, set.Ctags.Version
	}
	return r
}

func printJSON(std streams, v any) error {
	enc := json.NewEncoder(std.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func printSet(std streams, set *toolchain.Set, report toolchain.Report) error {
	fmt.Fprint(std.out, report)
	fmt.Fprintf(std.out, "gtags     %s  %s\nglobal    %s  %s\n", set.Gtags.Version, set.Gtags.Path, set.Global.Version, set.Global.Path)
	if set.Ctags != nil {
		fmt.Fprintf(std.out, "ctags     %s  %s\n", set.Ctags.Version, set.Ctags.Path)
	}
	_, err := fmt.Fprintf(std.out, "label     %s, %d languages by ctags beside the native ones\n", set.Label, len(set.Languages))
	for _, m := range set.Missing {
		fmt.Fprintf(std.out, "missing   %s\n", m)
	}
	return err
}

// printRemoval uninstalls, and says what stays.
func printRemoval(ctx context.Context, std streams, cfg toolchain.Config, asJSON bool, show func(toolchain.Step)) error {
	removal, err := toolchain.Uninstall(ctx, cfg, show)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(std, removal)
	}
	for _, path := range removal.Removed {
		fmt.Fprintf(std.out, "removed   %s\n", path)
	}
	for _, path := range removal.Left {
		fmt.Fprintf(std.out, "left      %s (not made by setup)\n", path)
	}
	_, err = fmt.Fprintf(std.out, "left      the indexes of your projects, each in the project's own .gtags-mcp folder or, for trees that cannot be written to, below your cache folder (gtagsmcp index clean)\n"+
		"left      this program, your settings (%s) and the entries in your clients' configuration\n", server.UserConfigFile(os.Getenv))
	return err
}

func printPlan(ctx context.Context, std streams, cfg toolchain.Config) error {
	plan, err := toolchain.Plan(ctx, cfg)
	if err != nil {
		return err
	}
	for _, line := range plan.Rungs {
		mark := "no "
		if line.OK {
			mark = "yes"
		}
		fmt.Fprintf(std.out, "%-8s  %s  %s\n", line.Rung, mark, line.Detail)
	}
	if plan.Hint != "" {
		return errors.New(plan.Hint)
	}
	return nil
}
