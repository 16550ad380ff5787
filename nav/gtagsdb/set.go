package gtagsdb

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Member is one database of a [Set].
type Member struct {
	DB *DB
	// Hidden tells which paths (without "./") of the database do not count, such as
	// those that a newer member holds. Nil hides nothing. NewSet asks it once for
	// each path and keeps the answers.
	Hidden func(path string) bool
}

// Set is one logical index made of several databases. A path that is not hidden
// must be in one member only: hits of equal paths are not recognised as equal.
// The DBs stay the caller's to close.
type Set struct {
	members []*member
	files   int
}

type member struct {
	*DB
	hidden bitmap // by rank; nil if nothing is hidden
}

// NewSet makes a logical index of the members.
func NewSet(members ...Member) (*Set, error) {
	s := &Set{}
	for _, in := range members {
		m := &member{DB: in.DB}
		for rank := range m.paths.len() {
			if in.Hidden != nil && in.Hidden(m.paths.path(rank)) {
				if m.hidden == nil {
					m.hidden = make(bitmap, (m.paths.len()+63)/64)
				}
				m.hidden.add(rank)
			} else if !m.paths.other.has(rank) {
				s.files++
			}
		}
		s.members = append(s.members, m)
	}
	return s, nil
}

// Site is one definition.
type Site struct {
	// Name is what was asked for. It is longer only if gtags ran with
	// extractmethod, which files `ns::C::m` under `m`.
	Name  string
	Path  string // relative to the project root, without "./"
	Line  int
	Image string // the source line as it was when indexed, tabs and blanks kept
	// HasImage is false if GTAGS is in the compact format, which keeps no lines.
	HasImage bool
}

// FileLines are the lines of one file on which a name occurs.
type FileLines struct {
	Path  string
	Lines []int
}

// hit is a record on its way to being an answer.
type hit struct {
	rank int32
	line int32
	data []byte // mapped, or copied if it had overflowed
}

// Definitions gives the definitions of a name, by path and line.
func (s *Set) Definitions(name string) ([]Site, error) {
	parts := make([][]Site, 0, len(s.members))
	for _, m := range s.members {
		err := m.view(func() error {
			sites, err := m.definitions(name)
			parts = append(parts, sites)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return merge(parts, func(s *Site) string { return s.Path }), nil
}

// Occurrences gives every place, by path and line, where a name occurs without
// being defined. They are what global calls references if the name is
// [Set.Defined], and other symbols if not.
func (s *Set) Occurrences(name string) ([]FileLines, error) {
	parts := make([][]FileLines, 0, len(s.members))
	for _, m := range s.members {
		err := m.view(func() error {
			files, err := m.occurrences(name)
			parts = append(parts, files)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return merge(parts, func(f *FileLines) string { return f.Path }), nil
}

// Defined reports whether any visible file defines exactly this name.
func (s *Set) Defined(name string) (bool, error) {
	for _, m := range s.members {
		found := false
		err := m.view(func() (err error) {
			found, err = m.holds(&m.defs, name)
			return err
		})
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// key makes the database key of a name. Names that gtags never stores have none:
// a leading blank marks metadata, and a NUL ends the key.
func key(buf []byte, name string) ([]byte, bool) {
	if name == "" || name[0] <= ' ' || strings.IndexByte(name, 0) >= 0 {
		return nil, false
	}
	return append(append(buf, name...), 0), true
}

// rank gives the place of a record's file, and whether it is to be seen.
func (m *member) rank(t *tags, data []byte, r record) (rank int, visible bool, err error) {
	rank, ok := m.paths.rank(r.fid)
	if !ok {
		return 0, false, t.corrupt(t.offset(data), "file %d is not in GPATH", r.fid)
	}
	return rank, !m.hidden.has(rank), nil
}

// collect gathers the visible records of a name in the order of global: by path,
// then by first line, and equal ones as in the tree.
func (m *member) collect(t *tags, key []byte) ([]hit, error) {
	var hits []hit
	err := t.scan(key, func(data []byte, r record) error {
		rank, visible, err := m.rank(t, data, r)
		if visible {
			hits = append(hits, hit{int32(rank), int32(r.line), data})
		}
		return err
	})
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.line, b.line))
	})
	return hits, err
}

func (m *member) definitions(name string) ([]Site, error) {
	key, ok := key(make([]byte, 0, 64), name)
	if !ok {
		return nil, nil
	}
	t := &m.defs
	hits, err := m.collect(t, key)
	if err != nil || len(hits) == 0 {
		return nil, err
	}
	sites := make([]Site, 0, len(hits))
	for _, h := range hits {
		site := Site{Path: m.paths.path(int(h.rank)), HasImage: !t.compact}
		if sites, ok = t.appendSites(sites, site, h.data, name); !ok {
			return nil, t.badRecord(key, h.data)
		}
	}
	return sites, nil
}

// appendSites unfolds a record of GTAGS: one site, or one for each line of a list.
func (t *tags) appendSites(dst []Site, site Site, data []byte, key string) ([]Site, bool) {
	r, ok := parseRecord(data, t.compact)
	if !ok {
		return dst, false
	}
	if site.Name, ok = t.name(r.name, key); !ok {
		return dst, false
	}
	if t.compact {
		lines, ok := r.appendLines(nil, t.deltas)
		for _, site.Line = range lines {
			dst = append(dst, site)
		}
		return dst, ok
	}
	site.Line = r.line
	if t.compImages {
		var buf [256]byte
		image, ok := t.words.appendText(buf[:0], r.rest, key)
		if !ok {
			return dst, false
		}
		site.Image = string(image)
	} else {
		site.Image = string(r.rest)
	}
	return append(dst, site), true
}

// name decodes the name of a record of key.
func (t *tags) name(compressed []byte, key string) (string, bool) {
	if !t.compNames {
		return string(compressed), true
	}
	if string(compressed) == "@n" {
		return key, true
	}
	name, ok := t.words.appendText(nil, compressed, key)
	return string(name), ok
}

func (m *member) occurrences(name string) ([]FileLines, error) {
	key, ok := key(make([]byte, 0, 64), name)
	if !ok {
		return nil, nil
	}
	t := &m.refs
	hits, err := m.collect(t, key)
	if err != nil || len(hits) == 0 {
		return nil, err
	}
	// All lines stand in one slice; a file's are cut from it when it has stopped
	// moving.
	lines := make([]int, 0, 2*len(hits))
	files, ends := make([]FileLines, 0, len(hits)), make([]int, 0, len(hits))
	for i, h := range hits {
		r, _ := parseRecord(h.data, t.compact)
		if lines, ok = t.appendLines(lines, r); !ok {
			return nil, t.badRecord(key, h.data)
		}
		if i > 0 && h.rank == hits[i-1].rank {
			ends[len(ends)-1] = len(lines)
			continue
		}
		files = append(files, FileLines{Path: m.paths.path(int(h.rank))})
		ends = append(ends, len(lines))
	}
	start := 0
	for i, end := range ends {
		files[i].Lines = lines[start:end:end]
		start = end
	}
	return files, nil
}

func (t *tags) appendLines(dst []int, r record) ([]int, bool) {
	if t.compact {
		return r.appendLines(dst, t.deltas)
	}
	return append(dst, r.line), true
}

// holds reports whether the file has a visible record of the name.
func (m *member) holds(t *tags, name string) (found bool, err error) {
	key, ok := key(make([]byte, 0, 64), name)
	if !ok {
		return false, nil
	}
	err = t.scan(key, func(data []byte, r record) error {
		_, visible, err := m.rank(t, data, r)
		if visible {
			found = true
			err = errStop
		}
		return err
	})
	if err == errStop {
		err = nil
	}
	return found, err
}

// merge joins lists that are sorted by path into one. The first of equal heads
// goes first.
func merge[T any](parts [][]T, path func(*T) string) []T {
	total := 0
	parts = slices.DeleteFunc(parts, func(p []T) bool { total += len(p); return len(p) == 0 })
	if len(parts) == 0 {
		return nil
	}
	if len(parts) == 1 {
		return parts[0]
	}
	out := make([]T, 0, total)
	for len(out) < total {
		first := -1
		for i := range parts {
			if len(parts[i]) > 0 && (first < 0 || path(&parts[i][0]) < path(&parts[first][0])) {
				first = i
			}
		}
		out = append(out, parts[first][0])
		parts[first] = parts[first][1:]
	}
	return out
}

// Len is the number of source files.
func (s *Set) Len() int { return s.files }

// Files yields the source files, without "./", in byte order.
func (s *Set) Files() iter.Seq[string] { return s.paths(false) }

// OtherFiles yields the files that gtags saw but did not parse, in byte order.
func (s *Set) OtherFiles() iter.Seq[string] { return s.paths(true) }

func (s *Set) paths(other bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		next := make([]int, len(s.members)) // by member: rank of its next path
		last, any := "", false
		for {
			first, path := -1, ""
			for i, m := range s.members {
				for next[i] < m.DB.paths.len() && (m.hidden.has(next[i]) || m.DB.paths.other.has(next[i]) != other) {
					next[i]++
				}
				if next[i] < m.DB.paths.len() && (first < 0 || m.DB.paths.path(next[i]) < path) {
					first, path = i, m.DB.paths.path(next[i])
				}
			}
			if first < 0 {
				return
			}
			next[first]++
			if any && path == last {
				continue
			}
			if last, any = path, true; !yield(path) {
				return
			}
		}
	}
}

// HasFile reports whether path, without "./", is a source file of the index.
func (s *Set) HasFile(path string) bool {
	return slices.ContainsFunc(s.members, func(m *member) bool {
		rank, ok := m.paths.find(path)
		return ok && !m.hidden.has(rank) && !m.paths.other.has(rank)
	})
}
