//go:build unix

package gtagsdb

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// access tells the kernel how a mapping will be read.
type access int

const (
	// random: without it every page touched makes the kernel read ahead, by 128 KB
	// or, on some machines, 8 MB.
	random access = unix.MADV_RANDOM
	// whole: GPATH is read from end to end at once.
	whole access = unix.MADV_WILLNEED
)

// mapFile maps the file name of root. It opens without blocking, so that a fifo
// in the place of a database is an error and not a hang.
func mapFile(root *os.Root, name string, how access) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	size := info.Size()
	if size == 0 || int64(int(size)) != size {
		return nil, nil // newTree says what is wrong with it
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", name, err)
	}
	// Advice only: a system that refuses it reads more slowly, not wrongly.
	_ = unix.Madvise(data, int(how))
	return data, nil
}

func unmapFile(data []byte) error {
	if data == nil {
		return nil
	}
	return unix.Munmap(data)
}
