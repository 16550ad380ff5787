package index

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/outline"
)

// outlineLock is held by the process that makes the outline of a layer.
const outlineLock = "outline.lock"

// outlineAgain is how soon a layer without an outline is looked at again: another
// process may be making it.
const outlineAgain = time.Second

// outlineRetry is how long a failure to make an outline is not repeated.
const outlineRetry = time.Minute

// Outline knows what every C-like file of the generation defines, or is nil
// while the outline of the base is being made: it follows the base by some
// seconds, so that questions need not wait for it.
func (s *Snapshot) Outline() *outline.Set {
	v := s.view
	if set := v.outlines.Load(); set != nil {
		return set
	}
	members := make([]outline.Member, len(v.layers))
	for i, l := range v.layers {
		store := l.openOutline()
		if store == nil {
			s.index.startOutline(v, l)
			return nil
		}
		members[i] = outline.Member{Store: store, Hidden: v.hidden(i)}
	}
	set := outline.NewSet(members...)
	v.outlines.Store(set)
	return set
}

// AwaitOutline waits for the outline and returns it, or nil when it cannot be
// made or ctx ends first.
func (s *Snapshot) AwaitOutline(ctx context.Context) *outline.Set {
	for {
		set := s.Outline()
		s.index.mu.Lock()
		failed := time.Now().Before(s.index.outlineAfter)
		s.index.mu.Unlock()
		if set != nil || failed || sleep(ctx, 50*time.Millisecond) != nil {
			return set
		}
	}
}

// openOutline returns the layer's outline, or nil while there is none.
func (l *layer) openOutline() *outline.Store {
	l.outlineMu.Lock()
	defer l.outlineMu.Unlock()
	if l.outline != nil || time.Since(l.outlineLooked) < outlineAgain {
		return l.outline
	}
	l.outlineLooked = time.Now()
	store, err := outline.Open(l.dir)
	if err == nil {
		l.outline = store
	}
	return l.outline // nil also for a damaged one, which is made again
}

// lookAgain makes the next openOutline look at once.
func (l *layer) lookAgain() {
	l.outlineMu.Lock()
	defer l.outlineMu.Unlock()
	l.outlineLooked = time.Time{}
}

// startOutline makes the outline of a layer in the background, unless that is
// being done already, here or by another process.
func (x *Index) startOutline(v *view, l *layer) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.outlining || x.ctx.Err() != nil || time.Now().Before(x.outlineAfter) {
		return
	}
	x.outlining = true
	v.retain()
	x.work.Go(func() {
		defer v.release()
		err := x.outlineLayer(x.ctx, l)
		x.mu.Lock()
		defer x.mu.Unlock()
		x.outlining = false
		l.lookAgain()
		if err != nil && x.ctx.Err() == nil {
			x.outlineAfter = time.Now().Add(outlineRetry)
			x.opts.Logger.Warn("the outline of the index cannot be made; answers are slower without it", "dir", l.dir, "err", err)
		}
	})
}

func (x *Index) outlineLayer(ctx context.Context, l *layer) error {
	lock, err := tryLock(l.dir, outlineLock)
	if errors.Is(err, errLocked) {
		return nil
	}
	if lock == nil {
		return err
	}
	defer lock.unlock()
	if store, err := outline.Open(l.dir); err == nil {
		return store.Close() // somebody made it meanwhile
	}
	return x.buildOutline(ctx, l.dir, l.table, x.opts.Shards)
}

// buildOutline makes the outline of the layer in dir.
func (x *Index) buildOutline(ctx context.Context, dir string, files []entry, workers int) error {
	root, err := os.OpenRoot(x.root)
	if err != nil {
		return err
	}
	defer root.Close()
	var paths []string
	for i := range files {
		// gtags may fail on a file that the scanner reads.
		if files[i].kind == indexed || files[i].kind == skipped {
			paths = append(paths, filepath.ToSlash(files[i].path))
		}
	}
	_, err = outline.Build(ctx, dir, root, paths, outline.Options{Workers: workers, Mint: x.opts.Mint})
	return err
}
