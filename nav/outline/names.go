package outline

import (
	"bytes"
	"fmt"
	"math"
)

// nameCursor walks the names of a store in byte order. It is used inside view.
type nameCursor struct {
	*Store
	block    int // the present one
	r        reader
	left     int // how many names it can still have
	name     []byte
	postings []byte
}

// load starts to read a block.
func (c *nameCursor) load(block int) error {
	body, err := c.nameBlock(block)
	if err != nil {
		return err
	}
	c.block, c.r, c.left, c.name = block, reader{b: body}, blockNames, c.name[:0]
	return nil
}

// blockPart returns a block from its size on, and where it stands.
func (s *Store) blockPart(block int) ([]byte, uint64, error) {
	at := s.header.index + 8*uint64(block)
	off := le.Uint64(s.data[at:])
	if off < s.header.names || off >= s.header.index {
		return nil, 0, s.corrupt(at, fmt.Errorf("block %d of names at %d lies outside of the names", block, off))
	}
	return s.data[off:s.header.index], off, nil
}

// nameBlock returns the body of a block.
func (s *Store) nameBlock(block int) ([]byte, error) {
	part, off, err := s.blockPart(block)
	if err != nil {
		return nil, err
	}
	r := reader{b: part}
	size := r.number(math.MaxInt32)
	b := r.bytes(uint64(size) + 4)
	if r.bad {
		return nil, s.corrupt(off, errMalformed)
	}
	body, err := checked(b)
	if err != nil {
		return nil, s.corrupt(off, err)
	}
	return body, nil
}

// first returns the first name of a block, without looking at its checksum.
func (s *Store) first(block int) ([]byte, error) {
	part, off, err := s.blockPart(block)
	if err != nil {
		return nil, err
	}
	r := reader{b: part}
	r.uvarint()
	r.bytes(4)
	if r.number(1); r.bad {
		return nil, s.corrupt(off, errMalformed)
	}
	name := r.bytes(r.uvarint())
	if r.bad {
		return nil, s.corrupt(off, errMalformed)
	}
	return name, nil
}

// next moves to the next name; false without an error is the end.
func (c *nameCursor) next() (bool, error) {
	for len(c.r.b) == 0 {
		if c.block+1 >= int(c.header.blocks) {
			return false, nil
		}
		if err := c.load(c.block + 1); err != nil {
			return false, err
		}
	}
	c.name = c.r.shared(c.name)
	c.postings = c.r.bytes(c.r.uvarint())
	if c.left--; c.r.bad || c.left < 0 {
		return false, c.corruptBlock()
	}
	return true, nil
}

// seek moves to the first name that is not below name.
func (s *Store) seek(name []byte) (c nameCursor, ok bool, err error) {
	c = nameCursor{Store: s, block: -1}
	lo, hi := 0, int(s.header.blocks) // the first block that begins above name is in [lo, hi]
	for lo < hi {
		mid := (lo + hi) / 2
		first, err := s.first(mid)
		if err != nil {
			return c, false, err
		}
		if bytes.Compare(first, name) > 0 {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if err := c.settle(lo, name); err != nil {
		return c, false, err
	}
	for {
		ok, err := c.next()
		if !ok || bytes.Compare(c.name, name) >= 0 {
			return c, ok, err
		}
	}
}

func (c *nameCursor) corruptBlock() error {
	return c.corrupt(le.Uint64(c.data[c.header.index+8*uint64(c.block):]), errMalformed)
}

// settle loads the block before number lo, in which the search for a name has
// ended. The first names that steered it were not checked; that of block lo has
// to lie above the name, and then there is no other place for it.
func (c *nameCursor) settle(lo int, name []byte) error {
	if lo < int(c.header.blocks) {
		if err := c.load(lo); err != nil {
			return err
		}
		if _, err := c.next(); err != nil {
			return err
		}
		if bytes.Compare(c.name, name) <= 0 {
			return c.corruptBlock()
		}
	}
	if c.block, c.r = -1, (reader{}); lo > 0 {
		return c.load(lo - 1)
	}
	return nil
}

// each passes the postings at the cursor to f until it returns false.
func (c *nameCursor) each(f func(posting) (bool, error)) error {
	r := reader{b: c.postings}
	var p posting
	for len(r.b) > 0 {
		p = r.posting(p)
		if r.bad || int(p.file) >= c.paths.len() || int(p.family) > len(c.families) {
			return c.corruptBlock()
		}
		if more, err := f(p); err != nil || !more {
			return err
		}
	}
	return nil
}
