package toolchain

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// freeBytes is what the user may still write below dir, which need not exist yet.
func freeBytes(dir string) (uint64, error) {
	for {
		var st unix.Statfs_t
		err := unix.Statfs(dir, &st)
		if err == nil {
			return uint64(st.Bavail) * uint64(st.Bsize), nil
		}
		parent := filepath.Dir(dir)
		if !os.IsNotExist(err) || parent == dir {
			return 0, fmt.Errorf("free space of %s: %w", dir, err)
		}
		dir = parent
	}
}

// needSpace refuses when fewer than need bytes are free: a full disk makes
// programs fail in misleading ways, or not fail at all.
func needSpace(dir string, need uint64) error {
	free, err := freeBytes(dir)
	if err != nil {
		return err
	}
	if free < need {
		return fmt.Errorf("%s has %d MB free, %d MB are needed; free some or set GTAGS_MCP_HOME to a folder on another disk", dir, free>>20, need>>20)
	}
	return nil
}

// writeFile publishes data under name by rename, so that a reader never sees half.
func writeFile(name string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Chmod(0o644)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), name)
}
