package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
)

// Progress is how far a build is.
type Progress struct {
	Phase   string        `json:"phase"` // "listing", "parsing", "publishing", "waiting for process 17 on host"
	Done    int           `json:"done"`  // files parsed
	Total   int           `json:"total"` // files to parse; 0: not known yet
	Elapsed time.Duration `json:"elapsed"`
}

// Report says what an update did.
type Report struct {
	Added, Changed, Removed []string
	Skipped                 []Skipped
	Files                   int // in the index now
	Full                    bool
	Seconds                 float64
	Generation              string
}

// job is one build in the background, shared by all who wait for it.
type job struct {
	start    time.Time
	done     chan struct{} // closed when report and err are set
	report   Report
	err      error
	progress atomic.Pointer[Progress]
}

func (j *job) say(p Progress) {
	p.Elapsed = time.Since(j.start)
	j.progress.Store(&p)
}

func (j *job) now() Progress {
	p := *j.progress.Load()
	p.Elapsed = time.Since(j.start)
	return p
}

// start runs f in the background as the job in *slot, or returns the one that
// runs there already.
func (x *Index) start(slot **job, f func(ctx context.Context, j *job) (Report, error)) *job {
	x.mu.Lock()
	defer x.mu.Unlock()
	if *slot != nil {
		return *slot
	}
	j := &job{start: time.Now(), done: make(chan struct{})}
	j.say(Progress{Phase: "starting"})
	if x.ctx.Err() != nil {
		j.err = fs.ErrClosed
		close(j.done)
		return j
	}
	*slot = j
	x.work.Go(func() {
		j.report, j.err = f(x.ctx, j)
		j.report.Seconds = time.Since(j.start).Seconds()
		x.mu.Lock()
		*slot = nil
		x.mu.Unlock()
		close(j.done)
	})
	return j
}

// wait waits for j, at most d when d is positive. It reports whether j is done.
func (j *job) wait(ctx context.Context, d time.Duration, progress func(Progress)) (done bool, err error) {
	var timeout <-chan time.Time
	if d >= 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		timeout = t.C
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-j.done:
			return true, j.err
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-timeout:
			return false, nil
		case <-tick.C:
			if progress != nil {
				progress(j.now())
			}
		}
	}
}

// buildBase builds a new base, unless another process does: then it waits for
// that one. old is the generation to be replaced.
func (x *Index) buildBase(ctx context.Context, j *job, old current, full bool) (Report, error) {
	if err := x.refuse(); err != nil {
		return Report{}, err
	}
	if !x.useSeed(full) {
		// An error ("being installed") before anything is written.
		if _, err := x.opts.Tools(ctx); err != nil {
			return Report{}, err
		}
	}
	if err := x.makeDir(); err != nil {
		return Report{}, err
	}
	builder, moved, err := x.awaitBuilder(ctx, j, old)
	if err != nil || moved {
		return Report{Full: true}, err
	}
	defer builder.unlock()
	if x.useSeed(full) {
		r, err := x.seed(ctx, j)
		if !errors.Is(err, errNoSeed) {
			return r, err
		}
		if err != errNoSeed {
			x.setNote(err.Error() + "; it is not used")
		}
	}
	tools, err := x.opts.Tools(ctx)
	if err != nil {
		return Report{}, err
	}
	return x.buildBaseLocked(ctx, j, tools, builder)
}

// awaitBuilder takes the builder lock. moved: another process published a
// generation meanwhile, so there is nothing to build.
func (x *Index) awaitBuilder(ctx context.Context, j *job, old current) (l *lockFile, moved bool, err error) {
	for {
		l, err = tryLock(x.dir, builderName)
		if errors.Is(err, errNoLocks) {
			x.setNote("the file system of " + x.dir + " has no locks; two processes may build the index at the same time")
			err = nil
		}
		if err != nil && !errors.Is(err, errLocked) {
			return nil, false, err
		}
		if cur, curErr := readCurrent(x.dir); curErr == nil && cur.base != old.base {
			if l != nil {
				l.unlock()
			}
			return nil, true, nil
		}
		if l != nil {
			return l, false, nil
		}
		h := readHolder(x.dir + "/" + builderName)
		j.say(Progress{Phase: "waiting for " + h.String(), Done: h.Progress.Done, Total: h.Progress.Total})
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return nil, false, err
		}
	}
}

func (x *Index) buildBaseLocked(ctx context.Context, j *job, tools Tools, builder *lockFile) (Report, error) {
	j.say(Progress{Phase: "listing"})
	langmap, err := tools.langmap(ctx)
	if err != nil {
		return Report{}, err
	}
	if _, err := x.tree.check(ctx, langmap, true, time.Hour); err != nil {
		return Report{}, err
	}
	files, notes := x.tree.files()
	b := x.newBuild(tools, files, x.shardsFor(files))
	b.manifest.Langmap = langmap
	b.manifest.Notes = notes
	defer b.discard()
	if err := b.begin(); err != nil {
		return Report{}, err
	}
	stop := b.follow(j, builder, len(files))
	err = b.run(ctx, x.knownBad(tools))
	stop()
	if err != nil {
		return Report{}, err
	}
	return x.publishBase(ctx, b)
}

// follow passes the progress of b to j and to those who wait for the lock.
func (b *build) follow(j *job, l *lockFile, total int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			b.watchSpace()
			j.say(Progress{Phase: "parsing", Done: min(int(b.done.Load()), total), Total: total})
			if l != nil {
				l.say(j.now())
			}
			if sleep(ctx, 200*time.Millisecond) != nil {
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

func (x *Index) newBuild(tools Tools, files []entry, shards int) *build {
	return &build{
		tools:  tools,
		root:   x.root,
		parent: x.dir,
		files:  files,
		shards: shards,
		done:   new(atomic.Int64),
		limits: limits{file: x.opts.FileTimeout, memory: x.opts.MaxMemory, fileSize: maxDatabase},
	}
}

// maxDatabase is the limit of one database file; Linux needs 0.7 GB.
const maxDatabase = 64 << 30

// shardsFor is the number of gtags processes for files: a process costs some
// 20 ms of its own, so a few files get fewer than there are cores.
func (x *Index) shardsFor(files []entry) int {
	if x.opts.Shards > 0 {
		return x.opts.Shards
	}
	const least = 4 << 20
	var n int64
	for i := range files {
		n += files[i].size
	}
	return max(1, min(runtime.GOMAXPROCS(0), int(n/least)))
}

// knownBad are the files that this toolchain failed on before.
func (x *Index) knownBad(tools Tools) []Skipped {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.view == nil || x.view.layers[0].manifest.Fingerprint != tools.Fingerprint {
		return nil
	}
	return x.view.skipped()
}

func (x *Index) publishBase(ctx context.Context, b *build) (Report, error) {
	l, err := x.lockCurrent(ctx)
	if err != nil {
		return Report{}, err
	}
	defer l.unlock()
	name, err := b.publish(basePrefix)
	if err != nil {
		return Report{}, err
	}
	cur := current{base: name}
	if err := cur.write(x.dir); err != nil {
		return Report{}, err
	}
	x.sweep(cur)
	r := Report{Full: true, Files: b.manifest.Files, Skipped: b.manifest.Skipped, Generation: cur.String()}
	return r, nil
}

func (x *Index) lockCurrent(ctx context.Context) (*lockFile, error) {
	l, err := lock(ctx, x.dir, lockName, x.opts.LockTimeout)
	if errors.Is(err, errNoLocks) {
		return l, nil
	}
	return l, err
}

func (x *Index) setNote(note string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !slices.Contains(x.notes, note) {
		x.notes = append(x.notes, note)
	}
}

// present is the generation that CURRENT names, nil when there is none that can
// be used. The caller must release it.
func (x *Index) present() (*view, error) {
	now, _ := lstat(x.dir + "/" + currentName)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ctx.Err() != nil {
		return nil, fs.ErrClosed
	}
	if x.view == nil || now != x.seen {
		if err := x.reload(now); err != nil {
			return nil, err
		}
	}
	if x.view != nil {
		x.view.retain()
	}
	return x.view, nil
}

// reload opens the generation that CURRENT names. x.mu is held.
func (x *Index) reload(now identity) error {
	v, err := openView(x.dir, x.view, x.rejected)
	switch {
	case err == nil:
	case errors.Is(err, errRejected), errors.Is(err, fs.ErrNotExist) && now == (identity{}):
		// a new base is to come
	case damaged(err):
		cur, _ := readCurrent(x.dir) // not even that may be readable
		x.rejected = reject(x.dir, cur)
		x.damage = fmt.Sprintf("the index could not be read and is rebuilt: %v", err)
		x.opts.Logger.Warn("the index is rebuilt", "root", x.root, "err", err)
	default:
		return err
	}
	if x.view != nil {
		x.view.release()
	}
	x.view, x.seen = v, now
	return nil
}

// damaged reports whether err means that files of the index are not what was
// written, or not for this version of the program.
func damaged(err error) bool {
	var ours *CorruptError
	var database *gtagsdb.CorruptError
	var format *gtagsdb.FormatError
	return errors.As(err, &ours) || errors.As(err, &database) || errors.As(err, &format) ||
		errors.Is(err, errOtherFormat) || errors.Is(err, fs.ErrNotExist)
}

// discredit stops the use of v, in which damage was found.
func (x *Index) discredit(v *view, err error) {
	x.opts.Logger.Warn("the index is damaged", "root", x.root, "err", err)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.view == v {
		x.rejected = reject(x.dir, v.current)
		x.damage = fmt.Sprintf("the index was damaged and has been rebuilt: %v", err)
		x.view, x.seen = nil, identity{}
		v.release()
	}
}

// startBase starts a new base that replaces the generation old. full: whatever
// there is already.
func (x *Index) startBase(old current, full bool) *job {
	return x.start(&x.base, func(ctx context.Context, j *job) (Report, error) { return x.buildBase(ctx, j, old, full) })
}

// rejectedOr is the generation that a new base is to replace: v, or the one
// that was found damaged.
func (x *Index) rejectedOr(v *view) current {
	if v != nil {
		return v.current
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.rejected.current
}
