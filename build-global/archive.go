package buildglobal

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Version names a release of the toolchain: GNU Global's version, and how often
// we have built it.
const Version = "6.6.14-1"

// Manifest describes one archive, inside as manifest.json: what it is made of,
// and each of its files.
type Manifest struct {
	Version    string      `json:"version"`
	Platform   string      `json:"platform"`
	Glibc      string      `json:"glibc,omitempty"` // the least; absent for static programs
	Compiler   string      `json:"compiler"`
	Components []Component `json:"components"`
	Files      []File      `json:"files"`
}

// Component is one source that went into an archive.
type Component struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Licence string `json:"licence"`
	Source  string `json:"source"` // file name, in the folder sources beside the archive
	Home    string `json:"home,omitempty"`
	Size    int64  `json:"size"`
	SHA256  string `json:"sha256"`
}

// File is one file of an archive.
type File struct {
	Path   string `json:"path"`
	Mode   string `json:"mode"` // "0755" or "0644"
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`

	content []byte
}

// tree collects the files of an archive.
type tree []File

func (t *tree) add(name string, mode fs.FileMode, content []byte) {
	sum := sha256.Sum256(content)
	*t = append(*t, File{
		Path: name, Mode: fmt.Sprintf("%04o", mode), Size: int64(len(content)),
		SHA256: hex.EncodeToString(sum[:]), content: content,
	})
}

func (t *tree) addFile(name string, mode fs.FileMode, path string) error {
	content, err := os.ReadFile(path)
	if err == nil {
		t.add(name, mode, content)
	}
	return err
}

// addFolder adds the regular files below dir that keep wants.
func (t *tree) addFolder(name, dir string, keep func(rel string) bool) error {
	return filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil || !keep(rel) {
			return err
		}
		return t.addFile(path.Join(name, filepath.ToSlash(rel)), 0o644, p)
	})
}

func (t tree) sort() {
	slices.SortFunc(t, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
}

// buildDate is the date of everything: the first that a zip file could hold,
// and old enough for nobody to take it for the truth.
var buildDate = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// write makes a .tar.gz whose bytes depend on the files alone.
func (t tree) write(w io.Writer) error {
	gz, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	tw := tar.NewWriter(gz)
	for _, f := range t {
		var mode int64
		if _, err := fmt.Sscanf(f.Mode, "%o", &mode); err != nil {
			return err
		}
		h := &tar.Header{Name: f.Path, Mode: mode, Size: f.Size, ModTime: buildDate, Typeflag: tar.TypeReg}
		if err := tw.WriteHeader(h); err != nil {
			return err
		}
		if _, err := tw.Write(f.content); err != nil {
			return err
		}
	}
	if err := tw.Close(); err != nil {
		return err
	}
	return gz.Close()
}

// save writes the archive under a temporary name first: a file with an archive's
// name is always whole.
func (t tree) save(path string) error {
	f, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	err = t.write(f)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func marshal(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	return append(b, '\n'), err
}
