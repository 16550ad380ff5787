//go:build !linux

package toolchain

import (
	"errors"
	"syscall"
)

const envNoFlock = "GTAGSMCP_TEST_NO_FLOCK"

func refuseFlock(syscall.Errno) error { return errors.ErrUnsupported }
