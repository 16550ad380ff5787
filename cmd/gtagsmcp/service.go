package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gtagsmcp/gtagsmcp/bootstrap/service"
	"github.com/gtagsmcp/gtagsmcp/server"
)

// serviceEnvironment names the variables that a service keeps from the shell in
// which it was installed: what the server and its toolchain obey.
var serviceEnvironment = []string{
	"HOME", "USER", "LOGNAME", "LANG", "PATH", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME",
	"GTAGS_MCP_HOME", "GTAGS_MCP_AUTO_SETUP", "GTAGS_MCP_HOST", "GTAGS_MCP_PORT", "GTAGS_MCP_LABEL", "GTAGS_MCP_BIN_DIR",
	"GTAGS_MCP_ENRICH", "GTAGS_MCP_GUARDS", "GTAGS_MCP_MACRO_RESOLVE", "GTAGS_MCP_ALLOW_ANY_ROOT", "GTAGS_MCP_MIRROR",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"JAVA_HOME", "GOROOT", "GOMEMLIMIT",
}

// pathFlags name files, which a service must find from any folder.
var pathFlags = []string{"root", "bin-dir", "token-file", "allow-root"}

func newServiceCommand(std streams, flags *globalFlags) *cobra.Command {
	var manager string
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Keep one server running in the background for all clients",
		Long: `Keep one server running in the background for all clients of this user: as a user
unit of systemd, as an agent of launchd on macOS, or as a plain process where neither
is there. Clients reach it at http://127.0.0.1:8383/mcp; register it with
gtagsmcp config CLIENT --write --http URL.

The plain process writes to server.log in ~/.local/state/gtags-mcp (XDG_STATE_HOME),
which begins anew at 5 MB with three older ones kept; systemd's messages are in the
user's journal.`,
		Args: cobra.NoArgs,
	}
	cmd.PersistentFlags().StringVar(&manager, "manager", "", "systemd, launchd or process; default what is installed, else the best that works")
	find := func(ctx context.Context) (service.Manager, error) {
		m, err := service.Find(ctx, serviceOptions(), manager)
		if err != nil {
			return nil, &exitError{exitUsage, err}
		}
		return m, nil
	}
	cmd.AddCommand(
		newServiceInstall(std, find),
		newServiceAction(std, find, "start", "Start the service", service.Manager.Start),
		newServiceAction(std, find, "stop", "Stop the service", service.Manager.Stop),
		newServiceRestart(std, find),
		newServiceStatus(std, find),
		newServiceUninstall(std, find),
		newServiceRun(std, flags),
	)
	return cmd
}

func serviceOptions() service.Options {
	home, _ := os.UserHomeDir() // Find says what to do when it is not known
	o := service.Options{OS: runtime.GOOS, Home: home, UID: os.Getuid(), Getenv: os.Getenv}
	if u, err := user.Current(); err == nil {
		o.User = u.Username
	}
	return o
}

type findManager func(context.Context) (service.Manager, error)

func newServiceInstall(std streams, find findManager) *cobra.Command {
	var t transport
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install the service, or change it, and start it",
		Long: `Install the service, or change it, and start it. The flags are those of serve; the
service keeps them, and what the environment says now of paths, proxies and
GTAGS_MCP_… settings.`,
		Example: `  gtagsmcp service install
  gtagsmcp service install --port 8400 --token-file ~/.config/gtags-mcp/token`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			checked := t
			checked.name = "http"
			checked.fill(os.Getenv)
			if err := checked.check(); err != nil {
				return err
			}
			if checked.port == "0" {
				return &exitError{exitUsage, errors.New("clients must know the port of a service: --port takes one from 1 to 65535")}
			}
			if checked.tokenFile == "" && !server.IsLoopback(checked.host) {
				return &exitError{exitUsage, errors.New("a service that other machines reach needs --token-file")}
			}
			if _, _, err := checked.token(); err != nil {
				return err
			}
			d, err := definition(cmd.Flags())
			if err != nil {
				return err
			}
			m, err := find(cmd.Context())
			if err != nil {
				return err
			}
			if err := m.Install(cmd.Context(), d); err != nil {
				return err
			}
			if err := report(cmd.Context(), std, m, "installed and started"); err != nil {
				return err
			}
			for _, line := range m.Advice(cmd.Context()) {
				fmt.Fprintln(std.out, line)
			}
			return nil
		},
	}
	t.register(cmd.Flags())
	return cmd
}

// definition is this program with the flags and the environment of this moment.
func definition(set *pflag.FlagSet) (service.Definition, error) {
	program, err := programPath()
	if err != nil {
		return service.Definition{}, err
	}
	d := service.Definition{Program: program}
	set.Visit(func(f *pflag.Flag) {
		if f.Name == "manager" {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			if slices.Contains(pathFlags, f.Name) {
				abs, absErr := filepath.Abs(value)
				value, err = abs, errors.Join(err, absErr)
			}
			d.Flags = append(d.Flags, "--"+f.Name+"="+value)
		}
	})
	for _, name := range serviceEnvironment {
		if value, ok := os.LookupEnv(name); ok && value != "" {
			d.Env = append(d.Env, name+"="+value)
		}
	}
	return d, err
}

func newServiceAction(std streams, find findManager, name, short string, act func(service.Manager, context.Context) error) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := find(cmd.Context())
			if err != nil {
				return err
			}
			if err := act(m, cmd.Context()); err != nil {
				return err
			}
			if name == "stop" {
				_, err := fmt.Fprintf(std.out, "%s: stopped\n", m.Name())
				return err
			}
			return report(cmd.Context(), std, m, "started")
		},
	}
}

func newServiceRestart(std streams, find findManager) *cobra.Command {
	var ifRunning bool
	cmd := &cobra.Command{
		Use: "restart", Short: "Stop the service and start it again", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := find(cmd.Context())
			if err != nil {
				return err
			}
			if ifRunning {
				if st, err := m.State(cmd.Context()); err != nil || !st.Running {
					return err
				}
			}
			if err := m.Stop(cmd.Context()); err != nil {
				return err
			}
			if err := m.Start(cmd.Context()); err != nil {
				return err
			}
			return report(cmd.Context(), std, m, "restarted")
		},
	}
	cmd.Flags().BoolVar(&ifRunning, "if-running", false, "do nothing, and say nothing, when the service does not run")
	return cmd
}

// report waits until the server takes connections and says where.
func report(ctx context.Context, std streams, m service.Manager, did string) error {
	const patience = 20 * time.Second
	dir, deadline := serviceOptions().StateDir(), time.After(patience)
	for {
		url, err := service.Serving(dir)
		if err != nil {
			return err
		}
		if url != "" {
			_, err := fmt.Fprintf(std.out, "%s: %s, serves %s\n", m.Name(), did, url)
			return err
		}
		select {
		case <-deadline:
			st, err := m.State(ctx)
			return errors.Join(err, fmt.Errorf("%s has started the server, but it takes no connections after %v: %s; messages: %s", m.Name(), patience, st.Detail, st.Log))
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func newServiceStatus(std streams, find findManager) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Say whether the service runs, where it is defined and where its messages are",
		Long: "Say whether the service runs, where it is defined and where its messages are.\n\nExit code 0: it runs and answers; 1: it does not.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := find(cmd.Context())
			if err != nil {
				return err
			}
			st, err := m.State(cmd.Context())
			if err != nil {
				return err
			}
			state := "not installed"
			switch {
			case st.Running:
				state = fmt.Sprintf("running, process %d", st.PID)
			case m.Installed():
				state = "not running"
			}
			fmt.Fprintf(std.out, "service     %s (%s)\n", state, m.Name())
			if m.Installed() {
				fmt.Fprintf(std.out, "definition  %s\nmessages    %s\n", st.File, st.Log)
			}
			if st.Detail != "" {
				fmt.Fprintf(std.out, "detail      %s\n", st.Detail)
			}
			if !st.Running {
				return &exitError{exitFailure, nil}
			}
			return health(cmd.Context(), std)
		},
	}
}

// health asks the running server whether it lives.
func health(ctx context.Context, std streams) error {
	url, err := service.Serving(serviceOptions().StateDir())
	if err != nil {
		return err
	}
	if url == "" {
		return errors.New("the server is starting")
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(url, server.Endpoint)+"/healthz", nil)
	if err != nil {
		return err
	}
	// Never by way of a proxy.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	defer resp.Body.Close()
	_, err = fmt.Fprintf(std.out, "answers     %s: %s\n", url, resp.Status)
	return err
}

func newServiceUninstall(std streams, find findManager) *cobra.Command {
	return &cobra.Command{
		Use: "uninstall", Short: "Stop the service and remove its definition and log", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := find(cmd.Context())
			if err != nil {
				return err
			}
			if !m.Installed() {
				_, err := fmt.Fprintln(std.out, "the service is not installed")
				return err
			}
			if err := m.Uninstall(cmd.Context()); err != nil {
				return err
			}
			_, err = fmt.Fprintf(std.out, "%s: stopped and removed\n", m.Name())
			return err
		},
	}
}

// newServiceRun is what the managers start.
func newServiceRun(std streams, flags *globalFlags) *cobra.Command {
	var t transport
	var toStderr bool
	cmd := &cobra.Command{
		Use: "run", Hidden: true, Args: cobra.NoArgs,
		Short: "Be the background server",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			dir := serviceOptions().StateDir()
			held, err := service.Hold(dir)
			if err != nil {
				return err
			}
			defer held.Release()
			if !toStderr {
				log, err := service.OpenLog(dir)
				if err != nil {
					return err
				}
				defer log.Close()
				std.err = log
			}
			t.name = "http"
			t.ready = func(url string) {
				if err := held.Ready(url); err != nil {
					fmt.Fprintln(std.err, "gtagsmcp:", err)
				}
			}
			return serve(cmd.Context(), std, flags, t)
		},
	}
	t.register(cmd.Flags())
	cmd.Flags().BoolVar(&toStderr, service.StderrFlag, false, "leave messages on standard error")
	return cmd
}
