package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// Cause names why a program cannot be used, in words a user can act on.
type Cause string

const (
	CauseAbsent        Cause = "not there"
	CauseInterpreter   Cause = "its interpreter or loader is missing"
	CauseFormat        Cause = "not a program for this machine (wrong architecture, empty or damaged)"
	CauseMachine       Cause = "it was built for another kind of processor"
	CauseTruncated     Cause = "it is truncated"
	CauseNoexec        Cause = "it lies on a file system mounted noexec"
	CausePermission    Cause = "no permission to execute it"
	CauseAccessControl Cause = "access control (SELinux, AppArmor, fapolicyd) denies executing it"
	CauseBusy          Cause = "it is still open for writing (text file busy)"
	CauseGlibc         Cause = "it was built for a newer C library than this system has"
	CauseLibrary       Cause = "a shared library is missing"
	CauseLibc          Cause = "it was built for another C library"
	CauseCrash         Cause = "it crashes (truncated or damaged file)"
	CauseCPU           Cause = "it uses instructions that this processor lacks"
	CauseTimeout       Cause = "it does not answer"
	CauseOutput        Cause = "it floods its output"
	CauseExit          Cause = "it fails"
	CauseWrong         Cause = "it is another program"
)

// ExecError is a program that was found but cannot be used.
type ExecError struct {
	Path   string
	Cause  Cause
	Detail string // what the system or the program itself said; may be empty
	Err    error  // the underlying error, when there is one
}

func (e *ExecError) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("%s: %s", e.Path, e.Cause)
	}
	return fmt.Sprintf("%s: %s: %s", e.Path, e.Cause, e.Detail)
}

func (e *ExecError) Unwrap() error { return e.Err }

// explain turns a failed run into its cause, or nil when the run was good. The
// look-alikes are told apart by looking at the file: a start fails with ENOENT
// for a missing interpreter too, and with EACCES for half a dozen reasons.
//
// The file's headers tell a foreign, truncated or loaderless program from a
// damaged one; see preflight for what else they tell before a run.
func explain(path string, r result) error {
	switch {
	case r.ok():
		return nil
	case r.canceled != nil:
		return fmt.Errorf("%s: %w", path, r.canceled)
	case errors.Is(r.startErr, syscall.ENOEXEC), errors.Is(r.startErr, syscall.ENOENT), r.signal == syscall.SIGSEGV, r.signal == syscall.SIGBUS:
		f, err := startable(path)
		if f != nil {
			f.Close()
		}
		var fault *ExecError
		if errors.As(err, &fault) {
			return fault
		}
	}
	return explainResult(path, r)
}

// explainResult goes by what a parent sees.
func explainResult(path string, r result) error {
	switch {
	case r.startErr != nil:
		return explainStart(path, r.startErr)
	case r.timedOut:
		return &ExecError{Path: path, Cause: CauseTimeout, Detail: firstLine(r.stderr)}
	case r.overflow:
		return &ExecError{Path: path, Cause: CauseOutput}
	case r.signal == syscall.SIGILL:
		return &ExecError{Path: path, Cause: CauseCPU, Detail: r.signal.String()}
	case r.signal != 0:
		return &ExecError{Path: path, Cause: CauseCrash, Detail: r.signal.String()}
	}
	return explainExit(path, r)
}

func explainStart(path string, err error) error {
	e := &ExecError{Path: path, Err: err}
	info, statErr := os.Stat(path)
	switch {
	case errors.Is(err, syscall.ETXTBSY):
		e.Cause = CauseBusy
	case errors.Is(err, syscall.ENOEXEC):
		e.Cause = CauseFormat
	case errors.Is(err, syscall.ENOENT) && statErr != nil:
		e.Cause = CauseAbsent
	case errors.Is(err, syscall.ENOENT):
		e.Cause, e.Detail = CauseInterpreter, interpreter(path)
	case errors.Is(err, syscall.EPERM):
		e.Cause = CauseAccessControl
	case errors.Is(err, syscall.EACCES) && statErr == nil && info.IsDir():
		e.Cause, e.Detail = CausePermission, "it is a folder"
	case errors.Is(err, syscall.EACCES) && mountedNoexec(path):
		e.Cause = CauseNoexec
	case errors.Is(err, syscall.EACCES) && statErr == nil && info.Mode()&0o111 != 0:
		e.Cause, e.Detail = CauseAccessControl, fmt.Sprintf("the mode %v allows it", info.Mode().Perm())
	case errors.Is(err, syscall.EACCES):
		e.Cause = CausePermission
		if statErr == nil {
			e.Detail = fmt.Sprintf("the mode is %v", info.Mode().Perm())
		}
	default:
		e.Cause, e.Detail = CauseExit, err.Error()
	}
	return e
}

var (
	glibcMissing   = regexp.MustCompile("version [`']?(GLIBC_[0-9.]+)'? not found")
	libraryMissing = regexp.MustCompile(`error while loading shared libraries: (.+)`)
	muslRelocation = regexp.MustCompile(`Error relocating .*: symbol not found`)
)

func explainExit(path string, r result) error {
	e := &ExecError{Path: path, Cause: CauseExit, Detail: fmt.Sprintf("exit status %d", r.exit)}
	if line := firstLine(r.stderr); line != "" {
		e.Detail += ": " + line
	}
	if found := glibcMissing.FindAllSubmatch(r.stderr, -1); found != nil {
		e.Cause, e.Detail = CauseGlibc, "it needs "+highestVersion(found)
		if present := glibcPresent(); present != "" {
			e.Detail += ", this system has " + present
		}
	} else if m := libraryMissing.FindSubmatch(r.stderr); m != nil {
		e.Cause, e.Detail = CauseLibrary, string(m[1])
		if strings.Contains(e.Detail, "failed to map segment") {
			e.Cause = CauseNoexec
		}
	} else if m := muslRelocation.Find(r.stderr); m != nil {
		e.Cause, e.Detail = CauseLibc, string(m)
	}
	return e
}

// highestVersion returns the newest of the GLIBC_ versions that were matched.
func highestVersion(found [][][]byte) string {
	var names []string
	for _, m := range found {
		names = append(names, string(m[1]))
	}
	return "glibc " + highestGlibc(names)
}

// interpreter names the program that the kernel was asked to start path with.
func interpreter(path string) string {
	if line, ok := bytes.CutPrefix(readHead(path, 256), []byte("#!")); ok {
		return firstLine(line)
	}
	return ""
}

// checkVersion runs `path --version` and demands that pattern, whose first group
// is the version, matches the first line of its output.
func checkVersion(ctx context.Context, path string, env []string, args []string, pattern *regexp.Regexp) (string, error) {
	r := command{path: path, args: args, env: env, dir: filepath.Dir(path), timeout: 10 * time.Second, limit: 64 << 10}.run(ctx)
	line := firstLine(r.stdout)
	if m := pattern.FindStringSubmatch(line); m != nil && r.ok() {
		return m[1], nil
	}
	if err := explain(path, r); err != nil {
		return "", err
	}
	return "", &ExecError{Path: path, Cause: CauseWrong, Detail: fmt.Sprintf("--version says %q", line)}
}

// firstLine returns the first non-empty line, cut to a length fit for a message.
func firstLine(b []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	if line = strings.TrimSpace(line); len(line) > 200 {
		line = line[:200] + "…"
	}
	return strings.ToValidUTF8(line, "?")
}

// compareVersions compares dotted numbers; a part that is not a number counts as 0.
func compareVersions(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		var x, y int
		if i < len(as) {
			fmt.Sscan(as[i], &x)
		}
		if i < len(bs) {
			fmt.Sscan(bs[i], &y)
		}
		if x != y {
			return x - y
		}
	}
	return 0
}
