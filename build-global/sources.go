package buildglobal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
	"github.com/gtagsmcp/gtagsmcp/toolchain/unpack"
)

// Source is one component of the toolchain.
type Source struct {
	Name, Version, Licence string

	// LicenceFiles are copied beside the binaries.
	LicenceFiles []string

	// Debian is the name of Debian's source package.
	Debian string

	// Archives are acceptable, any of them. The first is the one of the
	// component's home; the others hold the same files in another wrapping.
	Archives []Archive
}

// Archive is a pinned source archive.
type Archive struct {
	File, URL string // URL is empty where the file's only home is Debian
	Size      int64
	SHA256    string
}

// Sources are the components in the order they are built.
var Sources = []Source{{
	Name: "global", Version: "6.6.14", Licence: "GPL-3.0-or-later", Debian: "global",
	LicenceFiles: []string{"COPYING", "COPYING.LIB", "LICENSE"},
	Archives: []Archive{{
		"global-6.6.14.tar.gz", "https://ftp.gnu.org/pub/gnu/global/global-6.6.14.tar.gz",
		3012014, "f6e7fd0b68aed292e85bb686616baf6551d5c9424adcddca11d808ba318cb320",
	}},
}, {
	Name: "ctags", Version: "6.2.1", Licence: "GPL-2.0-or-later", Debian: "universal-ctags",
	LicenceFiles: []string{"COPYING", "misc/packcc/LICENSE"},
	Archives: []Archive{{
		"ctags-6.2.1.tar.gz", "https://github.com/universal-ctags/ctags/archive/refs/tags/v6.2.1.tar.gz",
		3289711, "f56829e9a576025e98955597ee967099a871987b3476fbd8dbbc2b9dc921f824",
	}},
}, {
	Name: "jansson", Version: "2.14", Licence: "MIT", Debian: "jansson",
	LicenceFiles: []string{"LICENSE"},
	Archives: []Archive{{
		"jansson-2.14.tar.gz", "https://github.com/akheron/jansson/archive/v2.14.tar.gz",
		141500, "c739578bf6b764aa0752db9a2fdadcfe921c78f1228c7ec0bb47fa804c55d17b",
	}},
}, {
	Name: "pygments", Version: "2.18.0", Licence: "BSD-2-Clause", Debian: "pygments",
	LicenceFiles: []string{"LICENSE"},
	Archives: []Archive{{
		"pygments-2.18.0.tar.gz", "https://github.com/pygments/pygments/archive/refs/tags/2.18.0.tar.gz",
		5044832, "223c4229634695bd8fdd500133d468a8c6e0ff19fef806fa2f51dfcf29481d1f",
	}, {
		"pygments-2.18.0+dfsg.tar.xz", "", // without some of the documentation
		1236932, "8e724ccba2cd8b4932112a7fe64dc661093578f2b2d98d6f60559e23f3138ff5",
	}},
}}

// source returns the component of that name; the names are this package's own.
func source(name string) Source {
	for _, s := range Sources {
		if s.Name == name {
			return s
		}
	}
	panic("buildglobal: no source named " + name)
}

// Found is a source archive on this machine.
type Found struct {
	Archive
	Path string
}

// errNoSource is the absence of a source in one of the places looked at.
var errNoSource = errors.New("no archive with a pinned size and SHA-256")

// findIn looks for an archive of s in dir, whatever its name there.
func (s Source) findIn(dir string) (Found, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Found{}, err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		for _, a := range s.Archives {
			if info.Size() != a.Size {
				continue
			}
			path := filepath.Join(dir, e.Name())
			if sum, err := fileDigest(path); err == nil && sum == a.SHA256 {
				return Found{a, path}, nil
			}
		}
	}
	return Found{}, fmt.Errorf("%w of %s %s in %s", errNoSource, s.Name, s.Version, dir)
}

// download gets an archive of s from its home.
func (s Source) download(ctx context.Context, c *fetch.Client, dir string) (Found, error) {
	a := s.Archives[0]
	path, err := c.Fetch(ctx, fetch.Asset{Name: a.File, URLs: []string{a.URL}, Size: a.Size, SHA256: a.SHA256}, dir)
	return Found{a, path}, err
}

// CompiledSources are those that the programs are made from.
func CompiledSources(noCtags bool) []Source {
	if noCtags {
		return []Source{source("global")}
	}
	return []Source{source("global"), source("ctags"), source("jansson")}
}

// collect gets sources: from o.Sources alone where that is given, else from the
// cache, from Debian where that is asked for, or from their homes.
func collect(ctx context.Context, o Options, wanted []Source) (map[string]Found, error) {
	get, err := finder(ctx, o)
	if err != nil {
		return nil, err
	}
	found := map[string]Found{}
	var failures []error
	for _, s := range wanted {
		f, err := get(s)
		if err != nil {
			failures = append(failures, fmt.Errorf("source of %s %s: %w (expected %s, SHA-256 %s, from %s)",
				s.Name, s.Version, err, s.Archives[0].File, s.Archives[0].SHA256, s.Archives[0].URL))
		}
		found[s.Name] = f
	}
	return found, errors.Join(failures...)
}

// finder returns how to get one source under o.
func finder(ctx context.Context, o Options) (func(Source) (Found, error), error) {
	if o.Sources != "" {
		return func(s Source) (Found, error) { return s.findIn(o.Sources) }, nil
	}
	dir := filepath.Join(o.Cache, "sources")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	client, err := fetch.New(fetch.Options{Log: o.Log})
	if err != nil {
		return nil, err
	}
	debian := sync.OnceValues(func() (*apt, error) { return newApt(ctx, filepath.Join(o.Cache, "apt")) })
	return func(s Source) (Found, error) {
		if f, err := s.findIn(dir); err == nil {
			return f, nil
		}
		if !o.Debian {
			return s.download(ctx, client, dir)
		}
		apt, err := debian()
		if err != nil {
			return Found{}, err
		}
		if err := s.fromDebian(ctx, apt, dir); err != nil {
			return Found{}, err
		}
		return s.findIn(dir)
	}, nil
}

func fileDigest(path string) (string, error) {
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

// unpackSource unpacks a source archive, which holds one folder, as dest.
func unpackSource(ctx context.Context, archive, dest string) error {
	if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
		return err
	}
	beside := dest + ".unpacked"
	if err := unpack.Unpack(ctx, archive, beside, unpack.Limits{NoSync: true}); err != nil {
		return err
	}
	entries, err := os.ReadDir(beside)
	if err != nil {
		return err
	}
	if len(entries) != 1 || !entries[0].IsDir() {
		return fmt.Errorf("%s: expected one folder in the archive, found %d entries", archive, len(entries))
	}
	if err := os.Rename(filepath.Join(beside, entries[0].Name()), dest); err != nil {
		return err
	}
	return os.Remove(beside)
}
