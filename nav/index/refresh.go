package index

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// fresh returns a snapshot of v, or of a newer generation, that shows the tree.
// It takes v over.
func (x *Index) fresh(ctx context.Context, v *view, deadline time.Time, progress func(Progress)) (*Snapshot, error) {
	for attempt := 0; ; attempt++ {
		budget := x.opts.CheckTimeout
		if x.tree.unknown() {
			budget = max(budget, time.Until(deadline))
		}
		complete, err := x.tree.check(ctx, v.langmap(), false, budget)
		if ctx.Err() != nil {
			v.release()
			return nil, context.Cause(ctx)
		}
		switch {
		case err != nil:
			return x.snapshot(v, fmt.Sprintf("changes since the index was made could not be looked for: %v", err)), nil
		case !complete:
			return x.snapshot(v, "looking for changed files takes long here; the latest changes may be missing"), nil
		}
		c := x.tree.against(v)
		if c.count() == 0 && !x.outdated(v) {
			return x.snapshot(v), nil
		}
		if attempt == 3 {
			return x.snapshot(v, stale(c, "the tree changes faster than the index follows")), nil
		}
		if done, err := x.awaitRefresh(ctx, v, c, deadline, progress); ctx.Err() != nil {
			v.release()
			return nil, context.Cause(ctx)
		} else if err != nil {
			return x.snapshot(v, stale(c, err.Error())), nil
		} else if !done {
			return x.snapshot(v, stale(c, "a refresh is running")), nil
		}
		next, err := x.present()
		if err != nil || next == nil {
			return x.snapshot(v, stale(c, fmt.Sprint("the refreshed index cannot be read: ", err))), nil
		}
		v.release()
		v = next
	}
}

// awaitRefresh starts what brings c into the index, and waits for it when it is
// likely to end before the deadline.
func (x *Index) awaitRefresh(ctx context.Context, v *view, c *changes, deadline time.Time, progress func(Progress)) (done bool, err error) {
	j := x.startRefresh(v, c)
	if x.estimate(v, c) > time.Until(deadline) {
		return false, nil
	}
	return j.wait(ctx, max(time.Until(deadline), 0), progress)
}

// stale warns that c is not in the answer.
func stale(c *changes, why string) string {
	if c.count() == 0 {
		return "the index was made by another toolchain or configuration and is being rebuilt: " + why
	}
	var some []string
	for _, entries := range [][]entry{c.changed, c.added} {
		for i := range min(len(entries), 3) {
			some = append(some, entries[i].path)
		}
	}
	some = append(some, c.removed[:min(len(c.removed), 3)]...)
	return fmt.Sprintf("the index is older than %d files (%s…): %s", c.count(), strings.Join(some[:min(len(some), 3)], ", "), why)
}

// outdated reports whether v was built by another toolchain or label than the
// one that is ready now.
func (x *Index) outdated(v *view) bool {
	if x.opts.Expect == nil {
		return false
	}
	label, fingerprint, ok := x.opts.Expect()
	m := &v.layers[0].manifest
	return ok && !m.Seeded && (m.Label != label || m.Fingerprint != fingerprint)
}

// estimate is about how long it takes to bring c into the index.
func (x *Index) estimate(v *view, c *changes) time.Duration {
	if x.outdated(v) {
		return time.Duration(v.layers[0].manifest.Seconds * float64(time.Second))
	}
	if !x.fitsDelta(v, c.bytes()) {
		return time.Hour // a new base, in the background
	}
	const bytesPerSecond = 20 << 20 // of one gtags; Linux: 30 MB/s
	return time.Duration(c.bytes()) * time.Second / bytesPerSecond
}

// fitsDelta reports whether so many changed bytes go into deltas of v. Beyond
// that, a new base costs little more and makes every query cheaper.
func (x *Index) fitsDelta(v *view, bytes int64) bool {
	return bytes <= max(16<<20, v.layers[0].manifest.Bytes/4)
}

// startRefresh starts what brings c into the index. A new base is built beside
// deltas: small edits become visible while it runs.
func (x *Index) startRefresh(v *view, c *changes) *job {
	if x.outdated(v) || !x.fitsDelta(v, c.bytes()) {
		return x.startBase(v.current, false)
	}
	return x.start(&x.delta, x.buildDelta)
}

// buildDelta publishes a delta of everything that changed.
func (x *Index) buildDelta(ctx context.Context, j *job) (Report, error) {
	tools, err := x.opts.Tools(ctx)
	if err != nil {
		return Report{}, err
	}
	l, err := x.lockCurrent(ctx)
	if err != nil {
		return Report{}, err
	}
	defer l.unlock()
	v, err := x.present() // the one that stands while we hold the lock
	if err != nil {
		return Report{}, err
	}
	if v == nil {
		return Report{}, fmt.Errorf("the index of %s was removed", x.root)
	}
	defer v.release()
	c := x.tree.against(v)
	if c.count() == 0 {
		return Report{Generation: v.current.String()}, nil
	}
	m := &v.layers[0].manifest
	if !m.Seeded && (tools.Fingerprint != m.Fingerprint || tools.Label != m.Label) {
		x.startBase(v.current, false)
		return Report{}, fmt.Errorf("the toolchain is another one than before; the index is being rebuilt")
	}
	return x.publishDelta(ctx, j, l, v, c, tools)
}

// publishDelta builds a delta of v with c and makes it current. l, the lock, is held.
func (x *Index) publishDelta(ctx context.Context, j *job, l *lockFile, v *view, c *changes, tools Tools) (Report, error) {
	b, cur := x.planDelta(tools, v, c)
	defer b.discard()
	if err := b.begin(); err != nil {
		return Report{}, err
	}
	stop := b.follow(j, l, len(b.files))
	err := b.run(ctx, v.skipped())
	stop()
	if err != nil {
		return Report{}, err
	}
	if err := x.buildOutline(ctx, b.dir, b.files, x.opts.Shards); err != nil {
		return Report{}, err
	}
	name, err := b.publish(deltaPrefix)
	if err != nil {
		return Report{}, err
	}
	cur.deltas = append(cur.deltas, name)
	if err := cur.write(x.dir); err != nil {
		return Report{}, err
	}
	x.sweep(cur)
	return Report{
		Added: paths(c.added), Changed: paths(c.changed), Removed: c.removed,
		Skipped: b.manifest.Skipped, Generation: cur.String(),
	}, nil
}

// planDelta makes the build of a delta with c. The newest deltas that are not
// much larger than it go into it: so their number stays logarithmic, and a file
// is parsed again a few times at most, however many edits follow each other.
func (x *Index) planDelta(tools Tools, v *view, c *changes) (*build, current) {
	files := slices.Concat(c.added, c.changed)
	taken := make(map[string]bool, c.count())
	for i := range files {
		taken[files[i].path] = true
	}
	for _, path := range c.removed {
		files = append(files, entry{path: path, kind: gone})
		taken[path] = true
	}
	bytes := c.bytes()
	keep := len(v.layers)
	for ; keep > 1; keep-- {
		live, size := v.live(keep-1, taken)
		if bytes+size > max(absorbBytes, 3*bytes) {
			break
		}
		bytes += size
		files = append(files, live...)
	}
	files = slices.DeleteFunc(files, func(e entry) bool {
		// A path that no kept layer has needs no mask.
		return e.kind == gone && !v.holds(e.path, keep)
	})
	sortEntries(files)
	b := x.newBuild(tools, files, x.shardsFor(files))
	b.manifest.Base = v.layers[0].manifest.ID
	b.manifest.Langmap = v.langmap()
	return b, current{base: v.current.base, deltas: slices.Clone(v.current.deltas[:keep-1])}
}

// absorbBytes is what is parsed in about the time that starting gtags takes.
const absorbBytes = 1 << 20

// live are the entries of layer i that no newer layer and not taken replace,
// and how much there is to parse.
func (v *view) live(i int, taken map[string]bool) (entries []entry, bytes int64) {
	for _, e := range v.layers[i].table {
		if v.overlay[e.path].layer != i || taken[e.path] {
			continue
		}
		if e.kind == skipped {
			e.kind = indexed // it is tried again, and left out again by its content
		}
		if e.kind == indexed {
			bytes += e.size + perFile
		}
		entries = append(entries, e)
	}
	return entries, bytes
}

// holds reports whether one of the first n layers has the path.
func (v *view) holds(path string, n int) bool {
	return slices.ContainsFunc(v.layers[:n], func(l *layer) bool {
		e := find(l.table, path)
		return e != nil && e.kind != gone
	})
}

func (v *view) langmap() string { return v.layers[0].manifest.Langmap }

func paths(entries []entry) []string {
	var out []string
	for i := range entries {
		out = append(out, entries[i].path)
	}
	return out
}

// sweep removes what no reader needs: layers that cur does not name and the
// leftovers of builds that died. The lock is held.
func (x *Index) sweep(cur current) {
	entries, err := os.ReadDir(x.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		name := e.Name()
		_, isLayer := layerNumber(name)
		if !isLayer && !strings.HasPrefix(name, tmpPrefix) || cur.names(name) {
			continue
		}
		removeUnpinned(filepath.Join(x.dir, name))
	}
}

// Update brings the index up to date with the tree as it is now, however long
// that takes, and says what it did. full builds everything anew.
func (x *Index) Update(ctx context.Context, full bool, progress func(Progress)) (Report, error) {
	start := time.Now()
	total := Report{}
	for attempt := 0; ; attempt++ {
		v, err := x.present()
		if err != nil {
			return total, err
		}
		j, err := x.updateStep(ctx, v, full)
		if v != nil {
			v.release()
		}
		if err != nil {
			return total, err
		}
		if j == nil || attempt == 10 {
			return x.finish(total, start)
		}
		full = false
		if _, err := j.wait(ctx, -1, progress); err != nil {
			return total, err
		}
		total.add(j.report)
	}
}

// updateStep starts the next build that Update needs, nil when there is none.
func (x *Index) updateStep(ctx context.Context, v *view, full bool) (*job, error) {
	if full || v == nil {
		return x.startBase(x.rejectedOr(v), full), nil
	}
	if _, err := x.tree.check(ctx, v.langmap(), true, time.Hour); err != nil {
		return nil, err
	}
	c := x.tree.against(v)
	if c.count() == 0 && !x.outdated(v) {
		return nil, nil
	}
	return x.startRefresh(v, c), nil
}

func (r *Report) add(o Report) {
	r.Full = r.Full || o.Full
	r.Added = append(r.Added, o.Added...)
	r.Changed = append(r.Changed, o.Changed...)
	r.Removed = append(r.Removed, o.Removed...)
}

func (x *Index) finish(r Report, start time.Time) (Report, error) {
	v, err := x.present()
	if err != nil {
		return r, err
	}
	if v == nil {
		return r, fmt.Errorf("the index of %s was removed", x.root)
	}
	defer v.release()
	r.Skipped = v.skipped()
	r.Files = v.set.Len()
	r.Generation = v.current.String()
	r.Seconds = time.Since(start).Seconds()
	return r, nil
}
