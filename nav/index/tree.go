package index

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// tree is what is known of the files below the root. A check brings it up to
// date, in one of three ways:
//
//   - a full one lists the tree and looks at every file: the first check, and
//     whenever it is not certain which files belong to the set;
//   - a scan looks at every file and folder known, in parallel: where there are
//     no notifications, and for small trees, where it costs less than a millisecond;
//   - with notifications only what they name is looked at.
//
// Checks run one at a time in the background, so that one on a slow file system
// bounds no query: whoever waits may give up and the check goes on.
type tree struct {
	root string
	dir  string // the index folder
	opts Options
	work *sync.WaitGroup
	ctx  context.Context

	match atomic.Pointer[compiled] // of the last check

	mu      sync.Mutex
	running chan struct{} // closed when the running check ends; nil when none runs
	began   time.Time     // when the last check that succeeded began
	full    time.Time     // when the last full check began; zero: the next one is full
	err     error         // of the last check
	langmap string
	state   treeState
	version int      // of state.found
	watch   *watcher // nil: scan
	noWatch bool     // do not try to watch (again)

	diff        *changes // of state.found, in diffVersion, against diffOf
	diffOf      *view
	diffVersion int
}

// treeState is the result of checks. A check replaces it as a whole.
type treeState struct {
	listing
	found []entry // sorted by path
	// unlisted are names that do not belong to the set although they look like
	// it, such as a generated .c file that git ignores.
	unlisted map[string]bool
	control  map[string]identity // files in git's own folder that decide what it lists
	rules    map[string]identity // .gitignore files; notifications tell of these
	folders  map[string]identity // of listing.dirs, for scans
	watch    *watcher            // whose notifications the listing and loose rest on; nil: scans
	loose    map[string]bool     // paths touched since the listing that are no source found
}

const (
	// watchAbove is the number of files from which on notifications are
	// cheaper than a scan.
	watchAbove = 1000
	// fullEvery is the age at which a full check is made in the background,
	// though nothing asks for one: notifications miss writes through a shared
	// mapping and through another name of the same file.
	fullEvery = 2 * time.Minute
)

// check returns once a check that began after the call has ended. complete is
// false when it did not within budget; the check then goes on.
func (t *tree) check(ctx context.Context, langmap string, full bool, budget time.Duration) (complete bool, err error) {
	arrival := time.Now()
	timeout := time.NewTimer(budget)
	defer timeout.Stop()
	for {
		t.mu.Lock()
		if langmap != t.langmap {
			t.langmap, t.full = langmap, time.Time{}
		}
		last := t.began
		if full {
			last = t.full
		}
		if last.After(arrival) {
			err := t.err
			t.mu.Unlock()
			return true, err
		}
		done := t.running
		if done == nil {
			done = t.begin(full)
		}
		t.mu.Unlock()
		select {
		case <-done:
			if t.ctx.Err() != nil {
				return false, context.Cause(t.ctx)
			}
		case <-timeout.C:
			return false, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-t.ctx.Done():
			return false, context.Cause(t.ctx)
		}
	}
}

// unknown reports whether no check has ended yet.
func (t *tree) unknown() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.version == 0
}

// files are a copy of the entries that the last check found, and its notes.
func (t *tree) files() ([]entry, []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.state.found), t.state.notes
}

// begin starts a check. t.mu is held.
func (t *tree) begin(full bool) (done chan struct{}) {
	if t.ctx.Err() != nil {
		done = make(chan struct{})
		close(done)
		return done
	}
	began := time.Now()
	full = full || t.full.IsZero()
	langmap, state, watch := t.langmap, t.state, t.watch
	done = make(chan struct{})
	t.running = done
	t.work.Go(func() {
		next, o, err := t.look(state, langmap, watch, full)
		t.mu.Lock()
		defer t.mu.Unlock()
		defer close(done)
		t.running, t.err, t.began = nil, err, began
		t.opts.Logger.Debug("checked the tree", "root", t.root, "full", o.full, "changed", o.changed,
			"notifications", watch != nil, "files", len(next.found), "took", time.Since(began), "err", err)
		if err != nil {
			t.full = time.Time{}
			return
		}
		if o.full {
			t.full = began
		}
		t.state = next
		if o.changed {
			t.version++
		}
		switch {
		case t.ctx.Err() != nil:
		case o.again || time.Since(t.full) > fullEvery:
			t.begin(true)
		case t.wantsWatch():
			t.work.Go(t.startWatch)
		}
	})
	return done
}

// outcome is what a check did beside finding a new state.
type outcome struct {
	full    bool
	changed bool // the files found are others than before
	again   bool // a full check is to follow in the background
}

// compiled is the matcher of one language map. To parse the map is half of what a
// check costs that finds nothing.
type compiled struct {
	langmap string
	match   func(path string) bool
}

func (t *tree) matcher(langmap string) (func(path string) bool, error) {
	if c := t.match.Load(); c != nil && c.langmap == langmap {
		return c.match, nil
	}
	match, err := matcher(langmap, t.opts.SkipGlobs)
	if err == nil {
		t.match.Store(&compiled{langmap, match})
	}
	return match, err
}

// look does the work of a check.
func (t *tree) look(s treeState, langmap string, w *watcher, full bool) (treeState, outcome, error) {
	match, err := t.matcher(langmap)
	if err != nil {
		return s, outcome{}, err
	}
	var touched []string
	if w != nil {
		var lost bool
		if touched, lost, err = w.take(t.ctx); err != nil {
			t.stopWatch(w, err)
			w, lost = nil, true
		}
		full = full || lost
	}
	var o outcome
	if !full {
		next := s
		if w == nil {
			next, o.changed, full, err = s.scan(t.ctx, t.root, match)
		} else {
			next, o.changed, full = s.apply(t.root, match, touched)
			// git writes its index whenever it likes. That changes which files
			// are listed only when an ignored one was added by force, which
			// is not worth a listing in the way of a query.
			o.again = changed(s.control)
		}
		if !full || err != nil {
			return next, o, err
		}
	}
	next, err := t.lookFully(s, match, w)
	if w != nil && err != nil {
		w.lose()
	}
	return next, outcome{full: true, changed: true}, err
}

// lookFully lists the tree and looks at every file.
func (t *tree) lookFully(s treeState, match func(string) bool, w *watcher) (next treeState, err error) {
	for attempt := 0; ; attempt++ {
		if next.listing, err = list(t.ctx, t.root, t.opts, match); err != nil {
			return s, err
		}
		if w == nil {
			break
		}
		added, err := w.add(next.dirs)
		if err != nil {
			t.stopWatch(w, err)
			break
		}
		if added == 0 || attempt == 3 {
			break
		}
		// What appeared in a new folder before it was watched is in the next listing.
	}
	next.control = control(t.root, next.repos)
	next.rules = map[string]identity{}
	for _, path := range next.listing.rules {
		path = filepath.Join(t.root, path)
		next.rules[path], _ = lstat(path)
	}
	next.unlisted = s.unlistedBut(next.listing)
	next.watch = w
	if w == nil {
		next.folders = statNames(t.root, next.dirs)
	}
	now := time.Now()
	if next.found, err = statAll(t.ctx, t.root, next.paths); err != nil {
		return s, err
	}
	hashRacy(t.root, next.found, now)
	return next, nil
}

// scan looks at everything known. relist: a name turned up that may belong to the set.
func (s treeState) scan(ctx context.Context, root string, match func(string) bool) (next treeState, differs, relist bool, err error) {
	if changed(s.control) || changed(s.rules) {
		return s, false, true, nil
	}
	folders := statNames(root, s.dirs)
	for dir, id := range folders {
		if s.folders[dir] != id && s.newNames(root, dir, match) {
			return s, false, true, nil
		}
	}
	now := time.Now()
	found, err := statAll(ctx, root, s.paths)
	if err != nil {
		return s, false, false, err
	}
	hashRacy(root, found, now)
	differs = !slices.Equal(found, s.found)
	s.found, s.folders = found, folders
	return s, differs, false, nil
}

// newNames reports whether the folder holds a name that may belong to the set
// and is not known.
func (s treeState) newNames(root, dir string, match func(string) bool) bool {
	entries, err := os.ReadDir(filepath.Join(root, dir))
	if err != nil {
		return true
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		path := join(dir, e.Name())
		if _, known := s.rules[filepath.Join(root, path)]; e.Name() == ".gitignore" && !known {
			return true
		}
		return s.unknown(path, e.IsDir(), match)
	})
}

// unknown reports whether path, which exists, may belong to the set and has not
// been decided on yet.
func (s *treeState) unknown(path string, isDir bool, match func(string) bool) bool {
	if s.unlisted[path] || junk[filepath.Base(path)] {
		return false
	}
	if isDir {
		_, known := slices.BinarySearch(s.dirs, path)
		if !known {
			s.unlisted[path] = true // unless the listing that follows finds it
		}
		return !known
	}
	if !match(path) {
		return false
	}
	_, known := slices.BinarySearch(s.paths, path)
	if !known {
		s.unlisted[path] = true
	}
	return !known
}

// unlistedBut are the unlisted names that a new listing has not either.
func (s *treeState) unlistedBut(l listing) map[string]bool {
	const limit = 100_000 // names; they are only a memory of what git said
	keep := map[string]bool{}
	for path := range s.unlisted {
		_, file := slices.BinarySearch(l.paths, path)
		_, dir := slices.BinarySearch(l.dirs, path)
		if !file && !dir && len(keep) < limit {
			keep[path] = true
		}
	}
	return keep
}

// apply looks at the paths that notifications named. relist: one of them may
// belong to the set, or decides what does.
func (s treeState) apply(root string, match func(string) bool, touched []string) (next treeState, differs, relist bool) {
	if len(touched) == 0 {
		return s, false, false
	}
	slices.Sort(touched)
	now := time.Now()
	var loose []string
	var present []entry
	var looked []string
	for _, path := range touched {
		_, listed := slices.BinarySearch(s.paths, path)
		id, regular := lstat(root + "/" + path)
		switch {
		case filepath.Base(path) == ".gitignore":
			return s, false, true
		case listed && regular:
			present = append(present, entry{path: path, identity: id})
			looked = append(looked, path)
		case listed:
			looked = append(looked, path)
		default:
			loose = append(loose, path)
			info, err := os.Lstat(root + "/" + path)
			if err == nil && (regular || info.IsDir()) && s.unknown(path, info.IsDir(), match) {
				return s, false, true
			}
		}
	}
	hashRacy(root, present, now)
	s.touch(loose)
	s.found, differs = replace(s.found, looked, present)
	return s, differs, false
}

// replace returns entries in which those of the paths looked at are exchanged
// for present. All three are sorted by path.
func replace(entries []entry, looked []string, present []entry) (out []entry, differs bool) {
	if len(looked) == 0 {
		return entries, false
	}
	out = make([]entry, 0, len(entries)+len(present))
	i, rest := 0, present
	for _, path := range looked {
		at, had := slices.BinarySearchFunc(entries[i:], path, byPath)
		out = append(out, entries[i:i+at]...)
		i += at
		has := len(rest) > 0 && rest[0].path == path
		differs = differs || has != had || has && rest[0] != entries[i]
		if has {
			out = append(out, rest[0])
			rest = rest[1:]
		}
		if had {
			i++
		}
	}
	return append(out, entries[i:]...), differs
}

func byPath(e entry, path string) int { return cmp.Compare(e.path, path) }

// control are the files of git's own that decide what it lists in repos.
func control(root string, repos []string) map[string]identity {
	m := map[string]identity{}
	for _, repo := range repos {
		dir := gitDir(filepath.Join(root, repo))
		for _, name := range []string{"index", "info/exclude"} {
			path := filepath.Join(dir, name)
			m[path], _ = lstat(path)
		}
	}
	return m
}

// gitDir is where git keeps the index of the work tree around dir, or a path
// that does not exist.
func gitDir(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, ".git")
		info, err := os.Stat(path)
		switch {
		case err == nil && info.IsDir():
			return path
		case err == nil:
			// a worktree or submodule: `gitdir: <path>`
			b, _ := os.ReadFile(path)
			to, _ := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
			if !filepath.IsAbs(to) {
				to = filepath.Join(dir, to)
			}
			return to
		case dir == filepath.Dir(dir):
			return path
		}
	}
}

// changed reports whether one of the files is in another state.
func changed(files map[string]identity) bool {
	for path, id := range files {
		if now, _ := lstat(path); now != id {
			return true
		}
	}
	return false
}

// statNames returns the identities of files and folders below root.
func statNames(root string, names []string) map[string]identity {
	m := make(map[string]identity, len(names))
	for _, name := range names {
		path := root + "/" + name
		var st unix.Stat_t
		if unix.Lstat(path, &st) == nil {
			m[name] = statIdentity(&st)
		}
	}
	return m
}
