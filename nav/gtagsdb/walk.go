package gtagsdb

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"strings"
)

// Source says which names a listing is about.
type Source int

const (
	// Definitions are names that are defined in the index.
	Definitions Source = iota
	// References are names that occur and are defined.
	References
	// OtherSymbols are names that occur and are not defined.
	OtherSymbols
)

// errStop ends a scan early; it never leaves the package.
var errStop = errors.New("stop")

func (m *member) tags(from Source) *tags {
	if from == Definitions {
		return &m.defs
	}
	return &m.refs
}

// Names lists the distinct names that begin with prefix, in byte order, at most
// limit of them if limit is above 0.
func (s *Set) Names(prefix string, from Source, limit int) ([]string, error) {
	var names []string
	for name, err := range s.names(prefix, from) {
		if err != nil {
			return nil, err
		}
		if names = append(names, name); len(names) == limit {
			break
		}
	}
	return names, nil
}

// AllDefinitions yields the definitions of each name that begins with prefix, in
// byte order of names and sorted as in [Set.Definitions]. An error ends it.
func (s *Set) AllDefinitions(prefix string) iter.Seq2[[]Site, error] {
	return func(yield func([]Site, error) bool) {
		for name, err := range s.names(prefix, Definitions) {
			var sites []Site
			if err == nil {
				sites, err = s.Definitions(name)
			}
			if !yield(sites, err) || err != nil {
				return
			}
		}
	}
}

// names merges the names of all members.
func (s *Set) names(prefix string, from Source) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var walks []*walk
		for _, m := range s.members {
			w := &walk{member: m, tags: m.tags(from), prefix: []byte(prefix)}
			if err := w.next(); err != nil {
				yield("", err)
				return
			}
			walks = append(walks, w)
		}
		for {
			walks = slices.DeleteFunc(walks, func(w *walk) bool { return w.name == "" })
			if len(walks) == 0 {
				return
			}
			name := slices.MinFunc(walks, func(a, b *walk) int { return strings.Compare(a.name, b.name) }).name
			ok, err := s.counts(name, from)
			if ok || err != nil {
				if !yield(name, err) || err != nil {
					return
				}
			}
			for _, w := range walks {
				if w.name != name {
					continue
				}
				if err := w.next(); err != nil {
					yield("", err)
					return
				}
			}
		}
	}
}

// counts tells whether a name found in the file of a source belongs to it.
func (s *Set) counts(name string, from Source) (bool, error) {
	if from == Definitions {
		return true, nil
	}
	defined, err := s.Defined(name)
	return defined == (from == References), err
}

// walk goes through the distinct visible names of one file.
type walk struct {
	*member
	tags   *tags
	prefix []byte
	cursor cursor
	begun  bool
	name   string // the present one, "" at the end
	last   string // the one before, "" at the begin
}

// next moves on to the next name. Between two calls the database may be closed,
// after which view refuses and the cursor's memory is not touched.
func (w *walk) next() error {
	return w.view(func() error {
		if !w.begun {
			w.begun = true
			from := w.prefix
			if len(from) == 0 {
				from = []byte{' ' + 1} // behind the metadata
			}
			if err := w.seek(from); err != nil {
				return err
			}
		}
		for {
			visible, err := w.advance()
			if visible || err != nil {
				return err
			}
		}
	})
}

func (w *walk) seek(key []byte) (err error) {
	w.cursor, err = w.tags.seek(key)
	return err
}

// advance takes the name at the cursor and moves behind its records. It reports
// whether the walk has something to show: a visible name, or the end.
func (w *walk) advance() (bool, error) {
	c := &w.cursor
	w.name = ""
	if c.done() {
		return true, nil
	}
	key, err := c.key(c.i)
	if err != nil {
		return false, err
	}
	if !bytes.HasPrefix(key, w.prefix) {
		return true, nil
	}
	name, ok := text(key)
	if !ok || len(name) == 0 || name[0] <= ' ' {
		return false, c.corrupt(pageHeader+2*c.i, "%.80q cannot be the key of a name", key)
	}
	// In a damaged tree the jump in pass may lead backwards, round and round.
	if string(name) <= w.last {
		return false, c.corrupt(pageHeader+2*c.i, "key %.80q stands behind %.80q", name, w.last)
	}
	w.name = string(name)
	w.last = w.name
	return w.pass(key)
}

// pass moves the cursor behind the records of key and reports whether one of
// them is visible.
func (w *walk) pass(key []byte) (visible bool, err error) {
	c := &w.cursor
	visible = w.hidden == nil
	for leaf := c.no; !c.done() && (!visible || c.no == leaf); {
		if k, err := c.key(c.i); err != nil || !bytes.Equal(k, key) {
			return visible, err
		}
		if !visible {
			if visible, err = w.shows(c); err != nil {
				return false, err
			}
		}
		if err := c.step(); err != nil {
			return false, err
		}
	}
	if c.done() {
		return visible, nil
	}
	// The records may go on for thousands of leaves: jump. No name holds a byte
	// between NUL and 1.
	return visible, w.seek(append(key[:len(key)-1:len(key)-1], 1))
}

func (w *walk) shows(c *cursor) (bool, error) {
	data, err := c.value(c.i)
	if err != nil {
		return false, err
	}
	r, ok := parseRecord(data, w.tags.compact)
	if !ok {
		key, _ := c.key(c.i)
		return false, w.tags.badRecord(key, data)
	}
	_, visible, err := w.rank(w.tags, data, r)
	return visible, err
}

// FoldedNames lists the names that equal name but for the case of ASCII letters,
// in byte order. It walks the trie of prefixes that exist, upper case before
// lower, so it costs a few seeks a letter.
func (s *Set) FoldedNames(name string, from Source) ([]string, error) {
	if _, ok := key(nil, name); !ok {
		return nil, nil
	}
	var names []string
	for _, m := range s.members {
		err := m.view(func() error {
			return m.fold(m.tags(from), make([]byte, 0, len(name)+1), name, func(found string) {
				names = append(names, found)
			})
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	var out []string
	for _, found := range slices.Compact(names) {
		ok, err := s.counts(found, from)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, found)
		}
	}
	return out, nil
}

// fold descends from prefix, which exists, along both cases of each letter of rest.
func (m *member) fold(t *tags, prefix []byte, rest string, found func(string)) error {
	if rest == "" {
		name := string(prefix)
		ok, err := m.holds(t, name)
		if ok {
			found(name)
		}
		return err
	}
	c := rest[0]
	cases := []byte{c}
	if lower := c | 0x20; lower >= 'a' && lower <= 'z' {
		cases = []byte{lower - 0x20, lower}
	}
	for _, c := range cases {
		longer := append(prefix, c)
		at, err := t.seek(longer)
		if err != nil {
			return err
		}
		if at.done() {
			continue
		}
		if k, err := at.key(at.i); err != nil {
			return err
		} else if !bytes.HasPrefix(k, longer) {
			continue
		}
		if err := m.fold(t, longer, rest[1:], found); err != nil {
			return err
		}
	}
	return nil
}
