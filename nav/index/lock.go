package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lockFile is a lock that one process holds while it writes. There are two in
// an index folder: `lock` guards CURRENT and is held for moments, `builder` is
// held while a base is built, so that no second one is built beside it. Readers
// take neither.
type lockFile struct {
	f *os.File
}

// holder is what the owner of a lock writes into it, for those who wait.
type holder struct {
	PID      int       `json:"pid"`
	Host     string    `json:"host"`
	Since    time.Time `json:"since"`
	Progress Progress  `json:"progress"`
}

func (h holder) String() string {
	if h.PID == 0 {
		return "a process that left no name"
	}
	return fmt.Sprintf("process %d on %s, for %v", h.PID, h.Host, time.Since(h.Since).Round(time.Second))
}

// LockError is a lock that another process did not give back in time.
type LockError struct {
	Path   string
	Holder string
	Waited time.Duration
}

func (e *LockError) Error() string {
	return fmt.Sprintf("%s is held by %s; waited %v. Stop that process, or try again later", e.Path, e.Holder, e.Waited)
}

// tryLock takes the lock in dir/name, or returns errLocked. Where the file
// system has no locks it returns a lock that excludes nobody, with errNoLocks.
func tryLock(dir, name string) (*lockFile, error) {
	// A tree can bring its own index folder, with a link to a file of somebody's.
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return nil, err
	}
	err = flock(f, lockExclusive)
	if err != nil && !errors.Is(err, errNoLocks) {
		f.Close()
		return nil, err
	}
	l := &lockFile{f: f}
	l.say(Progress{})
	return l, err
}

// lock waits for the lock in dir/name, at most timeout.
func lock(ctx context.Context, dir, name string, timeout time.Duration) (*lockFile, error) {
	start := time.Now()
	for {
		l, err := tryLock(dir, name)
		if !errors.Is(err, errLocked) {
			return l, err
		}
		if waited := time.Since(start); waited > timeout {
			path := filepath.Join(dir, name)
			return nil, &LockError{Path: path, Holder: readHolder(path).String(), Waited: waited.Round(time.Second)}
		}
		if err := sleep(ctx, 5*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// say tells those who wait who holds the lock and how far it is.
func (l *lockFile) say(p Progress) {
	host, _ := os.Hostname()
	b, err := json.Marshal(holder{PID: os.Getpid(), Host: host, Since: time.Now().Add(-p.Elapsed), Progress: p})
	if err != nil {
		return
	}
	// What others read here is for people; a failed write is no failure.
	if l.f.Truncate(0) == nil {
		_, _ = l.f.WriteAt(b, 0)
	}
}

func readHolder(path string) (h holder) {
	f, err := os.Open(path)
	if err != nil {
		return h
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 4<<10))
	if err != nil || json.Unmarshal(b, &h) != nil {
		return holder{}
	}
	return h
}

func (l *lockFile) unlock() { _ = l.f.Close() }

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
