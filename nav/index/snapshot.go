package index

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
)

// AcquireOptions bound one [Index.Acquire].
type AcquireOptions struct {
	// Wait is the longest wait for a first build or a refresh. 0: none.
	Wait time.Duration
	// Progress is called a few times a second while waiting. Nil: not.
	Progress func(Progress)
}

// BuildingError means that the first index of the tree is still being built.
type BuildingError struct {
	Root     string
	Elapsed  time.Duration
	Progress Progress
}

func (e *BuildingError) Error() string {
	p := ""
	if e.Progress.Total > 0 {
		p = fmt.Sprintf(", %d of %d files parsed", e.Progress.Done, e.Progress.Total)
	}
	return fmt.Sprintf("Indexing %s for the first time (%ds elapsed%s; a Linux-kernel-sized tree takes about a minute). "+
		"Retry this call shortly.", e.Root, int(e.Elapsed.Seconds()), p)
}

// Snapshot is one generation of the index. It does not change, whatever happens
// to the tree, until it is released.
type Snapshot struct {
	index    *Index
	view     *view
	warnings []string
	release  sync.Once
}

// Set answers questions about names.
func (s *Snapshot) Set() *gtagsdb.Set { return s.view.set }

// Root is the folder to which the paths in answers are relative.
func (s *Snapshot) Root() string { return s.index.root }

// Warnings are what a reader of an answer has to know: files left out, changes
// that are not in the index yet, an index that had to be rebuilt.
func (s *Snapshot) Warnings() []string { return s.warnings }

// Generation names the state of the index; it changes with every refresh.
func (s *Snapshot) Generation() string { return s.view.current.String() }

// Skipped are the files that belong to the tree and are not in the index.
func (s *Snapshot) Skipped() []Skipped { return s.view.skipped() }

// Release gives the snapshot back. The Set must not be used afterwards.
func (s *Snapshot) Release() { s.release.Do(s.view.release) }

// Damaged takes an error that the Set returned. When it means that the index is
// damaged, a new one is built, and the error returned says so; any other error
// is returned as it is.
func (s *Snapshot) Damaged(err error) error {
	if err == nil || !damaged(err) {
		return err
	}
	s.index.discredit(s.view, err)
	s.index.startBase(s.index.rejectedOr(nil), false)
	return fmt.Errorf("%w; a new index is being built. Retry this call shortly", err)
}

// Acquire returns a snapshot that shows the tree as it is. When it is not ready
// within o.Wait, the answer is the last generation, with a warning, or a
// [*BuildingError] when there is none.
func (x *Index) Acquire(ctx context.Context, o AcquireOptions) (*Snapshot, error) {
	deadline := time.Now().Add(o.Wait)
	for {
		v, err := x.present()
		if err != nil {
			return nil, err
		}
		if v != nil {
			return x.fresh(ctx, v, deadline, o.Progress)
		}
		j := x.startBase(x.rejectedOr(nil), false)
		done, err := j.wait(ctx, max(time.Until(deadline), 0), o.Progress)
		if err != nil {
			return nil, err
		}
		if !done {
			p := j.now()
			return nil, &BuildingError{Root: x.root, Elapsed: p.Elapsed, Progress: p}
		}
	}
}

func (x *Index) snapshot(v *view, warnings ...string) *Snapshot {
	x.mu.Lock()
	defer x.mu.Unlock()
	warnings = append(slices.Clone(x.notes), warnings...)
	if x.damage != "" {
		warnings = append(warnings, x.damage)
		x.damage = ""
	}
	warnings = append(warnings, v.layers[0].manifest.Notes...)
	return &Snapshot{index: x, view: v, warnings: append(warnings, skippedWarning(v.skipped())...)}
}

func skippedWarning(skipped []Skipped) []string {
	if len(skipped) == 0 {
		return nil
	}
	first := skipped[0]
	return []string{fmt.Sprintf("%d files are not in the index, among them %s (%s)", len(skipped), first.Path, first.Reason)}
}
