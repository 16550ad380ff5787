package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gtagsmcp/gtagsmcp/bootstrap/client"
)

// configFlags are the flags of config.
type configFlags struct {
	write, remove, link, instructions bool
	file, http, tokenFile             string
}

func newConfigCommand(std streams, flags *globalFlags) *cobra.Command {
	var names []string
	for _, c := range client.All() {
		names = append(names, c.Name)
	}
	var f configFlags
	cmd := &cobra.Command{
		Use:   "config [CLIENT]",
		Short: "Print the entry that registers this server with a client, or write it there",
		Long: `Print the entry that registers this server with a client, ready to paste. Without
CLIENT, print them all.

--write merges the entry into the client's own file for all projects, and --remove
takes it out again. All else in the file stays as it is, comments included; the
file before the last change stays beside it as FILE` + client.BackupSuffix + `.
A file that cannot be understood is refused. Claude Code's file is changed by its
own program where that is installed. Restart the client afterwards.

Clients: ` + strings.Join(names, ", "),
		Example: `  gtagsmcp config cursor --write
  gtagsmcp config json --write --file .mcp.json
  gtagsmcp config vscode --write --http http://127.0.0.1:8383/mcp --token-file ~/token
  gtagsmcp config --instructions >> AGENTS.md`,
		ValidArgs: names,
		Args:      cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			only := append(args, "")[0]
			if _, known := client.Find(only); only != "" && !known {
				return &exitError{exitUsage, fmt.Errorf("unknown client %q; it is one of %s", only, strings.Join(names, ", "))}
			}
			return f.run(cmd.Context(), std, flags, only)
		},
	}
	set := cmd.Flags()
	set.BoolVar(&f.write, "write", false, "merge the entry into the client's file")
	set.BoolVar(&f.remove, "remove", false, "take the entry out of the client's file")
	set.BoolVar(&f.link, "link", false, "print the link that installs the entry with one click (cursor, vscode)")
	set.BoolVar(&f.instructions, "instructions", false, "print a paragraph that makes agents and their sub-agents ask the index before they grep")
	set.StringVar(&f.file, "file", "", "use this file instead of the client's own, such as .mcp.json of a project")
	set.StringVar(&f.http, "http", "", "register a running server by its URL, such as http://127.0.0.1:8383/mcp")
	set.StringVar(&f.tokenFile, "token-file", "", "file that holds the token of the server at --http; the entry will hold the token")
	cmd.MarkFlagsMutuallyExclusive("write", "remove", "link", "instructions")
	return cmd
}

func (f *configFlags) run(ctx context.Context, std streams, flags *globalFlags, only string) error {
	if f.instructions {
		return printInstructions(std, only)
	}
	if only == "" && (f.write || f.remove || f.link || f.file != "") {
		return &exitError{exitUsage, errors.New("name a client; see gtagsmcp config --help")}
	}
	entry, err := f.entry(flags)
	if err != nil {
		return err
	}
	if only == "" {
		return printEntries(std, entry)
	}
	c, _ := client.Find(only)
	switch {
	case f.write, f.remove:
		return f.change(ctx, std, c, entry)
	case f.link:
		links, err := c.Links(entry)
		if err != nil {
			return &exitError{exitUsage, err}
		}
		_, err = fmt.Fprintln(std.out, links.App)
		return err
	}
	return printEntry(std, c, entry)
}

// entry is what to register: this program, or the server at a URL.
func (f *configFlags) entry(flags *globalFlags) (client.Entry, error) {
	if f.http == "" {
		if f.tokenFile != "" {
			return client.Entry{}, &exitError{exitUsage, errors.New("--token-file goes with --http")}
		}
		return programEntry(flags)
	}
	u, err := url.Parse(f.http)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return client.Entry{}, &exitError{exitUsage, fmt.Errorf("--http takes a URL such as http://127.0.0.1:8383/mcp, got %q", f.http)}
	}
	entry := client.Entry{URL: f.http}
	if f.tokenFile == "" {
		return entry, nil
	}
	text, err := os.ReadFile(f.tokenFile)
	if err != nil {
		return entry, err
	}
	entry.Token = strings.TrimSpace(string(text))
	if entry.Token == "" || strings.ContainsFunc(entry.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return entry, fmt.Errorf("%s must hold one token: a line of printable ASCII", f.tokenFile)
	}
	return entry, nil
}

// programEntry starts this program with the settings that a client would not
// pass on by itself.
func programEntry(flags *globalFlags) (client.Entry, error) {
	program, err := programPath()
	if err != nil {
		return client.Entry{}, err
	}
	entry := client.Entry{Program: program, Args: []string{"serve"}}
	if flags.root != "" {
		root, err := filepath.Abs(flags.root)
		if err != nil {
			return entry, err
		}
		entry.Args = append(entry.Args, "--root", root)
	}
	const home = "GTAGS_MCP_HOME"
	if dir := os.Getenv(home); dir != "" {
		entry.Env = map[string]string{home: dir}
	}
	return entry, nil
}

// programPath is this program as a client should start it: absolute, because
// desktop clients have a short PATH.
func programPath() (string, error) {
	path, err := os.Executable()
	if err != nil { // a root without /proc: as it was called
		if path, err = exec.LookPath(os.Args[0]); err == nil {
			path, err = filepath.Abs(path)
		}
	}
	if err != nil {
		return "", fmt.Errorf("the path of this program cannot be found: %w", err)
	}
	return filepath.Clean(path), nil
}

func places() client.Places {
	home, _ := os.UserHomeDir() // File says what to do when it is not known
	return client.Places{OS: runtime.GOOS, Home: home, Getenv: os.Getenv}
}

func printEntries(std streams, entry client.Entry) error {
	for _, c := range client.All() {
		where, err := c.File(places())
		if err != nil {
			where = c.Title
		}
		fmt.Fprintf(std.out, "# %s: %s\n", c.Name, where)
		switch text, err := c.Snippet(entry); {
		case err != nil:
			fmt.Fprintf(std.out, "# %v\n", err)
		default:
			fmt.Fprint(std.out, text)
		}
		if links, err := c.Links(entry); err == nil {
			fmt.Fprintf(std.out, "# one click: %s\n", links.App)
		}
		if _, err := fmt.Fprintln(std.out); err != nil {
			return err
		}
	}
	return nil
}

func printEntry(std streams, c client.Client, entry client.Entry) error {
	text, err := c.Snippet(entry)
	if err != nil {
		return err
	}
	if where, err := c.File(places()); err == nil {
		fmt.Fprintf(std.err, "For %s, into %s (--write does it):\n", c.Title, where)
	}
	_, err = fmt.Fprint(std.out, text)
	return err
}

func printInstructions(std streams, only string) error {
	where := "the file that your client reads before it works: CLAUDE.md, AGENTS.md, GEMINI.md"
	if c, ok := client.Find(only); ok {
		where = c.Memory
	}
	fmt.Fprintf(std.err, "Put this into %s:\n", where)
	_, err := fmt.Fprint(std.out, client.Instructions)
	return err
}

// change writes or removes the entry and says what was done.
func (f *configFlags) change(ctx context.Context, std streams, c client.Client, entry client.Entry) error {
	file := f.file
	if file == "" {
		var err error
		if file, err = c.File(places()); err != nil {
			return &exitError{exitUsage, err}
		}
	}
	res, err := f.apply(ctx, c, file, entry)
	if err != nil {
		return err
	}
	if res.Exposed {
		fmt.Fprintf(std.err, "warning: other users may read %s, which holds the token; chmod 600 changes that\n", res.File)
	}
	did := map[bool]string{false: "registered " + client.ServerName + " in", true: "removed " + client.ServerName + " from"}[f.remove]
	if !res.Changed {
		did = map[bool]string{false: "nothing to do: " + client.ServerName + " is registered in", true: "nothing to do: " + client.ServerName + " is not in"}[f.remove]
	}
	if res.Backup != "" {
		res.File += "\nbefore:  " + res.Backup
	}
	_, err = fmt.Fprintf(std.out, "%s: %s %s\n", c.Name, did, res.File)
	return err
}

func (f *configFlags) apply(ctx context.Context, c client.Client, file string, entry client.Entry) (client.Result, error) {
	cli, installed := c.CLI()
	switch {
	case installed && f.file == "" && f.remove:
		return cli.Remove(ctx, file)
	case installed && f.file == "":
		return cli.Write(ctx, file, entry)
	case f.remove:
		return c.Remove(file)
	}
	return c.Write(file, entry)
}
