package index

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
)

// build makes one layer, a base or a delta, in a folder beside the present
// generation. Nothing is visible before [build.publish].
type build struct {
	tools  Tools
	limits limits
	root   string
	parent string  // the index folder
	dir    string  // the layer under its temporary name
	files  []entry // sorted by path; run marks the ones that gtags cannot take
	shards int
	done   *atomic.Int64
	trial  atomic.Int64 // names the folders of trial runs

	manifest  manifest
	pin       *os.File
	leastFree atomic.Int64 // space on the disk, as far as it was looked at
}

// limits bound what one gtags process may take.
type limits struct {
	file     time.Duration // without progress
	memory   uint64        // bytes of each process
	fileSize uint64        // of a file written
}

// begin makes the temporary folder.
func (b *build) begin() (err error) {
	if b.dir, err = os.MkdirTemp(b.parent, tmpPrefix); err != nil {
		return err
	}
	if err := os.Chmod(b.dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.dir, pinName), nil, 0o644); err != nil {
		return err
	}
	b.leastFree.Store(math.MaxInt64)
	b.watchSpace()
	b.pin, err = pin(b.dir)
	return err
}

// discard removes what was built. It does nothing to a published layer.
func (b *build) discard() {
	if b.pin != nil {
		b.pin.Close()
	}
	if b.dir != "" {
		os.RemoveAll(b.dir)
	}
}

// run parses the files into shards, one gtags process each, and checks the
// result. Files that make gtags fail are left out and reported in the manifest.
func (b *build) run(ctx context.Context, known []Skipped) (err error) {
	defer func() { err = b.explain(err) }()
	start := time.Now()
	b.leaveOutKnown(known)
	parts := split(b.files, b.shards)
	shards := make([]shard, len(parts))
	skips := make([][]Skipped, len(parts))
	g, ctx := errgroup.WithContext(ctx)
	for i, part := range parts {
		g.Go(func() (err error) {
			shards[i], skips[i], err = b.runShard(ctx, fmt.Sprintf("shard-%02d", i), part)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, s := range skips {
		for _, bad := range s {
			find(b.files, bad.Path).kind = skipped
			b.manifest.Skipped = append(b.manifest.Skipped, bad)
		}
	}
	slices.SortFunc(b.manifest.Skipped, func(x, y Skipped) int { return cmp.Compare(x.Path, y.Path) })
	b.manifest.Shards = slices.DeleteFunc(shards, func(s shard) bool { return s.Files == 0 })
	for _, s := range b.manifest.Shards {
		b.manifest.Files += s.Files
		b.manifest.Bytes += s.Bytes
	}
	b.finishManifest(start)
	return b.seal()
}

func (b *build) finishManifest(start time.Time) {
	b.manifest.Format, b.manifest.Created = formatVersion, start.UTC()
	b.manifest.Seconds = time.Since(start).Seconds()
	b.manifest.ID = rand.Text()
	b.manifest.Root = b.root
	b.manifest.Label, b.manifest.Fingerprint = b.tools.Label, b.tools.Fingerprint
}

// leaveOutKnown marks the files that gtags failed on before and whose content
// has not changed since.
func (b *build) leaveOutKnown(known []Skipped) {
	for _, k := range known {
		e := find(b.files, k.Path)
		if e == nil || e.kind != indexed || k.SHA256 == "" {
			continue
		}
		if sum, err := fileSHA256(filepath.Join(b.root, k.Path)); err == nil && sum == k.SHA256 {
			e.kind = skipped
			b.manifest.Skipped = append(b.manifest.Skipped, k)
		}
	}
}

// split deals the files to at most n parts of about equal bytes: the largest
// file first, each to the part that has least. Within a part the files stay in
// the order of their paths. Cutting the list in runs instead leaves the giant
// headers of a tree like Linux in one part.
func split(files []entry, n int) [][]entry {
	order := make([]int, 0, len(files))
	for i := range files {
		if files[i].kind == indexed {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(files[b].size, files[a].size) })
	n = max(1, min(n, len(order)))
	owner := make([]int, len(files))
	load := make([]int64, n)
	for _, i := range order {
		least := 0
		for p := range load {
			if load[p] < load[least] {
				least = p
			}
		}
		owner[i] = least
		load[least] += files[i].size + perFile
	}
	parts := make([][]entry, n)
	for i := range files {
		if files[i].kind == indexed {
			parts[owner[i]] = append(parts[owner[i]], files[i])
		}
	}
	return parts
}

// perFile is what opening a file costs, in bytes parsed.
const perFile = 4 << 10

// runShard builds the database of files in the folder name of the layer.
func (b *build) runShard(ctx context.Context, name string, files []entry) (s shard, bad []Skipped, err error) {
	if len(files) == 0 {
		return s, nil, nil
	}
	dir := filepath.Join(b.dir, name)
	files, bad, err = b.parse(ctx, dir, files)
	if err != nil || len(files) == 0 {
		return s, bad, err
	}
	s = shard{Dir: name, Files: len(files), Sizes: map[string]int64{}}
	for i := range files {
		s.Bytes += files[i].size
	}
	if err := b.checkDatabase(ctx, dir, files); err != nil {
		return s, nil, fmt.Errorf("gtags exited with success, but %w", err)
	}
	if err := gtagsdb.WriteSums(dir); err != nil {
		return s, nil, err
	}
	for _, name := range shardFiles {
		if s.Sizes[name], err = syncFile(filepath.Join(dir, name)); err != nil {
			return s, nil, err
		}
	}
	return s, bad, syncPath(dir)
}

// syncFile makes a file last and returns its size.
func syncFile(path string) (size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), f.Sync()
}

// parse runs gtags over files, without those that it cannot take, into dir.
func (b *build) parse(ctx context.Context, dir string, files []entry) (good []entry, bad []Skipped, err error) {
	const retries = 3 // of failures that are no file's fault, such as a kill
	for attempt := 0; ; {
		passed, err := b.gtags(ctx, dir, files)
		var failure *fileFailure
		if !errors.As(err, &failure) {
			good, unread := b.unread(files, passed)
			return good, append(bad, unread...), err
		}
		if b.diskFull() {
			return nil, nil, failure // no file's fault
		}
		found, err := b.findBad(ctx, files, failure)
		if err != nil {
			return nil, nil, err
		}
		if len(found) == 0 {
			if attempt++; attempt == retries {
				return nil, nil, fmt.Errorf("gtags failed %d times, last at %s, which it can parse alone: %s", retries, failure.path, failure.reason)
			}
		}
		for _, f := range found {
			bad = append(bad, b.skip(f))
			files = slices.DeleteFunc(slices.Clone(files), func(e entry) bool { return e.path == f.path })
		}
	}
}

// findBad returns the files that gtags fails on: the one at which it ended, if
// it fails on it alone too, and those that a trial run over the rest meets. So a
// tree with many bad files costs about two runs, not one for each of them.
func (b *build) findBad(ctx context.Context, files []entry, f *fileFailure) (bad []*fileFailure, err error) {
	dir := filepath.Join(b.dir, fmt.Sprintf("trial-%d", b.trial.Add(1)))
	defer os.RemoveAll(dir)
	for f != nil && f.at >= 0 {
		if len(bad) == maxBad {
			return nil, fmt.Errorf("gtags fails on more than %d files; the toolchain or its configuration is broken. "+
				"The first is %s: %s", maxBad, bad[0].path, bad[0].reason)
		}
		at := f.at
		_, err := b.gtags(ctx, dir, files[at:at+1])
		var alone *fileFailure
		switch {
		case errors.As(err, &alone):
			alone.path = files[at].path
			bad = append(bad, alone)
		case err != nil:
			return nil, err
		case len(bad) == 0:
			return nil, nil
		}
		if files, f = files[at+1:], nil; len(files) > 0 {
			if _, err := b.gtags(ctx, dir, files); err != nil && !errors.As(err, &f) {
				return nil, err
			}
		}
	}
	return bad, nil
}

// maxBad is how many files of one shard may be left out. More do not happen in
// one tree, but a parser helper that does not work fails on every file.
const maxBad = 200

func (b *build) gtags(ctx context.Context, dir string, files []entry) (passed []int, err error) {
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755)); err != nil {
		return nil, err
	}
	r := gtagsRun{tools: b.tools, limits: b.limits, root: b.root, dir: dir, files: files, done: b.done}
	return r.run(ctx)
}

func (b *build) skip(f *fileFailure) Skipped {
	s := Skipped{Path: f.path, Reason: f.reason}
	if sum, err := fileSHA256(filepath.Join(b.root, f.path)); err == nil {
		s.SHA256 = sum
	}
	return s
}

// unread divides the files into those that gtags parsed and those it passed over.
func (b *build) unread(files []entry, passed []int) (good []entry, skips []Skipped) {
	if len(passed) == 0 {
		return files, nil
	}
	for i := range files {
		if len(passed) == 0 || passed[0] != i {
			good = append(good, files[i])
			continue
		}
		passed = passed[1:]
		reason := "left out by the skip list of gtags.conf"
		if f, err := os.Open(filepath.Join(b.root, files[i].path)); err == nil {
			f.Close()
		} else if errors.Is(err, os.ErrPermission) {
			reason = "not readable"
		} else {
			reason = "removed while indexing"
		}
		skips = append(skips, Skipped{Path: files[i].path, Reason: reason})
	}
	return good, skips
}

// seal writes the table and the manifest.
func (b *build) seal() error {
	m, err := json.MarshalIndent(b.manifest, "", "\t")
	if err != nil {
		return err
	}
	return errors.Join(
		writeFileSync(filepath.Join(b.dir, tableName), encodeTable(b.files)),
		writeFileSync(filepath.Join(b.dir, manifestName), append(m, '\n')),
		syncPath(b.dir))
}

// publish gives the layer its name. The caller holds the lock, and makes it
// current afterwards.
func (b *build) publish(prefix string) (name string, err error) {
	n, err := nextNumber(b.parent)
	if err != nil {
		return "", err
	}
	name = fmt.Sprintf("%s%06d", prefix, n)
	if err := os.Rename(b.dir, filepath.Join(b.parent, name)); err != nil {
		return "", err
	}
	b.dir = ""
	return name, syncPath(b.parent)
}

func fileSHA256(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
