//go:build artifacts

package main

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch/releasetest"
)

// What a server does wrong ends with its name in the report, and what it does
// badly ends in an install.
func TestArtifactNetwork(t *testing.T) {
	bytesOf := func(n int) string { return strings.Repeat("x", n) }
	size := len(setArchive(t, "gnu"))
	page := releasetest.Answer(http.StatusOK, "<html>Please log in</html>", "Content-Type", "text/html")
	tests := []struct {
		name  string
		fault releasetest.Middleware
		want  string // empty: it installs
	}{
		{"403", releasetest.Answer(http.StatusForbidden, "no"), "403 Forbidden"},
		{"403 for the rate", releasetest.RateLimited(), "rate limit"},
		{"429", releasetest.Answer(http.StatusTooManyRequests, "", "Retry-After", "3600"), "429 Too Many Requests"},
		{"500", releasetest.Answer(http.StatusInternalServerError, ""), "500 Internal Server Error"},
		{"500 twice", releasetest.Times(2, releasetest.Answer(http.StatusInternalServerError, "")), ""},
		{"an HTML page", page, "an HTML page instead of the file"},
		{"wrong bytes", releasetest.Answer(http.StatusOK, bytesOf(size), "Content-Type", "application/gzip"), "wrong SHA-256"},
		{"wrong size", releasetest.Answer(http.StatusOK, bytesOf(size-1), "Content-Type", "application/gzip"), "wrong size"},
		{"empty", releasetest.Answer(http.StatusOK, ""), "empty download"},
		{"cut at every 64 kB", releasetest.CutAfter(64 << 10), ""},
		{"cut at every 64 kB, no ranges", func(next http.Handler) http.Handler {
			return releasetest.WithoutRanges()(releasetest.CutAfter(64 << 10)(next))
		}, "EOF"},
		{"slow trickle", releasetest.Trickle(1, 2*time.Second), "no progress"},
		{"slow but steady", releasetest.Trickle(64<<10, 50*time.Millisecond), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := releaseServer(t, releasetest.New)
			s.Use(releasetest.When("/objects/", tt.fault))
			m := newMachine(t, s.URL)
			out, err := m.run(t, "setup", "--rung", "prebuilt")
			switch {
			case tt.want == "" && (err != nil || !strings.Contains(out, "prebuilt  ok ")):
				t.Errorf("got %q, %v, want an install", out, err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %q, %v, want %q", out, err, tt.want)
			case err != nil:
				t.Log(line(err.Error(), "prebuilt: "))
			default:
				t.Logf("installed with %d requests", len(s.Requests()))
			}
		})
	}
}

// A redirect to another place, a proxy, and a certificate authority of the
// user's own, all with the environment variables that users have.
func TestArtifactWaysToAServer(t *testing.T) {
	plain, secure := releaseServer(t, releasetest.New), releaseServer(t, releasetest.NewTLS)
	certificate := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Cert}), 0o644); err != nil {
		t.Fatal(err)
	}
	var proxied atomic.Int64
	proxy := httptest.NewServer(&httputil.ReverseProxy{Director: func(r *http.Request) {
		proxied.Add(1)
		r.URL.Scheme, r.URL.Host = "http", strings.TrimSuffix(strings.TrimPrefix(plain.URL, "http://"), "/")
	}})
	t.Cleanup(proxy.Close)
	moved := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.TrimSuffix(plain.URL, "/")+r.URL.Path, http.StatusMovedPermanently)
	}))
	t.Cleanup(moved.Close)
	for _, tt := range []struct {
		name, mirror string
		env          []string
		want         string
	}{
		{"redirect", moved.URL, nil, ""},
		{"proxy", "http://releases.example/", []string{"http_proxy=" + proxy.URL}, ""},
		{"unknown authority", secure.URL, nil, "set SSL_CERT_FILE to a file with its certificate"},
		{"the user's authority", secure.URL, []string{"SSL_CERT_FILE=" + certificate}, ""},
		{"no address", "ftp://x", nil, fetch.EnvMirror},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, tt.mirror)
			m.env = append(m.env, tt.env...)
			out, err := m.run(t, "setup", "--rung", "prebuilt")
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %q, %v, want %q", out, err, tt.want)
			}
			if err != nil {
				t.Log(line(err.Error(), "prebuilt: "))
			}
		})
	}
	if proxied.Load() == 0 {
		t.Error("nothing went through the proxy")
	}
}
