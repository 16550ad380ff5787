package server

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

// tool is one entry of the tool table: what clients are told of it, and the
// function that answers.
type tool struct {
	name        string
	title       string
	description string
	writes      bool // changes the index; all other tools only read
	alwaysLoad  bool // belongs in an agent's first request, whatever it defers
	onError     []string
	bounds      map[string]func(*jsonschema.Schema) // where they differ from those of other tools
	schema      *jsonschema.Schema
	run         func(context.Context, *call, json.RawMessage) (*envelope, error)
}

// define completes a tool with the function that answers it. The type of the
// function's arguments is the tool's schema.
func define[In any](t tool, answer func(context.Context, *call, In) (*envelope, error)) tool {
	t.schema = schemaOf[In](t.bounds)
	t.run = func(ctx context.Context, c *call, raw json.RawMessage) (*envelope, error) {
		in, err := parse[In](t.name, t.schema, raw)
		if err != nil {
			return nil, err
		}
		return answer(ctx, c, in)
	}
	return t
}

// query completes a tool that only reads: the function sees one state of the
// tree, and what there is to warn about that state goes into the answer.
func query[In any](t tool, answer func(context.Context, *nav.View, In) (*envelope, error)) tool {
	return define(t, func(ctx context.Context, c *call, in In) (*envelope, error) {
		return c.look(ctx, c.workspace.View, func(view *nav.View) (*envelope, error) { return answer(ctx, view, in) })
	})
}

// look answers from one state of the tree.
func (c *call) look(ctx context.Context, open opener, answer func(*nav.View) (*envelope, error)) (*envelope, error) {
	view, err := c.view(ctx, open)
	if err != nil {
		return nil, err
	}
	defer view.Release()
	e, err := answer(view)
	if err != nil {
		return nil, view.Damaged(err)
	}
	e.Warning = joinWarnings(append([]string{e.Warning}, view.Warnings()...))
	return e, nil
}

// tools is the tool table. Its order is the order of the documentation; the
// protocol lists by name.
func tools() []tool {
	return []tool{
		findDefinition(),
		findReferences(),
		getSymbolBody(),
		findCallers(),
		findCallees(),
		reachability(),
		blastRadius(),
		symbolInfo(),
		summarizeReferences(),
		listFileSymbols(),
		updateIndex(),
		findCode(),
	}
}

func (t *tool) declare() *mcp.Tool {
	no := false
	declared := &mcp.Tool{
		Name: t.name, Title: t.title, Description: t.description, InputSchema: t.schema,
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: !t.writes, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no,
		},
	}
	if t.alwaysLoad {
		declared.Meta = mcp.Meta{"anthropic/alwaysLoad": true}
	}
	return declared
}

// call is one call of a tool: the tree it is about and how to tell its caller
// about progress.
type call struct {
	workspace *nav.Workspace
	progress  func(message string, done, total float64)
	patience  time.Duration
}
