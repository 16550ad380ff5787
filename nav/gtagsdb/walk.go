package gtagsdb

import (
	"bytes"
	"errors"
	"iter"
	"slices"
)

// Source says which names a listing is about. Sources may be or-ed together:
// References|OtherSymbols are all names that occur.
type Source int

const (
	// Definitions are names that are defined in the index.
	Definitions Source = 1 << iota
	// References are names that occur and are defined.
	References
	// OtherSymbols are names that occur and are not defined.
	OtherSymbols
)

// undecided reports whether names found in the files of a source belong to it only
// if they are, or are not, defined.
func (from Source) undecided() bool {
	return from != Definitions && (from&OtherSymbols == 0 || from&(Definitions|References) == 0)
}

// holds reports whether a name found in the files of a source belongs to it.
func (from Source) holds(defined bool) bool {
	if defined {
		return from&(Definitions|References) != 0
	}
	return from&OtherSymbols != 0
}

// tags gives the files in which the names of a source stand.
func (m *member) tags(from Source) (files []*tags) {
	if from&Definitions != 0 {
		files = append(files, &m.defs)
	}
	if from&(References|OtherSymbols) != 0 {
		files = append(files, &m.refs)
	}
	return files
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
		cursors := make([]cursor, len(s.members))
		for name, err := range s.names(prefix, Definitions) {
			var sites []Site
			if err == nil {
				sites, err = s.definitions(name, cursors)
			}
			if !yield(sites, err) || err != nil {
				return
			}
		}
	}
}

// names yields the visible names of all members that belong to a source.
func (s *Set) names(prefix string, from Source) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		defs := make([]cursor, len(s.members))
		for name, err := range s.merged(prefix, from) {
			if err == nil && from.undecided() {
				var defined bool
				if defined, err = s.defined(name, defs); err == nil && !from.holds(defined) {
					continue
				}
			}
			if !yield(name, err) || err != nil {
				return
			}
		}
	}
}

// merged yields the visible names that stand in the files of a source.
func (s *Set) merged(prefix string, from Source) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if prefix != "" && prefix[0] <= ' ' {
			return // metadata
		}
		walks := make([]*walk, 0, len(s.members))
		for _, m := range s.members {
			for _, t := range m.tags(from) {
				walks = append(walks, &walk{member: m, tags: t, prefix: prefix})
			}
		}
		for last := ""; ; {
			for _, w := range walks {
				if w.name != last {
					continue
				}
				if err := w.next(); err != nil {
					yield("", err)
					return
				}
			}
			walks = slices.DeleteFunc(walks, func(w *walk) bool { return w.name == "" })
			if len(walks) == 0 {
				return
			}
			last = walks[0].name
			for _, w := range walks[1:] {
				last = min(last, w.name)
			}
			if !yield(last, nil) {
				return
			}
		}
	}
}

// walk goes through the distinct visible names of one file.
type walk struct {
	*member
	tags   *tags
	prefix string
	cursor cursor
	name   string // the present one, "" before the first and after the last
}

// next moves on to the next name. Between two calls the database may be closed,
// after which view refuses and the cursor's memory is not touched.
func (w *walk) next() error {
	return w.view(func() error {
		from := []byte(w.prefix)
		if w.name != "" {
			from = behind(w.name)
		} else if len(from) == 0 {
			from = []byte{' ' + 1} // behind the metadata
		}
		for {
			key, err := w.find(from)
			if key == nil || err != nil {
				w.name = ""
				return err
			}
			name := string(key[:len(key)-1])
			visible, err := w.shows(w.tags, &w.cursor, key)
			if visible || err != nil {
				w.name = name
				return err
			}
			from = behind(name)
		}
	})
}

// behind makes a key that is greater than that of a name and not greater than that
// of any other name behind it. Its records, thousands of leaves perhaps, are jumped.
func behind(name string) []byte { return append([]byte(name), 1) }

// find puts the cursor on the first key from a place on and returns it, or nil
// where the prefix ends.
func (w *walk) find(from []byte) ([]byte, error) {
	c := &w.cursor
	if err := c.forward(w.tags.tree, from); err != nil || c.done() {
		return nil, err
	}
	key, err := c.key(c.i)
	if err != nil || len(key) < len(w.prefix) || string(key[:len(w.prefix)]) != w.prefix {
		return nil, err
	}
	if name, ok := text(key); !ok || len(name) == 0 || name[0] <= ' ' {
		return nil, c.corrupt(pageHeader+2*c.i, "%.80q cannot be the key of a name", key)
	}
	return key, nil
}

// FoldedNames lists the names that equal name but for the case of ASCII letters,
// in byte order.
func (s *Set) FoldedNames(name string, from Source) ([]string, error) {
	if _, ok := keyOf(nil, name); !ok {
		return nil, nil
	}
	var found []string
	for _, m := range s.members {
		err := m.view(func() error {
			for _, t := range m.tags(from) {
				if err := m.fold(t, make([]byte, 0, len(name)+1), name, &found); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if !from.undecided() {
		return found, nil
	}
	var err error
	found = slices.DeleteFunc(found, func(name string) bool {
		defined, e := s.Defined(name)
		err = errors.Join(err, e)
		return !from.holds(defined)
	})
	return found, err
}

// fold walks the trie of the prefixes that exist: from prefix along both cases of
// each letter of rest. That costs a few seeks a letter, where global reads all
// keys with the same first letter.
func (m *member) fold(t *tags, prefix []byte, rest string, found *[]string) error {
	var c cursor
	if rest == "" {
		prefix = append(prefix, 0)
	}
	if err := c.forward(t.tree, prefix); err != nil || c.done() {
		return err
	}
	key, err := c.key(c.i)
	if err != nil || !bytes.HasPrefix(key, prefix) {
		return err
	}
	if rest == "" {
		visible, err := m.shows(t, &c, key)
		if visible {
			*found = append(*found, string(prefix[:len(prefix)-1]))
		}
		return err
	}
	lower := rest[0] | 0x20
	if lower < 'a' || lower > 'z' {
		return m.fold(t, append(prefix, rest[0]), rest[1:], found)
	}
	if err := m.fold(t, append(prefix, lower-0x20), rest[1:], found); err != nil {
		return err
	}
	return m.fold(t, append(prefix, lower), rest[1:], found)
}
