package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// clientEntries prints, for each client, what a user pastes to register the
// server. %[1]s is the program's path, quoted as the format needs it.
var clientEntries = []struct{ name, where, text string }{
	{"claude-code", "run in a terminal", "claude mcp add --scope user gtags -- %[2]s serve\n"},
	{"claude-desktop", "claude_desktop_config.json", mcpServersJSON},
	{"cursor", "~/.cursor/mcp.json", mcpServersJSON},
	{"vscode", ".vscode/mcp.json", "{\n  \"servers\": {\n    \"gtags\": { \"type\": \"stdio\", \"command\": %[1]s, \"args\": [\"serve\"] }\n  }\n}\n"},
	{"codex", "~/.codex/config.toml", "[mcp_servers.gtags]\ncommand = %[1]s\nargs = [\"serve\"]\n"},
	{"gemini", "~/.gemini/settings.json", mcpServersJSON},
	{"zed", "settings.json", "{\n  \"context_servers\": {\n    \"gtags\": { \"command\": %[1]s, \"args\": [\"serve\"] }\n  }\n}\n"},
	{"json", "any client that reads mcpServers", mcpServersJSON},
}

const mcpServersJSON = "{\n  \"mcpServers\": {\n    \"gtags\": { \"command\": %[1]s, \"args\": [\"serve\"] }\n  }\n}\n"

func newConfigCommand(std streams) *cobra.Command {
	var names []string
	for _, c := range clientEntries {
		names = append(names, c.name)
	}
	return &cobra.Command{
		Use:       "config [CLIENT]",
		Short:     "Print the entry that registers this server with a client",
		Long:      "Print the entry that registers this server with a client, ready to paste.\nWithout CLIENT, print them all.\n\nClients: " + strings.Join(names, ", "),
		ValidArgs: names,
		Args:      cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			program, err := programPath()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return printEntries(std.out, program, "")
			}
			return printEntries(std.out, program, args[0])
		},
	}
}

// programPath is this program as a client should start it: absolute, because
// desktop clients have a short PATH.
func programPath() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("the path of this program cannot be found: %w", err)
	}
	return filepath.Clean(path), nil
}

func printEntries(out io.Writer, program, only string) error {
	quoted, err := json.Marshal(program) // TOML's basic strings are quoted alike
	if err != nil {
		return err
	}
	found := false
	for _, c := range clientEntries {
		if only != "" && c.name != only {
			continue
		}
		if only == "" {
			fmt.Fprintf(out, "# %s: %s\n", c.name, c.where)
		}
		found = true
		if _, err := fmt.Fprintf(out, c.text, quoted, shellQuote(program)); err != nil {
			return err
		}
	}
	if !found {
		return &exitError{exitUsage, fmt.Errorf("unknown client %q; see gtagsmcp config --help", only)}
	}
	return nil
}

func shellQuote(word string) string {
	safe := func(r rune) bool {
		return r < 128 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+", r))
	}
	if strings.IndexFunc(word, func(r rune) bool { return !safe(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
