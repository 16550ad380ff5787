package index

import (
	"hash/maphash"
	"slices"
	"strings"
)

// File is one file of a generation, whether gtags could take it or not.
type File struct {
	Path string
	Size int64
	// State changes with the content. It means nothing to another process.
	State uint64
}

var stateSeed = maphash.MakeSeed()

// Files are the files of the generation, sorted by path. The slice is shared:
// nobody changes it.
func (s *Snapshot) Files() []File { return s.view.files().list }

// Contents changes whenever a file of the tree does, appears or goes. Unlike the
// generation it stays the same when layers are folded together or built anew, but
// for files that were edited within a tick of the clock before they were looked at.
func (s *Snapshot) Contents() uint64 { return s.view.files().contents }

// fileSet is what Files and Contents answer, made once for a generation.
type fileSet struct {
	list     []File
	contents uint64
}

func (v *view) files() *fileSet {
	v.listed.Do(func() {
		var l fileSet
		v.each(func(e *entry) {
			l.list = append(l.list, File{e.path, e.size, maphash.Comparable(stateSeed, struct {
				identity
				hash uint64
			}{e.identity, e.hash})})
		})
		slices.SortFunc(l.list, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
		var h maphash.Hash
		h.SetSeed(stateSeed)
		for _, f := range l.list {
			maphash.WriteComparable(&h, f)
		}
		l.contents = h.Sum64()
		v.fileSet = l
	})
	return &v.fileSet
}
