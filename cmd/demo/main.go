// Command demo shows gtagsmcp's main job on a machine that has nothing of it:
// it starts the server with an empty home, as an MCP client would, lets it
// install its toolchain, asks it about a real source tree, and prints what an
// agent would read.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// question is one tool call of the demonstration.
type question struct {
	tool      string
	arguments map[string]any
}

// questions are about the runtime of the Go distribution: its source is on every
// machine that can build this, and has C, assembly and Go.
var questions = []question{
	{"find_definition", map[string]any{"symbol": "x_cgo_init", "limit": 3}},
	{"find_callers", map[string]any{"symbol": "mallocgc", "limit": 5}},
	{"get_symbol_body", map[string]any{"symbol": "x_cgo_yield", "max_definitions": 1}},
	{"list_file_symbols", map[string]any{"file_path": "cgo/gcc_util.c"}},
	{"reachability", map[string]any{"from_symbol": "newobject", "to_symbol": "mallocgc"}},
	{"find_definition", map[string]any{"symbol": "x_cgo_intt"}},
	{"find_code", map[string]any{"route": "structure", "path": "cgo/gcc_util.c"}},
	{"find_code", map[string]any{"route": "symbols", "query": "mallocgc", "kind": "function", "limit": 5}},
	{"update_index", map[string]any{}},
}

func main() {
	server := flag.String("server", "bin/gtagsmcp", "the program to start")
	tree := flag.String("tree", "", "source tree to ask about (default: the runtime of the Go distribution)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *server, *tree); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program, tree string) error {
	if tree == "" {
		root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
		if err != nil {
			return fmt.Errorf("go env GOROOT: %w", err)
		}
		tree = filepath.Join(strings.TrimSpace(string(root)), "src", "runtime")
	}
	home, err := os.MkdirTemp("", "gtagsmcp-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)

	cmd := exec.CommandContext(ctx, program, "serve", "--root", tree)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, ".cache"), "GTAGS_MCP_HOME="+filepath.Join(home, ".gtags-mcp"))
	cmd.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "demo", Version: "1"}, nil)
	start := time.Now()
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return fmt.Errorf("starting %s: %w", program, err)
	}
	defer session.Close()
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	fmt.Printf("connected, %d tools listed, after %d ms\n", len(list.Tools), time.Since(start).Milliseconds())
	for _, q := range questions {
		if err := ask(ctx, session, q); err != nil {
			return err
		}
	}
	return nil
}

// ask calls a tool as an agent does: an answer that says "retry" is followed.
func ask(ctx context.Context, session *mcp.ClientSession, q question) error {
	const giveUp = 10 * time.Minute
	fmt.Printf("\n> %s %v\n", q.tool, q.arguments)
	for start := time.Now(); ; {
		begin := time.Now()
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: q.tool, Arguments: q.arguments})
		if err != nil {
			return err
		}
		text := res.Content[0].(*mcp.TextContent).Text
		fmt.Println(text)
		if !res.IsError {
			fmt.Printf("(%.1f ms)\n", time.Since(begin).Seconds()*1000)
			return nil
		}
		if !strings.Contains(strings.ToLower(text), "retry") || time.Since(start) > giveUp {
			return fmt.Errorf("%s failed: %s", q.tool, text)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Second):
		}
	}
}
