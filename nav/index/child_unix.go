//go:build unix

package index

import (
	"context"
	"os/exec"
	"runtime"
	"syscall"
)

// runChild runs cmd and waits for it. The child gets a process group of its
// own, which is killed as a whole when ctx ends, so that helpers started by the
// child go with it. started, which may be nil, is called once it runs.
//
// The calling goroutine keeps its thread until the child has ended, because on
// Linux the death of the parent, for which the child is killed, means the death
// of the thread that started it.
func runChild(ctx context.Context, cmd *exec.Cmd, started func(pid int)) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = childAttributes()
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	})
	if started != nil {
		started(cmd.Process.Pid)
	}
	err := cmd.Wait()
	stop()
	// The group may have outlived its leader: a helper that hangs.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
