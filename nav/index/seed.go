package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
)

// A root may hold a GTAGS, GRTAGS and GPATH that its owner made. They become
// the first base: a copy of them, because `gtags -i` writes into the files in
// place, under the feet of whoever has them mapped. They are never written to,
// and what has changed since they were made goes into deltas as always. No
// toolchain is needed for this.

// errNoSeed means that the root has no database of its own, or none that helps.
var errNoSeed = errors.New("no usable GTAGS at the root")

// seed publishes the root's own database as a base. The builder lock is held.
func (x *Index) seed(ctx context.Context, j *job) (Report, error) {
	before, ok := x.ownDatabase()
	if !ok {
		return Report{}, errNoSeed
	}
	j.say(Progress{Phase: "taking over the GTAGS at the root"})
	b := x.newBuild(Tools{}, nil, 1)
	defer b.discard()
	if err := b.begin(); err != nil {
		return Report{}, err
	}
	dir := filepath.Join(b.dir, "shard-00")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return Report{}, err
	}
	for _, name := range shardFiles[:3] {
		if err := copyFile(filepath.Join(dir, name), filepath.Join(x.root, name)); err != nil {
			return Report{}, b.explain(err)
		}
	}
	if after, ok := x.ownDatabase(); !ok || after != before {
		return Report{}, fmt.Errorf("%w: it is being written", errNoSeed)
	}
	paths, err := sourcePaths(dir)
	if err != nil {
		return Report{}, fmt.Errorf("%w: %w", errNoSeed, err)
	}
	b.manifest.Seeded = true
	b.manifest.Langmap = suffixMap(paths)
	if _, err := x.tree.check(ctx, b.manifest.Langmap, true, time.Hour); err != nil {
		return Report{}, err
	}
	var listed []entry
	listed, b.manifest.Notes = x.tree.files()
	b.files = seedTable(listed, paths, birth(filepath.Join(x.root, "GTAGS"), before[0].mtime))
	if err := b.sealSeed(dir, paths); err != nil {
		return Report{}, b.explain(err)
	}
	return x.publishBase(ctx, b)
}

// ownDatabase are the identities of the three files at the root.
func (x *Index) ownDatabase() (ids [3]identity, ok bool) {
	for i, name := range shardFiles[:3] {
		if ids[i], ok = lstat(filepath.Join(x.root, name)); !ok {
			return ids, false
		}
	}
	return ids, true
}

// sourcePaths are the files in the database in dir.
func sourcePaths(dir string) ([]string, error) {
	db, err := gtagsdb.Open(dir)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	set, err := gtagsdb.NewSet(gtagsdb.Member{DB: db})
	if err != nil {
		return nil, err
	}
	return slices.Collect(set.Files()), nil
}

// suffixMap is a language map that accepts the kinds of files that paths are.
func suffixMap(paths []string) string {
	suffixes := map[string]bool{}
	for _, p := range paths {
		name := p[strings.LastIndexByte(p, '/')+1:]
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 && !strings.ContainsAny(name[dot:], ",:()") {
			suffixes[name[dot:]] = true
		}
	}
	all := make([]string, 0, len(suffixes))
	for s := range suffixes {
		all = append(all, s)
	}
	slices.Sort(all)
	return "own:" + strings.Join(all, "")
}

// seedTable is the files table for a database of paths that was begun at the
// time since. A listed file that has changed since then gets an identity that
// no file has. One that was there and that the owner left out stays out.
func seedTable(listed []entry, paths []string, since int64) []entry {
	table := make([]entry, 0, len(listed))
	for _, e := range listed {
		_, has := slices.BinarySearch(paths, e.path)
		changed := max(e.ctime, e.mtime) >= since
		switch {
		case has && changed:
			table = append(table, entry{path: e.path, identity: identity{size: e.size, mtime: -1, ctime: -1}})
		case has:
			table = append(table, e)
		case !changed:
			e.kind = skipped
			table = append(table, e)
		}
	}
	return table
}

// sealSeed completes the layer around the copied database.
func (b *build) sealSeed(dir string, paths []string) (err error) {
	s := shard{Dir: filepath.Base(dir), Files: len(paths), Sizes: map[string]int64{}}
	if err := gtagsdb.WriteSums(dir); err != nil {
		return err
	}
	for _, name := range shardFiles {
		if s.Sizes[name], err = syncFile(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	for i := range b.files {
		if b.files[i].kind == indexed {
			b.manifest.Files++
			s.Bytes += b.files[i].size
		}
	}
	b.manifest.Bytes, b.manifest.Shards = s.Bytes, []shard{s}
	b.finishManifest(time.Now())
	return errors.Join(syncPath(dir), b.seal())
}

func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return cmp.Or(err, out.Close())
}

// useSeed reports whether the root's own database is to be the base: only when
// there has been no base of ours yet.
func (x *Index) useSeed(full bool) bool {
	if full {
		return false
	}
	_, err := os.Lstat(filepath.Join(x.dir, currentName))
	return errors.Is(err, fs.ErrNotExist)
}
