package fetch_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch/releasetest"
)

// These tests run on synctest's clock: hours pass in no time and to the second.

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func response(r *http.Request, code int, body io.Reader, header http.Header) *http.Response {
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{
		StatusCode: code, Status: strconv.Itoa(code), Header: header, ContentLength: -1,
		Body: io.NopCloser(body), Request: r,
	}
}

// trickle gives n bytes after each pause, until the request is given up.
type trickle struct {
	r     *http.Request
	body  io.Reader
	n     int
	pause time.Duration
}

func (s trickle) Read(b []byte) (int, error) {
	select {
	case <-time.After(s.pause):
		return s.body.Read(b[:min(len(b), s.n)])
	case <-s.r.Context().Done():
		return 0, s.r.Context().Err()
	}
}

func fetchVia(t *testing.T, body []byte, rt roundTrip) (took time.Duration, err error) {
	t.Helper()
	c, err := fetch.New(fetch.Options{Transport: rt, Attempts: 3})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_, err = c.Fetch(t.Context(), fetch.Asset{
		Name: "f", URLs: []string{"https://example.com/f"}, Size: int64(len(body)), SHA256: releasetest.Digest(body),
	}, t.TempDir())
	return time.Since(start), err
}

// TestSlowIsFine: 20 kB a window is progress, for as long as it takes.
func TestSlowIsFine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := content(2 << 20)
		took, err := fetchVia(t, body, func(r *http.Request) (*http.Response, error) {
			return response(r, 200, trickle{r, bytes.NewReader(body), 1 << 10, 1500 * time.Millisecond}, nil), nil
		})
		if err != nil || took < 50*time.Minute {
			t.Errorf("took %s, error %v; want nearly an hour and no error", took, err)
		}
	})
}

// TestStall: three tries of 30 seconds and the two waits between, whether the
// server says nothing at all, stops half way, or trickles.
func TestStall(t *testing.T) {
	body := content(1 << 20)
	half := io.MultiReader // the first half at once, then silence
	tests := map[string]roundTrip{
		"no answer": func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		},
		"silence": func(r *http.Request) (*http.Response, error) {
			quiet := trickle{r, nil, 0, 1000 * time.Hour}
			return response(r, 200, half(bytes.NewReader(body[:1<<19]), quiet), nil), nil
		},
		"trickle": func(r *http.Request) (*http.Response, error) {
			return response(r, 200, trickle{r, bytes.NewReader(body), 100, time.Second}, nil), nil
		},
		// Each attempt gets a little further than the one before.
		"trickle that is continued": func(r *http.Request) (*http.Response, error) {
			from, code, header := 0, 200, http.Header{"Etag": {`"x"`}}
			if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from); err == nil {
				code = 206
				header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(body)-1, len(body)))
			}
			return response(r, code, trickle{r, bytes.NewReader(body[from:]), 100, time.Second}, header), nil
		},
	}
	for name, rt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				took, err := fetchVia(t, body, rt)
				if !errors.Is(err, fetch.ErrStalled) {
					t.Errorf("error %v, want %v", err, fetch.ErrStalled)
				}
				if took < 90*time.Second || took > 3*time.Minute {
					t.Errorf("gave up after %s", took)
				}
			})
		})
	}
}

func TestWaits(t *testing.T) {
	body := content(100)
	tests := []struct {
		name     string
		failures []http.Header
		code     int
		min, max time.Duration
	}{
		{"back-off with jitter", []http.Header{{}, {}}, 500, 1125 * time.Millisecond, 1875 * time.Millisecond},
		{"Retry-After in seconds", []http.Header{{"Retry-After": {"7"}}}, 429, 7 * time.Second, 7 * time.Second},
		{"Retry-After as a date", []http.Header{{"Retry-After": {"Sat, 01 Jan 2000 00:00:20 GMT"}}}, 503, 20 * time.Second, 20 * time.Second},
		{"Retry-After nonsense", []http.Header{{"Retry-After": {"soon"}}}, 503, 375 * time.Millisecond, 1250 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				took, err := fetchVia(t, body, func(r *http.Request) (*http.Response, error) {
					if n++; n <= len(tt.failures) {
						return response(r, tt.code, http.NoBody, tt.failures[n-1]), nil
					}
					return response(r, 200, bytes.NewReader(body), nil), nil
				})
				if err != nil || took < tt.min || took > tt.max {
					t.Errorf("took %s, error %v; want %s to %s", took, err, tt.min, tt.max)
				}
			})
		})
	}
}
