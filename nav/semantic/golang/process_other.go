//go:build unix && !linux

package golang

import "syscall"

// limitMemory does nothing: GOMEMLIMIT is all there is here.
func limitMemory(int, uint64) {}

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
