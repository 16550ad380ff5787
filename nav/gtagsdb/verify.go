package gtagsdb

import (
	"bytes"
	"context"
)

// Progress tells how far [DB.Verify] has come.
type Progress struct {
	File         string // GTAGS, GRTAGS, GPATH
	Pages, Total int    // of that file
}

// Verify reads every page and every record of the three files and reports the
// first thing that is wrong. Besides what each lookup checks it holds the tree
// together: the order of keys across pages, the chain of leaves, the free list,
// every record decoded, every file number known, both directions of GPATH alike.
// It calls progress, which may be nil, now and then.
func (db *DB) Verify(ctx context.Context, progress func(Progress)) error {
	if progress == nil {
		progress = func(Progress) {}
	}
	m := &member{DB: db}
	files := 0
	for _, v := range []verifier{
		{db: db, tree: db.defs.tree, name: "GTAGS", record: m.verifyDefinition},
		{db: db, tree: db.refs.tree, name: "GRTAGS", record: m.verifyOccurrence},
		{db: db, tree: db.gpath, name: "GPATH", record: func(key, data []byte) error {
			if !bytes.HasPrefix(key, pathPrefix) {
				files++
				return db.verifyFile(key, data)
			}
			return nil // Open has read them all
		}},
	} {
		if err := v.run(ctx, progress); err != nil {
			return err
		}
	}
	if files != db.paths.len() {
		return db.gpath.corrupt(0, "%d paths have a number, but %d numbers a path", db.paths.len(), files)
	}
	return nil
}

func (m *member) verifyDefinition(key, data []byte) error {
	t := &m.defs
	_, _, err := m.record(t, key, data)
	if err != nil {
		return err
	}
	if _, ok := t.appendSites(nil, Site{}, data, string(key[:len(key)-1])); !ok {
		return t.badRecord(key, data)
	}
	return nil
}

func (m *member) verifyOccurrence(key, data []byte) error {
	t := &m.refs
	r, _, err := m.record(t, key, data)
	if err != nil {
		return err
	}
	if _, ok := t.name(r.name, string(key[:len(key)-1])); !ok {
		return t.badRecord(key, data)
	}
	if _, ok := t.appendLines(nil, data); !ok {
		return t.badRecord(key, data)
	}
	return nil
}

// verifyFile checks a record that leads from a number to a path.
func (db *DB) verifyFile(key, data []byte) error {
	fid, end, ok := number(key)
	path, flag, ok2 := bytes.Cut(data, []byte{0})
	rank, known := db.paths.rank(fid)
	if !ok || !ok2 || string(end) != "\x00" || !known || string(path) != "./"+db.paths.path(rank) ||
		string(flag) != map[bool]string{true: "o\x00"}[db.paths.other.has(rank)] {
		off, _ := db.gpath.offset(data)
		return db.gpath.corrupt(off, "number %.40q names %.200q, but not the other way round", key, data)
	}
	return nil
}

// verifier goes through one tree in order, a page a step.
type verifier struct {
	db     *DB
	tree   *tree
	name   string
	record func(key, data []byte) error

	todo  []subtree // the next one last
	seen  bitmap    // pages of the tree and of the free list
	bound []byte    // no key to come may be less
	leaf  uint32    // the last one, whose next one must come next
	next  uint32
}

type subtree struct {
	page  uint32
	depth int
	bound []byte // the separator that leads to it, nil if undefined
}

func (v *verifier) run(ctx context.Context, progress func(Progress)) error {
	total := int(v.tree.pages)
	v.todo = []subtree{{page: rootPage}}
	v.next = 0
	for n := 0; len(v.todo) > 0; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if n%256 == 0 {
			progress(Progress{v.name, min(n, total), total})
		}
		if err := v.db.view(v.step); err != nil {
			return err
		}
	}
	if v.next != 0 {
		return v.tree.corrupt(int64(v.leaf)*int64(v.tree.size), "the last leaf has a next one, page %d", v.next)
	}
	if err := v.db.view(v.rest); err != nil {
		return err
	}
	progress(Progress{v.name, total, total})
	return nil
}

func (v *verifier) step() error {
	top := v.todo[len(v.todo)-1]
	v.todo = v.todo[:len(v.todo)-1]
	p, err := v.tree.page(top.page)
	if err != nil {
		return err
	}
	if v.seen.has(int(p.no)) || top.depth >= maxDepth {
		return p.corrupt(0, "page %d is in the tree twice", p.no)
	}
	v.seen.add(int(p.no))
	if top.bound != nil {
		if err := v.ascend(&p, top.bound); err != nil {
			return err
		}
	}
	if p.kind == kindLeaf {
		return v.readLeaf(&p)
	}
	for i := p.n - 1; i >= 0; i-- {
		sub := subtree{page: p.child(i), depth: top.depth + 1}
		if i > 0 {
			key, err := p.key(i)
			if err != nil {
				return err
			}
			sub.bound = bytes.Clone(key)
		}
		v.todo = append(v.todo, sub)
	}
	return nil
}

// ascend takes the next key or separator in order.
func (v *verifier) ascend(p *page, key []byte) error {
	if bytes.Compare(key, v.bound) < 0 {
		return p.corrupt(0, "key %.80q stands behind %.80q", key, v.bound)
	}
	v.bound = append(v.bound[:0], key...)
	return nil
}

func (v *verifier) readLeaf(p *page) error {
	if p.prev() != v.leaf || v.leaf != 0 && v.next != p.no {
		return p.corrupt(0, "leaf %d is not linked with leaf %d, which stands before it", p.no, v.leaf)
	}
	v.leaf, v.next = p.no, p.next()
	for i := range p.n {
		key, err := p.key(i)
		if err != nil {
			return err
		}
		data, err := p.value(i)
		if err != nil {
			return err
		}
		if err := v.ascend(p, key); err != nil {
			return err
		}
		if name, ok := text(key); !ok || len(name) == 0 {
			return p.corrupt(pageHeader+2*i, "key %.80q", key)
		}
		if key[0] <= ' ' {
			continue // metadata: load has read it
		}
		if err := v.record(key, data); err != nil {
			return err
		}
	}
	return nil
}

// rest reads the free list, and the pages that are not in the tree.
func (v *verifier) rest() error {
	for no := v.tree.free; no != 0; {
		b, err := v.tree.raw(no)
		if err != nil {
			return err
		}
		if v.seen.has(int(no)) {
			return v.tree.corrupt(int64(no)*int64(v.tree.size), "page %d is in the free list and elsewhere", no)
		}
		v.seen.add(int(no))
		no = v.tree.u32(b[8:])
	}
	for no := uint32(1); no < v.tree.pages; no++ {
		if _, err := v.tree.raw(no); err != nil {
			return err
		}
	}
	return nil
}
