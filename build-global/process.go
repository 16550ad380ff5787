package buildglobal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const maxOutput = 1 << 20 // of a process, kept

// runOutput runs a program in a process group of its own, which is killed whole
// when ctx ends, and returns its standard output. The error has the command and
// the beginning of what it wrote to standard error. A nil edit is allowed.
func runOutput(ctx context.Context, argv []string, edit func(*exec.Cmd)) (string, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout = &bounded{&stdout, maxOutput}
	cmd.Stderr = &bounded{&stderr, 16 << 10}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	if edit != nil {
		edit(cmd)
	}
	err := cmd.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return stdout.String(), fmt.Errorf("%.300s: %w\n%s", strings.Join(argv, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// bounded drops what goes beyond a limit. It claims to have written everything,
// since a full pipe would stop the process.
type bounded struct {
	w    io.Writer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.left -= n
	if _, err := b.w.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// lookPath is exec.LookPath with a hint in its error.
func lookPath(program, hint string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return "", fmt.Errorf("%s is missing: %s", program, hint)
	}
	return path, err
}
