package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/gtagsmcp/gtagsmcp/bootstrap/runner"
)

// cliTimeout bounds one run of a client's own program, which may first look for
// a newer version of itself.
const cliTimeout = 90 * time.Second

// CLI is the program of a client that changes its own file: Claude Code writes
// that file all the time, and so does it best itself.
type CLI struct {
	client Client
	path   string
}

// CLI returns the client's own program, if it has one and it is installed.
func (c Client) CLI() (CLI, bool) {
	if c.Name != "claude-code" {
		return CLI{}, false
	}
	path, err := exec.LookPath("claude")
	return CLI{c, path}, err == nil
}

// Write registers the entry. What the user added to an earlier one stays.
func (p CLI) Write(ctx context.Context, file string, e Entry) (Result, error) {
	set, drop, err := p.client.members(e)
	if err != nil {
		return Result{}, err
	}
	if e.Token != "" {
		// Arguments of a process are for everyone to read.
		return p.client.Write(file, e)
	}
	return p.change(ctx, file, change{container: p.client.container, set: set, drop: drop})
}

// Remove unregisters the server.
func (p CLI) Remove(ctx context.Context, file string) (Result, error) {
	return p.change(ctx, file, change{container: p.client.container, remove: true})
}

func (p CLI) change(ctx context.Context, file string, ch change) (Result, error) {
	path, err := target(file)
	if err != nil {
		return Result{}, err
	}
	old, err := read(path)
	if err != nil {
		return Result{}, err
	}
	wanted, err := apply(p.client.format, old.text, ch)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w\nNothing was changed", path, err)
	}
	res := Result{File: path}
	if bytes.Equal(wanted, old.text) || (ch.remove && old.info == nil) {
		return res, nil
	}
	if old.info != nil {
		res.Backup = path + BackupSuffix
		if err := old.write(res.Backup, old.text, nil); err != nil {
			return Result{}, fmt.Errorf("the backup could not be written, so nothing was changed: %w", err)
		}
	}
	before, after := p.entry(old.text), p.entry(wanted)
	if before != nil {
		if err := p.run(ctx, "remove", "--scope", "user", ServerName); err != nil {
			return res, err
		}
	}
	if after != nil {
		if err := p.add(ctx, after); err != nil {
			if before != nil {
				err = errors.Join(err, p.add(ctx, before))
			}
			return res, err
		}
	}
	return res, p.verify(path, ch, &res)
}

// verify reads the file again: the program's exit code says little.
func (p CLI) verify(path string, ch change, res *Result) error {
	now, err := read(path)
	if err != nil {
		return err
	}
	doc, err := p.client.format.decode(now.text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if !ch.made(takeEntry(doc, ch.container)) {
		return fmt.Errorf("%s said that it changed its servers, but %s does not show it; name the file with --file to change it directly", p.path, path)
	}
	res.Changed = true
	return nil
}

func (p CLI) entry(text []byte) map[string]any {
	doc, err := p.client.format.decode(text)
	if err != nil {
		return nil
	}
	return takeEntry(doc, p.client.container)
}

func (p CLI) add(ctx context.Context, entry map[string]any) error {
	text, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	return p.run(ctx, "add-json", "--scope", "user", ServerName, string(text))
}

func (p CLI) run(ctx context.Context, args ...string) error {
	limits := runner.Limits{Time: cliTimeout, Keep: 2000}
	if said, err := limits.Run(ctx, nil, p.path, append([]string{"mcp"}, args...)...); err != nil {
		return fmt.Errorf("%s mcp %s: %w: %s", p.path, args[0], err, said)
	}
	return nil
}
