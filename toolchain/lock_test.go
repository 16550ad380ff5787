package toolchain

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestLockHasOneHolder(t *testing.T) {
	home := t.TempDir()
	release, err := tryLock(home)
	if err != nil || release == nil {
		t.Fatalf("first lock: got %v, %v", release != nil, err)
	}
	if second, err := tryLock(home); err != nil || second != nil {
		t.Errorf("second lock: got %v, %v, want neither lock nor error", second != nil, err)
	}
	if !locked(home) {
		t.Error("locked says no while the lock is held")
	}
	state := installState{PID: 1, Step: Step{Text: "halfway"}}
	state.write(home, (Config{Environ: []string{}, Home: home}).mustComplete(t).Log)
	var told []string
	_, err = acquire(t.Context(), home, time.Nanosecond, func(s Step) { told = append(told, s.Text) })
	var timeout *LockTimeoutError
	if !errors.As(err, &timeout) || !strings.Contains(err.Error(), "process") {
		t.Errorf("got %v, want a LockTimeoutError that names the holder", err)
	}
	if len(told) != 1 || !strings.Contains(told[0], "halfway") {
		t.Errorf("got steps %q, want one that passes on the holder's step", told)
	}
	release()
	again, err := tryLock(home)
	if err != nil || again == nil {
		t.Fatalf("lock after release: got %v, %v", again != nil, err)
	}
	again()
	if locked(home) {
		t.Error("locked says yes after the release")
	}
}

func TestAcquireEndsWithItsContext(t *testing.T) {
	home := t.TempDir()
	release, err := tryLock(home)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := acquire(ctx, home, time.Hour, func(Step) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// Where flock is not supported the lock is a file that is kept fresh.
func TestHeldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), lockHeldName)
	release, err := tryHeldFile(path)
	if err != nil || release == nil {
		t.Fatalf("first: got %v, %v", release != nil, err)
	}
	if second, err := tryHeldFile(path); err != nil || second != nil {
		t.Errorf("second: got %v, %v, want neither", second != nil, err)
	}
	if h := lockHolder(filepath.Dir(path)); h.PID != os.Getpid() {
		t.Errorf("the holder is %v, want this process", h)
	}
	release()
	writeTestFile(t, path, "{}", 0o600) // left by a process that was killed
	old := time.Now().Add(-2 * staleAfter)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	release, err = tryHeldFile(path)
	if err != nil || release == nil {
		t.Fatalf("stale: got %v, %v, want the lock", release != nil, err)
	}
	breakStale(path) // a slower process that had found the old one stale
	if third, err := tryHeldFile(path); err != nil || third != nil {
		t.Errorf("a fresh lock was broken: got %v, %v", third != nil, err)
	}
	release()
}

func TestNoLocks(t *testing.T) {
	for err, want := range map[error]bool{
		syscall.ENOLCK: true, syscall.ENOSYS: true, syscall.EOPNOTSUPP: true, syscall.Errno(524): true,
		syscall.EWOULDBLOCK: false, syscall.EIO: false,
	} {
		if got := noLocks(err); got != want {
			t.Errorf("noLocks(%v): got %v, want %v", err, got, want)
		}
	}
}

func TestStateIsNoneWhenDamaged(t *testing.T) {
	home := t.TempDir()
	writeTestFile(t, stateFile(home), `{"pid": 12, "step": {"te`, 0o644)
	if s := readState(home); s.PID != 0 {
		t.Errorf("got %+v from half a file, want the zero state", s)
	}
	data, err := json.Marshal(installState{PID: 12, Finished: time.Now(), Failed: &Report{}})
	if err != nil {
		t.Fatal(err)
	}
	writeTestFile(t, stateFile(home), string(data), 0o644)
	if readState(home).failedSince(time.Now().Add(-time.Minute)) == nil {
		t.Error("a failure after the given time is not reported")
	}
	if readState(home).failedSince(time.Now().Add(time.Minute)) != nil {
		t.Error("a failure before the given time is reported")
	}
}

func (c Config) mustComplete(t *testing.T) Config {
	t.Helper()
	c, err := c.complete()
	if err != nil {
		t.Fatal(err)
	}
	return c
}
