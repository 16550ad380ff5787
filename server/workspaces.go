package server

import (
	"errors"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

const (
	// workspaceIdle is how long a workspace that nobody asks stays open. An open
	// one costs descriptors, mapped files and watches; to open it again costs
	// about as much as one listing of the tree.
	workspaceIdle = 30 * time.Minute
	// maxWorkspaces is how many stay open when nobody asks them, so that a client
	// which asks about one tree after another cannot use up the descriptors.
	maxWorkspaces = 32
)

// workspaces are the open workspaces of all clients, by root.
type workspaces struct {
	fence *nav.Fence
	make  func(root string, dir *os.Root) (ws *nav.Workspace, problem string, err error)

	mu   sync.Mutex
	open map[string]*openWorkspace
}

// openWorkspace is a workspace and what it was opened with, so that an edit of
// the config file, or another folder in the place of this one, counts at the
// next call.
type openWorkspace struct {
	*nav.Workspace
	root    string
	config  fileMark
	folder  os.FileInfo
	problem string // a mistake in the config file

	users  int
	unused time.Time   // since when users is 0
	idle   *time.Timer // closes the workspace when it has been unused for long
	stale  bool        // replaced; closed by its last user
}

// fileMark tells one state of a file from the next.
type fileMark struct {
	size  int64
	mtime time.Time
}

func markOf(dir *os.Root, name string) fileMark {
	info, err := dir.Lstat(name)
	if err != nil {
		return fileMark{size: -1}
	}
	return fileMark{info.Size(), info.ModTime()}
}

// acquire returns the workspace at root, opening it when this is the first call
// or it is another than it was. Release it after use.
func (w *workspaces) acquire(root string) (*openWorkspace, error) {
	real, dir, err := w.fence.Folder(root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	folder, err := dir.Stat(".")
	if err != nil {
		return nil, err
	}
	mark := markOf(dir, projectConfig)
	w.mu.Lock()
	defer w.mu.Unlock()
	if ws, ok := w.open[real]; ok {
		if ws.config == mark && os.SameFile(ws.folder, folder) {
			ws.users++
			ws.idle.Stop()
			return ws, nil
		}
		w.drop(ws)
	}
	opened := &openWorkspace{root: real, config: mark, folder: folder, users: 1}
	if opened.Workspace, opened.problem, err = w.make(real, dir); err != nil {
		return nil, err
	}
	opened.idle = time.AfterFunc(workspaceIdle, func() { w.closeIdle(opened) })
	opened.idle.Stop()
	w.open[real] = opened
	w.evict()
	return opened, nil
}

func (w *workspaces) release(ws *openWorkspace) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ws.users--
	if ws.users > 0 {
		return
	}
	if ws.stale {
		go ws.Close()
		return
	}
	ws.unused = time.Now()
	ws.idle.Reset(workspaceIdle)
}

// drop takes a workspace out of the table and closes it when its last user is
// done. w.mu is held.
func (w *workspaces) drop(ws *openWorkspace) {
	delete(w.open, ws.root)
	ws.stale = true
	ws.idle.Stop()
	if ws.users == 0 {
		go ws.Close() // which waits for what it does in the background
	}
}

func (w *workspaces) closeIdle(ws *openWorkspace) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open[ws.root] == ws && ws.users == 0 && time.Since(ws.unused) >= workspaceIdle {
		w.drop(ws)
	}
}

// evict closes the workspaces that have been unused for longest while there are
// too many. w.mu is held.
func (w *workspaces) evict() {
	for len(w.open) > maxWorkspaces {
		var oldest *openWorkspace
		for _, ws := range w.open {
			if ws.users == 0 && (oldest == nil || ws.unused.Before(oldest.unused)) {
				oldest = ws
			}
		}
		if oldest == nil {
			return
		}
		w.drop(oldest)
	}
}

// all are the workspaces that are open now.
func (w *workspaces) all() []*openWorkspace {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Values(w.open))
}

func (w *workspaces) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for root, ws := range w.open {
		ws.idle.Stop()
		errs = append(errs, ws.Close())
		delete(w.open, root)
	}
	return errors.Join(errs...)
}
