package index

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// current is the content of CURRENT:
//
//	gtags-mcp index 1
//	base-000003
//	delta-000017
//	delta-000018
//	end
//
// The base comes first, then its deltas, oldest first. A path in a delta hides
// the same path in all layers before it.
type current struct {
	base   string
	deltas []string
}

const (
	currentHeader = "gtags-mcp index 1"
	currentEnd    = "end"
)

func (c current) layers() []string { return append([]string{c.base}, c.deltas...) }

func (c current) names(layer string) bool {
	return layer == c.base || slices.Contains(c.deltas, layer)
}

func (c current) equal(o current) bool { return c.base == o.base && slices.Equal(c.deltas, o.deltas) }

// String is the name of the generation.
func (c current) String() string {
	if len(c.deltas) == 0 {
		return c.base
	}
	return c.base + "+" + c.deltas[len(c.deltas)-1]
}

func readCurrent(dir string) (c current, err error) {
	path := filepath.Join(dir, currentName)
	if err := ordinary(path); err != nil {
		return c, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	n := len(lines) - 1
	if n < 2 || lines[0] != currentHeader || lines[n] != currentEnd {
		return c, &CorruptError{Path: path, Err: errors.New("not a list of layers")}
	}
	for i, name := range lines[1:n] {
		if _, ok := layerNumber(name); !ok || (i == 0) != strings.HasPrefix(name, basePrefix) {
			return c, &CorruptError{Path: path, Err: fmt.Errorf("bad layer name %q", name)}
		}
	}
	return current{base: lines[1], deltas: lines[2:n]}, nil
}

// write makes c the present generation. The layers must be on disk for good.
func (c current) write(dir string) error {
	var b bytes.Buffer
	fmt.Fprintln(&b, currentHeader)
	for _, name := range c.layers() {
		fmt.Fprintln(&b, name)
	}
	fmt.Fprintln(&b, currentEnd)
	return writeFileAtomic(dir, currentName, b.Bytes())
}

// writeFileAtomic replaces dir/name so that after a crash the old or the new
// content is there, whole.
func writeFileAtomic(dir, name string, data []byte) error {
	tmp := filepath.Join(dir, fmt.Sprintf("%s%s-%d", tmpPrefix, name, os.Getpid()))
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := writeFileSync(tmp, data)
	if err == nil { // half a file must not take the place of a whole one
		err = os.Rename(tmp, filepath.Join(dir, name))
	}
	if err != nil {
		os.Remove(tmp)
		return err
	}
	return syncPath(dir)
}

func writeFileSync(path string, data []byte) error {
	// Whatever has this name, a link perhaps, is not written to.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncPath makes a file's content, or a folder's names, survive a power cut.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// layerNumber reads the number of `base-000003` or `delta-000017`.
func layerNumber(name string) (n int, ok bool) {
	digits, isBase := strings.CutPrefix(name, basePrefix)
	if !isBase {
		if digits, ok = strings.CutPrefix(name, deltaPrefix); !ok {
			return 0, false
		}
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0
}

// nextNumber is one more than any layer ever present has: names are not used
// again, so that a reader which finds CURRENT unchanged knows that its layers
// are the ones named there.
func nextNumber(dir string) (int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	next := 1
	for _, e := range entries {
		if n, ok := layerNumber(e.Name()); ok {
			next = max(next, n+1)
		}
	}
	if cur, err := readCurrent(dir); err == nil {
		for _, name := range cur.layers() {
			n, _ := layerNumber(name)
			next = max(next, n+1)
		}
	}
	return next, nil
}
