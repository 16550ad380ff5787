package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	definitionName = "service.json"

	startPatience = 20 * time.Second
	// stopPatience is far more than the server's own limit for calls under way.
	stopPatience = 8 * time.Second
	pollEvery    = 50 * time.Millisecond
)

// process runs the service as a process of its own session, for machines that
// have no service manager for users: containers, chroots, small systems.
type process struct{ dir string }

func (p *process) Name() string    { return "process" }
func (p *process) Installed() bool { return exists(p.definition()) }

func (p *process) definition() string { return filepath.Join(p.dir, definitionName) }

func (p *process) Install(ctx context.Context, d Definition) error {
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	if err := publish(p.definition(), append(text, '\n')); err != nil {
		return err
	}
	if err := p.Stop(ctx); err != nil {
		return err
	}
	return p.Start(ctx)
}

func (p *process) read() (Definition, error) {
	var d Definition
	text, err := os.ReadFile(p.definition())
	if errors.Is(err, fs.ErrNotExist) {
		return d, ErrNotInstalled
	}
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return d, fmt.Errorf("%s: %w; type: gtagsmcp service install", p.definition(), err)
	}
	return d, nil
}

// Start starts the server and waits until it takes connections or has ended.
func (p *process) Start(ctx context.Context) error {
	d, err := p.read()
	if err != nil {
		return err
	}
	if running, err := holder(p.dir); err != nil || running != nil {
		return err
	}
	last, err := os.OpenFile(filepath.Join(p.dir, startLogName), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer last.Close()
	cmd := exec.Command(d.Program, append([]string{"service", "run"}, d.Flags...)...)
	cmd.Env, cmd.Dir = d.Env, "/" // no file system is kept from being unmounted
	cmd.Stdout, cmd.Stderr = last, last
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // outlives the terminal
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if err := p.awaitReady(ctx, cmd.Process.Pid, ended); err != nil {
		words := make([]byte, 4<<10)
		n, _ := last.ReadAt(words, 0)
		return fmt.Errorf("%w\n%s", err, bytes.TrimSpace(words[:n]))
	}
	return nil
}

func (p *process) awaitReady(ctx context.Context, pid int, ended <-chan error) error {
	deadline := time.After(startPatience)
	for {
		if r, err := holder(p.dir); err != nil || (r != nil && r.PID == pid && r.URL != "") {
			return err
		}
		select {
		case err := <-ended:
			return fmt.Errorf("the server ended at its start (%v)", err)
		case <-deadline:
			return fmt.Errorf("the server takes no connections after %v; its log: %s", startPatience, filepath.Join(p.dir, logName))
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}

// Stop asks the server to end, and ends it when it does not.
func (p *process) Stop(ctx context.Context) error { return p.end(ctx, stopPatience) }

func (p *process) end(ctx context.Context, patience time.Duration) error {
	r, err := holder(p.dir)
	if err != nil || r == nil {
		return err
	}
	if host, _ := os.Hostname(); r.Host != host || r.PID == 0 {
		return fmt.Errorf("the background server runs on %s, out of reach from here; stop it there", r.Host)
	}
	if err := p.signal(r, syscall.SIGTERM); err != nil {
		return err
	}
	if err := p.awaitEnd(ctx, patience); err == nil || ctx.Err() != nil {
		return err
	}
	if err := p.signal(r, syscall.SIGKILL); err != nil {
		return err
	}
	return p.awaitEnd(ctx, stopPatience)
}

// signal sends a signal to the holder of the lock. A handle on the process is
// taken first and the lock looked at afterwards: when its holder is still the
// same, the handle is on that process and no other.
func (p *process) signal(r *record, sig os.Signal) error {
	handle, err := os.FindProcess(r.PID)
	if err != nil {
		return err
	}
	defer handle.Release()
	now, err := holder(p.dir)
	if err != nil || now == nil || now.PID != r.PID {
		return err
	}
	if err := handle.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

func (p *process) awaitEnd(ctx context.Context, patience time.Duration) error {
	deadline := time.After(patience)
	for {
		r, err := holder(p.dir)
		if err != nil || r == nil {
			return err
		}
		select {
		case <-deadline:
			return fmt.Errorf("process %d does not end", r.PID)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}

func (p *process) State(context.Context) (State, error) {
	st := State{File: p.definition(), Log: filepath.Join(p.dir, logName)}
	r, err := holder(p.dir)
	if err != nil || r == nil {
		return st, err
	}
	st.Running, st.PID = true, r.PID
	st.Detail = fmt.Sprintf("%s on %s since %s", r.URL, r.Host, r.Since.Format(time.DateTime))
	return st, nil
}

func (p *process) Uninstall(ctx context.Context) error {
	if err := p.Stop(ctx); err != nil {
		return err
	}
	if !p.Installed() {
		return nil
	}
	return os.RemoveAll(p.dir)
}

func (p *process) Advice(context.Context) []string {
	return []string{"This machine has no service manager for users: after a restart of the machine, type gtagsmcp service start (or put that into your login script; it does nothing when the server runs)."}
}
