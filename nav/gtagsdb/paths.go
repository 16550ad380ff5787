package gtagsdb

import (
	"bytes"
	"math"
	"sort"
	"strings"
)

// GPATH holds two records a file, and the next free number:
//
//	"./net/ipv4/tcp.c" NUL  ->  "4711" NUL              a source file
//	"./README" NUL          ->  "15" NUL "o" NUL        any other file
//	"4711" NUL              ->  "./net/ipv4/tcp.c" NUL  (with the flag, likewise)
//	" __.NEXTKEY" NUL       ->  "56772" NUL
//
// Numbers (fids) count from 1, may have holes, and mean nothing elsewhere. Tag
// records name their file by fid.
//
// paths is that list in memory. All paths stand in one string in byte order, so
// a path costs no allocation, and hits sort by rank, the place in that order.
type paths struct {
	all   string
	ends  []uint32 // by rank, in all
	other bitmap   // by rank: not a source file
	ranks []uint32 // by fid: rank + 1, 0 = no such file
}

// bitmap is a set of small numbers; it grows as they are added.
type bitmap []uint64

func (b bitmap) has(i int) bool { return i/64 < len(b) && b[i/64]&(1<<(i%64)) != 0 }

func (b *bitmap) add(i int) {
	if more := i/64 + 1 - len(*b); more > 0 {
		*b = append(*b, make(bitmap, more)...)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

// maxFid bounds the table by fid; gtags hands a number out only once, so this
// many files would have to have come and gone in one index.
const maxFid = 1 << 24

var pathPrefix = []byte("./")

// readPaths loads the list. next is the value of NEXTKEY, a hint of its size.
func readPaths(t *tree, next string) (*paths, error) {
	files, _, _ := number([]byte(next))
	files = min(files, len(t.data)/64, maxFid) // two records take more than 64 bytes
	p := &paths{ends: make([]uint32, 0, files), ranks: make([]uint32, 0, files)}
	all := make([]byte, 0, files*40)
	c, err := t.seek(pathPrefix)
	for ; err == nil && !c.done(); err = c.step() {
		key, err := c.key(c.i)
		if err != nil {
			return nil, err
		}
		if !bytes.HasPrefix(key, pathPrefix) {
			break
		}
		name, ok := text(key)
		if !ok || !confined(name) || int64(len(all)) > math.MaxUint32-int64(len(name)) {
			return nil, c.corrupt(pageHeader+2*c.i, "%.200q is not a path within the project", key)
		}
		if err := p.number(&c, name); err != nil {
			return nil, err
		}
		all = append(all, name[len(pathPrefix):]...)
		p.ends = append(p.ends, uint32(len(all)))
	}
	p.all = string(all)
	return p, err
}

// number takes over the number of the next file, name, from the data at c.
func (p *paths) number(c *cursor, name []byte) error {
	value, err := c.value(c.i)
	if err != nil {
		return err
	}
	fid, source, ok := parseFid(value)
	if !ok || fid == 0 || fid > maxFid {
		return c.corrupt(pageHeader+2*c.i, "%.40q is not the number of file %.200q", value, name)
	}
	if more := fid + 1 - len(p.ranks); more > 0 {
		p.ranks = append(p.ranks, make([]uint32, more)...)
	}
	if p.ranks[fid] != 0 {
		return c.corrupt(pageHeader+2*c.i, "number %d of file %.200q is taken", fid, name)
	}
	rank := len(p.ends)
	p.ranks[fid] = uint32(rank + 1)
	if !source {
		p.other.add(rank)
	}
	return nil
}

// parseFid reads the data of a path: its number, and the flag of other files.
func parseFid(value []byte) (fid int, source, ok bool) {
	fid, rest, ok := number(value)
	if !ok || len(rest) == 0 || rest[0] != 0 {
		return 0, false, false
	}
	flag := string(rest[1:])
	return fid, flag == "", flag == "" || flag == "o\x00"
}

// confined reports whether name is `./` and a path that stays below: a database
// is not trusted to name files elsewhere.
func confined(name []byte) bool {
	rest, ok := bytes.CutPrefix(name, pathPrefix)
	if !ok || bytes.IndexByte(rest, 0) >= 0 {
		return false
	}
	// Most paths need no closer look: an element to refuse is empty or begins with
	// a dot.
	suspect := len(rest) == 0
	last := byte('/')
	for _, c := range rest {
		suspect = suspect || last == '/' && (c == '/' || c == '.')
		last = c
	}
	if !suspect && last != '/' {
		return true
	}
	for more := true; more; {
		var element []byte
		element, rest, more = bytes.Cut(rest, []byte("/"))
		switch string(element) {
		case "", ".", "..":
			return false
		}
	}
	return true
}

func (p *paths) len() int { return len(p.ends) }

func (p *paths) start(rank int) uint32 {
	if rank == 0 {
		return 0
	}
	return p.ends[rank-1]
}

func (p *paths) path(rank int) string { return p.all[p.start(rank):p.ends[rank]] }

// rank finds the file with that number.
func (p *paths) rank(fid int) (int, bool) {
	if fid >= len(p.ranks) || p.ranks[fid] == 0 {
		return 0, false
	}
	return int(p.ranks[fid]) - 1, true
}

// find gives the rank of a path.
func (p *paths) find(path string) (int, bool) {
	return sort.Find(p.len(), func(i int) int { return strings.Compare(path, p.path(i)) })
}
