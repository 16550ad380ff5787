package gtagsdb

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"
)

// pair is a record of a database, NULs and all.
type pair struct{ key, data string }

// shape is how a test database is written: by the format comment in tree.go alone,
// so that both byte orders, page sizes that gtags never uses, and deep trees are
// read too.
type shape struct {
	order  binary.AppendByteOrder
	size   int // of a page
	unique bool
}

type builder struct {
	shape
	binary.ByteOrder
	pages [][]byte
}

// encode writes records, which it sorts, as a database.
func (s shape) encode(records []pair) []byte {
	b := &builder{shape: s, ByteOrder: s.order.(binary.ByteOrder)}
	b.pages = make([][]byte, 2) // the root is written last
	records = slices.Clone(records)
	slices.SortStableFunc(records, func(a, b pair) int { return bytes.Compare([]byte(a.key), []byte(b.key)) })
	var entries [][]byte
	for _, r := range records {
		entries = append(entries, b.leafEntry(r))
	}
	level, keys := b.level(kindLeaf, entries, func(i int) string { return records[i].key })
	for len(level) > 1 {
		entries = entries[:0]
		for i, no := range level {
			entries = append(entries, b.internalEntry(keys[i], no))
		}
		below := keys
		level, keys = b.level(kindInternal, entries, func(i int) string { return below[i] })
	}
	// The root has page 1; the page it was written to stays unused.
	b.pages[1] = bytes.Clone(b.pages[level[0]])
	b.PutUint32(b.pages[1], 1)
	b.pages[0] = b.meta()
	return bytes.Join(b.pages, nil)
}

func (b *builder) meta() []byte {
	flags := uint32(0)
	if b.unique {
		flags = flagUnique
	}
	page := make([]byte, b.size)
	for i, v := range []uint32{metaMagic, metaVersion, uint32(b.size), 0, 0, flags} {
		b.PutUint32(page[4*i:], v)
	}
	return page
}

func (b *builder) add(page []byte) uint32 {
	no := uint32(len(b.pages))
	b.PutUint32(page, no)
	b.pages = append(b.pages, page)
	return no
}

func (b *builder) leafEntry(r pair) []byte {
	flags := byte(0)
	key, data := []byte(r.key), []byte(r.data)
	limit := (b.size-20)/2 - 14
	if len(key)+len(data) > limit {
		flags |= dataOverflow
		data = b.overflow(data)
		if len(key)+len(data) > limit {
			flags |= keyOverflow
			key = b.overflow(key)
		}
	}
	e := b.order.AppendUint32(nil, uint32(len(key)))
	e = b.order.AppendUint32(e, uint32(len(data)))
	return slices.Concat(e, []byte{flags}, key, data)
}

func (b *builder) internalEntry(key string, child uint32) []byte {
	flags, k := byte(0), []byte(key)
	if len(k) > b.size/4 {
		flags, k = keyOverflow, b.overflow(k)
	}
	e := b.order.AppendUint32(nil, uint32(len(k)))
	e = b.order.AppendUint32(e, child)
	return slices.Concat(e, []byte{flags}, k)
}

// overflow writes an item to pages of its own and returns the reference.
func (b *builder) overflow(item []byte) []byte {
	first := uint32(len(b.pages))
	payload := b.size - pageHeader
	for rest := item; ; rest = rest[payload:] {
		page := make([]byte, b.size)
		b.PutUint32(page[12:], kindOverflow)
		copy(page[pageHeader:], rest)
		no := b.add(page)
		if len(rest) <= payload {
			break
		}
		b.PutUint32(page[8:], no+1)
	}
	return b.order.AppendUint32(b.order.AppendUint32(nil, first), uint32(len(item)))
}

// level packs entries into linked pages and returns the pages and their first keys.
func (b *builder) level(kind uint32, entries [][]byte, key func(int) string) (level []uint32, keys []string) {
	for i := 0; i < len(entries) || len(level) == 0; {
		page := make([]byte, b.size)
		b.PutUint32(page[12:], kind)
		lower, upper, first := pageHeader, b.size, i
		for ; i < len(entries); i++ {
			size := (len(entries[i]) + 3) &^ 3
			if lower+2+size > upper {
				break
			}
			upper -= size
			copy(page[upper:], entries[i])
			b.PutUint16(page[lower:], uint16(upper))
			lower += 2
		}
		b.PutUint16(page[16:], uint16(lower))
		b.PutUint16(page[18:], uint16(upper))
		no := b.add(page)
		if len(level) > 0 {
			last := level[len(level)-1]
			b.PutUint32(b.pages[last][8:], no)
			b.PutUint32(page[4:], last)
		}
		level = append(level, no)
		if len(entries) > 0 {
			keys = append(keys, key(first))
		}
	}
	return level, keys
}

// images are the three files of a database.
type images struct{ gtags, grtags, gpath []byte }

// open makes a DB of bytes, without files. It must not be closed.
func (im images) open() (*DB, error) {
	db := &DB{gpath: &tree{path: "GPATH", data: im.gpath}}
	db.defs.tree = &tree{path: "GTAGS", data: im.gtags}
	db.refs.tree = &tree{path: "GRTAGS", data: im.grtags}
	return db, db.view(db.load)
}

// records reads all records of a tree, metadata too.
func records(t testing.TB, tr *tree) []pair {
	t.Helper()
	var out []pair
	c, err := tr.seek(nil)
	for ; err == nil && !c.done(); err = c.step() {
		key, err := c.key(c.i)
		if err != nil {
			t.Fatal(err)
		}
		data, err := c.value(c.i)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, pair{string(key), string(data)})
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// smallDB is a little of everything: overflow, split and many records, o files.
func smallDB(s shape) images { return s.database(9000, 300) }

// database has a line of so many words, and so many records of one name.
func (s shape) database(words, many int) images {
	defs := []pair{
		{" __.VERSION\x00", " __.VERSION 6\x00"},
		{" __.COMPRESS\x00", " __.COMPRESS ddefine ttypedef\x00"},
		{" __.COMPNAME\x00", " __.COMPNAME\x00"},
		{"alpha\x00", "4 @n 1 int @n(void) { return beta() + gamma(); }\x00"},
		{"alpha\x00", "2 @n 9 #@d @n@4\"@@\"@{12}|\x00"},
		{"Alpha\x00", "4 @n 2 @t int @n;\x00"},
		{"long\x00", "7 @n 3 " + string(bytes.Repeat([]byte("long "), words)) + "\x00"},
		{"@iv\x00", "1 @@iv 3 @@iv = 1\x00"},
	}
	refs := []pair{
		{" __.VERSION\x00", " __.VERSION 6\x00"},
		{" __.COMPACT\x00", " __.COMPACT\x00"},
		{" __.COMPLINE\x00", " __.COMPLINE\x00"},
		{" __.COMPNAME\x00", " __.COMPNAME\x00"},
		{"beta\x00", "4 @n 3,2-4,10\x00"},
		{"alpha\x00", "7 @n 100-3\x00"},
		{"alpha\x00", "7 @n 1,1\x00"},
	}
	paths := []pair{
		{" __.VERSION\x00", " __.VERSION 2\x00"},
		{" __.NEXTKEY\x00", "8\x00"},
	}
	for fid, name := range []string{1: "./a.rb", 2: "./b/c d.c", 4: "./a.c", 7: "./b.c"} {
		if name != "" {
			n := string(rune('0'+fid)) + "\x00"
			paths = append(paths, pair{name + "\x00", n}, pair{n, name + "\x00"})
		}
	}
	paths = append(paths, pair{"./README\x00", "5\x00o\x00"}, pair{"5\x00", "./README\x00o\x00"})
	for i := range many {
		name := string([]byte{'m', byte('a' + i/26%26), byte('a' + i%26), 0})
		refs = append(refs, pair{name, "4 @n 5\x00"}, pair{"many\x00", "2 @n " + "7\x00"})
	}
	u := s
	u.unique = true
	return images{s.encode(defs), s.encode(refs), u.encode(paths)}
}
