package client

import (
	"errors"
	"fmt"
	"slices"
)

// ServerName is what the server is called in the clients' files. Agents see it
// as a part of every tool's name, so it is short.
const ServerName = "gtags"

// Entry is how a client reaches the server: a program to start, or an address
// where URL is set.
type Entry struct {
	Program string // absolute: desktop programs have a short PATH
	Args    []string
	Env     map[string]string
	URL     string
	Token   string // bearer token for URL, if any
}

// member is one key of an entry. Its value is a string, a bool, a []string or a
// map[string]string.
type member struct {
	key   string
	value any
}

// Client is one program that uses MCP servers.
type Client struct {
	Name, Title string
	// Memory says where the client takes standing instructions from.
	Memory string

	container string // the key under which the file lists servers
	format    format
	file      func(Places) string // nil: no file of its own
	program   func(Entry) []member
	address   func(Entry) []member // nil: takes no address
	instead   string               // what to do where address is nil
}

// All lists the clients, the generic one last.
func All() []Client {
	return []Client{
		{Name: "claude-code", Title: "Claude Code", Memory: "CLAUDE.md of a project, or ~/.claude/CLAUDE.md for all",
			container: "mcpServers", format: strictJSON, file: claudeCodeFile, program: typedProgram, address: typedAddress},
		{Name: "claude-desktop", Title: "Claude Desktop", Memory: "the instructions of a project",
			container: "mcpServers", format: strictJSON, file: inConfigDir("Claude", "claude_desktop_config.json"), program: plainProgram,
			instead: "add the address in its settings, under Connectors"},
		{Name: "cursor", Title: "Cursor", Memory: "AGENTS.md or .cursor/rules of a project",
			container: "mcpServers", format: commentedJSON, file: inHome(".cursor", "mcp.json"), program: plainProgram, address: address("url", "headers")},
		{Name: "vscode", Title: "VS Code", Memory: "AGENTS.md or .github/copilot-instructions.md of a project",
			container: "servers", format: commentedJSON, file: inConfigDir("Code", "User", "mcp.json"), program: typedProgram, address: typedAddress},
		{Name: "codex", Title: "Codex", Memory: "AGENTS.md of a project, or ~/.codex/AGENTS.md for all",
			container: "mcp_servers", format: tomlFormat, file: codexFile, program: plainProgram, address: address("url", "http_headers")},
		{Name: "gemini", Title: "Gemini CLI", Memory: "GEMINI.md of a project, or ~/.gemini/GEMINI.md for all",
			container: "mcpServers", format: commentedJSON, file: geminiFile, program: plainProgram, address: address("httpUrl", "headers")},
		{Name: "zed", Title: "Zed", Memory: "AGENTS.md or .rules of a project",
			container: "context_servers", format: commentedJSON, file: inXDGConfig("zed", "settings.json"), program: plainProgram, address: address("url", "headers")},
		{Name: "opencode", Title: "opencode", Memory: "AGENTS.md of a project, or ~/.config/opencode/AGENTS.md for all",
			container: "mcp", format: commentedJSON, file: inXDGConfig("opencode", "opencode.json"), program: opencodeProgram, address: opencodeAddress},
		{Name: "json", Title: "any client that reads mcpServers", Memory: "the file your client reads before every session, such as AGENTS.md",
			container: "mcpServers", format: commentedJSON, program: plainProgram, address: address("url", "headers")},
	}
}

// Find returns the client of a name.
func Find(name string) (Client, bool) {
	all := All()
	i := slices.IndexFunc(all, func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, false
	}
	return all[i], true
}

// members are the keys of an entry, and those that an entry of the other kind
// has and this one must not.
func (c Client) members(e Entry) (set []member, drop []string, err error) {
	sample := Entry{Program: "-", Args: []string{"-"}, Env: map[string]string{"-": "-"}, URL: "-", Token: "-"}
	var other []member
	switch {
	case e.URL == "":
		set = c.program(e)
		if c.address != nil {
			other = c.address(sample)
		}
	case c.address == nil:
		return nil, nil, fmt.Errorf("%s takes no address from its file: %s", c.Title, c.instead)
	default:
		set, other = c.address(e), c.program(sample)
	}
	for _, m := range other {
		if !slices.ContainsFunc(set, func(have member) bool { return have.key == m.key }) {
			drop = append(drop, m.key)
		}
	}
	return set, drop, nil
}

// Snippet is the entry, ready to be pasted into the client's file.
func (c Client) Snippet(e Entry) (string, error) {
	set, _, err := c.members(e)
	if err != nil {
		return "", err
	}
	text, err := c.format.edit(nil, change{container: c.container, set: set})
	return string(text), err
}

// File is where the client keeps its servers for all projects of the user.
func (c Client) File(p Places) (string, error) {
	if c.file == nil {
		return "", errors.New("which file? This is no one program's format: name the file with --file")
	}
	if p.Home == "" {
		return "", errors.New("the home directory is not known: set HOME, or name the file with --file")
	}
	return c.file(p), nil
}

func plainProgram(e Entry) []member {
	set := []member{{"command", e.Program}, {"args", e.Args}}
	if len(e.Env) > 0 {
		set = append(set, member{"env", e.Env})
	}
	return set
}

func typedProgram(e Entry) []member {
	return append([]member{{"type", "stdio"}}, plainProgram(e)...)
}

func address(url, headers string) func(Entry) []member {
	return func(e Entry) []member {
		set := []member{{url, e.URL}}
		if e.Token != "" {
			set = append(set, member{headers, map[string]string{"Authorization": "Bearer " + e.Token}})
		}
		return set
	}
}

func typedAddress(e Entry) []member {
	return append([]member{{"type", "http"}}, address("url", "headers")(e)...)
}

func opencodeProgram(e Entry) []member {
	set := []member{{"type", "local"}, {"command", append([]string{e.Program}, e.Args...)}, {"enabled", true}}
	if len(e.Env) > 0 {
		set = append(set, member{"environment", e.Env})
	}
	return set
}

func opencodeAddress(e Entry) []member {
	return append([]member{{"type", "remote"}, {"enabled", true}}, address("url", "headers")(e)...)
}
