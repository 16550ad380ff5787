package toolchain

import "syscall"

// childAttr puts a child into its own process group, and lets the kernel kill
// it when we are killed ourselves.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
