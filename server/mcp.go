package server

//lint:file-ignore SA1019 The newest revision of the protocol deprecates roots, and clients use them; see client.go.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
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
		Capabilities: &mcp.ServerCapabilities{
			Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}, Completions: &mcp.CompletionCapabilities{},
		},
		CompletionHandler: s.complete,
		RootsListChangedHandler: func(_ context.Context, req *mcp.RootsListChangedRequest) {
			s.roots.forget(req.Session)
		},
		SetCacheable: func(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
			if _, content := req.(*mcp.ReadResourceRequest); c.TTLMs == 0 && !content {
				c.TTLMs = int(time.Hour.Milliseconds())
			}
		},
	})
	for _, t := range s.tools {
		m.AddTool(t.declare(), s.handle)
	}
	m.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "symbol", Title: "Source of a symbol", URITemplate: symbolURI + "{name}", MIMEType: "text/plain",
		Description: "The source of a symbol's definitions; name is completed from the index.",
	}, s.readSymbol)
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

// handle answers one tool call of a client.
func (s *Server) handle(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	who := callerOf(req)
	roots, known := s.clientRoots(who, req.Params.InputResponses, common(req.Params.Arguments).ProjectRoot)
	if !known {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{rootsKey: &mcp.ListRootsParams{}}}, nil
	}
	e := s.answer(ctx, request{
		tool: req.Params.Name, arguments: req.Params.Arguments,
		roots:    func() []string { return roots },
		remote:   who.remote(),
		progress: notifier(ctx, req),
	})
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: render(e, common(req.Params.Arguments).Format)}},
		IsError: e.Error != "",
	}, nil
}

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
