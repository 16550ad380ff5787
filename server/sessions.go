package server

import (
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxSessions is how many sessions may be open at once. Each costs some 20 kB,
// and many a client begins one for every call and ends none.
const maxSessions = 5000

// sessionHeader names the session of a request.
const sessionHeader = "Mcp-Session-Id"

// sessionLimit ends the session that has been quiet for longest when there are
// too many. Its client begins a new one, as after an idle time.
type sessionLimit struct {
	server *mcp.Server
	most   int

	mu   sync.Mutex
	used map[string]time.Time
}

func (l *sessionLimit) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id := r.Header.Get(sessionHeader); id != "" {
			l.touch(id)
			next.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
		if id := w.Header().Get(sessionHeader); id != "" {
			l.begin(id)
		}
	})
}

func (l *sessionLimit) touch(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.used[id]; known {
		l.used[id] = time.Now()
	}
}

func (l *sessionLimit) begin(id string) {
	l.mu.Lock()
	l.used[id] = time.Now()
	if len(l.used) <= l.most {
		l.mu.Unlock()
		return
	}
	open := map[string]*mcp.ServerSession{}
	for session := range l.server.Sessions() {
		open[session.ID()] = session
	}
	oldest := ""
	for id, used := range l.used {
		if open[id] == nil {
			delete(l.used, id) // it has ended by itself
		} else if oldest == "" || used.Before(l.used[oldest]) {
			oldest = id
		}
	}
	if len(l.used) <= l.most {
		oldest = ""
	} else {
		delete(l.used, oldest)
	}
	l.mu.Unlock()
	if session := open[oldest]; session != nil && oldest != "" {
		_ = session.Close() // who is gone does not hear of it
	}
}
