package gtagsdb

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"unsafe"

	"github.com/gtagsmcp/gtagsmcp/nav/mapped"
)

// DB is one opened database directory.
type DB struct {
	dir    string
	mu     sync.RWMutex // held for reading while mapped memory is touched
	closed bool
	defs   tags // GTAGS
	refs   tags // GRTAGS
	gpath  *tree
	paths  *paths
}

// Open maps GTAGS, GRTAGS and GPATH of dir and reads the file list. All three are
// opened through one handle on the directory, so that they belong together even
// if another directory takes its name meanwhile.
//
// A missing file is an error that wraps [fs.ErrNotExist]; an empty, half-written
// or damaged one is a [*CorruptError], one of another kind a [*FormatError].
func Open(dir string) (*DB, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	defer root.Close()
	db := &DB{dir: dir}
	err = db.openFiles(root)
	if err == nil {
		err = db.readSums(root)
	}
	if err == nil {
		err = db.view(db.load)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func (db *DB) openFiles(root *os.Root) error {
	for _, f := range []struct {
		name    string
		mapping func(*os.File, error) ([]byte, error)
		to      **tree
	}{
		{"GTAGS", mapped.Random, &db.defs.tree},
		{"GRTAGS", mapped.Random, &db.refs.tree},
		{"GPATH", mapped.Whole, &db.gpath},
	} {
		data, err := f.mapping(root.OpenFile(f.name, mapped.Flags, 0))
		if err != nil {
			return fmt.Errorf("open database in %s: %w", db.dir, err)
		}
		// Kept before it is checked, so that Close unmaps it.
		*f.to = &tree{path: filepath.Join(db.dir, f.name), data: data}
	}
	return nil
}

// load checks the three files and takes over what is kept in memory.
func (db *DB) load() error {
	for _, t := range db.trees() {
		if err := t.open(); err != nil {
			return err
		}
	}
	if err := db.defs.readMetadata(); err != nil {
		return err
	}
	if err := db.refs.readMetadata(); err != nil {
		return err
	}
	// gtags compresses the names in GRTAGS with the words of GTAGS, and does not
	// say so in GRTAGS.
	db.refs.words = db.defs.words
	meta, err := db.gpath.metadata()
	if err != nil {
		return err
	}
	if err := db.gpath.wantVersion(meta, "2"); err != nil {
		return err
	}
	if !db.gpath.unique {
		return db.gpath.corrupt(20, "the file list allows duplicate keys")
	}
	db.paths, err = readPaths(db.gpath, meta["NEXTKEY"])
	return err
}

func (db *DB) trees() []*tree { return []*tree{db.defs.tree, db.refs.tree, db.gpath} }

// Close unmaps the files once no call is reading them. Answers given stay valid.
func (db *DB) Close() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil
	}
	db.closed = true
	var err error
	for _, t := range db.trees() {
		if t != nil {
			err = errors.Join(err, mapped.Unmap(t.data))
		}
	}
	return err
}

// view is the one door to mapped memory: f runs while the files are mapped for
// sure, and a fault within them (the file was cut short, the disk failed) comes
// back as a CorruptError. Calls of view do not nest: a waiting Close would block
// the inner one.
//
// The price is a read lock and a deferred function, about 50 ns a call. The
// runtime's switch for faults belongs to the goroutine, so nothing else changes.
func (db *DB) view(f func() error) (err error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if db.closed {
		return fmt.Errorf("database in %s: %w", db.dir, fs.ErrClosed)
	}
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		if r := recover(); r != nil {
			err = db.fault(r)
		}
	}()
	return f()
}

// fault makes an error of a panic if its cause is a fault in a mapped file.
func (db *DB) fault(r any) error {
	if f, ok := r.(interface {
		runtime.Error
		Addr() uintptr
	}); ok {
		for _, t := range db.trees() {
			base := uintptr(unsafe.Pointer(unsafe.SliceData(t.data)))
			if off := f.Addr() - base; off < uintptr(len(t.data)) {
				return t.corrupt(int64(off), "the file shrank or cannot be read any more")
			}
		}
	}
	panic(r)
}

// metadata reads the records whose keys begin with a blank. They stand before
// all others. The data repeats the key, then a blank and the value if there is
// one; that of NEXTKEY is the value alone.
func (t *tree) metadata() (map[string]string, error) {
	meta := make(map[string]string)
	c, err := t.seek(nil)
	for ; err == nil && !c.done(); err = c.step() {
		key, err := c.key(c.i)
		if err != nil {
			return nil, err
		}
		if len(key) == 0 || key[0] > ' ' {
			break
		}
		value, err := c.value(c.i)
		if err != nil {
			return nil, err
		}
		name, ok := text(key)
		data, ok2 := text(value)
		if !ok || !ok2 || len(meta) > 16 {
			return nil, c.corrupt(pageHeader+2*c.i, "metadata record %q with data %q", key, value)
		}
		data = bytes.TrimPrefix(data, name)
		meta[strings.TrimPrefix(string(name), " __.")] = strings.TrimPrefix(string(data), " ")
	}
	return meta, err
}

func (t *tree) wantVersion(meta map[string]string, want string) error {
	// Version 1 wrote no such record.
	if v := meta["VERSION"]; v != want {
		return t.format(int64(t.size), "version %q, want %q", v, want)
	}
	return nil
}

// offset locates mapped bytes in the file. Data that had overflowed is a copy and
// has none.
func (t *tree) offset(b []byte) (off int64, mapped bool) {
	base := uintptr(unsafe.Pointer(unsafe.SliceData(t.data)))
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b))) - base
	if at >= uintptr(len(t.data)) {
		return 0, false
	}
	return int64(at), true
}
