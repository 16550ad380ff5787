//go:build !linux

package ctagscom

import "syscall"

func childAttr() *syscall.SysProcAttr { return nil }

// limitMemory is not possible from outside on this system; the time limit remains.
func limitMemory(int) {}
