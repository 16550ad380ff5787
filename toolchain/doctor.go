package toolchain

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Level is how bad a finding of Doctor is.
type Level string

const (
	LevelOK   Level = "ok"
	LevelWarn Level = "warn" // something is lacking, the main job runs
	LevelFail Level = "fail" // the main job cannot run
)

// Check is one finding: what was looked at, what it is like, what to type.
type Check struct {
	Name   string `json:"name"`
	Level  Level  `json:"level"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

// Doctor examines the toolchain and what it stands on. It installs nothing.
func Doctor(ctx context.Context, cfg Config) []Check {
	cfg, err := cfg.complete()
	if err != nil {
		return []Check{{"settings", LevelFail, err.Error(), ""}}
	}
	set, report := Locate(ctx, cfg)
	checks := programChecks(cfg, set, report)
	checks = append(checks, cfg.homeChecks()...)
	checks = append(checks, cfg.installChecks()...)
	return append(checks, cfg.systemChecks(ctx)...)
}

func programChecks(cfg Config, set *Set, report Report) []Check {
	const setup = "gtagsmcp setup"
	if set == nil {
		checks := []Check{{"gtags", LevelFail, "not found; " + strings.TrimSpace(strings.ReplaceAll(report.String(), "\n", "; ")), setup}}
		return append(checks, rejected(report)...)
	}
	proof := fmt.Sprintf("%s; proved by indexing a sample with label %s", set.Rung, set.Label)
	checks := []Check{
		{"gtags", LevelOK, fmt.Sprintf("%s  %s  (%s)", set.Gtags.Version, set.Gtags.Path, proof), ""},
		{"global", LevelOK, fmt.Sprintf("%s  %s", set.Global.Version, set.Global.Path), ""},
	}
	if set.Ctags != nil {
		checks = append(checks, Check{"ctags", LevelOK, fmt.Sprintf("%s  %s  (JSON and interactive mode proved)", set.Ctags.Version, set.Ctags.Path), ""})
	}
	if len(set.Languages) > 0 {
		checks = append(checks, Check{"languages", LevelOK, "C, yacc, C++, Java, PHP, assembly natively; by ctags " + strings.Join(set.Languages, ", "), ""})
	}
	for _, m := range set.Missing {
		checks = append(checks, Check{"missing", LevelWarn, m, setup})
	}
	return append(checks, rejected(report)...)
}

func rejected(report Report) []Check {
	var checks []Check
	for _, f := range report.Findings {
		if f.Reason != "" {
			checks = append(checks, Check{"rejected", LevelWarn, fmt.Sprintf("%s: %s", f.Path, f.Reason), ""})
		}
	}
	return checks
}

// homeChecks looks at the managed folder: it holds programs that we run.
func (c Config) homeChecks() []Check {
	const move = "export GTAGS_MCP_HOME=/a/folder/you/may/write/to"
	info, err := os.Stat(c.Home)
	if os.IsNotExist(err) {
		return []Check{{"home", LevelOK, c.Home + " does not exist yet", ""}}
	}
	if err != nil {
		return []Check{{"home", LevelWarn, err.Error(), move}}
	}
	home := Check{"home", LevelOK, c.Home, ""}
	free, freeErr := freeBytes(c.Home)
	switch probe, err := os.CreateTemp(c.Home, ".probe-*"); {
	case !info.IsDir():
		home.Level, home.Detail, home.Fix = LevelFail, c.Home+" is not a folder", move
	case err != nil:
		home.Level, home.Detail, home.Fix = LevelWarn, fmt.Sprintf("%s cannot be written: %v", c.Home, err), move
	default:
		probe.Close()
		os.Remove(probe.Name())
		if info.Mode().Perm()&0o022 != 0 {
			home.Level, home.Detail, home.Fix = LevelWarn, fmt.Sprintf("%s may be written by others (%v)", c.Home, info.Mode().Perm()), "chmod go-w "+c.Home
		}
	}
	checks := []Check{home}
	if mountedNoexec(c.Home) {
		checks = append(checks, Check{"noexec", LevelFail, c.Home + " lies on a file system that does not execute programs", move})
	}
	if freeErr == nil {
		disk := Check{"disk", LevelOK, fmt.Sprintf("%d MB free for %s", free>>20, c.Home), ""}
		if free < aptDownloadSpace {
			disk.Level, disk.Fix = LevelWarn, "free some space, or "+move
		}
		checks = append(checks, disk)
	}
	return checks
}

// installChecks says whether an install runs and how the last one ended.
func (c Config) installChecks() []Check {
	if step, started, ok := Progress(c.Home); ok {
		return []Check{{"install", LevelWarn, fmt.Sprintf("held by %v for %s: %s", readHolder(filepath.Join(c.Home, lockName)),
			time.Since(started).Round(time.Second), step.Text), ""}}
	}
	state := readState(c.Home)
	switch {
	case state.PID == 0:
		return nil
	case state.Finished.IsZero():
		return []Check{{"install", LevelWarn, fmt.Sprintf("the one of %s was interrupted at: %s", state.Started.Format(time.DateTime), state.Step.Text), "gtagsmcp setup"}}
	case state.Failed != nil:
		return []Check{{"install", LevelWarn, "the last one failed: " + strings.ReplaceAll((&InstallError{*state.Failed}).Error(), "\n", ";"), "gtagsmcp setup"}}
	}
	return nil
}

// systemChecks says what the toolchain could be installed from or extended with.
func (c Config) systemChecks(ctx context.Context) []Check {
	checks := []Check{{"system", LevelOK, runtime.GOOS + "/" + runtime.GOARCH + ", " + libc(), ""}}
	if m, ok := c.packageManager(); ok {
		checks = append(checks, Check{"packages", LevelOK, m.program, ""})
	} else {
		checks = append(checks, Check{"packages", LevelWarn, "no package manager found", ""})
	}
	python, err := FindPython(ctx, c)
	if err != nil {
		return append(checks, Check{"python", LevelWarn, err.Error() + " (optional)", ""})
	}
	where := "its own"
	if python.PygmentsPath != "" {
		where = "from " + python.PygmentsPath
	}
	return append(checks, Check{"python", LevelOK, fmt.Sprintf("%s  %s, Pygments %s (%s)", python.Version, python.Path, python.Pygments, where), ""})
}

// libc names the C library, as far as its file tells.
func libc() string {
	if runtime.GOOS != "linux" {
		return "C library of the system"
	}
	if version := glibcPresent(); version != "" {
		return "glibc " + version
	}
	return "no glibc"
}
