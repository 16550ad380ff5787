//go:build unix

package outline

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a store. It opens without blocking, so that a fifo of that name
// is an error and not a hang. Nil without an error is an empty file.
func mapFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	size := info.Size()
	if size == 0 || int64(int(size)) != size {
		return nil, nil
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	// Lookups touch single pages far apart. Advice only: a system that refuses
	// it reads more slowly, not wrongly.
	_ = unix.Madvise(data, unix.MADV_RANDOM)
	return data, nil
}

func unmapFile(data []byte) error {
	if data == nil {
		return nil
	}
	return unix.Munmap(data)
}
