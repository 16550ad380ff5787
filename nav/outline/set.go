package outline

import (
	"bytes"
	"slices"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
	"github.com/gtagsmcp/gtagsmcp/nav/macro"
)

// Member is one store of a [Set].
type Member struct {
	Store *Store
	// Hidden tells which paths of the store do not count, such as those that a
	// newer member holds. Nil hides nothing. NewSet asks it once for each path
	// and keeps the answers.
	Hidden func(path string) bool
}

// Set is one logical store made of several. A path that is not hidden must be in
// one member only. The stores stay the caller's to close.
type Set struct {
	members []*member
}

type member struct {
	*Store
	hidden []bool // by number; nil: none
}

// NewSet makes one logical store of the members.
func NewSet(members ...Member) *Set {
	s := &Set{}
	for _, in := range members {
		m := &member{Store: in.Store}
		if in.Hidden != nil {
			m.hidden = make([]bool, in.Store.paths.len())
			for i := range m.hidden {
				m.hidden[i] = in.Hidden(in.Store.paths.path(i))
			}
		}
		s.members = append(s.members, m)
	}
	return s
}

func (m *member) shows(file int) bool {
	return m.paths.sizes[file] > 0 && (m.hidden == nil || !m.hidden[file])
}

// Ref is one definition of a name.
type Ref struct {
	Path  string
	Index int // of Symbol in the file's symbols
	// Symbol is what defines the name. For a minted name it is the invocation of
	// the macro.
	Symbol csource.Symbol
	// Minted is what the macro's family says of the name; all zero for a symbol
	// of that name itself.
	Minted macro.Name
}

// Lookup returns the definitions of a name and the macro invocations that are
// about it, by path and place. Those for which want is false are left out before
// they are read, which is what takes the time with names such as dev; a want that
// counts is a cheap overview. It must not ask the set. Nil wants all.
func (s *Set) Lookup(name string, want func(path string, kind csource.Kind) bool) ([]Ref, error) {
	var refs []Ref
	for _, m := range s.members {
		err := m.view(func() (err error) {
			refs, err = m.lookup(refs, name, want)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(s.members) > 1 {
		slices.SortStableFunc(refs, func(a, b Ref) int { return strings.Compare(a.Path, b.Path) })
	}
	return refs, nil
}

// lookup appends the definitions in one member. It runs inside view.
func (m *member) lookup(refs []Ref, name string, want func(string, csource.Kind) bool) ([]Ref, error) {
	c, ok, err := m.seek([]byte(name))
	if !ok || err != nil || string(c.name) != name {
		return refs, err
	}
	var r symbolReader
	err = c.each(func(p posting) (bool, error) {
		file := int(p.file)
		if !m.shows(file) || want != nil && !want(m.paths.path(file), p.kind) {
			return true, nil
		}
		rec, _, err := m.record(file)
		if err == nil {
			err = rec.seek(int(p.symbol), &r)
		}
		if err == nil && r.kind != p.kind {
			err = errMalformed
		}
		if err != nil {
			return false, m.corrupt(m.paths.offsets[file], err)
		}
		ref := Ref{Path: m.paths.path(file), Index: int(p.symbol), Symbol: r.symbol()}
		if p.family > 0 {
			ref.Minted = m.families[p.family-1]
			ref.Minted.Name = name
		}
		refs = append(refs, ref)
		return true, nil
	})
	return refs, err
}

// Names lists the names that are defined and begin with prefix, in byte order,
// at most limit of them if limit is above 0.
func (s *Set) Names(prefix string, limit int) ([]string, error) {
	var names []string
	for _, m := range s.members {
		err := m.view(func() (err error) {
			names, err = m.names(names, prefix, limit)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(s.members) > 1 {
		slices.Sort(names)
		names = slices.Compact(names)
	}
	if limit > 0 && len(names) > limit {
		names = names[:limit]
	}
	return names, nil
}

// defines reports whether a macro with that role defines its names and does not
// merely mention them.
func defines(r macro.Role) bool { return r == macro.Define || r == macro.Declare }

// names appends up to limit names of one member. It runs inside view.
func (m *member) names(names []string, prefix string, limit int) ([]string, error) {
	p := []byte(prefix)
	c, ok, err := m.seek(p)
	for n := 0; ok && err == nil && bytes.HasPrefix(c.name, p) && (limit <= 0 || n < limit); {
		shown := false
		err = c.each(func(p posting) (bool, error) {
			shown = m.shows(int(p.file)) && (p.family == 0 || defines(m.families[p.family-1].Role))
			return !shown, nil
		})
		if err != nil {
			return names, err
		}
		if shown {
			names = append(names, string(c.name))
			n++
		}
		ok, err = c.next()
	}
	return names, err
}

// File returns what the set has of a file; ok is false if it has nothing.
func (s *Set) File(path string) (f *File, ok bool, err error) {
	for _, m := range s.members {
		if number, found := m.paths.find(path); found && m.shows(number) {
			return m.file(number)
		}
	}
	return nil, false, nil
}
