//go:build !linux

package toolchain

import "syscall"

// childAttr puts a child into its own process group.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
