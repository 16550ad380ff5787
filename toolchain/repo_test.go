package toolchain

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// packages is a repository on this disk of the packages that an install needs.
// Its lists are not the system's, so that every install from it updates lists of
// its own first, which is what happens in an image without any. It spares the
// network, too: the real sources serve one install of this package's tests.
var packages struct {
	sync.Once
	dir string
	err error
}

// fromRepository is bareEnviron for a machine whose one source is packages.
func fromRepository(t testing.TB, home string) []string {
	t.Helper()
	environ := bareEnviron(t, home)
	packages.Do(func() { packages.dir, packages.err = makeRepository(t, environ) })
	if packages.err != nil {
		t.Fatalf("making a package repository: %v", packages.err)
	}
	return append(environ, "APT_CONFIG="+filepath.Join(packages.dir, "apt.conf"))
}

func makeRepository(t testing.TB, environ []string) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "toolchain-packages-*"); err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil { // an ordinary user reads it, too
		return dir, err
	}
	cfg, err := Config{Home: dir, Environ: environ}.complete()
	if err != nil {
		return dir, err
	}
	a := newApt(cfg, t.TempDir(), func(string, int64, int64) {})
	if err := a.prepare(); err != nil {
		return dir, err
	}
	debs, err := a.fetch(t.Context())
	if err != nil {
		return dir, err
	}
	var index strings.Builder
	for _, d := range debs {
		data, err := os.ReadFile(filepath.Join(a.work, "debs", d.File))
		if err != nil {
			return dir, err
		}
		control, err := exec.Command(a.dpkgDeb, "-f", filepath.Join(a.work, "debs", d.File)).Output()
		if err != nil {
			return dir, err
		}
		// What is never unpacked was not fetched.
		depends := strings.NewReplacer("emacsen-common, ", "", ", emacsen-common", "").Replace(string(control))
		fmt.Fprintf(&index, "%sFilename: ./%s\nSize: %d\nSHA256: %x\n\n", depends, d.File, len(data), sha256.Sum256(data))
		if err := os.WriteFile(filepath.Join(dir, d.File), data, 0o644); err != nil {
			return dir, err
		}
	}
	list := filepath.Join(dir, "sources.list")
	return dir, errors.Join(
		os.WriteFile(filepath.Join(dir, "Packages"), []byte(index.String()), 0o644),
		os.WriteFile(list, []byte("deb [trusted=yes] copy:"+dir+" ./\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "apt.conf"), []byte("Dir::Etc::sourcelist \""+list+"\";\nDir::Etc::sourceparts \"/nowhere\";\n"), 0o644))
}
