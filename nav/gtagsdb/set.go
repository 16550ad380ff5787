package gtagsdb

import (
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

// NewSet makes a logical index of the members.
func NewSet(members ...Member) (*Set, error) {
	s := &Set{}
	for _, in := range members {
		m := &member{DB: in.DB}
		for rank := range m.paths.len() {
			if in.Hidden != nil && in.Hidden(m.paths.path(rank)) {
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

// Definitions gives the definitions of a name, by path and line.
func (s *Set) Definitions(name string) ([]Site, error) {
	return s.definitions(name, make([]cursor, len(s.members)))
}

// definitions uses and moves a cursor for each member.
func (s *Set) definitions(name string, cursors []cursor) ([]Site, error) {
	parts := make([][]Site, len(s.members))
	for i, m := range s.members {
		err := m.view(func() (err error) {
			parts[i], err = m.definitions(&cursors[i], name)
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
	parts := make([][]FileLines, len(s.members))
	for i, m := range s.members {
		err := m.view(func() (err error) {
			parts[i], err = m.occurrences(name)
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
	return s.defined(name, make([]cursor, len(s.members)))
}

// defined uses and moves a cursor for each member.
func (s *Set) defined(name string, cursors []cursor) (found bool, err error) {
	key, ok := key(make([]byte, 0, 64), name)
	for i := 0; ok && i < len(s.members) && !found && err == nil; i++ {
		m := s.members[i]
		err = m.view(func() error {
			c := &cursors[i]
			if err := c.forward(m.defs.tree, key); err != nil {
				return err
			}
			found, err = m.shows(&m.defs, c, key)
			return err
		})
	}
	return found, err
}

// key makes the database key of a name. Names that gtags never stores have none:
// a leading blank marks metadata, and a NUL ends the key.
func key(buf []byte, name string) ([]byte, bool) {
	if name == "" || name[0] <= ' ' || strings.IndexByte(name, 0) >= 0 {
		return nil, false
	}
	return append(append(buf, name...), 0), true
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
