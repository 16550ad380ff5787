package upgrade

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gtagsmcp/gtagsmcp/bootstrap/release"
)

// stagingPrefix begins the names of the folders that upgrades work in.
const stagingPrefix = "." + release.Program + "-upgrade-"

// workplace is a folder beside the program, on whose file system a rename is
// one step. While it is open no other upgrade of this program runs.
type workplace struct {
	target   string
	previous string
	dir      string
	lock     *os.File // the folder of target
}

// ErrBusy is that another upgrade of this program is under way.
var ErrBusy = errors.New("another upgrade of this program is under way")

// newWorkplace locks the folder of the program itself, which leaves no file
// behind. Where the file system has no locks (some network homes) two upgrades
// may run at once: each renames a whole program, and the last one stays.
func newWorkplace(target string) (*workplace, error) {
	parent := filepath.Dir(target)
	lock, err := os.Open(parent)
	if err != nil {
		return nil, err
	}
	w := &workplace{target: target, previous: filepath.Join(parent, "."+filepath.Base(target)+".previous"), lock: lock}
	err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		lock.Close()
		return nil, fmt.Errorf("%s: %w", target, ErrBusy)
	}
	if err == nil {
		sweep(parent)
	}
	if w.dir, err = os.MkdirTemp(parent, stagingPrefix); err != nil {
		lock.Close()
		return nil, err
	}
	return w, nil
}

// sweep removes what killed upgrades left. Only the holder of the lock may.
func sweep(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), stagingPrefix) {
			os.RemoveAll(filepath.Join(parent, e.Name())) //nolint:errcheck // the next upgrade tries again
		}
	}
}

func (w *workplace) close() {
	os.RemoveAll(w.dir) //nolint:errcheck // the next upgrade tries again
	w.lock.Close()
}

// publish makes program, which is in the workplace and prints tag, the program.
// The one that was there is kept before, and put back when the new one does not
// start under its name.
func (w *workplace) publish(ctx context.Context, program, tag string) (previous string, err error) {
	if err := sameOwner(w.target, program); err != nil {
		return "", err
	}
	old := filepath.Join(w.dir, "old")
	if err := linkOrCopy(w.target, old); err != nil {
		return "", fmt.Errorf("keeping the present program: %w", err)
	}
	if err := errors.Join(os.Rename(old, w.previous), w.lock.Sync()); err != nil {
		return "", fmt.Errorf("keeping the present program: %w", err)
	}
	if err := errors.Join(os.Rename(program, w.target), w.lock.Sync()); err != nil {
		return "", err
	}
	got, err := started(ctx, w.target)
	if err == nil && got == tag {
		return w.previous, nil
	}
	err = fmt.Errorf("%s, in its place: %w", tag, notStarted(got, err))
	back := filepath.Join(w.dir, "back")
	if restore := errors.Join(linkOrCopy(w.previous, back), os.Rename(back, w.target)); restore != nil {
		return "", errors.Join(err, fmt.Errorf("and the program before could not be put back; it is %s: %w", w.previous, restore))
	}
	return "", fmt.Errorf("%w (the program before is back in its place)", err)
}

// sameOwner gives the new program the mode and, where it may, the owner of the old.
func sameOwner(old, program string) error {
	info, err := os.Stat(old)
	if err != nil {
		return err
	}
	var stat unix.Stat_t
	if err := unix.Stat(old, &stat); err != nil {
		return fmt.Errorf("%s: %w", old, err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(program, int(stat.Uid), int(stat.Gid)); err != nil {
			return err
		}
	}
	return os.Chmod(program, info.Mode().Perm())
}

// linkOrCopy gives a file a second name; a file system without hard links gets
// a copy.
func linkOrCopy(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrExist) {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close(), sameOwner(from, to))
}
