package server

//lint:file-ignore SA1019 The newest revision of the protocol deprecates roots, and clients use them; see client.go.

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// symbolURI begins the address of a symbol's source as a resource. It is how a
// person attaches a definition to a conversation, with the name completed while
// it is typed; agents have the tools.
const symbolURI = "gtags://symbol/"

// readSymbol answers what get_symbol_body answers.
func (s *Server) readSymbol(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	name, err := url.PathUnescape(strings.TrimPrefix(req.Params.URI, symbolURI))
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	who := callerOf(req)
	roots, known := s.clientRoots(who, req.Params.InputResponses, "")
	if !known {
		roots, known = s.askRoots(ctx, who)
	}
	if !known {
		return &mcp.ReadResourceResult{InputRequests: mcp.InputRequestMap{rootsKey: &mcp.ListRootsParams{}}}, nil
	}
	arguments, err := json.Marshal(map[string]any{"symbol": name})
	if err != nil {
		return nil, err
	}
	e := s.answer(ctx, request{
		tool: "get_symbol_body", arguments: arguments, remote: who.remote(),
		roots:    func() []string { return roots },
		progress: func(string, float64, float64) {},
	})
	switch {
	case e.Error != "":
		return nil, errors.New(e.Error)
	case e.Total == 0:
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
		{URI: req.Params.URI, MIMEType: "text/plain", Text: render(e, "text")},
	}}, nil
}

const (
	// maxCompletions is the most values that the protocol allows in one answer.
	maxCompletions = 100
	// completionTime bounds an answer that somebody waits for while typing.
	completionTime = 2 * time.Second
)

// complete offers the symbols of the index that begin with what was typed. It
// offers nothing, rather than an error, while there is no index.
func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	result := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	ref, argument := req.Params.Ref, req.Params.Argument
	if ref.Type != "ref/resource" || ref.URI != symbolURI+"{name}" || argument.Name != "name" {
		return result, nil // there is nothing to offer for anything else
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	who := callerOf(req)
	roots, known := s.clientRoots(who, nil, "")
	if !known {
		roots, _ = s.askRoots(ctx, who)
	}
	root, err := s.root(request{remote: who.remote(), roots: func() []string { return roots }})
	if err != nil {
		return result, nil
	}
	ws, err := s.workspaces.acquire(root)
	if err != nil {
		return result, nil
	}
	defer s.workspaces.release(ws)
	view, err := ws.View(ctx, nil)
	if err != nil {
		return result, nil
	}
	defer view.Release()
	names, more, err := view.Complete(argument.Value, maxCompletions)
	if err != nil {
		return nil, view.Damaged(err)
	}
	result.Completion.Values = append(result.Completion.Values, names...)
	result.Completion.HasMore = more
	return result, nil
}
