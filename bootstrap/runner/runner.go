// Package runner runs other programs of the user's machine: with a limit on
// their time, in a process group that ends with them, and keeping the end of
// what they say.
package runner

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Limits bound one run.
type Limits struct {
	Time time.Duration
	Keep int // bytes of output, the last ones
}

// Run runs a program in the environment of this one and env. It returns what the
// program said, on standard output and error, also when it failed. An error is
// the cause of the context when that ended the run.
func (l Limits) Run(ctx context.Context, env []string, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, l.Time)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	said := tail{most: l.Keep}
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return string(bytes.TrimSpace(said.text)), err
}

// tail keeps the end of what is written.
type tail struct {
	text []byte
	most int
}

func (t *tail) Write(b []byte) (int, error) {
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-t.most):]
	return len(b), nil
}
