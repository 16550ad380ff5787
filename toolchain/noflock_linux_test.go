package toolchain

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// envNoFlock makes an installing process of the tests one whose kernel answers
// flock with this error number, as network file systems do.
const envNoFlock = "GTAGSMCP_TEST_NO_FLOCK"

// refuseFlock filters this process's system calls from now on.
func refuseFlock(errno syscall.Errno) error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the call's number
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FLOCK, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	// TSYNC reaches all threads, but no-new-privileges is asked of each: of the
	// one that installs the filter, which passes it on.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if r, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))); errno != 0 || r != 0 {
		return fmt.Errorf("seccomp: %d, %w", r, errno)
	}
	if err := unix.Flock(0, unix.LOCK_SH); err != errno {
		return fmt.Errorf("flock still answers %v", err)
	}
	return nil
}

// Where the home's file system has no locks, of ten first runs one installs.
func TestTenProcessesWithoutFlock(t *testing.T) {
	for _, errno := range []syscall.Errno{unix.ENOLCK, unix.EOPNOTSUPP} {
		t.Setenv(envNoFlock, fmt.Sprint(int(errno)))
		oneInstallOfTen(t)
	}
}
