package gtagsdb

import (
	"fmt"
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

// Set is one logical index made of several databases. The DBs stay the caller's to
// close.
type Set struct {
	members []*member
	files   int
}

// NewSet makes a logical index of the members. It is an error if two of them show
// the same path, since all hits in it would be doubled.
func NewSet(members ...Member) (*Set, error) {
	s := &Set{}
	for i, in := range members {
		if in.DB == nil {
			return nil, fmt.Errorf("member %d of the index has no database", i)
		}
		m := &member{DB: in.DB}
		for rank := range m.paths.len() {
			if in.Hidden != nil && in.Hidden(m.paths.path(rank)) {
				m.hidden.add(rank)
			}
		}
		s.members = append(s.members, m)
	}
	last, any := "", false
	for path, source := range s.paths {
		if any && path == last {
			return nil, fmt.Errorf("%q stands in two databases of one index", path)
		}
		last, any = path, true
		if source {
			s.files++
		}
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
	key, ok := keyOf(make([]byte, 0, 64), name)
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

// keyOf makes the database key of a name. Names that gtags never stores have none:
// a leading blank marks metadata, and a NUL ends the key.
func keyOf(buf []byte, name string) ([]byte, bool) {
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
func (s *Set) Files() iter.Seq[string] { return s.filesThat(true) }

// OtherFiles yields the files that gtags saw but did not parse, in byte order.
func (s *Set) OtherFiles() iter.Seq[string] { return s.filesThat(false) }

func (s *Set) filesThat(areSource bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for path, source := range s.paths {
			if source == areSource && !yield(path) {
				return
			}
		}
	}
}

// paths merges the visible paths of all members and tells which are source files.
func (s *Set) paths(yield func(path string, source bool) bool) {
	next := make([]int, len(s.members)) // by member: rank of its next path
	for {
		first, path := -1, ""
		for i, m := range s.members {
			all := m.DB.paths
			for m.hidden.has(next[i]) {
				next[i]++
			}
			if next[i] < all.len() && (first < 0 || all.path(next[i]) < path) {
				first, path = i, all.path(next[i])
			}
		}
		if first < 0 || !yield(path, !s.members[first].DB.paths.other.has(next[first])) {
			return
		}
		next[first]++
	}
}

// HasFile reports whether path, without "./", is a source file of the index.
func (s *Set) HasFile(path string) bool {
	return slices.ContainsFunc(s.members, func(m *member) bool {
		rank, ok := m.paths.find(path)
		return ok && !m.hidden.has(rank) && !m.paths.other.has(rank)
	})
}
