package nav

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Fence is the set of folders that answers may be made of, for a server whose
// clients are not to see all that it can read. The nil Fence holds everything.
//
// A path is looked up below a folder of the fence through os.Root, which follows
// no link that leads out of it, whoever changes what meanwhile. The folders
// themselves, and what is above them, belong to the administrator: they are
// resolved anew at every use, so that a folder may be replaced.
type Fence struct{ folders []string }

// OutsideError says that a path is not inside a fence. It is the same whether or
// not anything is there.
type OutsideError struct {
	Path    string
	Folders []string
}

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s is outside the folders that this server may read: %s", clipPath(e.Path), strings.Join(e.Folders, ", "))
}

func clipPath(path string) string {
	const most = 300
	return strings.ToValidUTF8(path[:min(len(path), most)], "\uFFFD")
}

// NewFence returns the fence of folders that exist.
func NewFence(folders ...string) (*Fence, error) {
	f := &Fence{}
	for _, folder := range folders {
		abs, err := filepath.Abs(folder)
		if err != nil {
			return nil, err
		}
		dir, err := os.OpenRoot(abs)
		if err != nil {
			return nil, err
		}
		dir.Close()
		f.folders = append(f.folders, abs)
	}
	if len(f.folders) == 0 {
		return nil, errors.New("a fence needs a folder")
	}
	return f, nil
}

// Folders are the folders as they were named; none when everything is allowed.
func (f *Fence) Folders() []string {
	if f == nil {
		return nil
	}
	return slices.Clone(f.folders)
}

// Holds reports whether a path that has no symbolic links is inside the fence.
func (f *Fence) Holds(real string) bool {
	return f == nil || slices.ContainsFunc(f.folders, func(folder string) bool {
		resolved, err := filepath.EvalSymlinks(folder)
		return err == nil && inside(resolved, real)
	})
}

// Folder opens a folder inside the fence. real is its path without symbolic links.
func (f *Fence) Folder(path string) (real string, dir *os.Root, err error) {
	if f == nil {
		if real, err = filepath.EvalSymlinks(path); err != nil {
			return "", nil, err
		}
		dir, err = os.OpenRoot(real)
		return real, dir, folderError(err, func() (fs.FileInfo, error) { return os.Stat(real) })
	}
	err = f.below(path, func(post *os.Root, w way) error {
		if dir, err = post.OpenRoot(w.rel); err != nil {
			return folderError(err, func() (fs.FileInfo, error) { return post.Stat(w.rel) })
		}
		if real, err = samePath(dir, filepath.Join(w.folder, w.rel)); err != nil || !inside(w.folder, real) {
			dir.Close()
			return errEscapes
		}
		return nil
	})
	if err != nil {
		return "", nil, err
	}
	return real, dir, nil
}

// folderError says it when what cannot be opened as a folder is a file.
func folderError(err error, stat func() (fs.FileInfo, error)) error {
	if err == nil {
		return nil
	}
	if info, failed := stat(); failed == nil && !info.IsDir() {
		return contentError("is a file; give the folder that holds the source tree")
	}
	return err
}

// samePath is the real path of an open folder that was reached by path.
func samePath(dir *os.Root, path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return real, SameFolder(dir, real)
}

// SameFolder returns an error unless the open folder is the one at path.
func SameFolder(dir *os.Root, path string) error {
	mine, err := dir.Stat(".")
	if err != nil {
		return err
	}
	there, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !os.SameFile(mine, there) {
		return &fs.PathError{Op: "open", Path: path, Err: errors.New("the folder was replaced meanwhile")}
	}
	return nil
}

// ReadFile reads a regular file inside the fence of at most limit bytes.
func (f *Fence) ReadFile(path string, limit int64) (content []byte, err error) {
	// Not blocking: to open a pipe must not wait for somebody who writes to it.
	const flags = os.O_RDONLY | syscall.O_NONBLOCK
	if f == nil {
		file, err := os.OpenFile(path, flags, 0)
		if err != nil {
			return nil, err
		}
		return readRegular(file, limit)
	}
	err = f.below(path, func(post *os.Root, w way) error {
		file, err := post.OpenFile(w.rel, flags, 0)
		if err == nil {
			content, err = readRegular(file, limit)
		}
		return err
	})
	return content, err
}

// ReadIn reads a regular file below an open folder, of at most limit bytes.
func ReadIn(dir *os.Root, name string, limit int64) ([]byte, error) {
	file, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return readRegular(file, limit)
}

func readRegular(file *os.File, limit int64) ([]byte, error) {
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, contentError("not a regular file")
	}
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(content)) > limit {
		return nil, contentError(fmt.Sprintf("longer than %d bytes", limit))
	}
	return content, err
}

// contentError says why an open file is not read.
type contentError string

func (e contentError) Error() string { return string(e) }

var errEscapes = errors.New("the path leads out of its folder")

// way is one way to a path: below a folder of the fence, which has no links.
type way struct{ folder, rel string }

// ways are all spellings of path under which some folder of the fence holds it.
func (f *Fence) ways(path string) (all []way) {
	spellings := []string{filepath.Clean(path)}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != spellings[0] {
		spellings = append(spellings, real)
	}
	for _, spelling := range spellings {
		for _, folder := range f.folders {
			resolved, err := filepath.EvalSymlinks(folder)
			if err != nil {
				continue
			}
			for _, base := range slices.Compact([]string{folder, resolved}) {
				if rel, err := filepath.Rel(base, spelling); err == nil && filepath.IsLocal(rel) {
					all = append(all, way{resolved, rel})
				}
			}
		}
	}
	return all
}

// below calls use with each way to path until one succeeds.
func (f *Fence) below(path string, use func(post *os.Root, w way) error) error {
	var failed error = &OutsideError{path, f.folders}
	for _, w := range f.ways(path) {
		post, err := os.OpenRoot(w.folder)
		if err != nil {
			continue
		}
		err = use(post, w)
		post.Close()
		if err == nil {
			return nil
		}
		if tells(err) {
			failed = err
		}
	}
	return failed
}

// tells reports whether an error is about what is inside the fence. One about a
// link that leads out is not, and saying more would tell what is there.
func tells(err error) bool {
	var number syscall.Errno
	var content contentError
	return errors.As(err, &number) || errors.As(err, &content)
}

// inside reports whether path is folder or below it; both are absolute and clean.
func inside(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}
