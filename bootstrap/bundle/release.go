package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
)

// What the program is called wherever it is published.
const (
	name        = "gtagsmcp"
	title       = "Code navigation by GNU Global"
	description = "Indexed code navigation for agents: definitions, references, callers. Kernel-scale trees."
	repository  = "https://github.com/gtagsmcp/gtagsmcp"

	// RegistryName is the program's name in the MCP registry. An image that the
	// registry is to accept carries it as label io.modelcontextprotocol.server.name.
	RegistryName = "io.github.gtagsmcp/gtagsmcp"
	// File is the name of the bundle among the assets of a release.
	File = name + ".mcpb"
)

// Release describes one release of the program.
type Release struct {
	// Version is the tag without its v, such as 1.2.3.
	Version string
	// Tools are what the server offers, in the order of its own list.
	Tools []Tool
	// Image is the reference of the release's container image, with its tag.
	// Empty: the registry is told of the bundle alone.
	Image string
}

// Tool is one tool as a host shows it before the server has ever run.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

var versionForm = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)

func (r Release) check() error {
	if !versionForm.MatchString(r.Version) {
		return fmt.Errorf("version %q is not of the form 1.2.3 or 1.2.3-rc.1", r.Version)
	}
	if len(r.Tools) == 0 {
		return fmt.Errorf("a bundle without tools")
	}
	return nil
}

func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return b.Bytes(), err
}
