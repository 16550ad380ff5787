package index

// changes are the differences between a generation and the tree.
type changes struct {
	added, changed []entry
	removed        []string
}

func (c *changes) count() int { return len(c.added) + len(c.changed) + len(c.removed) }

// bytes is how much there is to parse.
func (c *changes) bytes() (n int64) {
	for _, entries := range [][]entry{c.added, c.changed} {
		for i := range entries {
			n += entries[i].size + perFile
		}
	}
	return n
}

// compare finds the changes between v and the files found in the tree, which
// are sorted by path.
func compare(root string, v *view, found []entry) (c changes) {
	base := v.layers[0].table
	met := 0 // files of the overlay that are in the tree
	i := 0
	missing := func(until func(path string) bool) {
		for ; i < len(base) && until(base[i].path); i++ {
			if _, hidden := v.overlay[base[i].path]; !hidden {
				c.removed = append(c.removed, base[i].path)
			}
		}
	}
	for _, now := range found {
		missing(func(path string) bool { return path < now.path })
		var old *entry
		if i < len(base) && base[i].path == now.path {
			old = &base[i]
			i++
		}
		if o, ok := v.overlay[now.path]; ok {
			met++
			old = o.entry
		}
		switch {
		case old == nil || old.kind == gone:
			c.added = append(c.added, now)
		case !old.same(root, now.identity):
			c.changed = append(c.changed, now)
		}
	}
	missing(func(string) bool { return true })
	if met < len(v.overlay) {
		for path, o := range v.overlay {
			if o.kind != gone && find(found, path) == nil {
				c.removed = append(c.removed, path)
			}
		}
	}
	return c
}

// against returns the differences between v and the tree as the last check
// found it.
func (t *tree) against(v *view) *changes {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.diff == nil || t.diffOf != v || t.diffVersion != t.version {
		c := compare(t.root, v, t.state.found)
		t.diff, t.diffOf, t.diffVersion = &c, v, t.version
	}
	return t.diff
}
