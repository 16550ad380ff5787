package fetch

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"syscall"
	"time"
)

// What can be wrong with a download, for errors.Is.
var (
	ErrDigest      = errors.New("wrong SHA-256")
	ErrSize        = errors.New("wrong size")
	ErrHTML        = errors.New("an HTML page instead of the file")
	ErrEmpty       = errors.New("empty download")
	ErrStalled     = errors.New("no progress")
	ErrRateLimited = errors.New("rate limit reached")
	ErrNotFound    = errors.New("not found")
	ErrNoSpace     = errors.New("disk full")
)

// permanentError is what another try of the same URL can not change.
type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

func permanent(format string, args ...any) error {
	return &permanentError{fmt.Errorf(format, args...)}
}

func isPermanent(err error) bool {
	var p *permanentError
	return errors.As(err, &p)
}

// statusError is an answer that is no success. wait is what the server asked for.
type statusError struct {
	url    string
	code   int
	status string
	limit  bool
	wait   time.Duration
}

func (e *statusError) Error() string {
	s := fmt.Sprintf("%s answered %s", e.url, e.status)
	if e.limit {
		s += " (rate limit)"
	}
	if e.wait > 0 {
		s += fmt.Sprintf(", asking to wait %s", e.wait)
	}
	return s
}

func (e *statusError) Is(target error) bool {
	switch target {
	case ErrRateLimited:
		return e.limit
	case ErrNotFound:
		return e.code == http.StatusNotFound || e.code == http.StatusGone
	}
	return false
}

func (e *statusError) temporary() bool {
	return e.limit || e.code >= 500 || e.code == http.StatusRequestTimeout || e.code == http.StatusTooEarly
}

// newStatusError reads what resp says. GitHub answers 403 for its rate limit,
// and tells it from a refusal by headers.
func newStatusError(resp *http.Response) error {
	h := resp.Header
	e := &statusError{
		url:    resp.Request.URL.Redacted(),
		code:   resp.StatusCode,
		status: resp.Status,
		wait:   retryAfter(h.Get("Retry-After"), time.Now()),
		limit: resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusForbidden &&
			(h.Get("Retry-After") != "" || h.Get("X-RateLimit-Remaining") == "0"),
	}
	if !e.temporary() {
		return &permanentError{e}
	}
	return e
}

// retryAfter reads the header's two forms, seconds and a date. Nonsense is 0.
func retryAfter(v string, now time.Time) time.Duration {
	if secs, err := strconv.Atoi(v); err == nil {
		return max(0, min(time.Duration(secs), 1<<20)*time.Second)
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// explain adds what to do to errors whose text does not say it.
func explain(err error) error {
	var authority x509.UnknownAuthorityError
	switch {
	case errors.As(err, &authority):
		return permanent("%w (if a proxy inspects TLS here, set SSL_CERT_FILE to a file with its certificate)", err)
	case isCertificateError(err):
		return permanent("%w", err)
	}
	return err
}

func isCertificateError(err error) bool {
	var invalid x509.CertificateInvalidError
	var host x509.HostnameError
	return errors.As(err, &invalid) || errors.As(err, &host)
}

// diskError names the folder's trouble, which no other URL would cure.
func diskError(err error, file string, size int64) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return &localError{fmt.Errorf("%w: writing %s, %d bytes in all: %w", ErrNoSpace, file, size, err)}
	}
	return &localError{err}
}

// localError is trouble on this machine: no further URL is tried.
type localError struct{ error }

func (e *localError) Unwrap() error { return e.error }

func isLocal(err error) bool {
	var l *localError
	return errors.As(err, &l)
}
