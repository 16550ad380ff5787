package toolchain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The managed home:
//
//	current                      symbolic link to the present generation, swapped by rename
//	previous                     the one before it, for Rollback
//	refused                      name of the generation that Rollback left: Follow does not return to it
//	toolchains/<version>-<hash>/ a generation: bin, lib, lib/gtags, share, manifest.json, origin.json; never edited
//	staging/                     what an install is working on; swept by the next one
//	libexec/                     the parser helper
//	conf/                        our gtags.conf files, named by content
//	cache/                       what was proved of which file; sources
//	source-build.log             what the last build from source said
//	install.lock, install.json   who installs, and how far it is or how it ended
//
// A generation that is neither current nor previous is removed by the next holder
// of the lock when nobody uses it. A process that has a Set holds a shared flock on
// the generation's folder for as long as the Set is reachable, and sets the folder's
// time when it takes it. Whoever sweeps needs the exclusive one, and an hour since
// that time, for a process that has just read current and not yet locked. Where
// folders cannot be locked, as on some network homes, the time alone decides, and
// it must be thirty days.
const (
	currentName    = "current"
	previousName   = "previous"
	refusedName    = "refused"
	originName     = "origin.json"
	generationsDir = "toolchains"
	stagingDir     = "staging"

	unusedAfter         = time.Hour
	unusedAfterUnlocked = 30 * 24 * time.Hour
)

// origin is origin.json: how a generation came about.
type origin struct {
	Rung   string `json:"rung"`
	Chosen bool   `json:"chosen,omitempty"` // by the user, in place of what the ladder gives
}

func (o origin) write(staged string) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(staged, originName), append(data, '\n'), 0o644)
}

// readOrigin returns the zero origin for a generation that does not tell.
func readOrigin(root string) (o origin) {
	if data, err := os.ReadFile(filepath.Join(root, originName)); err == nil && json.Unmarshal(data, &o) != nil {
		return origin{}
	}
	return o
}

// current returns the folder of the present generation.
func (c Config) current() (string, error) { return c.linked(currentName) }

// linked returns the folder of the generation that a link of the home names.
func (c Config) linked(name string) (string, error) {
	target, err := os.Readlink(filepath.Join(c.Home, name))
	if err != nil {
		return "", err
	}
	if filepath.Dir(target) != generationsDir {
		return "", fmt.Errorf("%s points to %s, which is no generation", filepath.Join(c.Home, name), target)
	}
	root := filepath.Join(c.Home, target)
	if _, err := os.Stat(root); err != nil {
		return "", err
	}
	return root, nil
}

// publish moves a proved staging folder among the generations and makes it the
// present one; undo makes the one before present again. A generation that
// exists already is never touched: servers run from it. So a kill at any moment
// leaves the old generation or the new.
func (c Config) publish(staged, id string) (root string, undo func() error, err error) {
	dir := filepath.Join(c.Home, generationsDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	name := id
	for n := 2; ; n++ {
		root = filepath.Join(dir, name)
		if _, err := os.Lstat(root); errors.Is(err, fs.ErrNotExist) {
			break
		}
		name = fmt.Sprintf("%s.%d", id, n)
	}
	before, _ := os.Readlink(filepath.Join(c.Home, currentName))
	older, _ := os.Readlink(filepath.Join(c.Home, previousName))
	if err := os.Rename(staged, root); err != nil {
		return "", nil, err
	}
	undo = func() error { return errors.Join(c.point(currentName, before), c.point(previousName, older)) }
	return root, undo, errors.Join(c.point(previousName, before), c.point(currentName, filepath.Join(generationsDir, name)))
}

// point makes a link of the home name a generation; an empty target means none.
func (c Config) point(name, target string) error {
	link := filepath.Join(c.Home, name)
	if target == "" {
		if err := os.Remove(link); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Join(c.Home, stagingDir), 0o700); err != nil {
		return err
	}
	tmp := filepath.Join(c.Home, stagingDir, name)
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(target, tmp); err != nil {
		return err
	}
	return os.Rename(tmp, link)
}

// stage makes an empty folder for an install. Only the holder of the lock may.
func (c Config) stage(rung string) (string, error) {
	parent := filepath.Join(c.Home, stagingDir)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	return os.MkdirTemp(parent, rung+"-*")
}

// sweep removes what a killed install left behind, and generations that nobody
// needs. Only the holder of the lock may.
func (c Config) sweep() error {
	staging := filepath.Join(c.Home, stagingDir)
	if err := os.RemoveAll(staging); err != nil {
		return err
	}
	dir := filepath.Join(c.Home, generationsDir)
	entries, _ := os.ReadDir(dir) // none before the first install
	for _, e := range entries {
		if c.isKept(e.Name()) {
			continue
		}
		if err := c.removeUnused(filepath.Join(dir, e.Name())); err != nil {
			c.Log.Info("an old toolchain stays", "error", err) // in nobody's way
		}
	}
	return nil
}

// removeUnused removes a generation that nobody uses: at once from among the
// others, so that a kill leaves it whole or in the staging folder.
func (c Config) removeUnused(root string) error {
	release, unused := unusedGeneration(root)
	if !unused {
		return nil
	}
	defer release()
	staging := filepath.Join(c.Home, stagingDir)
	if err := os.MkdirAll(staging, 0o700); err != nil {
		return err
	}
	if err := os.Rename(root, filepath.Join(staging, "old-"+filepath.Base(root))); err != nil {
		return err
	}
	return os.RemoveAll(staging)
}

func (c Config) isKept(generation string) bool {
	for _, name := range []string{currentName, previousName} {
		if target, err := os.Readlink(filepath.Join(c.Home, name)); err == nil && filepath.Base(target) == generation {
			return true
		}
	}
	return false
}

// unusedGeneration reports whether a generation may be removed, and keeps others
// from taking it until release.
func unusedGeneration(root string) (release func(), unused bool) {
	f, err := os.Open(root)
	if err != nil {
		return nil, false
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, false
	}
	patience := unusedAfter
	switch err := flock(f, unix.LOCK_EX|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		f.Close()
		return nil, false
	case err != nil:
		patience = unusedAfterUnlocked
	}
	if time.Since(info.ModTime()) < patience {
		f.Close()
		return nil, false
	}
	return func() { f.Close() }, true
}

// inUse reports whether a process, this one perhaps, has marked a generation as used.
func inUse(root string) bool {
	f, err := os.Open(root)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(flock(f, unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// use marks the generation that holds a program as used by this process. The mark
// ends when the returned file is closed or, with the Set that holds it, collected.
// It is nil for a program from elsewhere.
func (c Config) use(program *Program) *os.File {
	if program == nil {
		return nil
	}
	rest, ok := strings.CutPrefix(program.Path, filepath.Join(c.Home, generationsDir)+string(filepath.Separator))
	if !ok {
		return nil
	}
	name, _, _ := strings.Cut(rest, string(filepath.Separator))
	f, err := os.Open(filepath.Join(c.Home, generationsDir, name))
	if err != nil {
		return nil
	}
	if err := flock(f, unix.LOCK_SH|unix.LOCK_NB); err != nil {
		c.Log.Debug("the toolchain's folder is not locked", "error", err)
	}
	now := time.Now()
	if err := os.Chtimes(f.Name(), now, now); err != nil {
		c.Log.Debug("the toolchain's time of use is not kept", "error", err)
	}
	return f
}
