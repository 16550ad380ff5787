package upgrade

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/gtagsmcp/gtagsmcp/bootstrap/release"
)

// EnvNoCheck is the variable that turns looking for newer versions off.
const EnvNoCheck = "GTAGS_MCP_NO_UPDATE_CHECK"

// startLimit is what a program that prints its version may take, on a machine
// that has other things to do.
const startLimit = 30 * time.Second

// started runs a program's version command and returns the version.
func started(ctx context.Context, program string) (version string, err error) {
	out, err := output(ctx, startLimit, program, "version")
	if err != nil {
		return "", err
	}
	name, rest, _ := strings.Cut(strings.TrimSpace(out), " ")
	version, _, _ = strings.Cut(rest, " ")
	if name != release.Program || version == "" {
		return "", fmt.Errorf("it printed %.80q instead of its version", out)
	}
	return version, nil
}

func notStarted(got string, err error) error {
	if err == nil {
		return fmt.Errorf("the program says that it is %q", got)
	}
	return fmt.Errorf("the program does not start: %w", err)
}

// output runs a program with a limit on its time and on what it may print, in a
// process group that ends with it.
func output(ctx context.Context, limit time.Duration, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer in %s", limit))
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), EnvNoCheck+"=1", "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out, errOut bounded
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	switch {
	case err != nil && ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil && errOut.Len() > 0:
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(errOut.Bytes()))
	}
	return out.String(), err
}

// bounded keeps the first 64 KiB of what is written and forgets the rest.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), max(0, 64<<10-b.Len()))])
	return len(p), nil
}
