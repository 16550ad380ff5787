package toolchain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"

	buildglobal "github.com/gtagsmcp/gtagsmcp/build-global"
)

// Removal is what Uninstall did.
type Removal struct {
	Home    string   `json:"home"`
	Removed []string `json:"removed"`
	// Left are entries of the home that this program did not make.
	Left []string `json:"left"`
}

// owned lists, as patterns relative to the home, what this program makes there.
// A folder is removed with all that is in it only below toolchains and staging,
// which hold what was unpacked; of the others, what matches and nothing else.
func owned() []string {
	patterns := []string{
		currentName, previousName, refusedName, stagingDir,
		"install.json", sourceLogName, lockHeldName, lockHeldName + ".stale-*",
		"conf/*.conf", "cache/proofs.json", followedName, "libexec/" + HelperName, "libexec/.new-*",
		".new-*", ".probe-*", "conf/.new-*", "cache/.new-*",
	}
	for _, s := range buildglobal.Sources {
		for _, a := range s.Archives {
			patterns = append(patterns, sourcesDir+"/"+a.File, sourcesDir+"/"+a.File+".unverified*")
		}
	}
	return patterns
}

var confName = regexp.MustCompile(`^[0-9a-f]{16}\.conf$`)

// Uninstall removes what this program put into the managed home, and the home
// itself when nothing else is in it. It refuses a folder that is no managed home, and,
// without cfg.Force, one whose toolchain a running process uses. The indexes of
// projects, which lie in the projects, are not touched.
func Uninstall(ctx context.Context, cfg Config, progress func(Step)) (Removal, error) {
	cfg, err := cfg.complete()
	r := Removal{Home: cfg.Home, Removed: []string{}, Left: []string{}}
	if err != nil {
		return r, err
	}
	if err := cfg.isManagedHome(); err != nil {
		return r, err
	}
	if progress == nil {
		progress = func(Step) {}
	}
	release, err := acquire(ctx, cfg.Home, cfg.LockTimeout, progress)
	if err != nil {
		return r, err
	}
	defer release()
	if user := cfg.usedGeneration(); user != "" && !cfg.Force {
		return r, fmt.Errorf("%s is used by a running process: end your clients' servers first, or pass --force", user)
	}
	if err := cfg.removeOwned(&r); err != nil {
		return r, fmt.Errorf("uninstall: %w", err)
	}
	return r, cfg.leave(&r)
}

// isManagedHome demands a real folder of the user's own with a trace of an install:
// the name of a folder alone must not decide what is deleted.
func (c Config) isManagedHome() error {
	info, err := os.Lstat(c.Home)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s does not exist: there is nothing to uninstall", c.Home)
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder of ours: it is a %v; remove it by hand", c.Home, info.Mode().Type())
	}
	if !ownedByUs(info) {
		return fmt.Errorf("%s belongs to another user, who has to uninstall it", c.Home)
	}
	for _, trace := range []string{lockName, "install.json"} {
		if info, err := os.Lstat(filepath.Join(c.Home, trace)); err == nil && info.Mode().IsRegular() {
			return nil
		}
	}
	return fmt.Errorf("%s is not a managed folder: setup never ran there, so nothing in it is removed", c.Home)
}

// usedGeneration returns a generation that another process has locked.
func (c Config) usedGeneration() string {
	roots, _ := filepath.Glob(filepath.Join(globEscape(c.Home), generationsDir, "*"))
	for _, root := range roots {
		if inUse(root) {
			return root
		}
	}
	return ""
}

func (c Config) removeOwned(r *Removal) error {
	remove := func(path string) error {
		if _, err := os.Lstat(path); err != nil {
			return nil
		}
		r.Removed = append(r.Removed, path)
		return os.RemoveAll(path)
	}
	for _, pattern := range owned() {
		found, err := filepath.Glob(filepath.Join(globEscape(c.Home), pattern))
		if err != nil {
			return err
		}
		for _, path := range found {
			if !isOurs(pattern, path) {
				continue
			}
			if err := remove(path); err != nil {
				return err
			}
		}
	}
	roots, err := filepath.Glob(filepath.Join(globEscape(c.Home), generationsDir, "*"))
	if err != nil {
		return err
	}
	for _, root := range roots {
		if !exists(filepath.Join(root, "manifest.json")) && !exists(filepath.Join(root, originName)) {
			continue // no installer of ours leaves a generation without
		}
		if err := remove(root); err != nil {
			return err
		}
	}
	return nil
}

// isOurs looks closer where a name alone may be anybody's.
func isOurs(pattern, path string) bool {
	switch pattern {
	case "conf/*.conf":
		return confName.MatchString(filepath.Base(path))
	case currentName, previousName:
		target, err := os.Readlink(path)
		return err == nil && filepath.Dir(target) == generationsDir
	}
	return true
}

// leave removes the folders that are empty now and names what is left.
func (c Config) leave(r *Removal) error {
	for _, dir := range []string{sourcesDir, "cache", "conf", "libexec", generationsDir} {
		os.Remove(filepath.Join(c.Home, dir)) //nolint:errcheck // not empty: named below
	}
	lock := filepath.Join(c.Home, lockName)
	if err := os.Remove(lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r.Removed = append(r.Removed, lock)
	if err := os.Remove(c.Home); err == nil {
		r.Removed = append(r.Removed, c.Home)
	} else if entries, err := os.ReadDir(c.Home); err == nil {
		for _, e := range entries {
			r.Left = append(r.Left, filepath.Join(c.Home, e.Name()))
		}
	}
	slices.Sort(r.Removed)
	return nil
}

// ownedByUs says whether a file belongs to the user that runs this process.
func ownedByUs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
