package toolchain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// helperRevision counts what the parser helper answers: raise it when an index
// built with the old answers is stale. 1: definitions by ctags. 2: and references by lexers.
const helperRevision = "2"

// publishHelper puts the executable at <home>/libexec/gtagsmcp-ctagscom: a hard
// link where possible, else a copy. A symbolic link would be simpler, but it
// dangles as soon as the executable is replaced or, as with a package runner's
// cache, removed, and gtags without its helper leaves a corrupt index.
func publishHelper(ctx context.Context, home, executable string) (string, error) {
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
	if err := proveHelper(ctx, tmp); err != nil {
		return "", fmt.Errorf("parser helper %s: %w", executable, err)
	}
	return path, os.Rename(tmp, path)
}

// proveHelper sends one request, for a file that does not exist, and demands the
// answer of the protocol: an executable that does not dispatch on its name must
// not replace a helper that does.
func proveHelper(ctx context.Context, path string) error {
	r := command{path: path, args: []string{"--langmap=c:.c"}, env: []string{}, stdin: []byte("./no/such/file\n")}.run(ctx)
	if err := explain(path, r); err != nil {
		return err
	}
	if string(r.stdout) != "###terminator###\n" {
		return fmt.Errorf("it is no parser helper: started under the name %s it says %q", HelperName, firstLine(r.stdout))
	}
	return nil
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
