package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// partial is a download in progress: the file PATH, and PATH.json with what it
// takes to continue it later, perhaps in another process. The note is written
// before the first byte, so bytes without a note can not be told apart from
// another file's and are dropped.
type partial struct {
	path    string
	file    *os.File
	size    int64
	source  source
	resumed bool // the bytes come from more than one answer
	report  func(done, total int64)
}

// source is where a partial's bytes came from.
type source struct {
	URL          string `json:"url"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
}

// validator is what If-Range may carry: a strong ETag, or else a date. A weak
// ETag promises only that a reader would not mind the difference.
func (s source) validator() string {
	if s.ETag != "" {
		if strings.HasPrefix(s.ETag, "W/") {
			return ""
		}
		return s.ETag
	}
	return s.LastModified
}

func openPartial(path string) (*partial, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	p := &partial{path: path, file: f}
	if info, err := f.Stat(); err == nil {
		p.size = info.Size()
	}
	note, err := os.ReadFile(path + ".json")
	if err != nil || json.Unmarshal(note, &p.source) != nil {
		p.source = source{}
	}
	return p, nil
}

// canResume reports whether p's bytes may be the beginning of a at u. A partial
// as long as the whole, or longer, can not be continued.
func (p *partial) canResume(u string, a Asset) bool {
	return p.size > 0 && p.size < a.limit() && p.source.URL == u && p.source.validator() != ""
}

// begin notes where the bytes to come are from.
func (p *partial) begin(u string, h http.Header) error {
	p.source = source{URL: u, ETag: h.Get("ETag"), LastModified: h.Get("Last-Modified")}
	note, err := json.Marshal(p.source)
	if err == nil {
		err = os.WriteFile(p.path+".json", note, 0o600)
	}
	if err != nil {
		return diskError(err, p.path, 0)
	}
	return nil
}

func (p *partial) write(b []byte) error {
	n, err := p.file.WriteAt(b, p.size)
	p.size += int64(n)
	return err
}

func (p *partial) reset() error {
	p.size, p.source = 0, source{}
	return p.file.Truncate(0)
}

// discard forgets the bytes: an attempt to truncate that fails is noticed by
// the next reset.
func (p *partial) discard() { _ = p.reset() }

// verify compares the bytes on disk, not those that went by, with the pins.
func (p *partial) verify(a Asset) error {
	if err := p.file.Sync(); err != nil {
		return diskError(err, p.path, a.Size)
	}
	return verify(p.path, a)
}

// publish gives the file its name. The folder is synced too: after a power cut
// the name is there with the bytes or not at all.
func (p *partial) publish(path string) error {
	if err := p.file.Chmod(0o644); err != nil {
		return err
	}
	if err := os.Rename(p.path, path); err != nil {
		return err
	}
	os.Remove(p.path + ".json")
	return syncDir(filepath.Dir(path))
}

// close keeps bytes that a later run can continue and removes all others.
func (p *partial) close() {
	p.file.Close()
	if p.size == 0 || p.source.validator() == "" {
		os.Remove(p.path)
		os.Remove(p.path + ".json")
	}
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// verify checks a file's size and SHA-256 against the pins.
func verify(path string, a Asset) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return err
	}
	if a.Size > 0 && n != a.Size {
		return fmt.Errorf("%w: %d bytes, expected %d", ErrSize, n, a.Size)
	}
	if got := hex.EncodeToString(h.Sum(nil)); a.SHA256 != "" && !strings.EqualFold(got, a.SHA256) {
		return fmt.Errorf("%w: %s, expected %s", ErrDigest, got, strings.ToLower(a.SHA256))
	}
	return nil
}
