package toolchain

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// helperRevision counts what the parser helper answers: raise it when an index
// built with the old answers is stale. 1: definitions by ctags.
const helperRevision = "1"

// publishHelper puts the executable at <home>/libexec/gtagsmcp-ctagscom: a hard
// link where possible, else a copy. A symbolic link would be simpler, but it
// dangles as soon as the executable is replaced or, as with a package runner's
// cache, removed, and gtags without its helper leaves a corrupt index.
func publishHelper(home, executable string) (string, error) {
	path := filepath.Join(home, "libexec", HelperName)
	have, haveErr := os.Stat(path)
	source, err := os.Stat(executable)
	if err != nil && haveErr == nil {
		return path, nil // our executable was removed while we run; the helper outlives it
	}
	if err != nil {
		return "", fmt.Errorf("parser helper: %w", err)
	}
	if haveErr == nil && (os.SameFile(have, source) || stamp(have) == stamp(source)) {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("parser helper: %w", err)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return "", fmt.Errorf("parser helper: %w", err)
	}
	defer os.RemoveAll(dir)
	tmp := filepath.Join(dir, HelperName)
	if err := os.Link(executable, tmp); err != nil {
		if err := copyFile(tmp, executable, source); err != nil {
			return "", fmt.Errorf("parser helper: %w", err)
		}
	}
	return path, os.Rename(tmp, path)
}

// copyFile copies content, mode and time, so that the copy has the stamp of its source.
func copyFile(dst, src string, info os.FileInfo) error {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(dst, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	if err := os.Chmod(dst, info.Mode().Perm()); err != nil {
		return err
	}
	return os.Chtimes(dst, info.ModTime(), info.ModTime())
}
