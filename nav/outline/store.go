package outline

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"
	"sync"
	"unsafe"

	"github.com/gtagsmcp/gtagsmcp/nav/macro"
	"github.com/gtagsmcp/gtagsmcp/nav/mapped"
)

// Store is the opened store of one layer.
type Store struct {
	path     string
	mu       sync.RWMutex // held for reading while mapped memory is touched
	closed   bool
	data     []byte
	header   header
	paths    paths
	families []macro.Name
}

// paths are the files of a store, by number. All paths stand in one string, so
// that handing one out costs nothing.
type paths struct {
	all     string
	ends    []uint32 // in all
	offsets []uint64 // of the records
	sizes   []uint32 // of the records, 0 for none
}

// Open maps the store of the layer in dir and reads its list of files. A missing
// store is an error that wraps [fs.ErrNotExist], a damaged one a [*CorruptError].
func Open(dir string) (*Store, error) {
	s := &Store{path: filepath.Join(dir, storeName)}
	var err error
	if s.data, err = mapped.Random(os.OpenFile(s.path, mapped.Flags, 0)); err != nil {
		return nil, fmt.Errorf("open outline: %w", err)
	}
	if err := s.view(s.load); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// load checks the header and the directories and takes over what is kept in memory.
func (s *Store) load() (err error) {
	if s.header, err = decodeHeader(s.data); err != nil {
		return s.corrupt(0, err)
	}
	if _, err := s.trailed(s.header.index, s.header.paths); err != nil {
		return err
	}
	b, err := s.trailed(s.header.paths, s.header.size)
	if err != nil {
		return err
	}
	if err := s.readPaths(b); err != nil {
		return s.corrupt(s.header.paths, err)
	}
	return nil
}

// trailed returns a section whose checksum stands behind it.
func (s *Store) trailed(from, to uint64) ([]byte, error) {
	b, sum := s.data[from:to-4], s.data[to-4:to]
	if checksum(b) != le.Uint32(sum) {
		return nil, s.corrupt(from, errChecksum)
	}
	return b, nil
}

func (s *Store) readPaths(b []byte) error {
	n := int(s.header.files)
	if n > len(b)/3 { // the least that an entry takes
		return errMalformed
	}
	p := paths{ends: make([]uint32, n), offsets: make([]uint64, n), sizes: make([]uint32, n)}
	var all strings.Builder
	var path []byte
	r := reader{b: b}
	for i := range n {
		before := string(path)
		path = r.shared(path)
		size := r.number(math.MaxInt32)
		offset := uint64(0)
		if size > 0 {
			offset = r.uvarint()
		}
		if r.bad || !confined(string(path)) || i > 0 && string(path) <= before {
			return fmt.Errorf("file %d has no proper path: %.200q", i, path)
		}
		if size > 0 && (offset < headerSize || offset > s.header.names || uint64(size) > s.header.names-offset) {
			return fmt.Errorf("the record of %.200q lies outside of the records", path)
		}
		if uint64(all.Len()+len(path)) > math.MaxUint32 {
			return errMalformed
		}
		all.Write(path)
		p.ends[i], p.offsets[i], p.sizes[i] = uint32(all.Len()), offset, uint32(size)
	}
	p.all = all.String()
	for range s.header.families {
		if len(r.b) == 0 {
			return errMalformed
		}
		s.families = append(s.families, r.family())
	}
	if r.bad || len(r.b) > 0 {
		return errMalformed
	}
	s.paths = p
	return nil
}

// confined accepts a path that stays below the root. It differs from
// [fs.ValidPath] in taking any bytes, not only UTF-8.
func confined(p string) bool {
	if strings.IndexByte(p, 0) >= 0 {
		return false
	}
	for elem := range strings.SplitSeq(p, "/") {
		if elem == "" || elem == "." || elem == ".." {
			return false
		}
	}
	return true
}

func (p *paths) len() int { return len(p.ends) }

func (p *paths) path(i int) string {
	from := uint32(0)
	if i > 0 {
		from = p.ends[i-1]
	}
	return p.all[from:p.ends[i]]
}

func (p *paths) find(path string) (int, bool) {
	return sort.Find(p.len(), func(i int) int { return strings.Compare(path, p.path(i)) })
}

// Close unmaps the store once no call is reading it. Answers given stay valid.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return mapped.Unmap(s.data)
}

// view is the one door to mapped memory: f runs while the store is mapped for
// sure, and a fault within it (the file was cut short, the disk failed) comes
// back as a CorruptError. Calls do not nest: a waiting Close would block the
// inner one.
func (s *Store) view(f func() error) (err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return fmt.Errorf("outline %s: %w", s.path, fs.ErrClosed)
	}
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		if r := recover(); r != nil {
			err = s.fault(r)
		}
	}()
	return f()
}

// fault makes an error of a panic if its cause is a fault in the mapped file.
func (s *Store) fault(r any) error {
	if f, ok := r.(interface {
		runtime.Error
		Addr() uintptr
	}); ok {
		base := uintptr(unsafe.Pointer(unsafe.SliceData(s.data)))
		if off := f.Addr() - base; off < uintptr(len(s.data)) {
			return s.corrupt(uint64(off), errors.New("the file shrank or cannot be read any more"))
		}
	}
	panic(r)
}

// corrupt names the store and the place of damage.
func (s *Store) corrupt(offset uint64, why error) error {
	if e := new(CorruptError); errors.As(why, &e) {
		return why
	}
	return &CorruptError{Path: s.path, Offset: int64(offset), Reason: why.Error()}
}

// record opens the record of a file; ok is false if it has none.
func (s *Store) record(file int) (r record, ok bool, err error) {
	from, size := s.paths.offsets[file], uint64(s.paths.sizes[file])
	if size == 0 {
		return r, false, nil
	}
	r, err = openRecord(s.data[from : from+size])
	if err != nil {
		return r, false, s.corrupt(from, err)
	}
	return r, true, nil
}
