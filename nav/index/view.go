package index

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
	"github.com/gtagsmcp/gtagsmcp/nav/outline"
)

// view is one generation, open for reading: a base and its deltas.
type view struct {
	current current
	layers  []*layer
	set     *gtagsdb.Set
	// overlay has the newest layer of each path that a delta holds.
	overlay  map[string]owner
	outlines atomic.Pointer[outline.Set] // nil until every layer has its outline
	refs     atomic.Int32

	listed  sync.Once
	fileSet fileSet
}

type owner struct {
	layer int
	*entry
}

// errMoved means that CURRENT changed while its layers were being opened.
var errMoved = errors.New("the index was replaced while it was being opened")

// rejected is a generation in which damage was found. Its base is told from a
// later one of that name, made after Clean, by the identity of its pin.
type rejected struct {
	current
	pin identity
}

func reject(dir string, cur current) rejected {
	pin, _ := lstat(filepath.Join(dir, cur.base, pinName))
	return rejected{cur, pin}
}

// errRejected means that CURRENT names a base in which damage was found.
var errRejected = errors.New("the index is damaged")

// openView opens the generation that CURRENT names, unless its base is that of
// bad. Layers that old has open
// are shared with it. A layer that cannot be opened although CURRENT still
// names it is damaged.
func openView(dir string, old *view, bad rejected) (*view, error) {
	for attempt := 0; ; attempt++ {
		cur, err := readCurrent(dir)
		if err != nil {
			return nil, err
		}
		if cur.base == bad.base && reject(dir, cur).pin == bad.pin {
			return nil, errRejected
		}
		v, err := openLayers(dir, cur, old)
		// The layers were pinned after CURRENT was read, so a writer may have
		// removed them in between. If it still names them, nobody has.
		again, err2 := readCurrent(dir)
		if err2 == nil && again.equal(cur) {
			return v, err
		}
		if err == nil {
			v.release()
		}
		if attempt == 10 {
			return nil, errMoved
		}
	}
}

func openLayers(dir string, cur current, old *view) (_ *view, err error) {
	v := &view{current: cur}
	v.refs.Store(1)
	defer func() {
		if err != nil {
			v.release()
		}
	}()
	for _, name := range cur.layers() {
		l := old.layer(name)
		if l == nil {
			if l, err = openLayer(dir, name); err != nil {
				return nil, err
			}
		}
		l.retain()
		v.layers = append(v.layers, l)
		if len(v.layers) > 1 && l.manifest.Base != v.layers[0].manifest.ID {
			return nil, &CorruptError{Path: l.dir, Err: fmt.Errorf("it is no delta of %s", cur.base)}
		}
	}
	return v, v.join()
}

// join makes the layers one set, in which the newest layer of a path counts.
func (v *view) join() (err error) {
	v.overlay = map[string]owner{}
	for i, l := range v.layers[1:] {
		for j := range l.table {
			v.overlay[l.table[j].path] = owner{i + 1, &l.table[j]}
		}
	}
	var members []gtagsdb.Member
	for i, l := range v.layers {
		hidden := func(path string) bool { o, ok := v.overlay[path]; return ok && o.layer > i }
		if i == 0 && l.manifest.Seeded {
			// It may hold files that do not belong to the set.
			replaced := hidden
			hidden = func(path string) bool { return replaced(path) || find(l.table, path) == nil }
		} else if i == len(v.layers)-1 || len(v.overlay) == 0 {
			hidden = nil
		}
		for _, db := range l.dbs {
			members = append(members, gtagsdb.Member{DB: db, Hidden: hidden})
		}
	}
	v.set, err = gtagsdb.NewSet(members...)
	return err
}

// hidden tells which paths of layer i a newer layer replaces; nil: none.
func (v *view) hidden(i int) func(path string) bool {
	if i == len(v.layers)-1 || len(v.overlay) == 0 {
		return nil
	}
	return func(path string) bool { o, ok := v.overlay[path]; return ok && o.layer > i }
}

// layer is the open layer of that name, provided that it is still the one on disk.
func (v *view) layer(name string) *layer {
	if v == nil {
		return nil
	}
	for _, l := range v.layers {
		if l.name != name {
			continue
		}
		mine, err := l.pin.Stat()
		now, err2 := os.Stat(filepath.Join(l.dir, pinName))
		if err == nil && err2 == nil && os.SameFile(mine, now) {
			return l
		}
	}
	return nil
}

// each calls f for every file of the generation, in no order.
func (v *view) each(f func(e *entry)) {
	for i := range v.layers[0].table {
		e := &v.layers[0].table[i]
		if _, hidden := v.overlay[e.path]; !hidden {
			f(e)
		}
	}
	for _, o := range v.overlay {
		if o.kind != gone {
			f(o.entry)
		}
	}
}

// skipped are the files left out of this generation.
func (v *view) skipped() []Skipped {
	var all []Skipped
	for i, l := range v.layers {
		for _, s := range l.manifest.Skipped {
			if o, ok := v.overlay[s.Path]; !ok || o.layer == i {
				all = append(all, s)
			}
		}
	}
	return all
}

func (v *view) retain() { v.refs.Add(1) }

func (v *view) release() {
	if v.refs.Add(-1) == 0 {
		for _, l := range v.layers {
			l.release()
		}
	}
}
