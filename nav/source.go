package nav

import (
	"bytes"
	"container/list"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
)

const (
	// maxSourceSize is the largest file that is read for its lines. Real source
	// is far smaller; the largest header of Linux 6.1 has 24 MB.
	maxSourceSize = 64 << 20
	// sourceCacheSize bounds the bytes that read and scanned files take.
	sourceCacheSize = 96 << 20
)

// source is one file as it was read: its bytes, where its lines begin, and for
// C-like files what a scan found.
type source struct {
	path    string
	content []byte
	starts  []int
	skipped int // lines before the first of content

	once    sync.Once
	scanned *csource.File

	mu    sync.Mutex
	parts map[lineRange]*csource.File // scans of single definitions
}

// scan returns what a C-like file defines and under which conditions, or nil
// for a file of another language. It scans at most once.
func (s *source) scan() *csource.File {
	s.once.Do(func() {
		if lang, ok := csource.LangOf(s.path); ok {
			s.scanned = csource.Scan(s.content, lang)
		}
	})
	return s.scanned
}

// part scans the lines of one definition alone, as if they were a file: what a
// name on one of them is can be told from these. It scans each at most once.
func (s *source) part(first, last int) *csource.File {
	first, last = max(first, 1), min(last, len(s.starts))
	if last < first {
		return csource.Scan(nil, csource.C)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if scan := s.parts[lineRange{first, last}]; scan != nil {
		return scan
	}
	end := len(s.content)
	if last < len(s.starts) {
		end = s.starts[last]
	}
	lang, _ := csource.LangOf(s.path)
	scan := csource.Scan(s.content[s.starts[first-1]:end], lang)
	if s.parts == nil {
		s.parts = map[lineRange]*csource.File{}
	}
	s.parts[lineRange{first, last}] = scan
	return scan
}

// line returns line n, counted from 1, without its end; "" past the end.
func (s *source) line(n int) string {
	n -= s.skipped
	if n < 1 || n > len(s.starts) {
		return ""
	}
	end := len(s.content)
	if n < len(s.starts) {
		end = s.starts[n]
	}
	text := bytes.TrimSuffix(s.content[s.starts[n-1]:end], []byte("\n"))
	return string(bytes.TrimSuffix(text, []byte("\r")))
}

func newSource(path string, content []byte) *source {
	s := &source{path: path, content: content, starts: make([]int, 0, len(content)/32+1)}
	for at := 0; at < len(content); {
		s.starts = append(s.starts, at)
		next := bytes.IndexByte(content[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return s
}

// oneLine stands for a file of which only one line is wanted and known.
func oneLine(path string, n int, text string) *source {
	return &source{path: path, content: []byte(text), starts: []int{0}, skipped: n - 1}
}

// fileState tells one content of a file from the next.
type fileState struct {
	size  int64
	mtime time.Time
}

// sourceCache reads files below one root and keeps the last ones it read. A
// file is read again when its size or modification time changed. It cannot
// be led outside the root, by no path and no symbolic link.
type sourceCache struct {
	root *os.Root

	mu      sync.Mutex
	entries map[string]*list.Element
	recent  list.List // of *cachedSource, latest first
	bytes   int
}

type cachedSource struct {
	*source
	state fileState
}

func newSourceCache(root *os.Root) *sourceCache {
	return &sourceCache{root: root, entries: map[string]*list.Element{}}
}

// forget empties the cache.
func (c *sourceCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.recent.Len() > 0 {
		c.remove(c.recent.Back())
	}
}

func (c *sourceCache) close() error { return c.root.Close() }

// read returns the file at path, relative to the root and slash-separated.
func (c *sourceCache) read(path string) (*source, error) {
	info, err := c.root.Stat(filepath.FromSlash(path))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if info.Size() > maxSourceSize {
		return nil, fmt.Errorf("%s has %d bytes; files over %d are not read", path, info.Size(), maxSourceSize)
	}
	state := fileState{info.Size(), info.ModTime()}
	if s := c.lookup(path, state); s != nil {
		return s, nil
	}
	file, err := c.root.Open(filepath.FromSlash(path))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead)) // it need not grow
	if _, err := content.ReadFrom(io.LimitReader(file, maxSourceSize)); err != nil {
		return nil, err
	}
	s := newSource(path, content.Bytes())
	c.store(&cachedSource{s, state})
	return s, nil
}

// plain reads a file that is no source and is looked at once.
func (c *sourceCache) plain(path string) ([]byte, error) {
	return c.root.ReadFile(filepath.FromSlash(path))
}

func (c *sourceCache) lookup(path string, state fileState) *source {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.entries[path]
	if !ok {
		return nil
	}
	cached := el.Value.(*cachedSource)
	if cached.state != state {
		c.remove(el)
		return nil
	}
	c.recent.MoveToFront(el)
	return cached.source
}

func (c *sourceCache) store(s *cachedSource) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.entries[s.path]; ok {
		c.remove(el)
	}
	c.entries[s.path] = c.recent.PushFront(s)
	c.bytes += s.cost()
	for c.bytes > sourceCacheSize && c.recent.Len() > 1 {
		c.remove(c.recent.Back())
	}
}

func (c *sourceCache) remove(el *list.Element) {
	cached := c.recent.Remove(el).(*cachedSource)
	delete(c.entries, cached.path)
	c.bytes -= cached.cost()
}

// cost allows for the scan of the file, which keeps a copy of the text and its
// tokens.
func (s *cachedSource) cost() int { return 4*len(s.content) + 8*len(s.starts) }

// PathError says why a path that the caller named cannot be used.
type PathError struct{ Path, Reason string }

func (e *PathError) Error() string { return fmt.Sprintf("%s: %s", e.Path, e.Reason) }

// relative turns a path that a caller gave, absolute or relative to the root,
// into the form of the index: relative, clean, with slashes.
func (w *Workspace) relative(path string) (string, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return "", &PathError{fmt.Sprintf("%q", path), "not a file path"}
	}
	abs := path
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(w.root, abs)
	}
	rel, err := filepath.Rel(w.root, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		// The root may have been named through a symbolic link.
		real, evalErr := filepath.EvalSymlinks(abs)
		if evalErr != nil {
			return "", &PathError{path, "outside the project root " + w.root}
		}
		rel, err = filepath.Rel(w.root, real)
		if err != nil || !filepath.IsLocal(rel) {
			return "", &PathError{path, "outside the project root " + w.root}
		}
	}
	return filepath.ToSlash(filepath.Clean(rel)), nil
}

// file reads a file that the caller named and explains a failure in the
// caller's terms.
func (w *Workspace) file(path string) (*source, error) {
	rel, err := w.relative(path)
	if err != nil {
		return nil, err
	}
	s, err := w.files.read(rel)
	switch {
	case err == nil:
		return s, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, &PathError{path, "no such file in " + w.root}
	case errors.Is(err, fs.ErrPermission):
		return nil, &PathError{path, "permission denied"}
	default:
		var pathErr *fs.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err
		}
		return nil, &PathError{path, err.Error()}
	}
}
