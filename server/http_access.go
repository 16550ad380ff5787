package server

import (
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
