package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// commandLimit bounds one run of a service manager's program, which may wait for
// the service to end.
const commandLimit = 40 * time.Second

// command runs a program and returns what it says, at most the last 4 KB. A
// failure carries that too.
func command(ctx context.Context, env []string, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var said tail
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	text := string(bytes.TrimSpace(said.text))
	if err == nil {
		return text, nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return text, fmt.Errorf("%s %s: %w: %s", name, args[0], err, text)
}

// tail keeps the end of what a program says.
type tail struct{ text []byte }

func (t *tail) Write(b []byte) (int, error) {
	const most = 4 << 10
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-most):]
	return len(b), nil
}

// publish writes a whole file by rename. Only its owner may read it: what is in
// the environment may be secret.
func publish(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
