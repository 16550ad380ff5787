package fetch_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch/releasetest"
)

var tool = fetch.Repo{Owner: "some", Name: "tool"}

// releases is a history with everything that is not the latest release.
func releases(t *testing.T, faults ...releasetest.Middleware) *releasetest.Server {
	t.Helper()
	s := releasetest.New(t)
	for _, r := range []releasetest.Release{
		{Repo: "some/tool", Tag: "v1.0.0"},
		{Repo: "some/tool", Tag: "v1.1.0", Assets: map[string][]byte{"a.tar.gz": content(12)}},
		{Repo: "some/tool", Tag: "v1.2.0-rc.1", Prerelease: true},
		{Repo: "some/tool", Tag: "v2.0.0", Draft: true},
		{Repo: "other/tool", Tag: "v9.0.0"},
		{Repo: "odd/tags", Tag: "release/1 #2"},
	} {
		s.Add(r)
	}
	for _, f := range faults {
		s.Use(f)
	}
	return s
}

func TestLatest(t *testing.T) {
	tests := []struct {
		name  string
		fault releasetest.Middleware
		via   string
	}{
		{"api", nil, "api"},
		{"rate limit, 403", releasetest.When("/api/", releasetest.RateLimited()), "page"},
		{"rate limit, 429", releasetest.When("/api/", releasetest.Answer(429, "")), "page"},
		{"second rate limit", releasetest.When("/api/", releasetest.Answer(403,
			`{"message":"slow","documentation_url":"https://docs.github.com/x#secondary-rate-limits"}`)), "page"},
		{"500", releasetest.When("/api/", releasetest.Answer(500, "")), "page"},
		{"HTML", releasetest.When("/api/", releasetest.Answer(200, "<html>", "Content-Type", "text/html")), "page"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := releases(t)
			if tt.fault != nil {
				s.Use(tt.fault)
			}
			rel, err := client(t, s, nil).Latest(t.Context(), tool)
			if err != nil {
				t.Fatal(err)
			}
			if rel.Tag != "v1.1.0" || rel.Via != tt.via || rel.Prerelease {
				t.Errorf("got %+v, want v1.1.0 via %s", rel, tt.via)
			}
			if tt.via == "api" && (len(rel.Assets) != 1 || rel.Assets[0] != fetch.ReleaseAsset{Name: "a.tar.gz", Size: 12}) {
				t.Errorf("assets %+v", rel.Assets)
			}
		})
	}
}

func TestLatestFailures(t *testing.T) {
	s := releases(t)
	if _, err := client(t, s, nil).Latest(t.Context(), fetch.Repo{Owner: "no", Name: "body"}); !errors.Is(err, fetch.ErrNotFound) || !strings.Contains(err.Error(), "no/body") {
		t.Errorf("unknown repository: error %v", err)
	}
	s.Use(releasetest.When("/api/", releasetest.RateLimited()))
	if _, err := client(t, s, nil).Latest(t.Context(), fetch.Repo{Owner: "no", Name: "body"}); !errors.Is(err, fetch.ErrRateLimited) || !errors.Is(err, fetch.ErrNotFound) {
		t.Errorf("unknown repository and rate limit: error %v, want both", err)
	}
	s.Use(releasetest.Answer(500, ""))
	if _, err := client(t, s, nil).Latest(t.Context(), tool); err == nil {
		t.Error("everything down: no error")
	}
}

func TestOddTag(t *testing.T) {
	s := releases(t, releasetest.When("/api/", releasetest.RateLimited()))
	rel, err := client(t, s, nil).Latest(t.Context(), fetch.Repo{Owner: "odd", Name: "tags"})
	if err != nil || rel.Tag != "release/1 #2" {
		t.Errorf("got %q, %v", rel.Tag, err)
	}
}

func TestRelease(t *testing.T) {
	s := releases(t)
	c := client(t, s, nil)
	if rel, err := c.Release(t.Context(), tool, "v1.2.0-rc.1"); err != nil || !rel.Prerelease || rel.Via != "api" || rel.Published.IsZero() {
		t.Errorf("got %+v, %v", rel, err)
	}
	for _, tag := range []string{"v3.0.0", "v2.0.0"} {
		if _, err := c.Release(t.Context(), tool, tag); !errors.Is(err, fetch.ErrNotFound) {
			t.Errorf("%s: error %v, want %v", tag, err, fetch.ErrNotFound)
		}
	}
	s.Use(releasetest.When("/api/", releasetest.RateLimited()))
	if rel, err := c.Release(t.Context(), tool, "v1.1.0"); err != nil || rel.Tag != "v1.1.0" || rel.Via != "page" {
		t.Errorf("rate limited: got %+v, %v", rel, err)
	}
}

func TestReleases(t *testing.T) {
	s := releases(t)
	c := client(t, s, nil)
	got, err := c.Releases(t.Context(), tool)
	if err != nil {
		t.Fatal(err)
	}
	var tags []string
	for _, r := range got {
		tags = append(tags, r.Tag)
	}
	if want := "v1.2.0-rc.1 v1.1.0 v1.0.0"; strings.Join(tags, " ") != want {
		t.Errorf("got %q, want %q", tags, want)
	}
	s.Use(releasetest.When("/api/", releasetest.RateLimited()))
	if _, err := c.Releases(t.Context(), tool); !errors.Is(err, fetch.ErrRateLimited) {
		t.Errorf("error %v, want %v", err, fetch.ErrRateLimited)
	}
}

func TestAssetURL(t *testing.T) {
	c, err := fetch.New(fetch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.AssetURL(tool, "v1/a b", "x.tar.gz"), "https://github.com/some/tool/releases/download/v1%2Fa%20b/x.tar.gz"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// withToken are the requests that carried one.
func withToken(s *releasetest.Server) (hosts []string) {
	for _, r := range s.Requests() {
		if r.Header.Get("Authorization") != "" {
			hosts = append(hosts, r.Host+r.URL.Path)
		}
	}
	return hosts
}

func TestStaleToken(t *testing.T) {
	for name, refuse := range map[string]releasetest.Middleware{
		"401": releasetest.RefuseToken(),
		"403": func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "" {
					releasetest.RateLimited()(nil).ServeHTTP(w, r)
					return
				}
				next.ServeHTTP(w, r)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := releases(t, refuse)
			c := client(t, s, func(o *fetch.Options) { o.Token = "stale" })
			for range 2 {
				if rel, err := c.Latest(t.Context(), tool); err != nil || rel.Via != "api" {
					t.Errorf("got %+v, %v; want an answer of the API", rel, err)
				}
			}
			if got := withToken(s); len(got) != 1 {
				t.Errorf("requests with the token: %q, want one", got)
			}
		})
	}
}

// TestTokenStaysHome: the API's own host sees the token, no other does, be it
// asked directly or by a redirect of the API.
func TestTokenStaysHome(t *testing.T) {
	api, web := releases(t), serve(t, content(100))
	c := client(t, api, func(o *fetch.Options) { o.Token, o.Web = "secret", web.URL })
	if _, err := c.Latest(t.Context(), tool); err != nil {
		t.Fatal(err)
	}
	if got := withToken(api); len(got) != 1 {
		t.Errorf("the API saw the token in %q, want one request", got)
	}
	api.Use(releasetest.Redirect(web.URL))
	if _, err := c.Fetch(t.Context(), asset(web, content(100)), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	_, _ = c.Latest(t.Context(), tool)
	if len(web.Requests()) < 3 {
		t.Fatalf("the other host saw %d requests, want the download and the redirect", len(web.Requests()))
	}
	if got := withToken(web); len(got) != 0 {
		t.Errorf("another host saw the token: %q", got)
	}
}

// TestNoDowngrade: https must not lead to http, neither for files nor for the API.
func TestNoDowngrade(t *testing.T) {
	body := content(100)
	plain := serve(t, body)
	secure := publish(releasetest.NewTLS(t), body, releasetest.Redirect(plain.URL))
	c := client(t, secure, func(o *fetch.Options) { o.Transport = trusting(t, secure) })
	_, err := c.Fetch(t.Context(), asset(secure, body), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "https to http") {
		t.Errorf("error %v", err)
	}
	if _, err := c.Latest(t.Context(), tool); err == nil || !strings.Contains(err.Error(), "https to http") {
		t.Errorf("error %v", err)
	}
	if n := len(plain.Requests()); n != 0 {
		t.Errorf("%d requests over http", n)
	}
}

func TestAPIHangs(t *testing.T) {
	s := releases(t, releasetest.When("/api/", func(http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	}))
	c := client(t, s, func(o *fetch.Options) { o.Stall = 50 * time.Millisecond })
	if rel, err := c.Latest(t.Context(), tool); err != nil || rel.Via != "page" {
		t.Errorf("got %+v, %v", rel, err)
	}
}

// TestFromEnvironment: the tool's own token is sent, and GitHub's usual one, made
// for something else, is not.
func TestFromEnvironment(t *testing.T) {
	s := releases(t)
	env := map[string]string{"GITHUB_TOKEN": "other", "GH_TOKEN": "other", fetch.EnvToken: " mine\n"}
	o := fetch.FromEnvironment(func(key string) string { return env[key] })
	o.API, o.Web = s.API, s.URL
	c, err := fetch.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Latest(t.Context(), tool); err != nil {
		t.Fatal(err)
	}
	if got := s.Requests()[0].Header.Get("Authorization"); got != "Bearer mine" {
		t.Errorf("got Authorization %q, want the tool's own token", got)
	}
	env[fetch.EnvMirror] = "https://mirror.example/x"
	if got := fetch.FromEnvironment(func(key string) string { return env[key] }).Mirror; got != env[fetch.EnvMirror] {
		t.Errorf("got mirror %q", got)
	}
}
