package releasetest

import (
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// When limits a fault to requests whose path contains part.
func When(part string, m Middleware) Middleware {
	return func(next http.Handler) http.Handler {
		faulty := m(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, part) {
				faulty.ServeHTTP(w, r)
			} else {
				next.ServeHTTP(w, r)
			}
		})
	}
}

// Times limits a fault to the first n requests that reach it.
func Times(n int64, m Middleware) Middleware {
	var count atomic.Int64
	return func(next http.Handler) http.Handler {
		faulty := m(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if count.Add(1) <= n {
				faulty.ServeHTTP(w, r)
			} else {
				next.ServeHTTP(w, r)
			}
		})
	}
}

// Answer answers everything with a status, a body and pairs of header lines.
func Answer(code int, body string, header ...string) Middleware {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
		})
	}
}

// RateLimited answers as GitHub does when an address has used up its requests.
func RateLimited() Middleware {
	return Answer(http.StatusForbidden, `{"message":"API rate limit exceeded"}`,
		"Content-Type", "application/json", "X-RateLimit-Limit", "60", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "4102444800")
}

// RefuseToken answers 401 to every request that carries a token.
func RefuseToken() Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" {
				Answer(http.StatusUnauthorized, `{"message":"Bad credentials"}`, "Content-Type", "application/json")(nil).ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// Redirect sends everything elsewhere.
func Redirect(to string) Middleware {
	return func(http.Handler) http.Handler { return http.RedirectHandler(to, http.StatusFound) }
}

// CutAfter breaks the connection of every answer after n bytes of its body.
func CutAfter(n int) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(&limitedWriter{ResponseWriter: w, left: n}, r)
		})
	}
}

type limitedWriter struct {
	http.ResponseWriter
	left int
}

func (w *limitedWriter) Write(b []byte) (int, error) {
	if len(b) < w.left {
		w.left -= len(b)
		return w.ResponseWriter.Write(b)
	}
	_, _ = w.ResponseWriter.Write(b[:w.left])
	w.ResponseWriter.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// Trickle sends every body in pieces of n bytes with a pause before each.
func Trickle(n int, pause time.Duration) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(slowWriter{w, r, n, pause}, r)
		})
	}
}

type slowWriter struct {
	http.ResponseWriter
	r     *http.Request
	n     int
	pause time.Duration
}

func (w slowWriter) Write(b []byte) (int, error) {
	for done := 0; done < len(b); {
		select {
		case <-time.After(w.pause):
		case <-w.r.Context().Done():
			return done, w.r.Context().Err()
		}
		n, err := w.ResponseWriter.Write(b[done:min(done+w.n, len(b))])
		done += n
		if err != nil {
			return done, err
		}
		w.ResponseWriter.(http.Flusher).Flush()
	}
	return len(b), nil
}

// WithoutRanges hides the Range header from the server behind.
func WithoutRanges() Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Range")
			next.ServeHTTP(w, r)
		})
	}
}
