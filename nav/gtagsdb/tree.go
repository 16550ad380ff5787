package gtagsdb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync/atomic"
)

// The container: a btree of Berkeley DB 1.85.
//
// A file is an array of pages of one size; page n begins at n*size, and the
// number of pages is the file size divided by that. Page 0 describes the file,
// page 1 is the root. Integers have the byte order of the machine that wrote the
// file, shown by the magic number alone.
//
//	page 0:  0 u32 magic 0x053162    4 u32 version 3     8 u32 page size
//	        12 u32 first free page  16 u32 unused       20 u32 flags
//
// Flag 0x20 (GPATH only) says that keys are distinct. Free pages are chained
// through `next` and keep their old contents. gtags writes page 0 last, so magic
// 0 means that it has not finished.
//
//	every other page:
//	         0 u32 its own number    4 u32 previous      8 u32 next, 0 = none
//	        12 u32 type             16 u16 lower        18 u16 upper
//
// Types are 1 internal, 2 leaf, 4 overflow; bit 0x20 beside them is no matter.
// From offset 20 to `lower` stands one u16 for each entry, in key order: the
// offset of the entry in the page, a multiple of 4. The entries, each padded to
// a multiple of 4, fill the page from `upper` to its end, in no order.
//
//	leaf entry:      u32 key size, u32 data size, u8 flags, key, data
//	internal entry:  u32 key size, u32 child page, u8 flags, key
//
// Flag 1 (data) or 2 (key) says that 8 bytes stand in its place: u32 first
// overflow page, u32 size. The bytes are those from offset 20 on of that page
// and of its followers.
//
// Keys are ordered as bytes. Equal keys stand side by side over any number of
// leaves, each with its data, in an order that means nothing. The key of an
// internal entry is not less than any key of the child before it and not greater
// than any of its own child; it may be cut short, and may repeat. The first key
// of an internal page is undefined on the left edge and is never compared.
const (
	metaMagic   = 0x00053162
	metaVersion = 3
	flagUnique  = 0x20

	rootPage   = 1
	pageHeader = 20
	kindMask   = 0x1f

	kindInternal = 1
	kindLeaf     = 2
	kindOverflow = 4

	entryHeader  = 9
	dataOverflow = 1
	keyOverflow  = 2

	// With two entries a page this depth holds 2^32 pages, more than can be numbered.
	maxDepth = 32
)

// tree is one mapped file. Its methods may be called only inside [DB.view].
type tree struct {
	path   string // for errors
	data   []byte
	big    bool // the integers are big endian
	size   int  // of a page
	pages  uint32
	unique bool
	free   uint32 // head of the free list

	sums    []uint32        // by page; nil if the directory has none
	checked []atomic.Uint32 // bit by page: passed every check once
}

// open reads page 0.
func (t *tree) open() error {
	data := t.data
	if len(data) == 0 {
		return t.corrupt(0, "the file is empty: gtags failed or has not finished")
	}
	if bytes.HasPrefix(data, []byte("SQLite format 3\x00")) {
		return t.format(0, "an SQLite database (gtags --sqlite3)")
	}
	if len(data) < 24 {
		return t.corrupt(0, "%d bytes are too few for a database", len(data))
	}
	switch magic := binary.LittleEndian.Uint32(data); {
	case magic == metaMagic:
	case magic == bits.ReverseBytes32(metaMagic):
		t.big = true
	case magic == 0:
		return t.corrupt(0, "magic number 0: gtags was stopped, or has not finished")
	default:
		return t.format(0, "magic number %#08x is not that of a btree", magic)
	}
	if err := t.readMeta(); err != nil {
		return err
	}
	return t.checkSum(0, data[:t.size])
}

func (t *tree) readMeta() error {
	if v := t.u32(t.data[4:]); v != metaVersion {
		return t.format(4, "btree version %d, want %d", v, metaVersion)
	}
	size := t.u32(t.data[8:])
	if size < 512 || size > 1<<16 || size%2 != 0 {
		return t.corrupt(8, "page size %d", size)
	}
	flags := t.u32(t.data[20:])
	if flags&^flagUnique != 0 {
		return t.format(20, "flags %#x", flags)
	}
	t.unique = flags == flagUnique
	t.size = int(size)
	t.free = t.u32(t.data[12:])
	n := len(t.data) / t.size
	if n < 2 || len(t.data)%t.size != 0 || int64(n) > 1<<32-1 {
		return t.corrupt(int64(len(t.data)), "file size %d is not a number of pages of %d bytes", len(t.data), t.size)
	}
	t.pages = uint32(n)
	t.checked = make([]atomic.Uint32, n/32+1)
	return nil
}

func (t *tree) u16(b []byte) uint16 {
	v := binary.LittleEndian.Uint16(b)
	if t.big {
		v = bits.ReverseBytes16(v)
	}
	return v
}

func (t *tree) u32(b []byte) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if t.big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

func (t *tree) corrupt(off int64, reason string, args ...any) error {
	return &CorruptError{Path: t.path, Offset: off, Reason: fmt.Sprintf(reason, args...)}
}

func (t *tree) format(off int64, reason string, args ...any) error {
	return &FormatError{Path: t.path, Offset: off, Reason: fmt.Sprintf(reason, args...)}
}

// page is one internal or leaf page whose header has been checked.
type page struct {
	t     *tree
	no    uint32
	kind  uint32
	n     int    // number of entries
	upper int    // offset of the lowest entry
	b     []byte // the whole page
}

// raw gives the bytes of a page. The first time, the page has to pass every
// check; that costs about a microsecond, a lookup reads three or four pages, and
// what the checks can find is then never answered from. Later reads check again
// what keeps them within the page, since the memory is not ours.
func (t *tree) raw(no uint32) ([]byte, error) {
	if no == 0 || no >= t.pages {
		return nil, t.corrupt(int64(len(t.data)), "reference to page %d, but the file has %d", no, t.pages)
	}
	off := int(no) * t.size
	b := t.data[off : off+t.size : off+t.size]
	if t.checked[no/32].Load()&(1<<(no%32)) == 0 {
		if err := t.check(no, b); err != nil {
			return nil, err
		}
		t.checked[no/32].Or(1 << (no % 32))
	}
	return b, nil
}

func (t *tree) check(no uint32, b []byte) error {
	at := int64(no) * int64(t.size)
	if err := t.checkSum(no, b); err != nil {
		return err
	}
	if self := t.u32(b); self != no {
		return t.corrupt(at, "page %d says that it is page %d", no, self)
	}
	switch kind := t.u32(b[12:]) & kindMask; kind {
	case kindInternal, kindLeaf:
		p, err := t.parse(no, b)
		if err != nil {
			return err
		}
		return p.checkEntries()
	case kindOverflow:
		return nil
	default:
		return t.corrupt(at+12, "page of type %d", kind)
	}
}

func (t *tree) page(no uint32) (page, error) {
	b, err := t.raw(no)
	if err != nil {
		return page{}, err
	}
	return t.parse(no, b)
}

// parse reads the header of a page of the tree.
func (t *tree) parse(no uint32, b []byte) (page, error) {
	p := page{t: t, no: no, kind: t.u32(b[12:]) & kindMask, b: b}
	lower, upper := int(t.u16(b[16:])), int(t.u16(b[18:]))
	if p.kind != kindInternal && p.kind != kindLeaf {
		return page{}, p.corrupt(12, "type %d where a page of the tree belongs", p.kind)
	}
	if upper == 0 {
		upper = 1 << 16 // which cannot be written in a page of that size
	}
	if lower < pageHeader || lower > upper || upper > t.size || lower%2 != 0 {
		return page{}, p.corrupt(16, "entries from %d to %d", lower, upper)
	}
	p.n, p.upper = (lower-pageHeader)/2, upper
	if p.kind == kindInternal && p.n == 0 {
		return page{}, p.corrupt(16, "an internal page without entries")
	}
	return p, nil
}

// checkEntries checks that the entries lie in the page and fill it from upper to
// its end, neither more nor less, and that keys ascend.
func (p *page) checkEntries() error {
	var last []byte
	unused := p.t.size - p.upper
	for i := range p.n {
		key, size, err := p.checkEntry(i)
		if err != nil {
			return err
		}
		unused -= (size + 3) &^ 3
		if p.kind == kindInternal && i == 0 {
			continue // this key is undefined
		}
		if order := bytes.Compare(last, key); order > 0 || order == 0 && p.t.unique {
			return p.corrupt(pageHeader+2*i, "key %.80q stands behind %.80q", key, last)
		}
		last = key
	}
	if unused != 0 {
		return p.corrupt(16, "the %d entries of page %d do not fill it: %d bytes are left", p.n, p.no, unused)
	}
	return nil
}

// checkEntry gives the key of an entry and the size of the whole. It does not
// follow data that has overflowed: a page could ask for the whole file 400 times.
func (p *page) checkEntry(i int) (key []byte, size int, err error) {
	off, err := p.entry(i)
	if err != nil {
		return nil, 0, err
	}
	if key, err = p.key(i); err != nil {
		return nil, 0, err
	}
	keySize := p.t.u32(p.b[off:])
	size = entryHeader + int(keySize)
	if p.kind == kindLeaf {
		data, err := p.cut(off, uint64(size), p.t.u32(p.b[off+4:]))
		return key, size + len(data), err
	}
	if child := p.child(i); child == 0 || child >= p.t.pages {
		err = p.corrupt(off+4, "child page %d, but the file has %d", child, p.t.pages)
	}
	return key, size, err
}

func (p *page) corrupt(off int, reason string, args ...any) error {
	return p.t.corrupt(int64(p.no)*int64(p.t.size)+int64(off), reason, args...)
}

func (p *page) prev() uint32 { return p.t.u32(p.b[4:]) }
func (p *page) next() uint32 { return p.t.u32(p.b[8:]) }

// entry finds the header of entry i, checked to lie in the page.
func (p *page) entry(i int) (off int, err error) {
	at := pageHeader + 2*i
	off = int(p.t.u16(p.b[at:]))
	if off < p.upper || off > p.t.size-entryHeader || off%4 != 0 {
		return 0, p.corrupt(at, "entry %d at %d is outside its page", i, off)
	}
	return off, nil
}

// key gives the key of entry i. It is mapped memory unless it has overflowed.
func (p *page) key(i int) ([]byte, error) {
	off, err := p.entry(i)
	if err != nil {
		return nil, err
	}
	b, err := p.cut(off, entryHeader, p.t.u32(p.b[off:]))
	return p.follow(b, err, off, keyOverflow)
}

// value gives the data of entry i of a leaf.
func (p *page) value(i int) ([]byte, error) {
	off, err := p.entry(i)
	if err != nil {
		return nil, err
	}
	b, err := p.cut(off, entryHeader+uint64(p.t.u32(p.b[off:])), p.t.u32(p.b[off+4:]))
	return p.follow(b, err, off, dataOverflow)
}

// cut gives size bytes from offset rel of the entry at off.
func (p *page) cut(off int, rel uint64, size uint32) ([]byte, error) {
	from := uint64(off) + rel
	end := from + uint64(size)
	if end > uint64(p.t.size) {
		return nil, p.corrupt(off, "an entry of %d bytes reaches out of its page", rel+uint64(size))
	}
	return p.b[from:end:end], nil
}

// follow gives the bytes that b stands for if the entry at off says that they
// have overflowed, and b if not.
func (p *page) follow(b []byte, err error, off int, overflow byte) ([]byte, error) {
	if err != nil || p.b[off+8]&overflow == 0 {
		return b, err
	}
	if len(b) != 8 {
		return nil, p.corrupt(off, "an overflow reference of %d bytes", len(b))
	}
	return p.t.overflow(p.t.u32(b), p.t.u32(b[4:]))
}

// child gives the page that entry i of an internal page leads to, or 0, which no
// page is, if the entry lies outside.
func (p *page) child(i int) uint32 {
	off, err := p.entry(i)
	if err != nil {
		return 0
	}
	return p.t.u32(p.b[off+4:])
}

// search finds the first entry from lo on whose key is not less than key.
func (p *page) search(key []byte, lo int) (int, error) {
	hi := p.n
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		k, err := p.key(mid)
		if err != nil {
			return 0, err
		}
		if bytes.Compare(k, key) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, nil
}

// overflow collects size bytes from the chain of pages that begins at no.
func (t *tree) overflow(no, size uint32) ([]byte, error) {
	payload := t.size - pageHeader
	if int64(size) > int64(t.pages)*int64(payload) {
		return nil, t.corrupt(int64(no)*int64(t.size), "item of %d bytes, more than the file holds", size)
	}
	out := make([]byte, 0, size)
	// A chain that loops ends too: each page yields bytes, and size is bounded.
	for len(out) < int(size) {
		b, err := t.raw(no)
		if err != nil {
			return nil, err
		}
		if kind := t.u32(b[12:]) & kindMask; kind != kindOverflow {
			return nil, t.corrupt(int64(no)*int64(t.size), "page of type %d in an overflow chain", kind)
		}
		out = append(out, b[pageHeader:pageHeader+min(payload, int(size)-len(out))]...)
		no = t.u32(b[8:])
	}
	return out, nil
}

// cursor stands on an entry of a leaf, or behind the last one of the tree.
type cursor struct {
	page
	i    int
	hops uint32 // leaves passed; more than there are pages means a loop
}

// seek finds the first entry whose key is not less than key. Taking the child
// left of an equal separator lands on the first of equal keys or left of it, so
// one never has to step back.
func (t *tree) seek(key []byte) (c cursor, err error) {
	no := uint32(rootPage)
	for range maxDepth {
		p, err := t.page(no)
		if err != nil {
			return c, err
		}
		if p.kind == kindLeaf {
			c.page = p
			return c, c.enter(key)
		}
		i, err := p.search(key, 1)
		if err != nil {
			return c, err
		}
		no = p.child(i - 1)
	}
	return c, t.corrupt(int64(no)*int64(t.size), "tree deeper than %d pages", maxDepth)
}

// enter takes the place of key on the leaf to which the descent has led, or at
// the begin of the next one. If that begins with a lesser key the separators lie,
// and a loop that asks for key after key would not come forward.
func (c *cursor) enter(key []byte) (err error) {
	if c.i, err = c.search(key, 0); err != nil || c.i < c.n {
		return err
	}
	if err = c.settle(); err != nil || c.done() {
		return err
	}
	k, err := c.key(0)
	if err == nil && bytes.Compare(k, key) < 0 {
		err = c.corrupt(0, "the tree leads to the leaf before this one for %.80q", key)
	}
	return err
}

func (c *cursor) done() bool { return c.i >= c.n }

func (c *cursor) step() error {
	c.i++
	return c.settle()
}

// settle moves on to the next leaf while this one has no entry left.
func (c *cursor) settle() error {
	for c.i >= c.n {
		no := c.next()
		if no == 0 {
			return nil
		}
		p, err := c.t.page(no)
		if err != nil {
			return err
		}
		if p.kind != kindLeaf || p.prev() != c.no {
			return p.corrupt(0, "page %d does not follow leaf %d, which leads to it", no, c.no)
		}
		if c.hops++; c.hops > c.t.pages {
			return p.corrupt(0, "the chain of leaves loops")
		}
		c.page, c.i = p, 0
	}
	return nil
}

// forward moves to the first entry whose key is not less than key, which must not
// be less than that of an earlier call. A new cursor may be used. When the place
// is on the present leaf, as it is for names in order, this costs no descent.
func (c *cursor) forward(t *tree, key []byte) error {
	if c.i < c.n {
		last, err := c.key(c.n - 1)
		if err != nil {
			return err
		}
		if bytes.Compare(last, key) >= 0 {
			c.i, err = c.search(key, c.i)
			return err
		}
	}
	var err error
	*c, err = t.seek(key)
	return err
}

// at reports whether the cursor stands on an entry of key.
func (c *cursor) at(key []byte) (bool, error) {
	if c.done() {
		return false, nil
	}
	k, err := c.key(c.i)
	return err == nil && bytes.Equal(k, key), err
}

// each calls f with the data of every record of key, from the first, on which
// the cursor stands, to the last, in tree order, while f returns true.
func (c *cursor) each(key []byte, f func(data []byte) (more bool, err error)) error {
	copied := 0
	for {
		if ok, err := c.at(key); !ok || err != nil {
			return err
		}
		data, err := c.value(c.i)
		if err != nil {
			return err
		}
		if _, mapped := c.t.offset(data); !mapped {
			if copied += len(data); copied > len(c.t.data) {
				return c.corrupt(0, "the records of %.80q share overflow pages", key)
			}
		}
		if more, err := f(data); !more || err != nil {
			return err
		}
		if err := c.step(); err != nil {
			return err
		}
	}
}
