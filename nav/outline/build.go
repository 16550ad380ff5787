package outline

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sys/unix"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
	"github.com/gtagsmcp/gtagsmcp/nav/macro"
)

// Options are those of Build.
type Options struct {
	// Workers is how many files are scanned at a time. 0: one for each core.
	Workers int
	// MaxFile is the size in bytes above which a file is left out. 0: 64 MiB.
	MaxFile int64
	// Mint tells which names a macro invocation in the file at path is about.
	// Nil: none.
	Mint func(path string, call csource.Symbol) []macro.Name
	// RunBytes is how much memory the names of one worker take before they are
	// sorted and put aside on disk. 0: 12 MiB.
	RunBytes int
}

// Families is an Options.Mint that knows the families of a table.
func Families(t *macro.Table) func(path string, call csource.Symbol) []macro.Name {
	return func(path string, call csource.Symbol) []macro.Name {
		name, args, ok := macro.ParseCall(call.Name + call.Signature)
		if !ok {
			return nil
		}
		return t.Minted(path, name, args)
	}
}

func (o Options) withDefaults() Options {
	o.Workers = max(cmp.Or(o.Workers, runtime.GOMAXPROCS(0)), 1)
	o.MaxFile = cmp.Or(o.MaxFile, 64<<20)
	o.RunBytes = cmp.Or(o.RunBytes, 12<<20)
	return o
}

// Stats says what Build has written.
type Stats struct {
	Files       int   // with a record
	SourceBytes int64 // of these files
	Symbols     int
	Names       int // that are defined
	Definitions int // of these names
	Bytes       int64
	// Skipped are the files without a record, by path.
	Skipped []Skipped
}

// Skipped is a file that has no record, and why.
type Skipped struct {
	Path string
	Err  error
}

// Opener opens files below a root; *os.Root is one.
type Opener interface {
	OpenFile(name string, flag int, perm os.FileMode) (*os.File, error)
}

// Build scans those of files, paths below root, that csource can read, and
// writes the store of the layer in dir. A file that cannot be read is left out
// and reported. When Build fails or ctx ends, dir is as it was before.
func Build(ctx context.Context, dir string, root Opener, files []string, opts Options) (Stats, error) {
	b := &builder{opts: opts.withDefaults(), root: root, families: make(map[macro.Name]uint32)}
	for _, f := range files {
		if lang, ok := csource.LangOf(f); ok && confined(f) {
			b.files = append(b.files, source{path: f, lang: lang})
		}
	}
	slices.SortFunc(b.files, func(x, y source) int { return strings.Compare(x.path, y.path) })
	b.files = slices.CompactFunc(b.files, func(x, y source) bool { return x.path == y.path })
	b.large = semaphore.NewWeighted(largeBudget)
	if err := b.build(ctx, dir); err != nil {
		return Stats{}, fmt.Errorf("build outline in %s: %w", dir, err)
	}
	return b.stats, nil
}

// A file of a megabyte takes a scanner tens of them. Workers share a budget for
// such files and let go of the memory afterwards.
const (
	largeFile   = 1 << 20
	largeBudget = 24 << 20
)

// source is one file to scan and where its record is.
type source struct {
	path         string
	lang         csource.Lang
	offset, size int64 // of the record; size 0: none
	err          error
}

type builder struct {
	opts  Options
	root  Opener
	files []source
	next  atomic.Int64
	large *semaphore.Weighted
	out   *output
	spill *spill
	stats Stats

	mu       sync.Mutex
	families map[macro.Name]uint32
}

// output counts what is written to the store.
type output struct {
	mu     sync.Mutex
	w      *bufio.Writer
	offset int64
}

func (o *output) write(b []byte) error {
	_, err := o.w.Write(b)
	o.offset += int64(len(b))
	return err
}

func (b *builder) build(ctx context.Context, dir string) (err error) {
	f, err := os.CreateTemp(dir, storeName+"-new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	defer f.Close()
	if b.spill, err = newSpill(dir); err != nil {
		return err
	}
	defer b.spill.file.Close()
	b.out = &output{w: bufio.NewWriterSize(f, 1<<20)}
	if err := b.out.write(make([]byte, headerSize)); err != nil {
		return err
	}
	if err := b.scan(ctx); err != nil {
		return err
	}
	h, err := b.directories(ctx)
	if err != nil {
		return err
	}
	if err := b.out.w.Flush(); err != nil {
		return err
	}
	if _, err := f.WriteAt(h.encode(), 0); err != nil {
		return err
	}
	if err := cmp.Or(f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	b.stats.Bytes = b.out.offset
	return os.Rename(f.Name(), filepath.Join(dir, storeName))
}

// scan writes the records and the runs of names.
func (b *builder) scan(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for range min(b.opts.Workers, len(b.files)) {
		w := &worker{builder: b, scanner: new(csource.Scanner)}
		group.Go(func() error { return w.run(ctx) })
	}
	return group.Wait()
}

// directories writes everything behind the records.
func (b *builder) directories(ctx context.Context) (*header, error) {
	h := &header{files: uint32(len(b.files)), families: uint32(len(b.families)), names: uint64(b.out.offset)}
	names := &nameWriter{out: b.out}
	err := b.spill.merge(func(name, postings []byte) error {
		if names.names == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		return names.put(name, postings)
	})
	if err := cmp.Or(err, names.flush()); err != nil {
		return nil, err
	}
	h.blocks, h.nameCount, h.postings = names.blocks, names.total, uint64(b.stats.Definitions)
	h.index = uint64(b.out.offset)
	if err := b.out.write(binary.LittleEndian.AppendUint32(names.index, checksum(names.index))); err != nil {
		return nil, err
	}
	h.paths = uint64(b.out.offset)
	if err := b.out.write(b.paths()); err != nil {
		return nil, err
	}
	h.size = uint64(b.out.offset)
	b.stats.Names = int(names.total)
	return h, nil
}

// paths encodes the list of files and families.
func (b *builder) paths() []byte {
	var list []byte
	before := ""
	for _, f := range b.files {
		list = appendShared(list, before, f.path)
		before = f.path
		list = binary.AppendUvarint(list, uint64(f.size))
		if f.size > 0 {
			list = binary.AppendUvarint(list, uint64(f.offset))
			b.stats.Files++
		}
		if f.err != nil {
			b.stats.Skipped = append(b.stats.Skipped, Skipped{f.path, f.err})
		}
	}
	families := make([]macro.Name, len(b.families))
	for f, n := range b.families {
		families[n] = f
	}
	for _, f := range families {
		list = appendFamily(list, f)
	}
	return binary.LittleEndian.AppendUint32(list, checksum(list))
}

// number returns the number of a family: of what the names that one family of
// macros mints have in common, which is a macro.Name but for the name.
func (b *builder) number(family macro.Name) uint32 {
	family.Name = ""
	b.mu.Lock()
	defer b.mu.Unlock()
	n, ok := b.families[family]
	if !ok {
		n = uint32(len(b.families))
		b.families[family] = n
	}
	return n
}

func appendFamily(b []byte, f macro.Name) []byte {
	for _, s := range []string{f.Label, string(f.Role)} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	b = binary.AppendVarint(b, int64(f.Rank))
	return append(b, flag(f.Weak, 1))
}

func (r *reader) family() macro.Name {
	return macro.Name{
		Label: string(r.bytes(r.uvarint())), Role: macro.Role(r.bytes(r.uvarint())), Rank: r.delta(), Weak: r.byte() != 0,
	}
}

// worker scans files, one after the other.
type worker struct {
	*builder
	scanner *csource.Scanner
	text    []byte
	record  []byte
	writer  recordWriter
	names   runBuffer

	bytes                int64
	symbols, definitions int
}

func (w *worker) run(ctx context.Context) error {
	for {
		i := int(w.next.Add(1)) - 1
		if i >= len(w.files) {
			break
		}
		if err := w.file(ctx, i); err != nil {
			return err
		}
		if w.names.size() >= w.opts.RunBytes {
			if err := w.spill.write(&w.names); err != nil {
				return err
			}
		}
	}
	w.mu.Lock()
	w.stats.SourceBytes += w.bytes
	w.stats.Symbols += w.symbols
	w.stats.Definitions += w.definitions
	w.mu.Unlock()
	return w.spill.write(&w.names)
}

// file scans one file. What is wrong with the file alone is kept in its source;
// an error ends the build.
func (w *worker) file(ctx context.Context, i int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	src := &w.files[i]
	f, size, err := w.open(src.path)
	if err != nil {
		src.err = err
		return nil
	}
	defer f.Close()
	if size > largeFile {
		weight := min(size, largeBudget)
		if err := w.large.Acquire(ctx, weight); err != nil {
			return err
		}
		defer w.large.Release(weight)
		defer w.shrink()
	}
	if w.text, src.err = readAll(f, w.text, size); src.err != nil {
		return nil
	}
	if src.err = w.encode(uint32(i), src); src.err != nil {
		w.scanner = new(csource.Scanner) // it may be in any state
		return nil
	}
	w.out.mu.Lock()
	defer w.out.mu.Unlock()
	src.offset, src.size = w.out.offset, int64(len(w.record))
	return w.out.write(w.record)
}

// shrink gives up the buffers that a large file has left behind.
func (w *worker) shrink() {
	w.scanner, w.text, w.record, w.writer = new(csource.Scanner), nil, nil, recordWriter{}
}

// open opens a file without waiting for what is no regular file.
func (w *worker) open(path string) (f *os.File, size int64, err error) {
	f, err = w.root.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file", path)
	case info.Size() > w.opts.MaxFile:
		err = fmt.Errorf("%s has %d bytes, more than the limit of %d", path, info.Size(), w.opts.MaxFile)
	default:
		return f, info.Size(), nil
	}
	f.Close()
	return nil, 0, err
}

// readAll reads size bytes, or fewer if the file has become shorter.
func readAll(f *os.File, buf []byte, size int64) ([]byte, error) {
	buf = slices.Grow(buf[:0], int(size))[:size]
	n, err := io.ReadFull(f, buf)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return buf[:n], err
}

// encode scans the text and makes the record. A scanner that fails on one file
// must not cost the others.
func (w *worker) encode(number uint32, src *source) (err error) {
	arena, refs := len(w.names.arena), len(w.names.refs)
	defer func() {
		if r := recover(); r != nil {
			w.names.arena, w.names.refs = w.names.arena[:arena], w.names.refs[:refs]
			err = fmt.Errorf("scan %s: %v", src.path, r)
		}
	}()
	file := w.scanner.Scan(w.text, src.lang)
	if w.record, err = w.writer.append(w.record[:0], w.text, file); err != nil {
		return fmt.Errorf("outline of %s: %w", src.path, err)
	}
	w.index(number, file.Symbols())
	w.bytes += int64(len(w.text))
	w.symbols += len(file.Symbols())
	w.definitions += len(w.names.refs) - refs
	return nil
}

// index adds the names that a file defines, and those that its macro
// invocations are about.
func (w *worker) index(file uint32, symbols []csource.Symbol) {
	for i := range symbols {
		s := &symbols[i]
		p := posting{file: file, symbol: uint32(i), kind: s.Kind}
		if s.Kind.Definition() {
			w.names.add(s.Name, p)
		}
		if s.Kind != csource.Invocation || w.opts.Mint == nil {
			continue
		}
		for _, m := range w.opts.Mint(w.files[file].path, *s) {
			p.family = w.number(m) + 1
			w.names.add(m.Name, p)
		}
	}
}
