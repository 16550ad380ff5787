package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
)

// NoSpaceError means that the disk is too full for an index.
type NoSpaceError struct {
	Dir        string
	Need, Free int64 // bytes
	Err        error // what failed
}

func (e *NoSpaceError) Error() string {
	return fmt.Sprintf("not enough space in %s: indexing needs about %d MB, %d MB are free. Free some and retry (%v)",
		e.Dir, e.Need>>20, e.Free>>20, e.Err)
}

func (e *NoSpaceError) Unwrap() error { return e.Err }

// need is about the space that the build takes: the databases of Linux are 1.2
// times as large as its sources, and while gtags sorts, its temporary files
// take as much again.
func (b *build) need() int64 {
	n := int64(4 << 20)
	for i := range b.files {
		if b.files[i].kind == indexed {
			n += 2 * b.files[i].size
		}
	}
	return n
}

// watchSpace notes how little space was left on the disk.
func (b *build) watchSpace() {
	free, err := freeSpace(b.parent)
	for err == nil {
		least := b.leastFree.Load()
		if free >= least || b.leastFree.CompareAndSwap(least, free) {
			return
		}
	}
}

// freeSpace is what an ordinary user may still write to the disk of dir.
func freeSpace(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// lowSpace is the free space below which a write may have failed between two
// looks at it.
const lowSpace = 256 << 20

// diskFull reports whether the disk was so full at some time that a failure is
// most likely due to that.
func (b *build) diskFull() bool {
	b.watchSpace()
	return b.leastFree.Load() < min(b.need(), lowSpace)/4
}

// explain turns the failure of a build on a full disk into one that says so.
func (b *build) explain(err error) error {
	var already *NoSpaceError
	if err == nil || b.dir == "" || errors.Is(err, context.Canceled) || errors.As(err, &already) {
		return err
	}
	if b.diskFull() || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return &NoSpaceError{Dir: b.parent, Need: b.need(), Free: min(b.leastFree.Load(), b.need()), Err: err}
	}
	return err
}

// checkDatabase holds what gtags wrote into dir against what it was to write.
// Its exit status does not tell: on a full disk it leaves a torn database and
// exits 0. A page that was never written is told by its missing number, a
// missing end by the file list or the last page; only when the disk was nearly
// full, or the database is small, is every record read as well.
func (b *build) checkDatabase(ctx context.Context, dir string, files []entry) error {
	db, err := gtagsdb.Open(dir)
	if err != nil {
		return err
	}
	defer db.Close()
	set, err := gtagsdb.NewSet(gtagsdb.Member{DB: db})
	if err != nil {
		return err
	}
	if set.Len() != len(files) {
		return fmt.Errorf("its database is one of %d files, and it parsed %d", set.Len(), len(files))
	}
	i := 0
	for path := range set.Files() {
		if path != files[i].path {
			return fmt.Errorf("its database holds %s, which it was not given", path)
		}
		i++
	}
	var size int64
	for _, name := range []string{"GTAGS", "GRTAGS", "GPATH"} {
		n, err := checkPages(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		size += n
	}
	b.watchSpace()
	if size < 32<<20 || b.leastFree.Load() < lowSpace {
		return db.Verify(ctx, nil)
	}
	const last = "\xff\xff" // after every name: the way to it is the right edge of the tree
	_, err = set.Definitions(last)
	_, err2 := set.Occurrences(last)
	return errors.Join(err, err2)
}

// checkPages looks whether each page of a database file begins with its number,
// as all but the first do, and returns the size of the file.
func checkPages(path string) (size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	const pageSize = 8192 // always that of gtags
	if info.Size()%pageSize != 0 {
		return 0, &CorruptError{Path: path, Err: errors.New("it ends in the middle of a page")}
	}
	var no [4]byte
	for n := int64(1); n < info.Size()/pageSize; n++ {
		if _, err := f.ReadAt(no[:], n*pageSize); err != nil {
			return 0, err
		}
		if int64(binary.NativeEndian.Uint32(no[:])) != n {
			return 0, &CorruptError{Path: path, Err: fmt.Errorf("page %d was not written", n)}
		}
	}
	return info.Size(), nil
}
