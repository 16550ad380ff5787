package unpack

import (
	"archive/tar"
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/mholt/archiver/v4"
	"golang.org/x/sync/errgroup"
)

// writer puts entries into a folder. Files and folders are made as they come,
// links at the end, so that nothing is ever written through a link.
type writer struct {
	root   *os.Root
	limits Limits
	stream meter // bytes of the decompressed stream
	data   meter // bytes of files
	count  int
	kinds  map[string]kind   // by name
	folded map[string]string // by name without case: the name
	links  []link
}

type kind byte

const (
	folder kind = iota + 1
	file
	symlink
	hardlink
)

type link struct {
	name, target string
	kind         kind
}

func newWriter(root *os.Root, l Limits, packed int64) *writer {
	m := meter{limits: l, packed: packed}
	return &writer{
		root: root, limits: l, stream: m, data: m,
		kinds: map[string]kind{}, folded: map[string]string{},
	}
}

func (w *writer) add(ctx context.Context, f archiver.File) error {
	if w.count++; w.count > w.limits.Entries {
		return refuse("more than %d entries", w.limits.Entries)
	}
	name, err := cleanName(f.NameInArchive, w.limits.Depth)
	if err != nil {
		return err
	}
	k, err := kindOf(f)
	if err != nil {
		return err
	}
	if name == "." {
		if k != folder {
			return refuse("%q is no folder", f.NameInArchive)
		}
		return nil // "./", with which tar begins an archive of a folder
	}
	if err := w.claim(name, k); err != nil {
		return err
	}
	switch k {
	case folder:
		return w.root.MkdirAll(name, 0o755)
	case file:
		return w.write(ctx, name, f)
	}
	w.links = append(w.links, link{name, f.LinkTarget, k})
	return nil
}

// kindOf tells the three acceptable kinds from all others. A tar header's type
// decides where there is one: FileInfo shows a hard link as a plain file.
func kindOf(f archiver.File) (kind, error) {
	if err := checkZipMethod(f); err != nil {
		return 0, err
	}
	mode := f.Mode()
	if mode&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) != 0 {
		return 0, refuse("%q: mode %v", f.NameInArchive, mode)
	}
	h, isTar := f.Header.(*tar.Header)
	switch {
	case isTar && h.Typeflag == tar.TypeLink:
		return hardlink, nil
	case isTar && h.Typeflag == tar.TypeSymlink:
		return symlink, nil
	case isTar && h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeDir:
		return 0, refuse("%q: entry of type %q", f.NameInArchive, h.Typeflag)
	case mode.IsDir():
		return folder, nil
	case mode.IsRegular():
		return file, nil
	}
	return 0, refuse("%q: mode %v", f.NameInArchive, mode)
}

// claim records name and the folders above it, and refuses what is there
// already. A folder may come after its content: it was implied before.
func (w *writer) claim(name string, k kind) error {
	for i := range name {
		if name[i] == '/' {
			if err := w.claimOne(name[:i], folder); err != nil {
				return err
			}
		}
	}
	return w.claimOne(name, k)
}

func (w *writer) claimOne(name string, k kind) error {
	if before, ok := w.kinds[name]; ok {
		if before == folder && k == folder {
			return nil
		}
		return refuse("%q: there twice, or a file and a folder", name)
	}
	fold := strings.ToLower(strings.ToUpper(name))
	if other, ok := w.folded[fold]; ok {
		return refuse("%q and %q differ only in case", other, name)
	}
	w.kinds[name], w.folded[fold] = k, name
	return nil
}

func (w *writer) write(ctx context.Context, name string, f archiver.File) error {
	if err := w.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if f.Mode()&0o111 != 0 {
		mode = 0o755
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, &meteredReader{ctx, in, &w.data})
	if err == nil {
		err = out.Chmod(mode) // whatever the umask
	}
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	return err
}

// finish makes the links and waits until everything is on the disk.
func (w *writer) finish() error {
	for _, l := range w.links {
		if err := w.link(l); err != nil {
			return err
		}
	}
	return w.sync()
}

func (w *writer) link(l link) error {
	target := l.target
	if l.kind == symlink {
		if path.IsAbs(target) {
			return refuse("%q: absolute link to %q", l.name, target)
		}
		target = path.Join(path.Dir(l.name), target)
	} else {
		var err error
		if target, err = cleanName(target, w.limits.Depth); err != nil {
			return err
		}
	}
	// A target that the archive itself holds, and that is no link, is inside and
	// is reached through folders only.
	if k := w.kinds[target]; k != file && (k != folder || l.kind == hardlink) {
		return refuse("%q: link to %q, which is no file of this archive", l.name, l.target)
	}
	if climbsOut(l) {
		return refuse("%q: link to %q leaves the archive on its way", l.name, l.target)
	}
	if err := w.root.MkdirAll(path.Dir(l.name), 0o755); err != nil {
		return err
	}
	if l.kind == hardlink {
		return w.root.Link(target, l.name)
	}
	return w.root.Symlink(l.target, l.name)
}

// climbsOut reports whether a symbolic link's path passes outside, as
// "../dest/file" does, or through elements that path.Join only removed on paper.
func climbsOut(l link) bool {
	if l.kind != symlink {
		return false
	}
	depth := strings.Count(l.name, "/")
	down := false
	for element := range strings.SplitSeq(l.target, "/") {
		switch element {
		case "", ".":
		case "..":
			if depth--; depth < 0 || down {
				return true
			}
		default:
			depth++
			down = true
		}
	}
	return false
}

// sync waits for the disk once everything is written. The calls run side by
// side because a journalling file system commits those that wait together at
// once: on a busy machine 1,400 files took 3 s one by one and 1.2 s this way.
func (w *writer) sync() error {
	var g errgroup.Group
	g.SetLimit(16)
	for name, k := range w.kinds {
		if k == file || k == folder {
			g.Go(func() error { return w.syncOne(name, k) })
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return w.syncOne(".", folder)
}

func (w *writer) syncOne(name string, k kind) error {
	if w.limits.NoSync && k == file {
		return nil
	}
	f, err := w.root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if k == folder {
		if err := f.Chmod(0o755); err != nil { // whatever the umask
			return err
		}
	}
	if w.limits.NoSync {
		return nil
	}
	return f.Sync()
}
