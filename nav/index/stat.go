package index

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// identity is what tells one state of a file from another without reading it.
// The change time catches what size and modification time do not: an edit
// that keeps both, and a file that arrives with an older time (tar, rsync -t,
// cp -p, git checkout). The device number is left out: it differs from one
// boot to the next on some systems.
type identity struct {
	size         int64
	mtime, ctime int64 // nanoseconds
	inode        uint64
}

// entry is one file of the set.
type entry struct {
	path string
	identity
	// hash is the content's, for a file that was changed so shortly before it
	// was looked at that a second change could have left the same identity. It
	// is 0 for all others.
	hash uint64
	kind entryKind
}

type entryKind uint8

const (
	indexed entryKind = iota
	skipped           // known, and left out because gtags cannot take it
	gone              // in a delta: no longer part of the set
)

// A change time younger than this can be had by one more change: the clock of
// Linux file systems ticks every 1 to 10 ms, that of others every second or two.
const (
	fineTick   = 50 * time.Millisecond
	coarseTick = 3 * time.Second
)

// racy reports whether a file with this identity, seen at now, could change
// without a change of its identity.
func (id identity) racy(now time.Time) bool {
	tick := fineTick
	if id.ctime%int64(time.Second) == 0 && id.mtime%int64(time.Second) == 0 {
		tick = coarseTick
	}
	age := now.Sub(time.Unix(0, id.ctime))
	return age < tick && age > -coarseTick
}

// lstat is the identity of a regular file; ok is false for anything else.
func lstat(path string) (id identity, ok bool) {
	var st unix.Stat_t
	for {
		err := unix.Lstat(path, &st)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return id, false
		}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return id, false
	}
	return statIdentity(&st), true
}

func statIdentity(st *unix.Stat_t) identity {
	return identity{size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(), inode: uint64(st.Ino)}
}

// realDir returns an error unless every element of dir, relative to root, is a
// folder and no symbolic link.
func realDir(root, dir string) error {
	for d := dir; d != ""; d = parent(d) {
		var st unix.Stat_t
		path := filepath.Join(root, d)
		if err := unix.Lstat(path, &st); err != nil {
			return &os.PathError{Op: "lstat", Path: path, Err: err}
		}
		if st.Mode&unix.S_IFMT != unix.S_IFDIR {
			return &os.PathError{Op: "open", Path: path, Err: unix.ENOTDIR}
		}
	}
	return nil
}

// statAll returns the entries of those paths that are regular files and are
// not reached through a symbolic link, in the order of paths.
func statAll(ctx context.Context, root string, paths []string) ([]entry, error) {
	real := map[string]bool{"": true}
	for _, p := range paths {
		markReal(real, root, parent(p))
	}
	ids := make([]identity, len(paths))
	found := make([]bool, len(paths))
	g, ctx := errgroup.WithContext(ctx)
	workers := scanWorkers()
	part := (len(paths) + workers - 1) / workers
	for lo := 0; lo < len(paths); lo += part {
		g.Go(func() error {
			for i := lo; i < min(lo+part, len(paths)); i++ {
				if i%1024 == 0 && ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if real[parent(paths[i])] {
					ids[i], found[i] = lstat(root + "/" + paths[i])
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	entries := make([]entry, 0, len(paths))
	for i, p := range paths {
		if found[i] {
			entries = append(entries, entry{path: p, identity: ids[i]})
		}
	}
	return entries, nil
}

// scanWorkers is the number of concurrent lstat loops. More than the cores,
// because on a network file system each call waits for a server.
func scanWorkers() int { return min(4*runtime.GOMAXPROCS(0), 32) }

// markReal records whether dir and the folders above it are real folders.
func markReal(real map[string]bool, root, dir string) bool {
	ok, known := real[dir]
	if known {
		return ok
	}
	if ok = markReal(real, root, parent(dir)); ok {
		var st unix.Stat_t
		ok = unix.Lstat(root+"/"+dir, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR
	}
	real[dir] = ok
	return ok
}

// hashRacy fills in the content hash of the entries that need one.
func hashRacy(root string, entries []entry, now time.Time) {
	for i := range entries {
		e := &entries[i]
		e.hash = 0
		if e.racy(now) {
			e.hash = hashFile(filepath.Join(root, e.path))
		}
	}
}

// hashFile is never 0. A file that cannot be read gets a value that no content
// has in practice, so that it counts as changed once it can be read.
func hashFile(path string) uint64 {
	f, err := os.Open(path)
	if err != nil {
		return 1
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return 1
	}
	return max(binary.LittleEndian.Uint64(h.Sum(nil)), 2)
}

// same reports whether the file still is in the state of e.
func (e *entry) same(root string, now identity) bool {
	if e.identity != now {
		return false
	}
	return e.hash == 0 || e.hash == hashFile(filepath.Join(root, e.path))
}

// find is the entry of path among entries sorted by path, or nil.
func find(entries []entry, path string) *entry {
	i, ok := slices.BinarySearchFunc(entries, path, byPath)
	if !ok {
		return nil
	}
	return &entries[i]
}
