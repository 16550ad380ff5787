//go:build unix && !linux

package index

import "syscall"

func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// limitChild does nothing where another process's limits cannot be set.
func limitChild(pid int, memory, fileSize uint64) {}
