package toolchain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The install lock is <home>/install.lock, held with flock, which the kernel
// releases however its holder dies. Its content names the holder. Some network
// homes have no flock; there the lock is the existence of install.lock.held,
// kept fresh by its holder and stale when it was not for staleAfter.
const (
	lockName     = "install.lock"
	lockHeldName = "install.lock.held"
	staleAfter   = 30 * time.Second
	freshenEvery = 5 * time.Second
	lockPoll     = 200 * time.Millisecond
)

// holder is the content of the lock file.
type holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

func (h holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s since %s", h.PID, h.Host, h.Since.Format(time.TimeOnly))
}

// LockTimeoutError says who held the install lock for too long.
type LockTimeoutError struct {
	Path   string
	Holder string
	After  time.Duration
}

func (e *LockTimeoutError) Error() string {
	return fmt.Sprintf("waited %s for a step of the install of %s, which holds %s; end that process if it hangs, then try again", e.After, e.Holder, e.Path)
}

// acquire waits for the lock and passes on the steps of the install that holds it.
// The time-out counts from its last step: a build from source may take long, and
// one that hangs takes no step.
func acquire(ctx context.Context, home string, timeout time.Duration, progress func(Step)) (release func(), err error) {
	deadline := time.Now().Add(timeout)
	var told Step
	for {
		release, err := tryLock(home)
		if err != nil || release != nil {
			return release, err
		}
		h := lockHolder(home)
		step := readState(home).Step
		step.Text = fmt.Sprintf("waiting for the install of %v: %s", h, step.Text)
		if step != told {
			told, deadline = step, time.Now().Add(timeout)
			progress(step)
		}
		if time.Now().After(deadline) {
			return nil, &LockTimeoutError{Path: filepath.Join(home, lockName), Holder: h.String(), After: timeout}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the install of %v: %w", h, context.Cause(ctx))
		case <-time.After(lockPoll):
		}
	}
}

// tryLock returns a nil release when another process holds the lock.
func tryLock(home string) (release func(), err error) {
	path := filepath.Join(home, lockName)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("install lock: %w", err)
	}
	switch err := flock(f, unix.LOCK_EX|unix.LOCK_NB); {
	case err == nil:
		writeHolder(f)
		return func() { f.Close() }, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		f.Close()
		return nil, nil
	case noLocks(err):
		f.Close()
		return tryHeldFile(filepath.Join(home, lockHeldName))
	default:
		f.Close()
		return nil, fmt.Errorf("install lock %s: %w", path, err)
	}
}

// locked says whether any process holds the lock, without disturbing one that
// is about to take it: a shared lock would make its attempt fail, but only once.
func locked(home string) bool {
	f, err := os.Open(filepath.Join(home, lockName))
	if err != nil {
		return false
	}
	defer f.Close()
	err = flock(f, unix.LOCK_SH|unix.LOCK_NB)
	if noLocks(err) {
		info, err := os.Stat(filepath.Join(home, lockHeldName))
		return err == nil && time.Since(info.ModTime()) < staleAfter
	}
	return errors.Is(err, unix.EWOULDBLOCK)
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}

// enotsupp is Linux's internal "not supported", which leaks from NFS clients.
const enotsupp = syscall.Errno(524)

// noLocks tells a file system that has no locks from a lock that is held.
func noLocks(err error) bool {
	for _, e := range []error{unix.ENOLCK, unix.ENOSYS, unix.EOPNOTSUPP, unix.EINVAL, enotsupp} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func writeHolder(f *os.File) {
	host, _ := os.Hostname()
	data, err := json.Marshal(holder{PID: os.Getpid(), Host: host, Since: time.Now()})
	if err == nil && f.Truncate(0) == nil {
		f.WriteAt(data, 0) //nolint:errcheck // the holder is named as a courtesy
	}
}

// lockHolder names who holds the lock, in whichever of its two forms.
func lockHolder(home string) holder {
	if held := filepath.Join(home, lockHeldName); exists(held) {
		return readHolder(held)
	}
	return readHolder(filepath.Join(home, lockName))
}

func readHolder(path string) (h holder) {
	f, err := os.Open(path)
	if err != nil {
		return h
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, 4096))
	if json.Unmarshal(data, &h) != nil {
		return holder{}
	}
	return h
}

// tryHeldFile is the lock where flock is not supported.
func tryHeldFile(path string) (release func(), err error) {
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > staleAfter {
		breakStale(path)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("install lock: %w", err)
	}
	writeHolder(f)
	f.Close()
	stop := make(chan struct{})
	go func() {
		tick := time.NewTicker(freshenEvery)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case now := <-tick.C:
				os.Chtimes(path, now, now) //nolint:errcheck // a lost refresh is repeated
			}
		}
	}()
	return func() { close(stop); os.Remove(path) }, nil
}

// breakStale removes a stale lock. Two processes may both find it stale, and the
// slower one would then remove the fresh lock of the faster: what was renamed
// away is looked at again, and put back when it is fresh.
func breakStale(path string) {
	aside := fmt.Sprintf("%s.stale-%d", path, os.Getpid())
	if os.Rename(path, aside) != nil {
		return
	}
	if info, err := os.Stat(aside); err == nil && time.Since(info.ModTime()) <= staleAfter {
		os.Link(aside, path) //nolint:errcheck // fails only when a third process locked
	}
	os.Remove(aside)
}
