package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gtagsmcp/gtagsmcp/nav"
	"github.com/gtagsmcp/gtagsmcp/server"
	"github.com/gtagsmcp/gtagsmcp/toolchain"
)

func newDoctorCommand(std streams, flags *globalFlags) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Examine everything the main job needs, and say what to type",
		Long: `Examine the toolchain, what it stands on, the settings and the index of the
current tree, and say what to type for each finding. Installs and builds nothing.

Exit code 0: the main job can run, perhaps with warnings; 1: it cannot.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := flags.toolchainConfig(std)
			if err != nil {
				return err
			}
			checks := slices.Concat(toolchain.Doctor(cmd.Context(), cfg), configChecks(flags), compilerChecks(cmd.Context(), std, cfg, flags), treeChecks(cmd.Context(), std, flags))
			if err := printChecks(std, checks, asJSON); err != nil {
				return err
			}
			if slices.ContainsFunc(checks, func(c toolchain.Check) bool { return c.Level == toolchain.LevelFail }) {
				return errors.New("the main job cannot run: see the lines that begin with fail")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as one JSON object")
	return cmd
}

// configChecks names the user's config file, and every mistake in it and in the
// environment.
func configChecks(flags *globalFlags) []toolchain.Check {
	path := server.UserConfigFile(os.Getenv)
	file := toolchain.Check{Name: "config", Level: toolchain.LevelOK, Detail: path}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		file.Detail += " does not exist: all settings have their defaults"
	}
	checks := []toolchain.Check{file}
	_, _, problems := flags.settings()
	for _, p := range problems {
		checks = append(checks, toolchain.Check{Name: "config", Level: toolchain.LevelWarn, Detail: p, Fix: "correct that file or variable"})
	}
	return checks
}

// treeChecks looks at the tree that a call without project_root would ask, its
// config file and its index.
func treeChecks(ctx context.Context, std streams, flags *globalFlags) []toolchain.Check {
	warn := func(name string, err error, fix string) toolchain.Check {
		return toolchain.Check{Name: name, Level: toolchain.LevelWarn, Detail: err.Error(), Fix: fix}
	}
	a, err := newServer(std, flags)
	if err != nil {
		return []toolchain.Check{warn("tree", err, "cd to a folder that exists")}
	}
	root, _, err := a.Project()
	a.Close()
	if root == "" {
		return []toolchain.Check{warn("tree", err, "gtagsmcp --root FOLDER doctor")}
	}
	checks := []toolchain.Check{{Name: "tree", Level: toolchain.LevelOK, Detail: root}}
	if err != nil {
		return append(checks, warn("config", err, "correct that file"))
	}
	if path, err := exec.LookPath("git"); err == nil {
		checks = append(checks, toolchain.Check{Name: "git", Level: toolchain.LevelOK, Detail: path})
	} else {
		checks = append(checks, toolchain.Check{Name: "git", Level: toolchain.LevelWarn,
			Detail: "not found: files are found by walking the folders, without .gitignore, and blast_radius has nothing to compare with", Fix: "install git"})
	}
	return append(checks, indexCheck(ctx, std, flags))
}

func indexCheck(ctx context.Context, std streams, flags *globalFlags) toolchain.Check {
	check := toolchain.Check{Name: "index", Level: toolchain.LevelOK}
	x, err := indexOpener(std, flags)(ctx, true)
	if err != nil {
		check.Level, check.Detail, check.Fix = toolchain.LevelWarn, err.Error(), "gtagsmcp --root FOLDER doctor"
		return check
	}
	defer x.Close()
	s, err := x.Status(ctx)
	switch {
	case err != nil:
		check.Level, check.Detail, check.Fix = toolchain.LevelWarn, fmt.Sprintf("%s: %v", s.Dir, err), "gtagsmcp index build --full"
	case s.Builder != "":
		check.Detail = fmt.Sprintf("%s is being built by %s", s.Dir, s.Builder)
	case s.Generation == "":
		check.Detail, check.Fix = s.Dir+" has none yet: the first question builds it", "gtagsmcp index build"
	default:
		check.Detail = fmt.Sprintf("%s: %d files, %s on disk, %d changes that the next question brings in", s.Dir, s.Files, megabytes(s.DiskBytes), s.Added+s.Changed+s.Removed)
		if bad := len(s.Skipped) + len(s.Warnings); bad > 0 {
			check.Level, check.Fix = toolchain.LevelWarn, "gtagsmcp index status"
			check.Detail += fmt.Sprintf("; %d files left out, %d warnings", len(s.Skipped), len(s.Warnings))
		}
	}
	return check
}

// examineTime bounds the start of the compilers, which doctor can do without.
const examineTime = 20 * time.Second

// compilerChecks start what find_code asks beside universal-ctags. None is needed
// for anything else.
func compilerChecks(ctx context.Context, std streams, cfg toolchain.Config, flags *globalFlags) []toolchain.Check {
	ctx, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	log := std.logger(flags.level)
	compilers := javaOptions(cfg, log)
	if _, err := os.Stat(compilers.Dir); err != nil {
		// Doctor leaves nothing behind: the helper is compiled for this once.
		if compilers.Dir, err = os.MkdirTemp("", "gtagsmcp-doctor-"); err == nil {
			defer os.RemoveAll(compilers.Dir)
		}
	}
	front := nav.NewFrontEnds(goOptions(cfg, log), compilers)
	defer front.Close()
	var checks []toolchain.Check
	for _, f := range front.Examine(ctx) {
		checks = append(checks, toolchain.Check{Name: "compiler", Level: toolchain.LevelOK, Detail: f.Language + ": " + f.Detail})
	}
	return checks
}

func printChecks(std streams, checks []toolchain.Check, asJSON bool) error {
	if asJSON {
		return printJSON(std, struct {
			Version string            `json:"version"`
			Checks  []toolchain.Check `json:"checks"`
		}{version(), checks})
	}
	for _, c := range checks {
		if _, err := fmt.Fprintf(std.out, "%-4s  %-9s  %s\n", c.Level, c.Name, c.Detail); err != nil {
			return err
		}
		if c.Fix != "" {
			fmt.Fprintf(std.out, "%17s> %s\n", "", c.Fix)
		}
	}
	return nil
}
