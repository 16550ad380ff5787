package toolchain

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// command is one run of a foreign program: directly, never through a shell,
// which would hide why a start failed.
type command struct {
	path    string
	args    []string
	env     []string
	dir     string
	stdin   []byte
	timeout time.Duration // zero: 10 s
	limit   int           // bytes kept of each output; zero: 1 MiB
}

// result is what a parent can see of a finished run.
type result struct {
	stdout, stderr []byte
	startErr       error // the program never ran
	exit           int   // -1 when a signal ended it
	signal         syscall.Signal
	timedOut       bool
	overflow       bool // it wrote more than the limit and was killed
	canceled       error
}

func (r result) ok() bool {
	return r.startErr == nil && r.exit == 0 && !r.timedOut && !r.overflow && r.canceled == nil
}

// run starts the program in its own process group and kills the whole group
// when it takes too long, says too much, or ctx ends.
func (c command) run(ctx context.Context) result {
	timeout, limit := c.timeout, c.limit
	if timeout == 0 {
		timeout = 10 * time.Second
	}
	if limit == 0 {
		limit = 1 << 20
	}
	runCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out := &boundedBuffer{limit: limit, full: cancel}
	errOut := &boundedBuffer{limit: limit, full: cancel}
	var cmd *exec.Cmd
	start := func() error {
		cmd = exec.CommandContext(runCtx, c.path, c.args...)
		cmd.Env, cmd.Dir = c.env, c.dir
		if cmd.Env == nil {
			cmd.Env = []string{} // nil would mean ours
		}
		cmd.Stdin = bytes.NewReader(c.stdin)
		cmd.Stdout, cmd.Stderr = out, errOut
		cmd.SysProcAttr = childAttr()
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		cmd.WaitDelay = time.Second // a grandchild may hold the pipes open
		return cmd.Start()
	}
	if err := startRetrying(runCtx, start); err != nil {
		return result{startErr: err, exit: -1, canceled: ctx.Err()}
	}
	waitErr := cmd.Wait()
	r := result{stdout: out.buf.Bytes(), stderr: errOut.buf.Bytes(), exit: cmd.ProcessState.ExitCode()}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		r.signal = status.Signal()
	}
	r.overflow = out.overflowed || errOut.overflowed
	r.canceled = ctx.Err()
	r.timedOut = !r.overflow && r.canceled == nil && errors.Is(runCtx.Err(), context.DeadlineExceeded) && waitErr != nil
	return r
}

// startRetrying retries "text file busy": another thread of this process may
// have forked while the program was still open for writing, and that child
// holds the file until it execs.
func startRetrying(ctx context.Context, start func() error) error {
	wait := 10 * time.Millisecond
	for {
		err := start()
		if !errors.Is(err, syscall.ETXTBSY) || wait > 400*time.Millisecond {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
			wait *= 2
		}
	}
}

// boundedBuffer keeps the first limit bytes and calls full at the first byte
// more. It does not embed the buffer, whose ReadFrom would go round the limit.
type boundedBuffer struct {
	buf        bytes.Buffer
	limit      int
	full       func()
	overflowed bool
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if room := b.limit - b.buf.Len(); len(p) > room {
		b.buf.Write(p[:room])
		b.overflowed = true
		b.full()
		return len(p), nil
	}
	return b.buf.Write(p)
}
