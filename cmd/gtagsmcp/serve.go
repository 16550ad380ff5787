package main

import (
	"context"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
)

// shutdownGrace is how long calls under way have to end after a signal. The
// most impatient client known kills two seconds after it asked.
const shutdownGrace = 1500 * time.Millisecond

func newServeCommand(std streams, flags *globalFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Serve one MCP client over standard input and output",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), std, flags)
		},
	}
}

// memoryGoal is the heap size above which the collector works harder. Servers
// run beside an agent for days; making the outline of Linux 6.1 under this goal
// takes no more time, and a third less memory, than without it.
const memoryGoal = 160 << 20

func serve(ctx context.Context, std streams, flags *globalFlags) error {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryGoal)
	}
	flags.serving = true
	s, err := newServer(std, flags)
	if err != nil {
		return err
	}
	defer s.Close()
	// A call that does not notice its cancellation must not keep us alive.
	context.AfterFunc(ctx, func() { time.AfterFunc(shutdownGrace, func() { os.Exit(0) }) })
	ctx, orphaned := context.WithCancel(ctx)
	defer orphaned()
	go watchParent(ctx, orphaned)
	return s.ServeStdio(ctx, std.in, std.out)
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
