package gtagsdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// GNU Global's files carry no checksum, so a flipped bit or a page lost in a power
// cut may look like a good page with other text. SUMS, a file of ours beside them,
// makes up for that: Open takes it up if it is there, and each page is held
// against it when it is read for the first time (8 KB in under a microsecond).
//
//	"gtagsdb sums 1\n"
//	three times, for GTAGS, GRTAGS, GPATH:  u32 page size, u32 pages, u32 a page
//	u32 of all before
//
// All integers are little endian, all sums CRC-32C.
const (
	sumsName   = "SUMS"
	sumsHeader = "gtagsdb sums 1\n"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// WriteSums writes SUMS for the three files of dir, which must be complete and
// must never be written again. It reads all of them once.
func WriteSums(dir string) error {
	if err := os.Remove(filepath.Join(dir, sumsName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replace page sums: %w", err)
	}
	db, err := Open(dir)
	if err != nil {
		return err
	}
	out := []byte(sumsHeader)
	err = db.view(func() error {
		for _, t := range db.trees() {
			out = t.appendSums(out)
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	out = binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli))
	return writeSynced(filepath.Join(dir, sumsName), out)
}

func (t *tree) appendSums(out []byte) []byte {
	out = binary.LittleEndian.AppendUint32(out, uint32(t.size))
	out = binary.LittleEndian.AppendUint32(out, t.pages)
	for page := range slices.Chunk(t.data, t.size) {
		out = binary.LittleEndian.AppendUint32(out, crc32.Checksum(page, castagnoli))
	}
	return out
}

func writeSynced(name string, data []byte) error {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("write page sums: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write page sums: %w", err)
	}
	return nil
}

// readSums hands each tree its sums, if the directory has them.
func (db *DB) readSums(root *os.Root) error {
	data, err := root.ReadFile(sumsName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open database in %s: %w", db.dir, err)
	}
	bad := func(reason string) error {
		return &CorruptError{Path: filepath.Join(db.dir, sumsName), Reason: reason}
	}
	end := len(data) - 4
	if end < len(sumsHeader) || string(data[:len(sumsHeader)]) != sumsHeader {
		return bad("not a file of page sums")
	}
	if binary.LittleEndian.Uint32(data[end:]) != crc32.Checksum(data[:end], castagnoli) {
		return bad("the sum of the sums is wrong")
	}
	data = data[len(sumsHeader):end]
	for _, t := range db.trees() {
		if data, err = t.takeSums(data); err != nil {
			return err
		}
	}
	return nil
}

// takeSums cuts the sums of one file from the begin of data.
func (t *tree) takeSums(data []byte) (rest []byte, err error) {
	if len(data) < 8 {
		return nil, t.corrupt(0, "its page sums are missing")
	}
	size, pages := int(binary.LittleEndian.Uint32(data)), int(binary.LittleEndian.Uint32(data[4:]))
	data = data[8:]
	if size*pages != len(t.data) || 4*pages > len(data) {
		return nil, t.corrupt(int64(len(t.data)), "%d bytes, but it had %d pages of %d bytes", len(t.data), pages, size)
	}
	t.sums = make([]uint32, pages)
	for i := range t.sums {
		t.sums[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return data[4*pages:], nil
}

func (t *tree) checkSum(no uint32, b []byte) error {
	if t.sums != nil && (int(no) >= len(t.sums) || crc32.Checksum(b, castagnoli) != t.sums[no]) {
		return t.corrupt(int64(no)*int64(t.size), "the checksum of page %d is wrong", no)
	}
	return nil
}
