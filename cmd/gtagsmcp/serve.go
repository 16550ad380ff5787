package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gtagsmcp/gtagsmcp/nav"
	"github.com/gtagsmcp/gtagsmcp/server"
)

// shutdownGrace is how long calls under way have to end after a signal. The
// most impatient client known kills two seconds after it asked.
const shutdownGrace = 1500 * time.Millisecond

// defaultPort is where clients expect the server over HTTP.
const defaultPort = "8383"

func newServeCommand(std streams, flags *globalFlags) *cobra.Command {
	var t transport
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve MCP clients over standard input and output, or over HTTP",
		Long: `Serve one MCP client over standard input and output, or with --transport http any
number of them at http://127.0.0.1:8383/mcp. Each client is answered about its own
workspace. All revisions of the protocol are served from the one URL.

/healthz says that the server lives; /readyz whether the toolchain is installed and
the tree of --root, if any, indexed. Ends with SIGTERM, within two seconds.

On an address that other machines can reach, the server wants a bearer token of its
clients, the one in --token-file or else one that it makes and prints once, and it
serves only the folders that --allow-root names: no argument, link or git repository
leads outside of them. The protocol is not encrypted: put a TLS proxy in front.`,
		Example: `  gtagsmcp serve --transport http
  gtagsmcp serve --transport http --host 0.0.0.0 --allow-root /srv/src --token-file /etc/gtagsmcp.token
  claude mcp add --transport http gtagsmcp http://127.0.0.1:8383/mcp`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), std, flags, t)
		},
	}
	cmd.Flags().StringVar(&t.name, "transport", "", "stdio or http (GTAGS_MCP_TRANSPORT); default stdio")
	t.register(cmd.Flags())
	return cmd
}

// transport is how clients reach the server.
type transport struct {
	name, host, port string
	tokenFile        string
	allowRoots       []string
	metrics          bool
	http             server.HTTPOptions
	// ready, if set, is called when the server takes connections at a URL.
	ready func(url string)
}

// register adds the flags of serving over HTTP.
func (t *transport) register(set *pflag.FlagSet) {
	set.StringVar(&t.host, "host", "", "address to listen on (GTAGS_MCP_HOST); default 127.0.0.1")
	set.StringVar(&t.port, "port", "", "port to listen on, 0 for any that is free (GTAGS_MCP_PORT); default "+defaultPort)
	set.StringVar(&t.tokenFile, "token-file", "", "file with the bearer token that clients must send")
	set.StringArrayVar(&t.allowRoots, "allow-root", nil, "serve only trees in this folder; may be repeated")
	set.StringArrayVar(&t.http.Hosts, "allow-host", nil, "host name by which clients may address the server; may be repeated")
	set.BoolVar(&t.metrics, "metrics", false, "serve Prometheus metrics at /metrics")
	set.DurationVar(&t.http.SessionTimeout, "session-timeout", server.DefaultSessionTimeout, "end a session that sent no request for so long")
}

// fill takes what no flag says from the environment, then from the defaults.
func (t *transport) fill(getenv func(string) string) {
	for _, setting := range []struct {
		value               *string
		variable, otherwise string
	}{
		{&t.name, "GTAGS_MCP_TRANSPORT", "stdio"},
		{&t.host, "GTAGS_MCP_HOST", "127.0.0.1"},
		{&t.port, "GTAGS_MCP_PORT", defaultPort},
	} {
		if *setting.value == "" {
			*setting.value = getenv(setting.variable)
		}
		if *setting.value == "" {
			*setting.value = setting.otherwise
		}
	}
}

// check finds what is wrong with the settings before anything is started.
func (t *transport) check() error {
	switch t.name {
	case "stdio":
		return nil
	case "http":
	default:
		return &exitError{exitUsage, fmt.Errorf("--transport takes stdio or http, got %q", t.name)}
	}
	if port, err := strconv.ParseUint(t.port, 10, 16); err != nil || port > 65535 {
		return &exitError{exitUsage, fmt.Errorf("--port takes a number from 0 to 65535, got %q", t.port)}
	}
	if !server.IsLoopback(t.host) && len(t.allowRoots) == 0 {
		return &exitError{exitUsage, fmt.Errorf("--host %s lets other machines connect: name the folders that they may read with --allow-root", t.host)}
	}
	return nil
}

// token returns the token that clients must send, "" for none. It makes one when
// other machines can connect and nobody chose one.
func (t *transport) token() (token string, made bool, err error) {
	if t.tokenFile == "" {
		if server.IsLoopback(t.host) {
			return "", false, nil
		}
		return server.NewToken(), true, nil
	}
	content, err := os.ReadFile(t.tokenFile)
	if err != nil {
		return "", false, fmt.Errorf("--token-file: %w", err)
	}
	token = strings.TrimSpace(string(content))
	if err := server.CheckToken(token); err != nil {
		return "", false, fmt.Errorf("--token-file %s: %w", t.tokenFile, err)
	}
	return token, false, nil
}

// fence is what --allow-root allows; nil without it.
func (t *transport) fence() (*nav.Fence, error) {
	if len(t.allowRoots) == 0 {
		return nil, nil
	}
	fence, err := nav.NewFence(t.allowRoots...)
	if err != nil {
		return nil, fmt.Errorf("--allow-root: %w", err)
	}
	return fence, nil
}

// memoryGoal is the heap size above which the collector works harder. Servers
// run beside an agent for days; making the outline of Linux 6.1 under this goal
// takes no more time, and a third less memory, than without it.
const memoryGoal = 160 << 20

// memoryGoalHTTP is that of a server for many clients, where the collector took a
// fifth of the time under the smaller one.
const memoryGoalHTTP = 256 << 20

func serve(ctx context.Context, std streams, flags *globalFlags, t transport) error {
	t.fill(os.Getenv)
	if err := t.check(); err != nil {
		return err
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		goal := int64(memoryGoal)
		if t.name == "http" {
			goal = memoryGoalHTTP
		}
		debug.SetMemoryLimit(goal)
	}
	flags.serving = true
	fence, err := t.fence()
	if err != nil {
		return err
	}
	flags.fence, flags.metrics = fence, t.metrics
	s, err := newServer(std, flags)
	if err != nil {
		return err
	}
	defer s.Close()
	// A call that does not notice its cancellation must not keep us alive.
	context.AfterFunc(ctx, func() { time.AfterFunc(shutdownGrace, func() { os.Exit(0) }) })
	if t.name == "http" {
		return serveHTTP(ctx, std, s, t)
	}
	ctx, orphaned := context.WithCancel(ctx)
	defer orphaned()
	go watchParent(ctx, orphaned)
	return s.ServeStdio(ctx, std.in, std.out)
}

func serveHTTP(ctx context.Context, std streams, s *app, t transport) error {
	token, made, err := t.token()
	if err != nil {
		return err
	}
	t.http.Token = token
	t.http.Hosts = append(t.http.Hosts, t.host)
	if name, err := os.Hostname(); err == nil {
		t.http.Hosts = append(t.http.Hosts, name)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(t.host, t.port))
	if err != nil {
		return fmt.Errorf("%w; choose another port with --port or GTAGS_MCP_PORT", err)
	}
	if made {
		fmt.Fprintf(std.err, "gtagsmcp: clients must send the header  Authorization: Bearer %s\n"+
			"gtagsmcp: the token is not shown again and is another at the next start; keep one in a file with --token-file\n", token)
	}
	url := fmt.Sprintf("http://%s%s", l.Addr(), server.Endpoint)
	fmt.Fprintf(std.err, "gtagsmcp: serving %s\n", url)
	if t.ready != nil {
		t.ready(url)
	}
	return s.ServeHTTP(ctx, l, t.http)
}

// watchParent ends the server when its client is gone without closing our
// input, as happens when somebody else holds the other end of the pipe.
func watchParent(ctx context.Context, gone func()) {
	const every = 5 * time.Second
	parent := os.Getppid()
	for ctx.Err() == nil && os.Getppid() == parent {
		select {
		case <-ctx.Done():
		case <-time.After(every):
		}
	}
	gone()
}
