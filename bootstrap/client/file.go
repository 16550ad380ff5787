package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// BackupSuffix is added to the name of a file for its state before the last
// change.
const BackupSuffix = ".before-gtagsmcp"

// maxSize bounds what is read of a file. The largest that is known to occur, of a
// client that keeps its history there, has tens of megabytes.
const maxSize = 256 << 20

// Result is what Write or Remove did.
type Result struct {
	File    string // the file itself, where the client's is a link
	Backup  string // the file's state before, if there was one and it changed
	Changed bool
	// Exposed is set when the file holds a token and others may read it.
	Exposed bool
}

// Write merges the entry into the client's file, which is made if it is missing.
func (c Client) Write(file string, e Entry) (Result, error) {
	set, drop, err := c.members(e)
	if err != nil {
		return Result{}, err
	}
	res, err := c.rewrite(file, change{container: c.container, set: set, drop: drop})
	if err == nil && e.Token != "" {
		info, statErr := os.Stat(res.File)
		res.Exposed = statErr == nil && info.Mode().Perm()&0o077 != 0
	}
	return res, err
}

// Remove takes the entry out of the client's file.
func (c Client) Remove(file string) (Result, error) {
	return c.rewrite(file, change{container: c.container, remove: true})
}

// rewrite makes a change in a file that its owner may be writing at the same
// time: when the file changed meanwhile, the change is made anew.
func (c Client) rewrite(file string, ch change) (Result, error) {
	const attempts = 5
	path, err := target(file)
	if err != nil {
		return Result{}, err
	}
	for range attempts {
		old, err := read(path)
		if err != nil {
			return Result{}, err
		}
		text, err := apply(c.format, old.text, ch)
		if err != nil {
			return Result{}, fmt.Errorf("%s: %w\nNothing was changed", path, err)
		}
		res := Result{File: path}
		if bytes.Equal(text, old.text) || (ch.remove && old.info == nil) {
			return res, nil
		}
		backup, err := old.replace(path, text)
		if errors.Is(err, errChanged) {
			continue
		}
		res.Backup, res.Changed = backup, err == nil
		return res, err
	}
	return Result{}, fmt.Errorf("%s: another program keeps writing this file; close it and try again", path)
}

// target follows links, also to a file that is not there yet.
func target(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for range 40 {
		link, err := os.Readlink(path)
		if err != nil {
			return path, nil // no link; what else is wrong shows at reading
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	return "", fmt.Errorf("%s: too many links", path)
}

// state is a file as it was read; info is nil if there was none.
type state struct {
	text []byte
	info fs.FileInfo
}

func read(path string) (state, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not hang us
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, nil
	}
	if err != nil {
		return state{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return state{}, err
	}
	if !info.Mode().IsRegular() {
		return state{}, fmt.Errorf("%s is no file", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err == nil && len(text) > maxSize {
		err = fmt.Errorf("%s has more than %d MB; it is no client's list of servers", path, maxSize>>20)
	}
	return state{text, info}, err
}

var errChanged = errors.New("the file changed meanwhile")

// replace puts text in the place of the file, with the file's mode and owner,
// after a copy of the file was made. A file that did not exist is for its owner
// alone, because it may hold a token.
func (s state) replace(path string, text []byte) (backup string, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	if s.info != nil {
		backup = path + BackupSuffix
		if err := s.write(backup, s.text, nil); err != nil {
			return "", fmt.Errorf("the backup could not be written, so nothing was changed: %w", err)
		}
	}
	return backup, s.write(path, text, func() error {
		now, err := os.Stat(path)
		switch {
		case s.info == nil && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil, s.info == nil, !os.SameFile(now, s.info), now.Size() != s.info.Size(), !now.ModTime().Equal(s.info.ModTime()):
			return errChanged
		}
		return nil
	})
}

// write makes a whole file under another name and renames it when ready agrees.
func (s state) write(path string, text []byte, ready func() error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(text)
	if s.info != nil {
		err = errors.Join(err, sameOwner(f, s.info), f.Chmod(s.info.Mode().Perm()))
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if ready != nil {
		if err := ready(); err != nil {
			return err
		}
	}
	return os.Rename(f.Name(), path)
}

// sameOwner keeps root, who may edit anybody's file, from taking it over. A group
// that its owner may not give is no reason to refuse the change.
func sameOwner(f *os.File, info fs.FileInfo) error {
	want, ok := info.Sys().(*syscall.Stat_t)
	mine, err := f.Stat()
	if !ok || err != nil {
		return err
	}
	have, ok := mine.Sys().(*syscall.Stat_t)
	if !ok || (have.Uid == want.Uid && have.Gid == want.Gid) {
		return nil
	}
	if err := f.Chown(int(want.Uid), int(want.Gid)); err != nil && have.Uid != want.Uid {
		return err
	}
	return nil
}
