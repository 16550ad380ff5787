package fetch_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch/releasetest"
)

const piece = 64 << 10

func object(m releasetest.Middleware) releasetest.Middleware { return releasetest.When("/objects/", m) }

// TestCutEveryPiece: a server that breaks every answer after 64 kB needs one
// request a piece, each continuing with a validator.
func TestCutEveryPiece(t *testing.T) {
	body := content(10*piece + 5)
	s := serve(t, body, object(releasetest.CutAfter(piece)))
	path, err := client(t, s, nil).Fetch(t.Context(), asset(s, body), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, body)
	requests := objectRequests(s)
	if len(requests) != 11 {
		t.Errorf("%d requests, want 11", len(requests))
	}
	for i, r := range requests[1:] {
		if got, want := r.Header.Get("Range"), fmt.Sprintf("bytes=%d-", (i+1)*piece); got != want {
			t.Errorf("request %d: Range %q, want %q", i+1, got, want)
		}
		if r.Header.Get("If-Range") == "" {
			t.Errorf("request %d: a range without a validator", i+1)
		}
	}
}

// TestCutOnceAtEveryPiece: wherever the one break is, the file arrives, from
// servers with ranges and without.
func TestCutOnceAtEveryPiece(t *testing.T) {
	body := content(5 * piece)
	for cut := 0; cut < len(body); cut += piece {
		for name, server := range map[string]releasetest.Middleware{
			"ranges": func(h http.Handler) http.Handler { return h }, "none": releasetest.WithoutRanges(),
		} {
			t.Run(fmt.Sprint(name, cut), func(t *testing.T) {
				s := serve(t, body, object(server), object(releasetest.Times(1, releasetest.CutAfter(cut))))
				path, err := client(t, s, nil).Fetch(t.Context(), asset(s, body), t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				wantFile(t, path, body)
			})
		}
	}
}

// TestCutWithoutRangesEnds: where each try starts over, no try gets further
// than the first and the tries run out.
func TestCutWithoutRangesEnds(t *testing.T) {
	body := content(5 * piece)
	s := serve(t, body, object(releasetest.WithoutRanges()), object(releasetest.CutAfter(piece)))
	if _, err := client(t, s, nil).Fetch(t.Context(), asset(s, body), t.TempDir()); err == nil {
		t.Fatal("want an error")
	}
	if n := len(objectRequests(s)); n != 4 {
		t.Errorf("%d requests, want 4: the one that got somewhere and 3 that did not", n)
	}
}

// interrupted leaves in dir what a download that was ended half way leaves.
func interrupted(t *testing.T, s *releasetest.Server, body []byte, dir string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.Use(object(releasetest.Times(1, releasetest.CutAfter(len(body)/2))))
	c := client(t, s, func(o *fetch.Options) {
		o.Progress = func(done, _ int64) {
			if done == int64(len(body)/2) {
				cancel()
			}
		}
	})
	if _, err := c.Fetch(ctx, asset(s, body), dir); err == nil {
		t.Fatal("want the interruption")
	}
	info, err := os.Stat(filepath.Join(dir, fileName+".unverified"))
	if err != nil || info.Size() == 0 {
		t.Fatalf("partial file: %v, %v", info, err)
	}
}

// TestNextRun: what an ended process left is continued when it is provably of
// the same file, and dropped otherwise. Either way the file is right.
func TestNextRun(t *testing.T) {
	body := content(20 * piece)
	partialFile := fileName + ".unverified"
	tests := []struct {
		name      string
		meddle    func(t *testing.T, s *releasetest.Server, dir string)
		continues bool
	}{
		{"continued", func(*testing.T, *releasetest.Server, string) {}, true},
		{"note lost", func(t *testing.T, _ *releasetest.Server, dir string) {
			if err := os.Remove(filepath.Join(dir, partialFile+".json")); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"note broken", func(t *testing.T, _ *releasetest.Server, dir string) {
			overwrite(t, filepath.Join(dir, partialFile+".json"), []byte("{"))
		}, false},
		{"longer than the file", func(t *testing.T, _ *releasetest.Server, dir string) {
			overwrite(t, filepath.Join(dir, partialFile), content(len(body)+1))
		}, false},
		{"as long as the file", func(t *testing.T, _ *releasetest.Server, dir string) {
			overwrite(t, filepath.Join(dir, partialFile), make([]byte, len(body)))
		}, false},
		{"other bytes", func(t *testing.T, _ *releasetest.Server, dir string) {
			overwrite(t, filepath.Join(dir, partialFile), make([]byte, piece))
		}, true},
		{"416", func(_ *testing.T, s *releasetest.Server, _ string) {
			s.Use(object(releasetest.Times(1, releasetest.Answer(416, "", "Content-Range", "bytes */7"))))
		}, true},
		{"206 of another range", func(_ *testing.T, s *releasetest.Server, _ string) {
			s.Use(object(releasetest.Times(1, releasetest.Answer(206, "zzz", "Content-Range", "bytes 0-2/3"))))
		}, true},
		{"206 without a range", func(_ *testing.T, s *releasetest.Server, _ string) {
			s.Use(object(releasetest.Times(1, releasetest.Answer(206, "zzz"))))
		}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, body)
			dir := t.TempDir()
			interrupted(t, s, body, dir)
			before := len(objectRequests(s))
			tt.meddle(t, s, dir)
			path, err := client(t, s, nil).Fetch(t.Context(), asset(s, body), dir)
			if err != nil {
				t.Fatal(err)
			}
			wantFile(t, path, body)
			wantOnly(t, dir, fileName)
			if asked := objectRequests(s)[before].Header.Get("Range") != ""; asked != tt.continues {
				t.Errorf("asked for a range: %v, want %v", asked, tt.continues)
			}
		})
	}
}

func overwrite(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestChangedETag: the file behind the URL is another one now, so the server
// ignores the range and the old half is dropped.
func TestChangedETag(t *testing.T) {
	old, body := make([]byte, 20*piece), content(20*piece)
	s := serve(t, old)
	dir := t.TempDir()
	interrupted(t, s, old, dir)
	publish(s, body)
	path, err := client(t, s, nil).Fetch(t.Context(), asset(s, body), dir)
	if err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, body)
	last := objectRequests(s)[len(objectRequests(s))-1]
	if last.Header.Get("If-Range") == "" {
		t.Error("the range was asked for without If-Range")
	}
}

// TestWeakValidator: a weak ETag does not promise the same bytes.
func TestWeakValidator(t *testing.T) {
	body := content(4 * piece)
	s := serve(t, body, object(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(weakener{w}, r)
		})
	}), object(releasetest.Times(1, releasetest.CutAfter(piece))))
	if _, err := client(t, s, nil).Fetch(t.Context(), asset(s, body), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	for _, r := range objectRequests(s) {
		if r.Header.Get("Range") != "" {
			t.Errorf("range %q asked for with a weak validator", r.Header.Get("Range"))
		}
	}
}

type weakener struct{ http.ResponseWriter }

func (w weakener) Write(b []byte) (int, error) { return w.ResponseWriter.Write(b) }

func (w weakener) Flush() { w.ResponseWriter.(http.Flusher).Flush() }

func (w weakener) WriteHeader(code int) {
	w.Header().Set("ETag", "W/"+strings.TrimPrefix(w.Header().Get("ETag"), "W/"))
	w.ResponseWriter.WriteHeader(code)
}
