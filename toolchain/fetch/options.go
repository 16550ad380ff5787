package fetch

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Options configure a Client. The zero value downloads from github.com without a
// token, through the proxies of the environment, and reports no progress.
type Options struct {
	// API and Web are GitHub's two base URLs. Empty: https://api.github.com/ and
	// https://github.com/. GitHub Enterprise, and tests, set both.
	API, Web string

	// Mirror replaces Web in every URL, and the API is not asked. Empty: none.
	Mirror string

	// Token is sent to API's host and to no other. When the host refuses it, the
	// request is made again without it. Empty: anonymous.
	Token string

	// Stall is how long a transfer may go on without bringing MinProgress bytes
	// (or its end). Zero: 30 seconds.
	Stall time.Duration

	// Attempts is how often in a row one URL is tried without getting further
	// than before. Zero: 5.
	Attempts int

	// Backoff is the wait after the first failure; it doubles with each further
	// one, and a random quarter of it is added or taken away. Zero: 500 ms.
	Backoff time.Duration

	// MaxWait bounds one wait. A server that asks for a longer one (Retry-After)
	// is given up. Zero: one minute.
	MaxWait time.Duration

	// Progress is called as bytes arrive, from the goroutine that called Fetch.
	// total is 0 where nobody knows it. Nil: no calls.
	Progress func(done, total int64)

	// Transport makes the requests. Nil: one with the proxies of the environment
	// and the system's certificates, which SSL_CERT_FILE and SSL_CERT_DIR replace.
	Transport http.RoundTripper

	// Log gets a line for each retry. Nil: none.
	Log *slog.Logger
}

// The variables of FromEnvironment.
const (
	// EnvMirror is the address of a server that stands for https://github.com/:
	// files come from MIRROR/OWNER/NAME/releases/download/TAG/FILE. What is
	// downloaded is checked by its pins, so a mirror need not be trusted.
	EnvMirror = "GTAGS_MCP_MIRROR"
	// EnvToken is a token for GitHub's API. It is this program's own: a GITHUB_TOKEN
	// made for something else is not sent anywhere.
	EnvToken = "GTAGS_MCP_GITHUB_TOKEN"
)

// FromEnvironment are the options that the user's environment sets.
func FromEnvironment(getenv func(string) string) Options {
	return Options{Mirror: getenv(EnvMirror), Token: strings.TrimSpace(getenv(EnvToken))}
}

// MinProgress is what Options.Stall asks for. It keeps a server that sends a
// byte now and then from holding an install for weeks; the slowest modem in use
// brings it in seconds.
const MinProgress = 16 << 10

// Asset is a file to download.
type Asset struct {
	// Name is the file's name at the destination: one path element.
	Name string

	// URLs are tried in this order.
	URLs []string

	// Size is the exact size. Zero: unknown, and Limit bounds it.
	Size int64

	// Limit is the largest acceptable size where Size is unknown. Zero: 256 MiB.
	Limit int64

	// SHA256 is the digest in hexadecimal. It is never optional.
	SHA256 string
}

// Client downloads and looks up releases. It may be used by several goroutines,
// but only one at a time may fetch to the same destination file.
type Client struct {
	opts         Options
	api          *url.URL
	http         *http.Client
	tokenRefused atomic.Bool
}

// New returns a Client, or an error that names the option that is wrong.
func New(o Options) (*Client, error) {
	o.API = withDefault(o.API, "https://api.github.com/")
	o.Web = withDefault(o.Web, "https://github.com/")
	o.Stall = withDefault(o.Stall, 30*time.Second)
	o.Attempts = withDefault(o.Attempts, 5)
	o.Backoff = withDefault(o.Backoff, 500*time.Millisecond)
	o.MaxWait = withDefault(o.MaxWait, time.Minute)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Transport == nil {
		o.Transport = defaultTransport()
	}
	for _, base := range []struct {
		name string
		url  *string
	}{{"API", &o.API}, {"Web", &o.Web}, {"Mirror", &o.Mirror}} {
		if *base.url == "" {
			continue
		}
		if err := checkURL(*base.url); err != nil {
			return nil, fmt.Errorf("%s URL: %w", base.name, err)
		}
		*base.url = strings.TrimRight(*base.url, "/") + "/"
	}
	api, err := url.Parse(o.API)
	if err != nil {
		return nil, fmt.Errorf("API URL: %w", err)
	}
	c := &Client{opts: o, api: api}
	c.http = &http.Client{Transport: authorizer{c}, CheckRedirect: checkRedirect}
	return c, nil
}

func withDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

func checkURL(s string) error {
	u, err := url.Parse(s)
	if err != nil {
		return err
	}
	if (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
		return fmt.Errorf("%q is not an http or https URL", s)
	}
	return nil
}

// mirrored is u with Web replaced by Mirror, where there is one.
func (c *Client) mirrored(u string) string {
	if rest, ok := strings.CutPrefix(u, c.opts.Web); ok && c.opts.Mirror != "" {
		return c.opts.Mirror + rest
	}
	return u
}
