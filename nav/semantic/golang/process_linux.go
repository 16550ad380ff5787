package golang

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// limitMemory bounds the data that a running process may have. A Go program
// reserves far more address space than it uses, so that is not what is bounded.
func limitMemory(pid int, bytes uint64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: bytes, Max: bytes}, nil)
}

// ownGroup makes a process the head of a group of its own.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
