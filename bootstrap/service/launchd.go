package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"howett.net/plist"
)

const label = "io.github.gtagsmcp." + Name

// launchd runs the service as an agent of the user.
type launchd struct {
	plist, dir string
	domains    []string // of a desktop session, else of the user
}

func newLaunchd(o Options) *launchd {
	uid := strconv.Itoa(o.UID)
	return &launchd{
		plist:   filepath.Join(o.Home, "Library", "LaunchAgents", label+".plist"),
		dir:     o.StateDir(),
		domains: []string{"gui/" + uid, "user/" + uid},
	}
}

func (l *launchd) Name() string    { return "launchd" }
func (l *launchd) Installed() bool { return exists(l.plist) }

// agent is the property list of launchd.plist(5).
type agent struct {
	Label                string            `plist:"Label"`
	ProgramArguments     []string          `plist:"ProgramArguments"`
	EnvironmentVariables map[string]string `plist:"EnvironmentVariables,omitempty"`
	RunAtLoad            bool              `plist:"RunAtLoad"`
	KeepAlive            map[string]bool   `plist:"KeepAlive"`
	ThrottleInterval     int               `plist:"ThrottleInterval"` // seconds
	ExitTimeOut          int               `plist:"ExitTimeOut"`      // seconds
	StandardErrorPath    string            `plist:"StandardErrorPath"`
}

// plistFile is the text of the property list. The server keeps its own log,
// because launchd never shortens one; what goes to standard error beside it are
// the last words of a server that cannot start.
func (l *launchd) plistFile(d Definition) ([]byte, error) {
	a := agent{
		Label:                label,
		ProgramArguments:     append([]string{d.Program, "service", "run"}, d.Flags...),
		EnvironmentVariables: map[string]string{},
		RunAtLoad:            true,
		KeepAlive:            map[string]bool{"SuccessfulExit": false},
		ThrottleInterval:     5,
		ExitTimeOut:          10,
		StandardErrorPath:    filepath.Join(l.dir, startLogName),
	}
	for _, assignment := range d.Env {
		name, value, _ := strings.Cut(assignment, "=")
		a.EnvironmentVariables[name] = value
	}
	return plist.MarshalIndent(a, plist.XMLFormat, "\t")
}

func (l *launchd) Install(ctx context.Context, d Definition) error {
	text, err := l.plistFile(d)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	if err := l.Stop(ctx); err != nil {
		return err
	}
	if err := publish(l.plist, text); err != nil {
		return err
	}
	return l.Start(ctx)
}

// loaded returns the domain that has the agent and what launchd says of it.
func (l *launchd) loaded(ctx context.Context) (domain, said string) {
	for _, domain := range l.domains {
		if said, err := command(ctx, nil, "launchctl", "print", domain+"/"+label); err == nil {
			return domain, said
		}
	}
	return "", ""
}

func (l *launchd) Start(ctx context.Context) error {
	if !l.Installed() {
		return ErrNotInstalled
	}
	if domain, _ := l.loaded(ctx); domain != "" {
		_, err := command(ctx, nil, "launchctl", "kickstart", domain+"/"+label)
		return err
	}
	var all error
	for _, domain := range l.domains {
		// An agent that was switched off stays so until it is enabled.
		_, _ = command(ctx, nil, "launchctl", "enable", domain+"/"+label)
		_, err := command(ctx, nil, "launchctl", "bootstrap", domain, l.plist)
		if err == nil {
			return nil
		}
		all = errors.Join(all, err)
	}
	return all
}

func (l *launchd) Stop(ctx context.Context) error {
	domain, _ := l.loaded(ctx)
	if domain == "" {
		return nil
	}
	_, err := command(ctx, nil, "launchctl", "bootout", domain+"/"+label)
	if err == nil {
		// launchd answers before the process has ended.
		err = (&process{dir: l.dir}).awaitEnd(ctx, stopPatience)
	}
	return err
}

var launchdField = regexp.MustCompile(`(?m)^\s*(state|pid|last exit code) = (.*)$`)

func (l *launchd) State(ctx context.Context) (State, error) {
	st := State{File: l.plist, Log: filepath.Join(l.dir, logName)}
	domain, said := l.loaded(ctx)
	if domain == "" {
		return st, nil
	}
	field := map[string]string{}
	for _, m := range launchdField.FindAllStringSubmatch(said, -1) {
		if _, seen := field[m[1]]; !seen { // later ones are of parts of the agent
			field[m[1]] = m[2]
		}
	}
	st.Running = field["state"] == "running"
	st.PID, _ = strconv.Atoi(field["pid"])
	st.Detail = fmt.Sprintf("%s, last exit code %s", field["state"], field["last exit code"])
	return st, nil
}

func (l *launchd) Uninstall(ctx context.Context) error {
	if err := l.Stop(ctx); err != nil {
		return err
	}
	if err := os.Remove(l.plist); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(l.dir)
}

func (l *launchd) Advice(context.Context) []string {
	return []string{"It starts when you log in and ends when you log out."}
}
