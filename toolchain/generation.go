package toolchain

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The managed home:
//
//	current                      symbolic link to the present generation, swapped by rename
//	toolchains/<version>-<hash>/ a generation: bin, lib, lib/gtags, share, manifest.json; never edited
//	staging/                     what an install is working on; swept by the next one
//	libexec/                     the parser helper
//	conf/                        our gtags.conf files, named by content
//	cache/                       what was proved of which file
//	install.lock, install.json   who installs, and how far it is or how it ended
const (
	currentName    = "current"
	generationsDir = "toolchains"
	stagingDir     = "staging"
)

// current returns the folder of the present generation.
func (c Config) current() (string, error) {
	target, err := os.Readlink(filepath.Join(c.Home, currentName))
	if err != nil {
		return "", err
	}
	if filepath.Dir(target) != generationsDir {
		return "", fmt.Errorf("%s points to %s, which is no generation", filepath.Join(c.Home, currentName), target)
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
	if err := os.Rename(staged, root); err != nil {
		return "", nil, err
	}
	return root, func() error { return c.point(before) }, c.point(filepath.Join(generationsDir, name))
}

// point makes target the present generation; an empty one means none.
func (c Config) point(target string) error {
	link := filepath.Join(c.Home, currentName)
	if target == "" {
		return os.Remove(link)
	}
	tmp := filepath.Join(c.Home, stagingDir, currentName)
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

// sweep removes what a killed install left behind. Only the holder of the lock may.
func (c Config) sweep() error {
	return os.RemoveAll(filepath.Join(c.Home, stagingDir))
}
