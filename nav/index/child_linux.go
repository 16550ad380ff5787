package index

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// limitChild bounds what the process and its later children may use. It is
// called just after the start; the few pages used before do not matter.
// RLIMIT_DATA is chosen over RLIMIT_AS because a Go program (the parser helper
// may be one) reserves address space that it never touches.
func limitChild(pid int, memory, fileSize uint64) {
	set := func(what int, n uint64) {
		if n > 0 {
			_ = unix.Prlimit(pid, what, &unix.Rlimit{Cur: n, Max: n}, nil)
		}
	}
	set(unix.RLIMIT_DATA, memory)
	set(unix.RLIMIT_FSIZE, fileSize)
	_ = unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
}
