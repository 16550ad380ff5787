//go:build unix

package mapped

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Flags open a file without blocking, so that a fifo in its place is an error and
// not a hang.
const Flags = os.O_RDONLY | unix.O_NONBLOCK

// Random maps a file of which single pages far apart are read. Without that advice
// every page touched makes the kernel read ahead, by 128 KB or, on some machines,
// 8 MB.
func Random(f *os.File, err error) ([]byte, error) { return file(f, err, unix.MADV_RANDOM) }

// Whole maps a file that is read from end to end at once.
func Whole(f *os.File, err error) ([]byte, error) { return file(f, err, unix.MADV_WILLNEED) }

// file maps f and closes it. Nil without an error is an empty file.
func file(f *os.File, err error, advice int) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", f.Name())
	}
	size := info.Size()
	if size == 0 || int64(int(size)) != size {
		return nil, nil
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", f.Name(), err)
	}
	// Advice only: a system that refuses it reads more slowly, not wrongly.
	_ = unix.Madvise(data, advice)
	return data, nil
}

// Unmap gives back what Random or Whole returned.
func Unmap(data []byte) error {
	if data == nil {
		return nil
	}
	return unix.Munmap(data)
}
