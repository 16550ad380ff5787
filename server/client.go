package server

//lint:file-ignore SA1019 The newest revision of the protocol deprecates roots; the clients of all older ones have no other way to name their workspace.

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// caller is the client behind a request.
type caller struct {
	session      *mcp.ServerSession
	capabilities *mcp.ClientCapabilities
	extra        *mcp.RequestExtra
}

func callerOf[P mcp.Params](req *mcp.ServerRequest[P]) caller {
	return caller{req.Session, req.ClientCapabilities(), req.Extra}
}

// remote reports whether a request came over HTTP, from a client that did not
// start this process: what it was started with says nothing about that client.
func (c caller) remote() bool { return c.extra != nil && c.extra.Header != nil }

// alone reports whether a request has no session: over HTTP, the newest revision
// of the protocol makes a new one for every request.
func (c caller) alone() bool { return c.remote() && c.session.ID() == "" }

func (c caller) hasRoots() bool { return c.capabilities != nil && c.capabilities.RootsV2 != nil }

// rootsKey names our question for the client's roots in a call's exchange.
const rootsKey = "roots"

// clientRoots returns the client's workspace roots. known is false when the
// client must be asked first: the call then ends with the question and comes
// again with the answer, which works in every revision of the protocol.
func (s *Server) clientRoots(who caller, answers mcp.InputResponseMap, projectRoot string) (roots []string, known bool) {
	if answer, ok := answers[rootsKey].(*mcp.ListRootsResult); ok {
		return s.keepRoots(who, answer), true
	}
	if roots, ok := s.roots.recall(who.session); ok {
		return roots, true
	}
	if !who.hasRoots() || projectRoot != "" || s.rootIsSettled(who) {
		return nil, true
	}
	return nil, false
}

// askRoots asks the client for its roots within a request that is no tool call,
// which in the revisions with sessions cannot end with a question. In the newest
// one it is the other way round: ok is false.
func (s *Server) askRoots(ctx context.Context, who caller) (roots []string, ok bool) {
	answer, err := who.session.ListRoots(ctx, nil)
	if err != nil {
		return nil, false
	}
	return s.keepRoots(who, answer), true
}

func (s *Server) keepRoots(who caller, answer *mcp.ListRootsResult) (roots []string) {
	for _, root := range answer.Roots {
		roots = append(roots, root.URI)
	}
	if !who.alone() {
		s.roots.remember(who.session, roots)
	}
	return roots
}

// rootIsSettled reports whether a rung above the client's roots applies.
func (s *Server) rootIsSettled(who caller) bool {
	return s.cfg.Above.Over(s.cfg.Below).Root != nil || s.cfg.ClientDir != "" && !who.remote()
}

// rootCache keeps the roots of each session for a while. Newer revisions of
// the protocol do not announce changes, so nothing is kept for long.
type rootCache struct {
	mu       sync.Mutex
	sessions map[*mcp.ServerSession]cachedRoots
}

type cachedRoots struct {
	roots []string
	until time.Time
}

const rootsKept = time.Minute

func (c *rootCache) remember(session *mcp.ServerSession, roots []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions == nil {
		c.sessions = map[*mcp.ServerSession]cachedRoots{}
	}
	c.sessions[session] = cachedRoots{roots, time.Now().Add(rootsKept)}
	// Sessions end without telling us.
	time.AfterFunc(rootsKept, func() { c.expire(session) })
}

func (c *rootCache) expire(session *mcp.ServerSession) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !time.Now().Before(c.sessions[session].until) {
		delete(c.sessions, session)
	}
}

func (c *rootCache) recall(session *mcp.ServerSession) ([]string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cached, ok := c.sessions[session]
	return cached.roots, ok && time.Now().Before(cached.until)
}

func (c *rootCache) forget(session *mcp.ServerSession) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sessions, session)
}
