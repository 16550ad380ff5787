package fetch_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch/releasetest"
)

const (
	repo     = "some/tool"
	tag      = "v1.2.0"
	fileName = "tool.tar.gz"
)

// content is n bytes that differ everywhere, so that no two ranges look alike.
func content(n int) []byte {
	b := make([]byte, n)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(b)
	return b
}

// serve starts a server with one release of one file.
func serve(t *testing.T, body []byte, faults ...releasetest.Middleware) *releasetest.Server {
	t.Helper()
	return publish(releasetest.New(t), body, faults...)
}

func publish(s *releasetest.Server, body []byte, faults ...releasetest.Middleware) *releasetest.Server {
	s.Add(releasetest.Release{Repo: repo, Tag: tag, Assets: map[string][]byte{fileName: body}})
	for _, f := range faults {
		s.Use(f)
	}
	return s
}

func asset(s *releasetest.Server, body []byte) fetch.Asset {
	return fetch.Asset{
		Name: fileName, URLs: []string{s.AssetURL(repo, tag, fileName)},
		Size: int64(len(body)), SHA256: releasetest.Digest(body),
	}
}

func client(t *testing.T, s *releasetest.Server, change func(*fetch.Options)) *fetch.Client {
	t.Helper()
	o := fetch.Options{API: s.API, Web: s.URL, Attempts: 3, Backoff: time.Microsecond}
	if change != nil {
		change(&o)
	}
	c, err := fetch.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// objectRequests are those for the file itself, behind the redirects.
func objectRequests(s *releasetest.Server) []*http.Request {
	var found []*http.Request
	for _, r := range s.Requests() {
		if strings.HasPrefix(r.URL.Path, "/objects/") {
			found = append(found, r)
		}
	}
	return found
}

func wantFile(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s holds %d bytes that differ from the %d served", path, len(got), len(want))
	}
}

func wantOnly(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s holds %q, want %q", dir, got, want)
	}
}

func TestFetch(t *testing.T) {
	body := content(300 << 10)
	s := serve(t, body)
	var last int64
	c := client(t, s, func(o *fetch.Options) {
		o.Progress = func(done, total int64) {
			if done <= last || total != int64(len(body)) {
				t.Errorf("progress %d of %d after %d", done, total, last)
			}
			last = done
		}
	})
	dir := t.TempDir()
	path, err := c.Fetch(t.Context(), asset(s, body), dir)
	if err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, body)
	wantOnly(t, dir, fileName)
	if last != int64(len(body)) {
		t.Errorf("last progress %d, want %d", last, len(body))
	}
	if info, _ := os.Stat(path); info.Mode() != 0o644 {
		t.Errorf("mode %v", info.Mode())
	}
	for _, r := range s.Requests() {
		if got := r.Header.Get("Accept-Encoding"); got != "identity" {
			t.Errorf("%s: Accept-Encoding %q", r.URL, got)
		}
	}
	before := len(s.Requests())
	if _, err := c.Fetch(t.Context(), asset(s, body), dir); err != nil || len(s.Requests()) != before {
		t.Errorf("second Fetch: %v, %d more requests; want none", err, len(s.Requests())-before)
	}
}

func TestWrongFileIsReplaced(t *testing.T) {
	body := content(1000)
	s := serve(t, body)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, fileName), content(1001), 0o644); err != nil {
		t.Fatal(err)
	}
	path, err := client(t, s, nil).Fetch(t.Context(), asset(s, body), dir)
	if err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, body)
}

// TestPermanentFailures: what no further try cures is asked once, named, and
// leaves nothing behind.
func TestPermanentFailures(t *testing.T) {
	body := content(100 << 10)
	object := func(m releasetest.Middleware) releasetest.Middleware { return releasetest.When("/objects/", m) }
	tests := []struct {
		name  string
		fault releasetest.Middleware
		pin   func(*fetch.Asset)
		want  error
		text  string
	}{
		{"403", object(releasetest.Answer(403, "no")), nil, nil, "403 Forbidden"},
		{"404", object(releasetest.Answer(404, "no")), nil, fetch.ErrNotFound, "404"},
		{"416 unasked", object(releasetest.Answer(416, "")), nil, nil, "416"},
		{"wait too long", object(releasetest.Answer(429, "", "Retry-After", "3600")), nil, fetch.ErrRateLimited, "asking to wait 1h0m0s"},
		{"empty", object(releasetest.Answer(200, "")), nil, fetch.ErrEmpty, "empty"},
		{"html by type", object(releasetest.Answer(200, "<p>Please log in", "Content-Type", "text/html")), nil, fetch.ErrHTML, "HTML page"},
		{"html as the file", object(releasetest.Answer(200, "\n<!DOCTYPE html><title>x", "Content-Type", "application/gzip")),
			func(a *fetch.Asset) { a.Size, a.Limit = 0, 1<<20 }, fetch.ErrHTML, "HTML page"},
		{"compressed", object(releasetest.Answer(200, "x", "Content-Encoding", "gzip")), nil, nil, "Content-Encoding"},
		{"redirect loop", func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) })
		}, nil, nil, "redirects"},
		{"wrong digest", nil, func(a *fetch.Asset) { a.SHA256 = strings.Repeat("0", 64) }, fetch.ErrDigest, releasetest.Digest(body)},
		{"shorter pin", nil, func(a *fetch.Asset) { a.Size-- }, fetch.ErrSize, "102400 bytes, expected 102399"},
		{"longer pin", nil, func(a *fetch.Asset) { a.Size++ }, fetch.ErrSize, "102400 bytes, expected 102401"},
		{"over the limit", nil, func(a *fetch.Asset) { a.Size, a.Limit = 0, 1000 }, fetch.ErrSize, "at most 1000"},
		{"over the limit, length hidden", object(hideLength), func(a *fetch.Asset) { a.Size, a.Limit = 0, 1000 }, fetch.ErrSize, "1001 bytes, at most 1000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, body)
			if tt.fault != nil {
				s.Use(tt.fault)
			}
			a := asset(s, body)
			if tt.pin != nil {
				tt.pin(&a)
			}
			dir := t.TempDir()
			path, err := client(t, s, nil).Fetch(t.Context(), a, dir)
			if err == nil {
				t.Fatalf("got %s, want an error", path)
			}
			if !strings.Contains(err.Error(), tt.text) || !strings.Contains(err.Error(), fileName) {
				t.Errorf("error %q, want it to say %q and %q", err, tt.text, fileName)
			}
			if tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("error %q is not %q", err, tt.want)
			}
			if n := len(objectRequests(s)); n > 1 {
				t.Errorf("%d requests, want one", n)
			}
			wantOnly(t, dir)
		})
	}
}

// hideLength makes an answer chunked.
func hideLength(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(chunked{w}, r)
	})
}

type chunked struct{ http.ResponseWriter }

func (w chunked) WriteHeader(code int) {
	w.Header().Del("Content-Length")
	w.ResponseWriter.WriteHeader(code)
}

// TestNotOneByteMore: a body without end is read up to the pinned size.
func TestNotOneByteMore(t *testing.T) {
	body := content(100 << 10)
	s := serve(t, body, releasetest.When("/objects/", func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(body); err != nil {
					return
				}
			}
		})
	}))
	path, err := client(t, s, nil).Fetch(t.Context(), asset(s, body), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, body)
}

func TestTemporaryFailures(t *testing.T) {
	body := content(10 << 10)
	for _, fault := range []struct {
		name string
		m    releasetest.Middleware
		want error
	}{
		{"500", releasetest.Answer(500, "oops"), nil},
		{"503 with a date", releasetest.Answer(503, "", "Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT"), nil},
		{"429", releasetest.Answer(429, "", "Retry-After", "0"), fetch.ErrRateLimited},
		{"403 as a rate limit", releasetest.RateLimited(), fetch.ErrRateLimited},
		{"cut before a byte", releasetest.CutAfter(0), nil},
	} {
		t.Run(fault.name, func(t *testing.T) {
			s := serve(t, body, releasetest.When("/objects/", releasetest.Times(2, fault.m)))
			path, err := client(t, s, nil).Fetch(t.Context(), asset(s, body), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			wantFile(t, path, body)

			s = serve(t, body, releasetest.When("/objects/", fault.m))
			dir := t.TempDir()
			_, err = client(t, s, nil).Fetch(t.Context(), asset(s, body), dir)
			if err == nil || fault.want != nil && !errors.Is(err, fault.want) {
				t.Errorf("error %v, want %v", err, fault.want)
			}
			if n := len(objectRequests(s)); n != 3 {
				t.Errorf("%d requests, want the 3 of Attempts", n)
			}
			wantOnly(t, dir)
		})
	}
}

func TestNextURL(t *testing.T) {
	body := content(5000)
	bad := serve(t, content(5000)[1:])
	good := serve(t, body)
	a := asset(good, body)
	a.URLs = append([]string{"http://127.0.0.1:1/closed", bad.AssetURL(repo, tag, fileName)}, a.URLs...)
	path, err := client(t, good, nil).Fetch(t.Context(), a, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, body)

	a.URLs = a.URLs[:2]
	_, err = client(t, good, nil).Fetch(t.Context(), a, t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") || !errors.Is(err, fetch.ErrSize) {
		t.Errorf("error %v, want both URLs' failures", err)
	}
}

func TestAssetValidation(t *testing.T) {
	good := fetch.Asset{Name: "a", URLs: []string{"https://example.com/a"}, Size: 1, SHA256: strings.Repeat("a", 64)}
	for name, change := range map[string]func(*fetch.Asset){
		"no name":   func(a *fetch.Asset) { a.Name = "" },
		"path":      func(a *fetch.Asset) { a.Name = "../a" },
		"dot dot":   func(a *fetch.Asset) { a.Name = ".." },
		"no digest": func(a *fetch.Asset) { a.SHA256 = "" },
		"short":     func(a *fetch.Asset) { a.SHA256 = "abcd" },
		"negative":  func(a *fetch.Asset) { a.Size = -1 },
		"no URL":    func(a *fetch.Asset) { a.URLs = nil },
		"file URL":  func(a *fetch.Asset) { a.URLs = []string{"file:///etc/passwd"} },
	} {
		t.Run(name, func(t *testing.T) {
			a := good
			change(&a)
			c, err := fetch.New(fetch.Options{Transport: unreachable{t}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Fetch(t.Context(), a, t.TempDir()); err == nil {
				t.Errorf("%+v was accepted", a)
			}
		})
	}
}

type unreachable struct{ t *testing.T }

func (u unreachable) RoundTrip(r *http.Request) (*http.Response, error) {
	u.t.Errorf("request for %s", r.URL)
	return nil, errors.New("no network in this test")
}

func TestOptionsValidation(t *testing.T) {
	for _, o := range []fetch.Options{{API: "api.github.com"}, {Web: "ftp://x/"}, {Mirror: "https://"}} {
		if _, err := fetch.New(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}

func TestMirror(t *testing.T) {
	body := content(5000)
	origin, mirror := serve(t, content(1)), serve(t, body)
	c := client(t, origin, func(o *fetch.Options) { o.Mirror = strings.TrimSuffix(mirror.URL, "/") })
	a := asset(origin, body)
	path, err := c.Fetch(t.Context(), a, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, body)
	if rel, err := c.Latest(t.Context(), fetch.Repo{Owner: "some", Name: "tool"}); err != nil || rel.Tag != tag {
		t.Errorf("Latest = %+v, %v", rel, err)
	}
	if n := len(origin.Requests()); n != 0 {
		t.Errorf("%d requests to the origin despite the mirror", n)
	}
}

func TestText(t *testing.T) {
	s := serve(t, []byte("sums\n"))
	c := client(t, s, nil)
	got, err := c.Text(t.Context(), s.AssetURL(repo, tag, fileName), 5)
	if string(got) != "sums\n" || err != nil {
		t.Errorf("Text = %q, %v", got, err)
	}
	if _, err := c.Text(t.Context(), s.AssetURL(repo, tag, fileName), 4); !errors.Is(err, fetch.ErrSize) {
		t.Errorf("5 bytes with a limit of 4: error %v", err)
	}
}
