package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watcher collects which paths below the root were touched.
//
// Notifications arrive some time after the change. To know that all that were
// caused before a query have arrived, take creates a file of its own in a
// watched folder and waits for the notification of that: the kernel keeps them
// in order.
type watcher struct {
	root    string
	cookies string // the folder for take's files
	fs      *fsnotify.Watcher
	pin     *os.File // keeps cookies from being swept

	mu      sync.Mutex
	watched map[string]bool // folders, relative to root
	touched map[string]bool // paths, relative to root
	lost    bool            // something happened that touched does not tell
	broken  error           // the watcher is of no more use
	waiting map[string]chan struct{}
	count   int
}

// cookieTimeout is how late a notification may be before they are given up.
const cookieTimeout = 2 * time.Second

func newWatcher(root, dir string) (_ *watcher, err error) {
	if err := canWatch(root); err != nil {
		return nil, err
	}
	w := &watcher{
		root: root, lost: true,
		watched: map[string]bool{}, touched: map[string]bool{}, waiting: map[string]chan struct{}{},
	}
	if w.fs, err = fsnotify.NewWatcher(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.cookies, err = os.MkdirTemp(dir, tmpPrefix+"watch-"); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(w.cookies, pinName), nil, 0o644); err != nil {
		return nil, err
	}
	if w.pin, err = pin(w.cookies); err != nil {
		return nil, err
	}
	return w, w.fs.Add(w.cookies)
}

// run passes notifications on until the watcher is closed.
func (w *watcher) run() {
	for {
		select {
		case ev, ok := <-w.fs.Events:
			if !ok {
				return
			}
			w.event(ev)
		case err, ok := <-w.fs.Errors:
			if !ok {
				return
			}
			// Most often the queue has overflowed. In any case something is missing.
			w.mu.Lock()
			w.lost = true
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				w.broken = err
			}
			w.mu.Unlock()
		}
	}
}

func (w *watcher) event(ev fsnotify.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if dir, name := filepath.Split(ev.Name); filepath.Clean(dir) == w.cookies {
		if c := w.waiting[name]; c != nil {
			delete(w.waiting, name)
			close(c)
		}
		return
	}
	rel, ok := strings.CutPrefix(ev.Name, w.root+"/")
	if !ok || rel == ".git" || rel == dirName {
		return
	}
	if w.watched[rel] && ev.Op&(fsnotify.Create|fsnotify.Remove|fsnotify.Rename) != 0 {
		w.lost = true
		delete(w.watched, rel)
		if ev.Op.Has(fsnotify.Rename) {
			// The folders below it keep their watches under names that are wrong now.
			w.broken = fmt.Errorf("the folder %s was renamed", rel)
		}
	}
	w.touched[rel] = true
	if len(w.touched) > maxTouched {
		w.touched, w.lost = map[string]bool{}, true
	}
}

// maxTouched is the number of paths from which on looking at all is as good.
const maxTouched = 20_000

// add watches those folders that are not watched yet.
func (w *watcher) add(dirs []string) (added int, err error) {
	for _, dir := range dirs {
		w.mu.Lock()
		known := w.watched[dir]
		w.watched[dir] = true
		w.mu.Unlock()
		if known {
			continue
		}
		err := w.fs.Add(filepath.Join(w.root, dir))
		switch {
		case err == nil:
			added++
		case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
			// Nothing in it is listed, or will not be for long.
			w.mu.Lock()
			delete(w.watched, dir)
			w.mu.Unlock()
		default:
			return added, err
		}
	}
	return added, nil
}

// take returns the paths touched since the last call, after all notifications
// caused before this call have arrived.
func (w *watcher) take(ctx context.Context) (touched []string, lost bool, err error) {
	if err := w.sync(ctx); err != nil {
		return nil, false, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken != nil {
		return nil, true, w.broken
	}
	if len(w.touched) > 0 {
		touched = make([]string, 0, len(w.touched))
		for path := range w.touched {
			touched = append(touched, path)
		}
		w.touched = map[string]bool{}
	}
	lost, w.lost = w.lost, false
	return touched, lost, nil
}

// lose makes the next take say that something is missing.
func (w *watcher) lose() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost = true
}

func (w *watcher) sync(ctx context.Context) error {
	arrived := make(chan struct{})
	w.mu.Lock()
	w.count++
	name := fmt.Sprint("sync-", w.count)
	w.waiting[name] = arrived
	w.mu.Unlock()
	path := filepath.Join(w.cookies, name)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	f.Close()
	defer os.Remove(path)
	timeout := time.NewTimer(cookieTimeout)
	defer timeout.Stop()
	select {
	case <-arrived:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timeout.C:
		return errors.New("file system notifications do not arrive")
	}
}

func (w *watcher) close() {
	_ = w.fs.Close()
	if w.pin != nil {
		_ = w.pin.Close()
	}
	if w.cookies != "" {
		_ = os.RemoveAll(w.cookies)
	}
}

// wantsWatch reports whether it is time to set up notifications. t.mu is held.
func (t *tree) wantsWatch() bool {
	return t.watch == nil && !t.noWatch && !t.opts.NoWatch && len(t.state.found) > watchAbove
}

// startWatch sets up notifications, in the background: the checks meanwhile are
// scans. The first check that uses them is a full one.
func (t *tree) startWatch() {
	t.mu.Lock()
	if !t.wantsWatch() {
		t.mu.Unlock()
		return
	}
	t.noWatch = true // whatever happens next, once
	dirs := t.state.dirs
	t.mu.Unlock()
	w, err := newWatcher(t.root, t.dir)
	if err == nil {
		t.work.Go(w.run)
		if _, err = w.add(dirs); err != nil {
			w.close()
		}
	}
	if err != nil {
		t.opts.Logger.Info("no file system notifications; each query looks at every file", "root", t.root, "err", err)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx.Err() != nil {
		w.close()
		return
	}
	t.watch = w
	t.full = time.Time{}
	if t.running == nil {
		t.begin(true)
	}
}

// stopWatch goes back to scans after err. A watcher that only lost the names of
// its folders is set up again.
func (t *tree) stopWatch(w *watcher, err error) {
	if t.ctx.Err() != nil {
		return
	}
	t.opts.Logger.Info("file system notifications are given up", "root", t.root, "err", err)
	w.mu.Lock()
	again := w.broken != nil
	w.mu.Unlock()
	w.close()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watch = nil
	t.noWatch = !again
}

// close ends the notifications.
func (t *tree) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watch != nil {
		t.watch.close()
		t.watch = nil
	}
}

// watching is the watcher in use, nil when scans are.
func (t *tree) watching() *watcher {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.watch
}
