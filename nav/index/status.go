package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
)

// Status describes an index.
type Status struct {
	Root, Dir  string
	Generation string // "" when there is no index yet
	Layers     []LayerStatus
	Files      int   // in the index
	Bytes      int64 // of the sources
	DiskBytes  int64 // of everything in Dir
	Skipped    []Skipped
	Warnings   []string

	// Added, Changed and Removed count what is not in the index yet.
	Added, Changed, Removed int
	// Watched is true when file system notifications tell of changes.
	Watched bool
	// Building is the build that this process runs, nil when none.
	Building *Progress
	// Builder names the process that builds a base, "" when none does.
	Builder string
}

// LayerStatus describes a base or a delta.
type LayerStatus struct {
	Name               string
	Created            time.Time
	Seconds            float64
	Label, Fingerprint string
	Files              int
	Bytes              int64
	Shards             int
	DiskBytes          int64
}

// Status looks at the index and at the tree. It builds nothing.
func (x *Index) Status(ctx context.Context) (Status, error) {
	s := Status{Root: x.root, Dir: x.dir, DiskBytes: treeBytes(x.dir), Watched: x.tree.watching() != nil}
	x.mu.Lock()
	for _, j := range []*job{x.delta, x.base} {
		if j != nil {
			p := j.now()
			s.Building = &p
		}
	}
	s.Warnings = append(s.Warnings, x.notes...)
	x.mu.Unlock()
	if l, err := tryLock(x.dir, builderName); err == nil {
		l.unlock()
	} else if errors.Is(err, errLocked) {
		s.Builder = readHolder(filepath.Join(x.dir, builderName)).String()
	}
	v, err := x.present()
	if err != nil || v == nil {
		return s, err
	}
	defer v.release()
	s.Generation = v.current.String()
	s.Skipped = v.skipped()
	s.Warnings = append(s.Warnings, v.layers[0].manifest.Notes...)
	v.each(func(e *entry) {
		if e.kind == indexed {
			s.Files++
			s.Bytes += e.size
		}
	})
	for _, l := range v.layers {
		m := &l.manifest
		s.Layers = append(s.Layers, LayerStatus{
			Name: l.name, Created: m.Created, Seconds: m.Seconds, Label: m.Label, Fingerprint: m.Fingerprint,
			Files: m.Files, Bytes: m.Bytes, Shards: len(m.Shards), DiskBytes: treeBytes(l.dir),
		})
	}
	if _, err := x.tree.check(ctx, v.langmap(), true, time.Hour); err != nil {
		return s, err
	}
	c := x.tree.against(v)
	s.Added, s.Changed, s.Removed = len(c.added), len(c.changed), len(c.removed)
	return s, nil
}

// treeBytes is the size of the files below dir, as far as they can be seen.
func treeBytes(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// Verify reads every page and record of the present generation and returns the
// first damage. progress, which may be nil, gets the file being read. A damaged
// index is rebuilt at its next use.
func (x *Index) Verify(ctx context.Context, progress func(database string, page, pages int)) error {
	v, err := x.present()
	if err != nil {
		return err
	}
	if v == nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.damage != "" {
			return errors.New(x.damage)
		}
		return fmt.Errorf("there is no index of %s to verify", x.root)
	}
	defer v.release()
	for _, l := range v.layers {
		for _, s := range l.manifest.Shards {
			if err := verifyShard(ctx, l.dir, s, progress); err != nil {
				x.discredit(v, err)
				return err
			}
		}
	}
	return nil
}

// verifyShard opens the database anew: an open one holds a page against its
// checksum at the first read only.
func verifyShard(ctx context.Context, layer string, s shard, progress func(database string, page, pages int)) error {
	db, err := gtagsdb.Open(filepath.Join(layer, s.Dir))
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Verify(ctx, func(p gtagsdb.Progress) {
		if progress != nil {
			progress(filepath.Join(filepath.Base(layer), s.Dir, p.File), p.Pages, p.Total)
		}
	})
}

// Clean removes the index. Readers in other processes keep what they have open.
func (x *Index) Clean(ctx context.Context) error {
	if _, err := os.Lstat(x.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	builder, err := lock(ctx, x.dir, builderName, x.opts.LockTimeout)
	if err != nil && !errors.Is(err, errNoLocks) {
		return err
	}
	defer builder.unlock()
	l, err := x.lockCurrent(ctx)
	if err != nil {
		return err
	}
	defer l.unlock()
	if err := os.Remove(filepath.Join(x.dir, currentName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	x.mu.Lock()
	if x.view != nil {
		x.view.release()
		x.view, x.seen = nil, identity{}
	}
	x.mu.Unlock()
	x.sweep(current{})
	return x.removeDirIfOurs()
}

// removeDirIfOurs removes the folder itself when nothing but its own files is left.
func (x *Index) removeDirIfOurs() error {
	entries, err := os.ReadDir(x.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == lockName, name == builderName, name == ".gitignore":
		case strings.HasPrefix(name, tmpPrefix) || strings.HasPrefix(name, basePrefix) || strings.HasPrefix(name, deltaPrefix):
			return nil // another process still uses it
		default:
			return fmt.Errorf("%s is not a file of the index; %s is kept", filepath.Join(x.dir, name), x.dir)
		}
	}
	err = os.RemoveAll(x.dir)
	if errors.Is(err, unix.ENOTEMPTY) {
		return nil
	}
	return err
}

// State is what an index is doing, as far as this process knows without looking.
type State string

// The states of an index.
const (
	Unknown    State = "unknown"    // nobody has asked yet, or nothing could be built
	Building   State = "building"   // for the first time
	Refreshing State = "refreshing" // the generation before answers meanwhile
	Ready      State = "ready"
)

// State returns what the index is doing and how many files it holds. It takes no
// time and touches no disk.
func (x *Index) State() (s State, files int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.view == nil {
		if x.base != nil {
			return Building, 0
		}
		return Unknown, 0
	}
	files = x.view.layers[0].manifest.Files
	if x.base != nil || x.delta != nil {
		return Refreshing, files
	}
	return Ready, files
}
