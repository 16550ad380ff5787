package server

//lint:file-ignore SA1019 The newest revision of the protocol deprecates roots; the clients of all older ones have no other way to name their workspace.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// instructions are what a client shows the model of the server as a whole.
const instructions = "Indexed code navigation. For any question about where a name is defined, used or called, ask these tools before grep or reading files: " +
	"they know the whole tree, answer at once and tell code from comments. " +
	"Paths are relative to the project root. A miss lists similar names. " +
	"An answer that says \"installing\" or \"indexing\" means: retry in a few seconds."

// MCP makes the protocol side of the server. Everything it does before the
// first tool call is in memory. Calls are cancelled when stop is done.
func (s *Server) MCP(stop context.Context) *mcp.Server {
	m := mcp.NewServer(&mcp.Implementation{Name: "gtagsmcp", Title: "GNU Global code navigation", Version: s.cfg.Version}, &mcp.ServerOptions{
		Instructions: instructions,
		Logger:       s.protocolLogger(),
		// Named, so that neither logging nor list changes are announced: the
		// tools are the same for every client, for ever.
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		RootsListChangedHandler: func(_ context.Context, req *mcp.RootsListChangedRequest) {
			s.roots.forget(req.Session)
		},
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
			if c.TTLMs == 0 {
				c.TTLMs = int(time.Hour.Milliseconds())
			}
		},
	})
	for _, t := range s.tools {
		m.AddTool(t.declare(), s.handle)
	}
	m.AddReceivingMiddleware(survive(stop, s.cfg.Logger))
	return m
}

// protocolLogger is for the protocol library, which reports the normal end of a
// session as an error and writes several lines a session: for debugging only.
func (s *Server) protocolLogger() *slog.Logger {
	if s.cfg.Logger.Enabled(context.Background(), slog.LevelDebug) {
		return s.cfg.Logger
	}
	return slog.New(slog.DiscardHandler)
}

// errShutdown is why calls are cancelled that run when the server ends.
var errShutdown = errors.New("the server is shutting down")

// survive makes a panic in one request that request's error, and lets a
// shutdown reach the requests that are under way.
func survive(stop context.Context, log *slog.Logger) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
			defer func() {
				if p := recover(); p != nil {
					log.Error("panic", "method", method, "panic", p, "stack", string(debug.Stack()))
					res, err = nil, fmt.Errorf("internal error in %s; the server is still running", method)
				}
			}()
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			defer context.AfterFunc(stop, func() { cancel(errShutdown) })()
			return next(ctx, method, req)
		}
	}
}

// rootsKey names our question for the client's roots in a call's exchange.
const rootsKey = "roots"

// handle answers one tool call of a client.
func (s *Server) handle(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	roots, known := s.clientRoots(req)
	if !known {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{rootsKey: &mcp.ListRootsParams{}}}, nil
	}
	e := s.answer(ctx, request{
		tool: req.Params.Name, arguments: req.Params.Arguments,
		roots:    func() []string { return roots },
		remote:   remote(req),
		progress: notifier(ctx, req),
	})
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: render(e, common(req.Params.Arguments).Format)}},
		IsError: e.Error != "",
	}, nil
}

// remote reports whether a call came over HTTP, from a client that did not start
// this process: what it was started with says nothing about that client.
func remote(req *mcp.CallToolRequest) bool { return req.Extra != nil && req.Extra.Header != nil }

// notifier sends progress to a client that asked for it. It says nothing that
// the answer does not say too: clients may lose the last notification.
func notifier(ctx context.Context, req *mcp.CallToolRequest) func(string, float64, float64) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func(string, float64, float64) {}
	}
	ticks := 0.0
	return func(message string, done, total float64) {
		ticks++ // must grow with every notification, whatever the work's own figures do
		text := message
		if total > 0 {
			text = fmt.Sprintf("%s (%.0f of %.0f)", message, done, total)
		}
		// A client that went away is no reason to fail the call.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: ticks, Message: text})
	}
}

// clientRoots returns the client's workspace roots. known is false when the
// client must be asked first: the call then ends with the question and comes
// again with the answer, which works in every revision of the protocol.
func (s *Server) clientRoots(req *mcp.CallToolRequest) (roots []string, known bool) {
	if answer, ok := req.Params.InputResponses[rootsKey].(*mcp.ListRootsResult); ok {
		for _, root := range answer.Roots {
			roots = append(roots, root.URI)
		}
		if !alone(req) {
			s.roots.remember(req.Session, roots)
		}
		return roots, true
	}
	if roots, ok := s.roots.recall(req.Session); ok {
		return roots, true
	}
	caps := req.ClientCapabilities()
	if caps == nil || caps.RootsV2 == nil || s.rootIsSettled(req) {
		return nil, true
	}
	return nil, false
}

// rootIsSettled reports whether a rung above the client's roots applies.
func (s *Server) rootIsSettled(req *mcp.CallToolRequest) bool {
	return common(req.Params.Arguments).ProjectRoot != "" || s.cfg.Above.Over(s.cfg.Below).Root != nil ||
		s.cfg.ClientDir != "" && !remote(req)
}

// alone reports whether a call has no session: over HTTP, the newest revision of
// the protocol makes a new one for every request.
func alone(req *mcp.CallToolRequest) bool { return remote(req) && req.Session.ID() == "" }

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
