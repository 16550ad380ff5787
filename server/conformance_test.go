//go:build conformance

package server

//lint:file-ignore SA1019 The suite asks for notifications that the newest revision of the protocol deprecates.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// suites are releases of the public conformance suite with the revision of the
// protocol that they are about. They need Node 22, which npm has too.
var suites = []struct{ release, baseline string }{
	{"0.1.16", "conformance-fixtures.yml"},                                        // 2025-06-18 and 2025-11-25
	{"0.2.0-alpha.12", "conformance-fixtures-2026.yml --requirements 2026-07-28"}, // not released yet
}

// TestConformanceWithFixtures runs the scenarios of the public suite that want
// tools, resources and prompts of their own making. They are added here to the
// server, whose transport and middleware answer for the rest. What it never
// offers, asking the client's model or user and subscriptions, is in the baseline.
func TestConformanceWithFixtures(t *testing.T) {
	s := bareServer(t)
	ctx, stop := context.WithCancel(t.Context())
	m := s.MCP(ctx)
	addFixtures(m)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.serveHTTP(ctx, l, m, HTTPOptions{}) }()
	for _, suite := range suites {
		cmd := exec.Command("npx", strings.Fields("-y -p node@22 -p @modelcontextprotocol/conformance@"+suite.release+
			" conformance server --url http://"+l.Addr().String()+Endpoint+" --expected-failures ../.ci/"+suite.baseline)...)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			t.Errorf("release %s of the suite: %v", suite.release, err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// pixel begins like a PNG, which is all that anybody looks at.
var pixel = []byte("\x89PNG\r\n\x1a\n")

func addFixtures(m *mcp.Server) {
	text := func(s string) mcp.Content { return &mcp.TextContent{Text: s} }
	image := &mcp.ImageContent{Data: pixel, MIMEType: "image/png"}
	embedded := func(uri string) mcp.Content {
		return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "embedded"}}
	}
	tool := func(name string, answer func(context.Context, *mcp.CallToolRequest) ([]mcp.Content, error)) {
		declared := &mcp.Tool{Name: name, Description: "A fixture.", InputSchema: &jsonschema.Schema{Type: "object"}}
		m.AddTool(declared, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			content, err := answer(ctx, req)
			res := &mcp.CallToolResult{Content: content}
			if err != nil {
				res.SetError(err)
			}
			return res, nil
		})
	}
	answers := func(content ...mcp.Content) func(context.Context, *mcp.CallToolRequest) ([]mcp.Content, error) {
		return func(context.Context, *mcp.CallToolRequest) ([]mcp.Content, error) { return content, nil }
	}
	tool("test_simple_text", answers(text("This is a simple text response for testing.")))
	tool("test_image_content", answers(image))
	tool("test_audio_content", answers(&mcp.AudioContent{Data: []byte("RIFF"), MIMEType: "audio/wav"}))
	tool("test_embedded_resource", answers(embedded("test://embedded-resource")))
	tool("test_multiple_content_types", answers(text("Multiple content types test:"), image, embedded("test://mixed-content-resource")))
	tool("test_error_handling", func(context.Context, *mcp.CallToolRequest) ([]mcp.Content, error) {
		return nil, errors.New("This tool intentionally returns an error for testing")
	})
	tool("test_tool_with_progress", func(ctx context.Context, req *mcp.CallToolRequest) ([]mcp.Content, error) {
		say := notifier(ctx, req)
		for i := range 3 {
			say("working", float64(i), 3)
			time.Sleep(50 * time.Millisecond)
		}
		return []mcp.Content{text("done")}, nil
	})
	tool("test_tool_with_logging", func(ctx context.Context, req *mcp.CallToolRequest) ([]mcp.Content, error) {
		for i := range 3 {
			if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: fmt.Sprint("step ", i)}); err != nil {
				return nil, err
			}
			time.Sleep(50 * time.Millisecond)
		}
		return []mcp.Content{text("done")}, nil
	})
	addFixtureResources(m)
	addFixturePrompts(m, text, image, embedded)
}

func addFixtureResources(m *mcp.Server) {
	read := func(mime, text string, blob []byte) mcp.ResourceHandler {
		return func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			c := &mcp.ResourceContents{URI: req.Params.URI, MIMEType: mime, Text: text, Blob: blob}
			if c.Text == "" && blob == nil {
				c.Text = strings.TrimPrefix(req.Params.URI, "test://template/")
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}, nil
		}
	}
	m.AddResource(&mcp.Resource{Name: "text", URI: "test://static-text"}, read("text/plain", "This is the content of the static text resource.", nil))
	m.AddResource(&mcp.Resource{Name: "binary", URI: "test://static-binary"}, read("image/png", "", pixel))
	m.AddResourceTemplate(&mcp.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data"}, read("application/json", "", nil))
}

func addFixturePrompts(m *mcp.Server, text func(string) mcp.Content, image mcp.Content, embedded func(string) mcp.Content) {
	prompt := func(name string, answer func(arguments map[string]string) mcp.Content, arguments ...string) {
		p := &mcp.Prompt{Name: name, Description: "A fixture."}
		for _, argument := range arguments {
			p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: argument, Description: "A fixture.", Required: true})
		}
		m.AddPrompt(p, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: answer(req.Params.Arguments)}}}, nil
		})
	}
	prompt("test_simple_prompt", func(map[string]string) mcp.Content { return text("This is a simple prompt for testing.") })
	prompt("test_prompt_with_arguments", func(a map[string]string) mcp.Content {
		return text(fmt.Sprintf("arg1=%s, arg2=%s", a["arg1"], a["arg2"]))
	}, "arg1", "arg2")
	prompt("test_prompt_with_embedded_resource", func(a map[string]string) mcp.Content { return embedded(a["resourceUri"]) }, "resourceUri")
	prompt("test_prompt_with_image", func(map[string]string) mcp.Content { return image })
}
