package fetch_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch/releasetest"
)

// FuzzFetch: whatever a server answers, and whatever an earlier run left, either
// the pinned file is there under its name, or there is an error and no such
// file; and never was more read than the pinned size.
func FuzzFetch(f *testing.F) {
	pinned := content(64)
	note := `{"url":"https://example.com/f","etag":"\"x\""}`
	f.Add(200, "", "", pinned, []byte(nil), "")
	f.Add(206, "bytes 10-63/64", "application/gzip", pinned[10:], pinned[:10], note)
	f.Add(206, "bytes 9-63/64", "", pinned, pinned[:10], note)
	f.Add(416, "bytes */64", "", []byte(nil), pinned, note)
	f.Add(200, "", "text/html", []byte("<html>"), []byte("x"), `{"url":1}`)
	f.Fuzz(func(t *testing.T, code int, contentRange, contentType string, body, left []byte, note string) {
		dir := t.TempDir()
		partial := filepath.Join(dir, fileName+".unverified")
		overwrite(t, partial, left)
		overwrite(t, partial+".json", []byte(note))
		counter := &countingReader{}
		c, err := fetch.New(fetch.Options{
			Attempts: 2, Backoff: time.Nanosecond, MaxWait: time.Nanosecond,
			Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				counter.Reader, counter.n = bytes.NewReader(body), 0
				h := http.Header{"Content-Range": {contentRange}, "Content-Type": {contentType}}
				return response(r, code, counter, h), nil
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		path, err := c.Fetch(t.Context(), fetch.Asset{
			Name: fileName, URLs: []string{"https://example.com/f"},
			Size: int64(len(pinned)), SHA256: releasetest.Digest(pinned),
		}, dir)
		if counter.n > len(pinned) {
			t.Errorf("read %d bytes for a file of %d", counter.n, len(pinned))
		}
		if err == nil {
			wantFile(t, path, pinned)
			return
		}
		if _, statErr := os.Stat(filepath.Join(dir, fileName)); statErr == nil {
			t.Errorf("error %v, and yet the file is there", err)
		}
	})
}

type countingReader struct {
	*bytes.Reader
	n int
}

func (r *countingReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.n += n
	return n, err
}
