package fetch

import (
	"errors"
	"net/http"
)

// defaultTransport differs from http.DefaultTransport in being our own, so that
// nobody else's change to that one reaches us, and in closing idle connections
// early: an installer makes a handful of requests in its life.
func defaultTransport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = http.ProxyFromEnvironment
	t.MaxIdleConnsPerHost = 1
	return t
}

// errDowngrade is a redirect from https to http. The digest would catch a
// changed file, but a token or a release listing must not cross in the clear.
var errDowngrade = errors.New("refusing a redirect from https to http")

const maxRedirects = 10

func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return permanent("more than %d redirects", maxRedirects)
	}
	if via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return permanent("%w to %s", errDowngrade, req.URL.Redacted())
	}
	return nil
}

// authorizer adds the token to requests for the API's own host. It decides for
// each request, redirects included, so no redirect can carry the token away. A
// stale token turns a public file into 401 or 403, so these are asked again
// without it, and it is not used any more.
type authorizer struct{ c *Client }

func (a authorizer) RoundTrip(req *http.Request) (*http.Response, error) {
	c := a.c
	ours := req.URL.Host == c.api.Host && req.URL.Scheme == c.api.Scheme
	if c.opts.Token == "" || !ours || c.tokenRefused.Load() {
		return c.opts.Transport.RoundTrip(req)
	}
	signed := req.Clone(req.Context())
	signed.Header.Set("Authorization", "Bearer "+c.opts.Token)
	resp, err := c.opts.Transport.RoundTrip(signed)
	if err != nil || (resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden) {
		return resp, err
	}
	resp.Body.Close()
	c.tokenRefused.Store(true)
	c.opts.Log.Warn("token refused, going on without it", "host", req.URL.Host, "status", resp.StatusCode)
	return c.opts.Transport.RoundTrip(req)
}
