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
// are sorted by path. A nil v has no files.
func compare(root string, v *view, found []entry) (c changes) {
	var base []entry
	var overlay map[string]owner
	if v != nil {
		base, overlay = v.layers[0].table, v.overlay
	}
	met := 0 // files of overlay that are in the tree
	i := 0
	for _, now := range found {
		for i < len(base) && base[i].path < now.path {
			if _, hidden := overlay[base[i].path]; !hidden {
				c.removed = append(c.removed, base[i].path)
			}
			i++
		}
		var old *entry
		if i < len(base) && base[i].path == now.path {
			old = &base[i]
			i++
		}
		if o, ok := overlay[now.path]; ok {
			met++
			if old = o.entry; o.kind == gone {
				old = nil
			}
		}
		switch {
		case old == nil:
			c.added = append(c.added, now)
		case !old.same(root, now.identity):
			c.changed = append(c.changed, now)
		}
	}
	for ; i < len(base); i++ {
		if _, hidden := overlay[base[i].path]; !hidden {
			c.removed = append(c.removed, base[i].path)
		}
	}
	if met < len(overlay) {
		for path, o := range overlay {
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
