//go:build unix

package index

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const (
	lockShared    = unix.LOCK_SH
	lockExclusive = unix.LOCK_EX
)

var (
	// errLocked is a lock that somebody else holds.
	errLocked = errors.New("locked by another process")
	// errNoLocks is a file system that has no locks.
	errNoLocks = errors.New("the file system has no locks")
)

// flock takes the lock without waiting. It belongs to the open file: closing
// it, or the end of the process, gives it back.
func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch err {
		case nil:
			return nil
		case unix.EINTR:
			continue
		case unix.EWOULDBLOCK:
			return errLocked
		// 524 is ENOTSUPP, which NFS servers without a lock daemon cause.
		case unix.ENOLCK, unix.ENOSYS, unix.EOPNOTSUPP, unix.EINVAL, unix.Errno(524):
			return errNoLocks
		default:
			return &os.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}
