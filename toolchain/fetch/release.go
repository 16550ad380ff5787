package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"
)

// Release is one release of a repository, as a server describes it.
type Release struct {
	Tag        string
	Prerelease bool
	Published  time.Time      // zero where the API was not asked
	Assets     []ReleaseAsset // nil where the API was not asked

	// Via says who answered: "api" or "page".
	Via string
}

// ReleaseAsset is a file of a release.
type ReleaseAsset struct {
	Name string
	Size int64
}

// Repo names a repository on GitHub.
type Repo struct{ Owner, Name string }

func (r Repo) String() string { return r.Owner + "/" + r.Name }

// AssetURL is where a release's file is, API or not.
func (c *Client) AssetURL(r Repo, tag, name string) string {
	return c.mirrored(c.opts.Web + path.Join(r.Owner, r.Name, "releases/download", url.PathEscape(tag), url.PathEscape(name)))
}

// Latest is the newest release that is neither a draft nor a prerelease. Where
// the API does not answer, the redirect of the release page does.
func (c *Client) Latest(ctx context.Context, r Repo) (Release, error) {
	rel, err := c.askAPI(ctx, func(ctx context.Context, s *github.RepositoriesService) (*github.RepositoryRelease, error) {
		rel, _, err := s.GetLatestRelease(ctx, r.Owner, r.Name)
		return rel, err
	})
	if err == nil || !c.pageMayKnow(ctx, err) {
		return rel, named(err, "latest release of %s", r)
	}
	tag, pageErr := c.latestTag(ctx, r)
	if pageErr != nil {
		return Release{}, named(errors.Join(err, pageErr), "latest release of %s", r)
	}
	return Release{Tag: tag, Via: "page"}, nil
}

// Release is the release with that tag. Where the API does not answer, the tag
// is taken to exist: the download tells.
func (c *Client) Release(ctx context.Context, r Repo, tag string) (Release, error) {
	rel, err := c.askAPI(ctx, func(ctx context.Context, s *github.RepositoriesService) (*github.RepositoryRelease, error) {
		rel, _, err := s.GetReleaseByTag(ctx, r.Owner, r.Name, url.PathEscape(tag))
		return rel, err
	})
	if err != nil && c.pageMayKnow(ctx, err) {
		return Release{Tag: tag, Via: "page"}, nil
	}
	return rel, named(err, "release %s of %s", tag, r)
}

// Releases lists the newest releases, prereleases included and drafts not.
// Only the API knows them, so there is no other way when it does not answer.
func (c *Client) Releases(ctx context.Context, r Repo) ([]Release, error) {
	if c.opts.Mirror != "" {
		return nil, fmt.Errorf("releases of %s: %w", r, errMirrored)
	}
	ctx, cancel := context.WithTimeout(ctx, c.opts.Stall)
	defer cancel()
	found, _, err := c.service().ListReleases(ctx, r.Owner, r.Name, &github.ListOptions{PerPage: 100})
	if err != nil {
		return nil, named(apiError(err), "releases of %s", r)
	}
	releases := make([]Release, 0, len(found))
	for _, rel := range found {
		if !rel.GetDraft() {
			releases = append(releases, newRelease(rel))
		}
	}
	return releases, nil
}

var errMirrored = errors.New("a mirror is configured, which has no API")

func (c *Client) askAPI(ctx context.Context, ask func(context.Context, *github.RepositoriesService) (*github.RepositoryRelease, error)) (Release, error) {
	if c.opts.Mirror != "" {
		return Release{}, errMirrored
	}
	ctx, cancel := context.WithTimeout(ctx, c.opts.Stall)
	defer cancel()
	rel, err := ask(ctx, c.service())
	if err != nil {
		return Release{}, apiError(err)
	}
	return newRelease(rel), nil
}

// pageMayKnow reports whether the plain pages may know what the API did not
// tell. That something does not exist is an answer.
func (c *Client) pageMayKnow(ctx context.Context, err error) bool {
	return ctx.Err() == nil && !errors.Is(err, ErrNotFound)
}

func named(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}

func newRelease(r *github.RepositoryRelease) Release {
	rel := Release{Tag: r.GetTagName(), Prerelease: r.GetPrerelease(), Published: r.GetPublishedAt().Time, Via: "api"}
	for _, a := range r.Assets {
		rel.Assets = append(rel.Assets, ReleaseAsset{a.GetName(), int64(a.GetSize())})
	}
	return rel
}

// service is a new one for each question: go-github remembers a reached rate
// limit and then answers by itself, which would outlive a refused token.
func (c *Client) service() *github.RepositoriesService {
	gh := github.NewClient(&http.Client{
		Transport:     limitedBody{c.http.Transport},
		CheckRedirect: checkRedirect,
	})
	gh.BaseURL = c.api
	return gh.Repositories
}

// limitedBody bounds what go-github reads into memory.
type limitedBody struct{ next http.RoundTripper }

const maxAPIAnswer = 8 << 20

func (l limitedBody) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.next.RoundTrip(req)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxAPIAnswer), resp.Body}
	}
	return resp, err
}

// apiError translates go-github's errors into this package's.
func apiError(err error) error {
	var (
		rate     *github.RateLimitError
		abuse    *github.AbuseRateLimitError
		response *github.ErrorResponse
	)
	switch {
	case errors.As(err, &rate), errors.As(err, &abuse):
		return fmt.Errorf("%w: %w", ErrRateLimited, err)
	case errors.As(err, &response):
		return newStatusError(response.Response)
	}
	return explain(err)
}

// latestTag follows OWNER/NAME/releases/latest, which GitHub redirects to
// …/releases/tag/TAG, through the renames of a repository.
func (c *Client) latestTag(ctx context.Context, r Repo) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.opts.Stall)
	defer cancel()
	var tag string
	client := *c.http
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if _, escaped, ok := strings.Cut(req.URL.EscapedPath(), "/releases/tag/"); ok {
			var err error
			if tag, err = url.PathUnescape(escaped); err != nil {
				return err
			}
			return http.ErrUseLastResponse
		}
		return checkRedirect(req, via)
	}
	page := c.mirrored(c.opts.Web + path.Join(r.Owner, r.Name, "releases/latest"))
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, page, nil)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", explain(err)
	}
	resp.Body.Close()
	switch {
	case tag != "":
		return tag, nil
	case resp.StatusCode >= 400:
		return "", newStatusError(resp)
	}
	return "", fmt.Errorf("%s does not lead to a release: %w", page, ErrNotFound)
}
