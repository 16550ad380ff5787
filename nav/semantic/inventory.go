package semantic

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"strings"
	"sync/atomic"
	"time"
)

// inventory is what all files of one state of the tree declare. It is not
// changed once it is made.
type inventory struct {
	contents string
	files    []parsedFile // in the order of their paths
	names    *nameList
	kinds    map[string]bool
	coverage Coverage
	usage    usage
}

// reading is the making of an inventory.
type reading struct {
	*task[*inventory]
	contents string
	total    int
	done     *atomic.Int64
}

// inventoryOf returns the inventory of a state of the tree, or a *BusyError
// while it is being made.
func (e *Engine) inventoryOf(ctx context.Context, t *Tree) (*inventory, error) {
	e.mu.Lock()
	if e.inventory != nil && e.inventory.contents == t.Contents {
		defer e.mu.Unlock()
		return e.inventory, nil
	}
	job := e.reading
	if job == nil || job.contents != t.Contents {
		if job != nil {
			job.cancel() // what it has read so far is kept
		}
		job = e.startReading(t)
	}
	e.mu.Unlock()
	return job.wait(ctx, e.opts.Wait, func(elapsed time.Duration) *BusyError {
		return &BusyError{"Reading the declarations of " + t.Root, elapsed, int(job.done.Load()), job.total}
	})
}

// startReading begins an inventory in the background. The caller holds e.mu.
func (e *Engine) startReading(t *Tree) *reading {
	job := &reading{contents: t.Contents, total: len(t.Files), done: &atomic.Int64{}}
	job.task = start(e, longest, func(ctx context.Context) (*inventory, error) {
		inv, err := e.readAll(ctx, t, job.done)
		e.mu.Lock()
		defer e.mu.Unlock()
		if err == nil {
			e.inventory = inv
			e.forget(inv)
		}
		if e.reading == job {
			e.reading = nil
		}
		return inv, err
	})
	e.reading = job
	return job
}

// forget drops what was parsed of files that an inventory lacks. The caller
// holds e.mu.
func (e *Engine) forget(inv *inventory) {
	kept := make(map[string]bool, len(inv.files))
	for i := range inv.files {
		kept[inv.files[i].path] = true
	}
	maps.DeleteFunc(e.parsed, func(path string, _ parsedFile) bool { return !kept[path] })
}

// A window is what is read and parsed at once.
const (
	windowFiles = 400
	windowBytes = 8 << 20
)

// readAll makes the inventory. Files whose content was parsed before are not
// read again.
func (e *Engine) readAll(ctx context.Context, t *Tree, done *atomic.Int64) (*inventory, error) {
	inv := &inventory{contents: t.Contents, kinds: map[string]bool{}}
	var why reasons
	chosen := e.choose(t, &why)
	e.mu.Lock()
	known := maps.Clone(e.parsed)
	e.mu.Unlock()
	declarations := 0
	for len(chosen) > 0 && declarations < e.opts.Limits.Declarations {
		n, err := e.window(ctx, t, chosen, known, inv, &why)
		if err != nil {
			return nil, err
		}
		done.Add(int64(n))
		chosen = chosen[n:]
		declarations = inv.cap(e.opts.Limits.Declarations, &why, len(chosen))
	}
	for i := range inv.files {
		inv.usage.add(&inv.files[i])
		for n := range inv.files[i].entries {
			inv.kinds[inv.files[i].entries[n].Kind] = true
		}
	}
	inv.names = newNameList(inv.files)
	inv.coverage.Files = len(inv.files)
	inv.coverage.Reasons = why.list()
	inv.coverage.Complete = len(inv.coverage.Reasons) == 0
	return inv, nil
}

// choose applies the limits that need no content.
func (e *Engine) choose(t *Tree, why *reasons) (chosen []TreeFile) {
	limits := e.opts.Limits
	perLanguage := map[string]int{}
	folders := map[string]bool{}
	entries, bytes := 0, int64(0)
	for _, f := range t.Files {
		if entries += 1 + newFolders(folders, f.Path); entries > limits.Entries {
			why.add("entries", "the tree has more than %d files and folders; those from %s on were not read", limits.Entries, f.Path)
			break
		}
		if strings.Count(f.Path, "/") > limits.Levels {
			why.add("directoryLevels", "%s lies below more than %d folders", f.Path, limits.Levels)
			continue
		}
		if f.Size > limits.FileBytes {
			why.add("fileBytes", "%s is larger than %d bytes", f.Path, limits.FileBytes)
			continue
		}
		language := e.languageOf(f.Path)
		if perLanguage[language]++; perLanguage[language] > limits.LanguageFiles {
			why.add("sourceFiles", "there are more than %d source files of %s; %s was not read", limits.LanguageFiles, language, f.Path)
			continue
		}
		if bytes += f.Size; bytes > limits.SourceBytes {
			why.add("sourceBytes", "the sources have more than %d bytes; those from %s on were not read", limits.SourceBytes, f.Path)
			break
		}
		chosen = append(chosen, f)
	}
	return chosen
}

// newFolders counts the folders of a path that were not seen before.
func newFolders(seen map[string]bool, path string) int {
	n := 0
	for at := strings.LastIndexByte(path, '/'); at > 0; at = strings.LastIndexByte(path[:at], '/') {
		if seen[path[:at]] {
			break
		}
		seen[path[:at]] = true
		n++
	}
	return n
}

// window parses the next files and returns how many it took.
func (e *Engine) window(ctx context.Context, t *Tree, chosen []TreeFile, known map[string]parsedFile, inv *inventory, why *reasons) (taken int, err error) {
	var fresh []File
	var slots []int
	size := 0
	for _, f := range chosen[:min(windowFiles, len(chosen))] {
		if size > windowBytes {
			break
		}
		taken++
		if old, ok := known[f.Path]; ok && old.state == f.State {
			inv.files = append(inv.files, old)
			inv.coverage.Bytes += f.Size
			continue
		}
		content, ok := e.contentOf(t, f.Path, why)
		if !ok {
			continue
		}
		slots = append(slots, len(inv.files))
		inv.files = append(inv.files, parsedFile{state: f.State, path: f.Path})
		inv.coverage.Bytes += int64(len(content))
		fresh = append(fresh, File{f.Path, content})
		size += len(content)
	}
	parsed, err := e.parse(ctx, fresh)
	if err != nil {
		return 0, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, p := range parsed {
		at := &inv.files[slots[i]]
		p.state, p.path = at.state, at.path
		*at = p
		e.parsed[p.path] = p
	}
	return taken, nil
}

// contentOf reads a file of the inventory, or notes why it cannot.
func (e *Engine) contentOf(t *Tree, path string, why *reasons) ([]byte, bool) {
	content, err := e.read(t, path)
	switch {
	case errors.Is(err, errTooLarge):
		why.add("fileBytes", "%s is larger than %d bytes", path, e.opts.Limits.FileBytes)
	case errors.Is(err, fs.ErrNotExist): // deleted a moment ago: the next state of the tree lacks it
	case err != nil:
		why.add("unreadable", "%s could not be read: %v", path, err)
	}
	return content, err == nil
}

// cap cuts the declarations at the limit and returns how many there are. left is
// how many files have not been read yet.
func (inv *inventory) cap(limit int, why *reasons, left int) int {
	total := 0
	for i := range inv.files {
		f := &inv.files[i]
		room := limit - total
		total += min(room, len(f.entries))
		if len(f.entries) > room || total == limit && left > 0 && i == len(inv.files)-1 {
			why.add("declarations", "there are more than %d declarations; %s was the last file read, perhaps not to its end", limit, f.path)
			f.entries = f.entries[:min(room, len(f.entries))]
			inv.files = inv.files[:i+1]
			break
		}
	}
	return total
}
