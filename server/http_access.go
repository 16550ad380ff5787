package server

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// knownHost refuses requests that address the server by a name that is not its
// own. A page of a stranger can make a browser connect here under the
// stranger's name (DNS rebinding); it cannot make it send another name. A plain
// address is no name that anybody could rebind.
func knownHost(names []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := hostname(r.Host)
		_, notAddress := netip.ParseAddr(host)
		same := func(name string) bool { return strings.EqualFold(name, host) }
		if notAddress != nil && !same("localhost") && !slices.ContainsFunc(names, same) {
			writeText(w, http.StatusForbidden, fmt.Sprintf("this server does not answer to the name %q", clip(host, 100)))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostname is a Host header without its port and brackets.
func hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}

// sameOrigin refuses what a browser sends for a page that did not come from
// this server. Clients that are no browsers send no Origin.
func sameOrigin(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := protection.Check(r); err != nil || foreignOrigin(r) {
			writeText(w, http.StatusForbidden, "requests of pages from other origins are not answered")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// foreignOrigin covers what the standard library lets pass, reading requests.
func foreignOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || !strings.EqualFold(u.Host, r.Host)
}

// IsLoopback reports whether only programs of this machine can connect to an
// address to listen on, a name or an IP address.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil && addr.Unmap().IsLoopback()
}

// minToken is the length of the shortest token that is no joke, in bytes.
const minToken = 16

// NewToken makes a bearer token that nobody guesses.
func NewToken() string { return rand.Text() }

// CheckToken says what is wrong with a token that somebody chose.
func CheckToken(token string) error {
	if len(token) < minToken {
		return fmt.Errorf("the token has %d characters; give at least %d", len(token), minToken)
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("the token holds a blank, or a character that a header cannot carry")
	}
	return nil
}

// bearer lets only those pass who know the token. The comparison takes the same
// time for every wrong one.
func bearer(token string, next http.Handler) http.Handler {
	if token == "" {
		return next
	}
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(given)))
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="gtagsmcp"`)
			writeText(w, http.StatusUnauthorized, "this server wants the header Authorization: Bearer <token>")
			return
		}
		next.ServeHTTP(w, r)
	})
}
