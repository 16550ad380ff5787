package unpack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zip"
	"github.com/klauspost/compress/zstd"
	"github.com/mholt/archiver/v4"
)

// Limits bound what an archive may become. The zero value is right for a
// compiler or less.
type Limits struct {
	Bytes   int64 // unpacked, all files together; 0: 512 MiB
	Entries int   // 0: 20,000
	Depth   int   // elements of a path; 0: 16
	Ratio   int64 // unpacked to packed, beyond the first MiB; 0: 100

	// NoSync returns before the files have reached the disk: for a cache, which
	// can be made again.
	NoSync bool
}

func (l Limits) withDefaults() Limits {
	if l.Bytes == 0 {
		l.Bytes = 512 << 20
	}
	if l.Entries == 0 {
		l.Entries = 20_000
	}
	if l.Depth == 0 {
		l.Depth = 16
	}
	if l.Ratio == 0 {
		l.Ratio = 100
	}
	return l
}

// ErrRefused is what every error about an archive's content wraps; the others
// are about this machine.
var ErrRefused = errors.New("archive refused")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrRefused, fmt.Errorf(format, args...))
}

// Unpack extracts a .tar.gz, .tar.xz, .tar.zst or .zip, told apart by their
// first bytes, into dest, which must not exist. After an error dest does not
// exist either.
func Unpack(ctx context.Context, archive, dest string, l Limits) (err error) {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := os.Mkdir(dest, 0o755); err != nil {
		return fmt.Errorf("unpack %s: %w", filepath.Base(archive), err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("unpack %s: %w", filepath.Base(archive), err)
			if rmErr := os.RemoveAll(dest); rmErr != nil {
				err = errors.Join(err, rmErr)
			}
		}
	}()
	root, err := os.OpenRoot(dest)
	if err != nil {
		return err
	}
	defer root.Close()
	w := newWriter(root, l.withDefaults(), info.Size())
	if err := extract(ctx, f, w); err != nil {
		return err
	}
	return w.finish()
}

// extract feeds w with the entries of f. The decoders are older releases of
// libraries that parse bytes from anywhere: should one of them panic, that is
// one more archive to refuse, not the end of the program.
func extract(ctx context.Context, f *os.File, w *writer) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = refuse("the decoder failed: %v", p)
		}
	}()
	format, err := identify(f)
	if err != nil {
		return err
	}
	handle := func(ctx context.Context, file archiver.File) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return w.add(ctx, file)
	}
	if format == nil {
		return blame(archiver.Zip{}.Extract(ctx, f, nil, handle))
	}
	stream, err := format.OpenReader(f)
	if err != nil {
		return refuse("%w", err)
	}
	defer stream.Close()
	// The stream is metered too: headers cost nothing that is ever written.
	in := &meteredReader{ctx, stream, &w.stream}
	if err := (archiver.Tar{}).Extract(ctx, in, nil, handle); err != nil {
		return blame(err)
	}
	// The end of the tar file is not yet the end of the stream, where the
	// decoder compares its checksum.
	_, err = io.Copy(io.Discard, in)
	return blame(err)
}

// blame sorts out errors that came through the archive libraries: those of this
// machine and of the context stay as they are, the others are the archive's.
func blame(err error) error {
	var local *fs.PathError
	var link *os.LinkError
	switch {
	case err == nil, errors.Is(err, ErrRefused), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.As(err, &local), errors.As(err, &link):
		return err
	}
	return refuse("%w", err)
}

// identify returns the compression around a tar file, or nil for a zip file.
func identify(f *os.File) (archiver.Decompressor, error) {
	start := make([]byte, 6)
	n, err := io.ReadFull(f, start)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	for magic, format := range map[string]archiver.Decompressor{
		"\x1f\x8b":         archiver.Gz{},
		"\xfd7zXZ\x00":     archiver.Xz{},
		"\x28\xb5\x2f\xfd": boundedZstd,
		"PK\x03\x04":       nil,
		"PK\x05\x06":       nil,
	} {
		if bytes.HasPrefix(start[:n], []byte(magic)) {
			return format, nil
		}
	}
	return nil, refuse("neither .tar.gz, .tar.xz, .tar.zst nor .zip, but %q…", start[:n])
}

// boundedZstd may ask for 64 MiB of window, which is xz's limit too, and decodes
// in the goroutine that reads, where a panic can be caught.
var boundedZstd = archiver.Zstd{DecoderOptions: []zstd.DOption{
	zstd.WithDecoderMaxMemory(64 << 20), zstd.WithDecoderConcurrency(1),
}}

// checkZipMethod refuses the methods other than stored and deflated: they have no place
// in our archives, and the library answers a broken stream of theirs with a nil reader.
func checkZipMethod(file archiver.File) error {
	if h, ok := file.Header.(zip.FileHeader); ok && h.Method != zip.Store && h.Method != zip.Deflate {
		return refuse("%q: compression method %d", file.NameInArchive, h.Method)
	}
	return nil
}

// meter counts bytes against the limits.
type meter struct {
	limits Limits
	packed int64
	n      int64
}

func (m *meter) add(n int) error {
	m.n += int64(n)
	if m.n > m.limits.Bytes {
		return refuse("more than %d bytes unpacked", m.limits.Bytes)
	}
	if m.n > 1<<20 && m.n/m.limits.Ratio > m.packed {
		return refuse("more than %d times its size of %d bytes unpacked", m.limits.Ratio, m.packed)
	}
	return nil
}

// meteredReader counts what goes by, and ends with the context.
type meteredReader struct {
	ctx context.Context
	io.Reader
	*meter
}

func (r *meteredReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.Reader.Read(b)
	if limit := r.add(n); limit != nil {
		return 0, limit
	}
	return n, err
}
