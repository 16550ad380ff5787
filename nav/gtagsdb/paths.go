package gtagsdb

import (
	"bytes"
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

type bitmap []uint64

func (b bitmap) has(i int) bool { return b != nil && b[i/64]&(1<<(i%64)) != 0 }

func (b *bitmap) add(i int) {
	for len(*b) <= i/64 {
		*b = append(*b, 0)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

// maxFid bounds the table by fid; gtags hands a number out only once, so this
// many files would have to have come and gone in one index.
const maxFid = 1 << 24

var pathPrefix = []byte("./")

func readPaths(t *tree) (*paths, error) {
	p := &paths{}
	var all strings.Builder
	c, err := t.seek(pathPrefix)
	if err != nil {
		return nil, err
	}
	for !c.done() {
		key, err := c.key(c.i)
		if err != nil {
			return nil, err
		}
		if !bytes.HasPrefix(key, pathPrefix) {
			break
		}
		if err := p.add(&c, key, &all); err != nil {
			return nil, err
		}
		if err := c.step(); err != nil {
			return nil, err
		}
	}
	p.all = all.String()
	if words := (len(p.ends) + 63) / 64; len(p.other) > 0 {
		p.other = append(p.other, make(bitmap, words-len(p.other))...)
	}
	return p, nil
}

// add takes the record of a path at the cursor.
func (p *paths) add(c *cursor, key []byte, all *strings.Builder) error {
	name, ok := text(key)
	if !ok || !confined(name) {
		return c.corrupt(pageHeader+2*c.i, "%q is not a path within the project", key)
	}
	value, err := c.value(c.i)
	if err != nil {
		return err
	}
	fid, source, ok := parseFid(value)
	if !ok || fid == 0 || fid > maxFid {
		return c.corrupt(pageHeader+2*c.i, "%q is not the number of file %q", value, name)
	}
	for len(p.ranks) <= fid {
		p.ranks = append(p.ranks, make([]uint32, fid+1-len(p.ranks))...)
	}
	rank := len(p.ends)
	if p.ranks[fid] != 0 {
		return c.corrupt(pageHeader+2*c.i, "two paths have the number %d", fid)
	}
	p.ranks[fid] = uint32(rank + 1)
	if !source {
		p.other.add(rank)
	}
	all.Write(name[len(pathPrefix):])
	if int64(all.Len()) > 1<<32-1 {
		return c.corrupt(pageHeader+2*c.i, "more than 4 GB of paths")
	}
	p.ends = append(p.ends, uint32(all.Len()))
	if rank > 0 && all.String()[p.start(rank-1):p.ends[rank-1]] >= string(name[len(pathPrefix):]) {
		return c.corrupt(pageHeader+2*c.i, "path %q is out of order", name)
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
