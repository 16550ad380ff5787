package ctagscom

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// childAttr lets the kernel end ctags when the helper is killed.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// maxMemory is far above what ctags needs (some 10 MB) and far below what deeply
// nested input has made it take.
const maxMemory = 2 << 30

func limitMemory(pid int) {
	limit := unix.Rlimit{Cur: maxMemory, Max: maxMemory}
	unix.Prlimit(pid, unix.RLIMIT_AS, &limit, nil) //nolint:errcheck // the time limit remains
}
