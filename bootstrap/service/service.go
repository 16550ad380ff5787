package service

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// Name is what the service is called on every system.
const Name = "gtagsmcp"

// StderrFlag makes "service run" leave its messages to whoever started it.
const StderrFlag = "stderr"

// Definition is what is kept running.
type Definition struct {
	Program string // absolute
	// Flags are those of serve that choose how clients reach the server. Their
	// values, and all paths in them, mean the same in any working directory.
	Flags []string
	// Env holds NAME=value: a service does not see what a terminal's shell set.
	Env []string
}

// State is what is known of the service.
type State struct {
	Running bool
	PID     int    // 0 if it is not known
	Detail  string // what the manager says, one line
	File    string // the definition
	Log     string // where its messages are, in words
}

// Manager starts and stops the service. Its methods wait until that is done or
// has failed. Starting what runs and stopping what does not is no error.
type Manager interface {
	// Name is systemd, launchd or process.
	Name() string
	// Installed reports whether there is a definition.
	Installed() bool
	// Install writes the definition, in place of an older one, and has the
	// service started at login where the manager can. The service is started.
	Install(context.Context, Definition) error
	Start(context.Context) error
	Stop(context.Context) error
	State(context.Context) (State, error)
	// Uninstall stops the service and removes all that Install made.
	Uninstall(context.Context) error
	// Advice is what the user should know after Install, one sentence a line.
	Advice(context.Context) []string
}

// ErrNotInstalled is the answer of Start without a definition.
var ErrNotInstalled = errors.New("the service is not installed; type: gtagsmcp service install")

// Options say whose service it is.
type Options struct {
	OS     string // as runtime.GOOS
	Home   string
	UID    int
	User   string
	Getenv func(string) string
}

// StateDir is where a service that is not under systemd keeps its lock and log.
func (o Options) StateDir() string {
	if dir := o.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "gtags-mcp")
	}
	return filepath.Join(o.Home, ".local", "state", "gtags-mcp")
}

// Managers lists those that a system may have, best first.
func (o Options) managers() []Manager {
	plain := &process{dir: o.StateDir()}
	if o.OS == "darwin" {
		return []Manager{newLaunchd(o), plain}
	}
	return []Manager{newSystemd(o), plain}
}

// Find returns the manager of the installed service, else the best one that
// works here. want asks for one by name, whether it works or not.
func Find(ctx context.Context, o Options, want string) (Manager, error) {
	if o.Home == "" {
		return nil, errors.New("the home directory is not known; set HOME")
	}
	var names []string
	for _, m := range o.managers() {
		if want != "" && m.Name() == want {
			return m, nil
		}
		names = append(names, m.Name())
	}
	if want != "" {
		return nil, fmt.Errorf("--manager takes one of %v here, got %q", names, want)
	}
	for _, m := range o.managers() {
		if m.Installed() {
			return m, nil
		}
	}
	for _, m := range o.managers() {
		if probe, ok := m.(interface{ usable(context.Context) bool }); !ok || probe.usable(ctx) {
			return m, nil
		}
	}
	return nil, errors.New("no service manager") // not reached: a process always works
}
