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
)

// collect moves what is used from an unpacked file tree of a distribution into
// the layout of a generation: bin, lib, lib/gtags, share.
func collect(root, dst string) error {
	moves := []struct{ pattern, dir, name string }{
		{"usr/bin/gtags", "bin", ""},
		{"usr/bin/global", "bin", ""},
		{"usr/bin/ctags-universal", "bin", "ctags"},
		{"usr/lib/*/gtags/*.so", "lib/gtags", ""},
		{"usr/lib/*/*.so*", "lib", ""},
		{"lib/*/*.so*", "lib", ""},
		{"usr/lib/python3/dist-packages/pygments", "share/python", ""},
		{"usr/share/doc/*/copyright", "share/doc", "*"},
	}
	for _, m := range moves {
		found, err := filepath.Glob(filepath.Join(globEscape(root), m.pattern))
		if err != nil {
			return err
		}
		for _, src := range found {
			name := m.name
			switch name {
			case "":
				name = filepath.Base(src)
			case "*":
				name = filepath.Base(filepath.Dir(src)) + ".copyright"
			}
			if err := moveInto(src, filepath.Join(dst, m.dir), name); err != nil {
				return err
			}
		}
	}
	for _, name := range []string{"gtags", "global"} {
		if !exists(filepath.Join(dst, "bin", name)) {
			return fmt.Errorf("the packages hold no usr/bin/%s", name)
		}
	}
	return nil
}

// moveInto moves one file, link or folder. A link may not lead out of its folder,
// and nothing keeps a set-user-ID bit.
func moveInto(src, dir, name string) error {
	info, err := os.Lstat(src)
	if err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		if target, err := os.Readlink(src); err != nil || target != filepath.Base(target) {
			return err
		}
	case info.Mode().IsRegular():
		if err := os.Chmod(src, info.Mode().Perm()); err != nil {
			return err
		}
	case !info.IsDir():
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.Rename(src, filepath.Join(dir, name))
}

// manifest says where the files of a generation came from.
type manifest struct {
	Rung     string    `json:"rung"`
	Made     time.Time `json:"made"`
	Packages []deb     `json:"packages,omitempty"`
	Compiler string    `json:"compiler,omitempty"`
	Sources  []string  `json:"sources,omitempty"`
}

func (m manifest) write(staged string) error {
	m.Made = time.Now().UTC()
	data, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(staged, "manifest.json"), append(data, '\n'), 0o644)
}

// syncTree writes a folder to disk before it is published, so that a power cut
// does not leave a generation of empty files.
func syncTree(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() && !d.IsDir() || strings.HasSuffix(path, ".pyc") {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}
