// Command bundle makes gtagsmcp.mcpb and server.json of a release from its four
// binaries. See the package bootstrap/bundle for what they are.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gtagsmcp/gtagsmcp/bootstrap/bundle"
	"github.com/gtagsmcp/gtagsmcp/server"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("bundle", flag.ExitOnError)
	version := flags.String("version", "", "`tag` of the release, such as v1.2.3")
	binaries := flags.String("binaries", "dist", "`folder` with gtagsmcp-linux-amd64, -linux-arm64, -darwin-amd64, -darwin-arm64")
	image := flags.String("image", "", "`reference` of the release's container image, for server.json")
	license := flags.String("license", "LICENSE", "`file` with the licence")
	out := flags.String("out", "dist", "output `folder`")
	flags.Parse(args)

	tools, err := listTools(context.Background())
	if err != nil {
		return err
	}
	text, err := os.ReadFile(*license)
	if err != nil {
		return err
	}
	release := bundle.Release{Version: strings.TrimPrefix(*version, "v"), Tools: tools, Image: *image}
	var archive bytes.Buffer
	if err := release.WriteBundle(&archive, os.DirFS(*binaries), text); err != nil {
		return err
	}
	digest := sha256.Sum256(archive.Bytes())
	entry, err := release.ServerJSON(hex.EncodeToString(digest[:]))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(*out, bundle.File), archive.Bytes(), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(*out, "server.json"), entry, 0o644); err != nil {
		return err
	}
	fmt.Printf("%x  %s\n", digest, filepath.Join(*out, bundle.File))
	return nil
}

// listTools asks a server of this very code for its tools, as a client does.
func listTools(ctx context.Context) ([]bundle.Tool, error) {
	near, far := mcp.NewInMemoryTransports()
	s := server.New(server.Config{Logger: slog.New(slog.DiscardHandler)})
	defer s.Close()
	session, err := s.MCP(ctx).Connect(ctx, far, nil)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "bundle"}, nil).Connect(ctx, near, nil)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	var tools []bundle.Tool
	for tool, err := range client.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		tools = append(tools, bundle.Tool{Name: tool.Name, Description: tool.Description})
	}
	return tools, nil
}
