package index

import (
	"context"
	"time"
)

// changes are the differences between a generation and the tree.
type changes struct {
	added, changed []entry
	removed        []string
	notes          []string // of the listing
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

// scan lists the tree and looks at every file.
func (x *Index) scan(ctx context.Context, langmap string) (found []entry, l listing, err error) {
	match, err := matcher(langmap, x.opts.SkipGlobs)
	if err != nil {
		return nil, l, err
	}
	if l, err = list(ctx, x.root, x.opts, match); err != nil {
		return nil, l, err
	}
	now := time.Now()
	if found, err = statAll(ctx, x.root, l.paths); err != nil {
		return nil, l, err
	}
	hashRacy(x.root, found, now)
	return found, l, nil
}
