package toolchain

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
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
		return []Check{{"settings", LevelFail, err.Error(), "correct that flag or variable"}}
	}
	set, report := Locate(ctx, cfg)
	checks := slices.Concat(programChecks(cfg, set, report), rejected(set, report), cfg.generationChecks(), cfg.pathChecks(set),
		cfg.homeChecks(), cfg.installChecks())
	return append(checks, cfg.systemChecks(ctx)...)
}

const typeSetup = "gtagsmcp setup"

func programChecks(cfg Config, set *Set, report Report) []Check {
	if set == nil {
		return []Check{{"gtags", LevelFail, "not found; " + strings.TrimSpace(strings.ReplaceAll(report.String(), "\n", "; ")), typeSetup}}
	}
	program := func(name string, p *Program, proof string) Check {
		return Check{name, LevelOK, fmt.Sprintf("%s  %s  (%s; %s)", p.Version, p.Path, cfg.rungOf(p, set.Rung), proof), ""}
	}
	checks := []Check{
		program("gtags", &set.Gtags, "proved by indexing a sample with label "+set.Label),
		program("global", &set.Global, "proved by finding definitions and references in that index"),
	}
	if set.Ctags != nil {
		checks = append(checks, program("ctags", set.Ctags, "proved by asking for the end of a function as JSON"))
	}
	if len(set.Languages) > 0 {
		path := filepath.Join(cfg.Home, "libexec", HelperName)
		checks = append(checks, Check{"helper", LevelOK, path + "  (this program under another name; proved by the Python of that sample)", ""},
			Check{"languages", LevelOK, "C, yacc, C++, Java, PHP, assembly natively; by ctags " + strings.Join(set.Languages, ", "), ""})
	}
	for _, m := range set.Missing {
		checks = append(checks, Check{"missing", LevelWarn, m, typeSetup})
	}
	return checks
}

// rungOf says where one program came from.
func (c Config) rungOf(p *Program, rung string) string {
	rest, managed := strings.CutPrefix(p.Path, filepath.Join(c.Home, generationsDir)+"/")
	if !managed {
		if rung == RungManaged {
			return RungSystem // ctags of the system beside a managed gtags
		}
		return rung
	}
	name, _, _ := strings.Cut(rest, "/")
	if o := readOrigin(filepath.Join(c.Home, generationsDir, name)); o.Rung != "" {
		return "managed, by rung " + o.Rung
	}
	return RungManaged
}

// rejected lists the candidates that were passed over. Beside a complete toolchain
// they are nothing to worry about.
func rejected(set *Set, report Report) []Check {
	level, fix := LevelWarn, typeSetup
	if set != nil && set.complete() {
		level, fix = LevelOK, ""
	}
	var checks []Check
	for _, f := range report.Findings {
		if f.Reason != "" {
			checks = append(checks, Check{"rejected", level, fmt.Sprintf("%s: %s", f.Path, f.Reason), fix})
		}
	}
	return checks
}

// generationChecks tells what is installed in the home and what would follow.
func (c Config) generationChecks() []Check {
	root, err := c.current()
	if err != nil {
		return nil
	}
	have := Check{"installed", LevelOK, filepath.Base(root), ""}
	if before, err := c.linked(previousName); err == nil {
		have.Detail += fmt.Sprintf("; before it %s (gtagsmcp setup --rollback)", filepath.Base(before))
	}
	if why := c.behind(); why != "" {
		have.Level, have.Detail, have.Fix = LevelWarn, have.Detail+"; "+why, "gtagsmcp setup --follow"
	}
	return []Check{have}
}

// pathChecks tells which other copies the user's shell would start.
func (c Config) pathChecks(set *Set) []Check {
	inPath := func(name string) string {
		for _, dir := range filepath.SplitList(c.getenv("PATH")) {
			if path := filepath.Join(dir, name); filepath.IsAbs(dir) && unix.Access(path, unix.X_OK) == nil && exists(path) {
				return path
			}
		}
		return ""
	}
	var checks []Check
	if set != nil {
		var others []string
		for _, p := range []struct{ name, path string }{{"gtags", set.Gtags.Path}, {"global", set.Global.Path}} {
			if other := inPath(p.name); other != "" && !sameFile(other, p.path) {
				others = append(others, other)
			}
		}
		if others != nil {
			checks = append(checks, Check{"path", LevelOK, "your shell would start " + strings.Join(others, " and ") + ", which are not used here", ""})
		}
	}
	if other := inPath("gtagsmcp"); other != "" && c.Helper != "" && !sameFile(other, c.Helper) {
		checks = append(checks, Check{"path", LevelWarn, fmt.Sprintf("your shell, and a client that starts gtagsmcp by name, would start %s and not this program, %s", other, c.Helper),
			fmt.Sprintf("put %s first in PATH, or remove %s", filepath.Dir(c.Helper), other)})
	}
	return checks
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
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
	if info.IsDir() && home.Level != LevelFail {
		checks = append(checks, c.lockCheck())
	}
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

// lockCheck tries whether the home's file system has locks.
func (c Config) lockCheck() Check {
	f, err := os.Open(c.Home)
	if err != nil {
		return Check{"locks", LevelWarn, err.Error(), "chmod u+rx " + c.Home}
	}
	defer f.Close()
	if err := flock(f, unix.LOCK_SH|unix.LOCK_NB); noLocks(err) {
		return Check{"locks", LevelWarn, fmt.Sprintf("%s has no locks (%v): a file that is kept fresh serves as one, and old toolchains are kept for thirty days", c.Home, err),
			"export GTAGS_MCP_HOME=/a/folder/on/a/local/disk"}
	} else if err != nil {
		return Check{"locks", LevelWarn, fmt.Sprintf("%s: %v", c.Home, err), typeSetup}
	}
	return Check{"locks", LevelOK, "flock works in " + c.Home, ""}
}

// installChecks says whether an install runs and how the last one ended.
func (c Config) installChecks() []Check {
	if step, started, ok := Progress(c.Home); ok {
		return []Check{{"install", LevelWarn, fmt.Sprintf("held by %v for %s: %s", lockHolder(c.Home),
			time.Since(started).Round(time.Second), step.Text), "wait, or end that process if it hangs"}}
	}
	state := readState(c.Home)
	switch {
	case state.PID == 0:
		return nil
	case state.Finished.IsZero():
		return []Check{{"install", LevelWarn, fmt.Sprintf("the one of %s was interrupted at: %s", state.Started.Format(time.DateTime), state.Step.Text), typeSetup}}
	case state.Failed != nil:
		return []Check{{"install", LevelWarn, "the last one failed: " + strings.ReplaceAll((&InstallError{*state.Failed}).Error(), "\n", ";"), typeSetup}}
	}
	return nil
}

// systemChecks says what the toolchain could be installed from or extended with.
func (c Config) systemChecks(ctx context.Context) []Check {
	checks := []Check{{"system", LevelOK, runtime.GOOS + "/" + runtime.GOARCH + ", " + libc(), ""}}
	if m, ok := c.packageManager(); ok {
		checks = append(checks, Check{"packages", LevelOK, m.program, ""})
	} else {
		checks = append(checks, Check{"packages", LevelOK, "no package manager found; prebuilt archives and a C compiler are the other ways", ""})
	}
	python, err := FindPython(ctx, c)
	if err != nil {
		return append(checks, Check{"python", LevelOK, err.Error() + " (not needed)", ""})
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
