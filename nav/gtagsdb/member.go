package gtagsdb

import (
	"cmp"
	"slices"
)

// member is one database of a set. Its methods run inside [DB.view].
type member struct {
	*DB
	hidden bitmap // by rank
}

// hits are the visible records of one key.
type hits struct {
	tags    *tags
	list    []hit
	spilled [][]byte // data that had overflowed and was copied
}

// hit holds no pointer, so that sorting many costs the garbage collector nothing.
type hit struct {
	rank int32 // of the file
	line int32 // the first one
	seq  int32 // place in the tree
	size int32 // of the data; -1 if it is in spilled
	off  int64 // of the data in the file, or its index in spilled
}

func (h *hits) add(rank, line int, data []byte) {
	next := hit{rank: int32(rank), line: int32(line), seq: int32(len(h.list)), size: -1, off: int64(len(h.spilled))}
	if off, mapped := h.tags.offset(data); mapped {
		next.off, next.size = off, int32(len(data))
	} else {
		h.spilled = append(h.spilled, data)
	}
	h.list = append(h.list, next)
}

// sort puts the hits in the order of global: by path, by first line, and equal
// ones as in the tree.
func (h *hits) sort() {
	slices.SortFunc(h.list, func(a, b hit) int {
		switch {
		case a.rank != b.rank:
			return cmp.Compare(a.rank, b.rank)
		case a.line != b.line:
			return cmp.Compare(a.line, b.line)
		}
		return cmp.Compare(a.seq, b.seq)
	})
}

func (h *hits) data(i int) []byte {
	if hit := h.list[i]; hit.size >= 0 {
		return h.tags.tree.data[hit.off : hit.off+int64(hit.size)]
	}
	return h.spilled[h.list[i].off]
}

// collect gathers the visible records of the key, on which the cursor is put.
func (m *member) collect(t *tags, c *cursor, key []byte) (hits, error) {
	h := hits{tags: t}
	if err := c.forward(t.tree, key); err != nil {
		return h, err
	}
	err := c.each(key, func(data []byte) (bool, error) {
		r, rank, err := m.record(t, key, data)
		if err == nil && !m.hidden.has(rank) {
			h.add(rank, r.line, data)
		}
		return true, err
	})
	h.sort()
	return h, err
}

// record reads a record and finds its file.
func (m *member) record(t *tags, key, data []byte) (r record, rank int, err error) {
	r, ok := parseRecord(data, t.compact)
	if !ok {
		return r, 0, t.badRecord(key, data)
	}
	if rank, ok = m.paths.rank(r.fid); !ok {
		off, _ := t.offset(data)
		return r, 0, t.corrupt(off, "a record names file %d, which is not in GPATH", r.fid)
	}
	return r, rank, nil
}

// shows reports whether one of the records of key, on which the cursor stands, is
// visible. It may move the cursor among them.
func (m *member) shows(t *tags, c *cursor, key []byte) (visible bool, err error) {
	if m.hidden == nil {
		return c.at(key)
	}
	err = c.each(key, func(data []byte) (bool, error) {
		_, rank, err := m.record(t, key, data)
		visible = err == nil && !m.hidden.has(rank)
		return !visible, err
	})
	return visible, err
}

func (m *member) definitions(c *cursor, name string) ([]Site, error) {
	key, ok := keyOf(make([]byte, 0, 64), name)
	if !ok {
		return nil, nil
	}
	t := &m.defs
	hits, err := m.collect(t, c, key)
	if err != nil || len(hits.list) == 0 {
		return nil, err
	}
	sites := make([]Site, 0, len(hits.list))
	for i, h := range hits.list {
		site := Site{Path: m.paths.path(int(h.rank)), HasImage: !t.compact}
		if sites, ok = t.appendSites(sites, site, hits.data(i), name); !ok {
			return nil, t.badRecord(key, hits.data(i))
		}
	}
	return sites, nil
}

func (m *member) occurrences(name string) ([]FileLines, error) {
	key, ok := keyOf(make([]byte, 0, 64), name)
	if !ok {
		return nil, nil
	}
	t := &m.refs
	hits, err := m.collect(t, &cursor{}, key)
	if err != nil || len(hits.list) == 0 {
		return nil, err
	}
	// All lines stand in one slice; a file's are cut from it when it has stopped
	// moving.
	lines := make([]int, 0, 2*len(hits.list))
	files, ends := make([]FileLines, 0, len(hits.list)), make([]int, 0, len(hits.list))
	for i, h := range hits.list {
		if lines, ok = t.appendLines(lines, hits.data(i)); !ok {
			return nil, t.badRecord(key, hits.data(i))
		}
		if i > 0 && h.rank == hits.list[i-1].rank {
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
