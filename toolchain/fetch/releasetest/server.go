package releasetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Release is one release to serve.
type Release struct {
	Repo       string // "owner/name"
	Tag        string
	Prerelease bool
	Draft      bool
	Assets     map[string][]byte
}

// Middleware may answer a request itself, or pass it on.
type Middleware func(next http.Handler) http.Handler

// Server serves releases until the test ends. Its methods may be called while
// it serves.
type Server struct {
	// URL is the base of the release pages, API that of the API, and Objects
	// that of the files. Objects has a host name of its own, as on GitHub.
	URL, API, Objects string

	// Cert is the certificate of a TLS server, in PEM's DER form.
	Cert []byte

	mu       sync.Mutex
	releases []Release
	faults   []Middleware
	seen     []*http.Request
}

// New starts a server on the loopback address.
func New(tb testing.TB) *Server {
	tb.Helper()
	return start(tb, (*httptest.Server).Start)
}

// NewTLS starts a server with httptest's certificate, which no system trusts.
func NewTLS(tb testing.TB) *Server {
	tb.Helper()
	return start(tb, (*httptest.Server).StartTLS)
}

func start(tb testing.TB, run func(*httptest.Server)) *Server {
	s := &Server{}
	h := httptest.NewUnstartedServer(s)
	run(h)
	tb.Cleanup(h.Close)
	s.URL = h.URL + "/"
	s.API = h.URL + "/api/v3/"
	s.Objects = strings.Replace(h.URL, "127.0.0.1", "localhost", 1) + "/objects/"
	if h.TLS != nil {
		// httptest's certificate names no localhost.
		s.Objects = h.URL + "/objects/"
		s.Cert = h.Certificate().Raw
	}
	return s
}

// Add publishes r. Later additions are newer.
func (s *Server) Add(r Release) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.releases = append(s.releases, r)
}

// Use puts a fault in front of everything. The one used last sees a request first.
func (s *Server) Use(m Middleware) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, m)
}

// Requests returns a copy of the list of requests so far.
func (s *Server) Requests() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// AssetURL is the plain URL of a release's file.
func (s *Server) AssetURL(repo, tag, name string) string {
	return s.URL + repo + "/releases/download/" + tag + "/" + name
}

// Digest is the SHA-256 of b in hexadecimal.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.seen = append(s.seen, r.Clone(r.Context()))
	var h http.Handler = http.HandlerFunc(s.serve)
	for _, m := range s.faults {
		h = m(h)
	}
	s.mu.Unlock()
	h.ServeHTTP(w, r)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	p := strings.TrimPrefix(r.URL.Path, "/")
	if rest, ok := strings.CutPrefix(p, "objects/"); ok {
		s.object(w, r, rest)
		return
	}
	if rest, ok := strings.CutPrefix(p, "api/v3/repos/"); ok {
		s.api(w, r, rest)
		return
	}
	s.page(w, r, p)
}

// published returns a repository's releases, newest first.
func (s *Server) published(repo string) []Release {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Release
	for _, r := range slices.Backward(s.releases) {
		if r.Repo == repo {
			found = append(found, r)
		}
	}
	return found
}

func (s *Server) latest(repo string) (Release, bool) {
	for _, r := range s.published(repo) {
		if !r.Draft && !r.Prerelease {
			return r, true
		}
	}
	return Release{}, false
}

func (s *Server) tagged(repo, tag string) (Release, bool) {
	for _, r := range s.published(repo) {
		if r.Tag == tag && !r.Draft {
			return r, true
		}
	}
	return Release{}, false
}

// object serves OWNER/NAME/TAG/FILE with a strong ETag and byte ranges.
func (s *Server) object(w http.ResponseWriter, r *http.Request, p string) {
	parts := strings.SplitN(p, "/", 4)
	if len(parts) == 4 {
		rel, _ := s.tagged(parts[0]+"/"+parts[1], parts[2])
		if body, ok := rel.Assets[parts[3]]; ok {
			w.Header().Set("ETag", `"`+Digest(body)[:16]+`"`)
			w.Header().Set("Content-Type", "application/octet-stream")
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
			return
		}
	}
	http.NotFound(w, r)
}

// page serves OWNER/NAME/releases/latest and …/releases/download/TAG/FILE.
func (s *Server) page(w http.ResponseWriter, r *http.Request, p string) {
	parts := strings.SplitN(p, "/", 6)
	if len(parts) < 4 || parts[2] != "releases" {
		http.NotFound(w, r)
		return
	}
	repo := parts[0] + "/" + parts[1]
	switch {
	case parts[3] == "latest" && len(parts) == 4:
		if rel, ok := s.latest(repo); ok {
			http.Redirect(w, r, s.URL+repo+"/releases/tag/"+url.PathEscape(rel.Tag), http.StatusFound)
			return
		}
		http.Redirect(w, r, s.URL+repo+"/releases/", http.StatusFound)
	case parts[3] == "download" && len(parts) == 6:
		rel, _ := s.tagged(repo, parts[4])
		if _, ok := rel.Assets[parts[5]]; ok {
			http.Redirect(w, r, s.Objects+repo+"/"+parts[4]+"/"+parts[5], http.StatusFound)
			return
		}
		http.NotFound(w, r)
	case parts[3] == "":
		fmt.Fprintln(w, "no releases")
	default:
		http.NotFound(w, r)
	}
}

// api serves OWNER/NAME/releases, …/releases/latest and …/releases/tags/TAG.
func (s *Server) api(w http.ResponseWriter, r *http.Request, p string) {
	parts := strings.SplitN(p, "/", 5)
	if len(parts) < 3 || parts[2] != "releases" {
		http.NotFound(w, r)
		return
	}
	repo := parts[0] + "/" + parts[1]
	switch {
	case len(parts) == 3:
		list := []map[string]any{}
		for _, rel := range s.published(repo) {
			list = append(list, s.describe(rel))
		}
		writeJSON(w, http.StatusOK, list)
		return
	case parts[3] == "latest" && len(parts) == 4:
		if rel, ok := s.latest(repo); ok {
			writeJSON(w, http.StatusOK, s.describe(rel))
			return
		}
	case parts[3] == "tags" && len(parts) == 5:
		if rel, ok := s.tagged(repo, parts[4]); ok {
			writeJSON(w, http.StatusOK, s.describe(rel))
			return
		}
	}
	writeJSON(w, http.StatusNotFound, map[string]any{"message": "Not Found"})
}

func (s *Server) describe(r Release) map[string]any {
	assets := []map[string]any{}
	for name, body := range r.Assets {
		assets = append(assets, map[string]any{
			"name": name, "size": len(body),
			"browser_download_url": s.AssetURL(r.Repo, r.Tag, name),
		})
	}
	return map[string]any{
		"tag_name": r.Tag, "prerelease": r.Prerelease, "draft": r.Draft,
		"published_at": "2025-01-02T03:04:05Z", "assets": assets,
	}
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // the client may have gone
}
