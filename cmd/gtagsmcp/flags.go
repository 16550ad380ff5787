package main

import (
	"fmt"
	"log/slog"
	"os"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/gtagsmcp/gtagsmcp/nav"
	"github.com/gtagsmcp/gtagsmcp/server"
)

// globalFlags are the settings that every command takes.
type globalFlags struct {
	root        string
	label       string
	binDir      string
	skipGlobs   []string
	noAutoSetup bool
	allowAny    bool
	logLevel    string

	level slog.Level
	// serving is set when the program answers more than one question.
	serving bool
	metrics bool       // calls are counted
	fence   *nav.Fence // holds all that may be read; nil: everything
}

func (f *globalFlags) register(set *pflag.FlagSet) {
	set.StringVar(&f.root, "root", "", "source tree to ask when a call names none (GTAGS_MCP_ROOT)")
	set.StringVar(&f.label, "label", "", "parser set of gtags.conf (GTAGS_MCP_LABEL)")
	set.StringVar(&f.binDir, "bin-dir", "", "folder with gtags, global and ctags (GTAGS_MCP_BIN_DIR)")
	set.StringArrayVar(&f.skipGlobs, "skip-glob", nil, "leave files that match out of the index; may be repeated")
	set.BoolVar(&f.noAutoSetup, "no-auto-setup", false, "never install a missing toolchain by itself (GTAGS_MCP_AUTO_SETUP=0)")
	set.BoolVar(&f.allowAny, "allow-any-root", false, "index even the home directory or a huge tree without git (GTAGS_MCP_ALLOW_ANY_ROOT=1)")
	set.StringVar(&f.logLevel, "log-level", "warn", "debug, info, warn or error, to standard error")
}

func (f *globalFlags) readLogLevel() error {
	if err := f.level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return &exitError{exitUsage, fmt.Errorf("--log-level takes debug, info, warn or error, got %q", f.logLevel)}
	}
	return nil
}

// settings returns what flags and environment say together, and what the
// user's config file says. Mistakes come as a list: they are reported with
// every answer and stop nothing.
func (f *globalFlags) settings() (above, below server.Settings, problems []string) {
	note := func(err error) {
		if err != nil {
			problems = append(problems, err.Error())
		}
	}
	environment, err := server.ReadEnvironment(os.Getenv)
	note(err)
	below, err = server.ReadSettingsFile(server.UserConfigFile(os.Getenv))
	note(err)
	return f.given().Over(environment), below, problems
}

func (f *globalFlags) given() server.Settings {
	text := func(value string) *string {
		if value == "" {
			return nil
		}
		return &value
	}
	s := server.Settings{
		Root: text(f.root), Label: text(f.label), BinDir: text(f.binDir), SkipGlobs: f.skipGlobs,
	}
	if f.allowAny {
		s.AllowAnyRoot = &f.allowAny
	}
	return s
}

// autoSetup reports whether a missing toolchain is installed without asking.
func (f *globalFlags) autoSetup() bool {
	if f.noAutoSetup {
		return false
	}
	on, err := strconv.ParseBool(os.Getenv("GTAGS_MCP_AUTO_SETUP"))
	return err != nil || on
}
