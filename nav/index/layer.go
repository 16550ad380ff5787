package index

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
	"github.com/gtagsmcp/gtagsmcp/nav/outline"
)

// formatVersion is that of the files in the index folder. An index of another
// version is rebuilt.
const formatVersion = 1

// Names in the index folder; doc.go describes what they hold.
const (
	dirName      = ".gtags-mcp"
	currentName  = "CURRENT"
	lockName     = "lock"
	builderName  = "builder"
	manifestName = "manifest.json"
	tableName    = "files"
	pinName      = "pin"
	basePrefix   = "base-"
	deltaPrefix  = "delta-"
	tmpPrefix    = "tmp-"
)

// manifest describes one layer: a base or a delta.
type manifest struct {
	Format      int       `json:"format"`
	ID          string    `json:"id"`
	Base        string    `json:"base,omitempty"`   // of a delta: the ID of its base
	Seeded      bool      `json:"seeded,omitempty"` // a copy of the root's own GTAGS
	Root        string    `json:"root"`
	Created     time.Time `json:"created"`
	Seconds     float64   `json:"seconds"`
	Label       string    `json:"label"`
	Fingerprint string    `json:"fingerprint"`
	Langmap     string    `json:"langmap"`
	Files       int       `json:"files"`
	Bytes       int64     `json:"bytes"` // of sources
	Shards      []shard   `json:"shards"`
	Skipped     []Skipped `json:"skipped,omitempty"`
	Notes       []string  `json:"notes,omitempty"` // of the listing, for people
}

// shard is one GNU Global database of a layer.
type shard struct {
	Dir   string `json:"dir"`
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
	// Sizes are those of shardFiles, compared whenever a layer is opened.
	Sizes map[string]int64 `json:"sizes"`
}

// shardFiles are the files of one GNU Global database, in the order in which
// gtags finishes them, and the checksums of their pages.
var shardFiles = []string{"GTAGS", "GPATH", "GRTAGS", "SUMS"}

// Skipped is a file that belongs to the set and is not in the index.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
	// SHA256 is the content that gtags could not take, "" when the file was
	// not read at all. The same content is not tried again.
	SHA256 string `json:"sha256,omitempty"`
}

// CorruptError is a file of the index that is not what was written.
type CorruptError struct {
	Path string
	Err  error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("index file %s is damaged: %v", e.Path, e.Err)
}
func (e *CorruptError) Unwrap() error { return e.Err }

// layer is an open base or delta. Its files are never written again.
type layer struct {
	name     string
	dir      string
	manifest manifest
	table    []entry // sorted by path
	dbs      []*gtagsdb.DB
	pin      *os.File
	// refs counts the views that hold the layer; at 0 it is closed.
	refs atomic.Int32

	outlineMu     sync.Mutex
	outline       *outline.Store // nil while there is none
	outlineLooked time.Time
}

// openLayer opens and pins the layer in parent/name.
func openLayer(parent, name string) (_ *layer, err error) {
	l := &layer{name: name, dir: filepath.Join(parent, name)}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	for _, name := range []string{".", pinName, manifestName, tableName} {
		if err := ordinary(filepath.Join(l.dir, name)); err != nil {
			return nil, err
		}
	}
	if l.pin, err = pin(l.dir); err != nil {
		return nil, err
	}
	if l.manifest, err = readManifest(l.dir); err != nil {
		return nil, err
	}
	if l.table, err = readTable(filepath.Join(l.dir, tableName)); err != nil {
		return nil, err
	}
	for _, s := range l.manifest.Shards {
		dir := filepath.Join(l.dir, s.Dir)
		if err := realDir(l.dir, s.Dir); err != nil {
			return nil, &CorruptError{Path: dir, Err: err}
		}
		if err := s.checkSizes(dir); err != nil {
			return nil, err
		}
		db, err := gtagsdb.Open(dir)
		if err != nil {
			return nil, &CorruptError{Path: dir, Err: err}
		}
		l.dbs = append(l.dbs, db)
	}
	return l, nil
}

// ordinary returns an error for what is there and neither a file nor a folder.
// A tree can bring an index folder of its own making: a link in it would lead
// to the index of another tree, and a pipe would be waited for.
func ordinary(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return &CorruptError{Path: path, Err: fmt.Errorf("it is a %v", info.Mode().Type())}
	}
	return nil // what is missing is missed by who reads it
}

func readManifest(dir string) (m manifest, err error) {
	path := filepath.Join(dir, manifestName)
	b, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, &CorruptError{Path: path, Err: err}
	}
	if m.Format != formatVersion {
		return m, fmt.Errorf("%s: %w", path, errOtherFormat)
	}
	for _, s := range m.Shards {
		if !filepath.IsLocal(s.Dir) {
			return m, &CorruptError{Path: path, Err: fmt.Errorf("shard folder %q", s.Dir)}
		}
	}
	return m, nil
}

var errOtherFormat = errors.New("written by another version of this program")

func (s shard) checkSizes(dir string) error {
	for _, name := range shardFiles {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if err != nil {
			return &CorruptError{Path: path, Err: err}
		}
		if want := s.Sizes[name]; info.Size() != want {
			return &CorruptError{Path: path, Err: fmt.Errorf("%d bytes long, but %d were written", info.Size(), want)}
		}
	}
	return nil
}

func (l *layer) close() {
	for _, db := range l.dbs {
		_ = db.Close() // unmapping what was mapped does not fail
	}
	if l.outline != nil {
		_ = l.outline.Close()
	}
	if l.pin != nil {
		_ = l.pin.Close()
	}
}

func (l *layer) retain() { l.refs.Add(1) }

func (l *layer) release() {
	if l.refs.Add(-1) == 0 {
		l.close()
		retire(l.dir)
	}
}

// pin takes the shared lock that keeps the layer in dir from being removed. A
// file system without locks has no pins: there, removal relies on a mapped file
// outliving its name.
func pin(dir string) (*os.File, error) {
	f, err := os.Open(filepath.Join(dir, pinName))
	if err != nil {
		return nil, err
	}
	if err := flock(f, lockShared); err != nil && !errors.Is(err, errNoLocks) {
		f.Close()
		return nil, err
	}
	return f, nil
}

// retire removes the layer in dir if it is not current and nobody has pinned
// it. It is called by the last reader of this process; what it cannot remove,
// the next writer sweeps.
func retire(dir string) {
	parent, name := filepath.Split(filepath.Clean(dir))
	cur, err := readCurrent(parent)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	if !cur.names(name) {
		removeUnpinned(dir)
	}
}

// removeUnpinned removes a layer or a leftover of a build, unless somebody uses it.
func removeUnpinned(dir string) bool {
	f, err := os.Open(filepath.Join(dir, pinName))
	if err != nil {
		// A build that has just begun has no pin for a moment.
		return !errors.Is(err, fs.ErrPermission) && olderThan(dir, time.Minute) && os.RemoveAll(dir) == nil
	}
	defer f.Close()
	switch err := flock(f, lockExclusive); {
	case errors.Is(err, errNoLocks) && strings.HasPrefix(filepath.Base(dir), tmpPrefix):
		if !olderThan(dir, 24*time.Hour) {
			return false // without locks, nothing tells a leftover from a running build
		}
	case err != nil && !errors.Is(err, errNoLocks):
		return false
	}
	return os.RemoveAll(dir) == nil
}

func olderThan(path string, age time.Duration) bool {
	info, err := os.Lstat(path)
	return err == nil && time.Since(info.ModTime()) > age
}
