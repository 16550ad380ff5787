package server

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

// readyReport says what a call would have to wait for. It names no path: whoever
// can connect may read it.
type readyReport struct {
	Ready     bool   `json:"ready"`
	Toolchain string `json:"toolchain"` // ready, installing, missing
	// Index is that of the tree which a call is about when neither it nor its
	// client names one; "none" when there is no such tree.
	Index string `json:"index"` // ready, refreshing, building, unknown, none
}

// ready looks at what a first call needs, and starts what is missing.
func (s *Server) ready(ctx context.Context) readyReport {
	r := readyReport{Toolchain: "ready", Index: "none"}
	if s.cfg.Toolchain != nil {
		if err := s.cfg.Toolchain(ctx); nav.Temporary(err) {
			r.Toolchain = "installing"
		} else if err != nil {
			r.Toolchain = "missing"
		}
	}
	if state, ok := s.standingIndex(); ok {
		r.Index = string(state)
	}
	r.Ready = r.Toolchain == "ready" && (r.Index == "none" || r.Index == string(nav.IndexReady) || r.Index == string(nav.IndexRefreshing))
	return r
}

// standingIndex is the state of the index of the tree that is asked about when
// nobody names one. An index that nobody has asked for yet is begun.
func (s *Server) standingIndex() (nav.IndexState, bool) {
	root, err := s.root(request{remote: true, roots: func() []string { return nil }})
	if err != nil {
		return "", false
	}
	ws, err := s.workspaces.acquire(root)
	if err != nil {
		return "", false
	}
	state, _ := ws.State()
	if state != nav.IndexUnknown {
		s.workspaces.release(ws)
		return state, true
	}
	go func() {
		defer s.workspaces.release(ws)
		// It goes on by itself when nobody waits any more.
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if view, err := ws.View(ctx, nil); err == nil {
			view.Release()
		}
	}()
	return state, true
}

func (s *Server) readiness(w http.ResponseWriter, r *http.Request) {
	report := s.ready(r.Context())
	w.Header().Set("Content-Type", "application/json")
	if !report.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(report) // who does not listen any more misses nothing
}
