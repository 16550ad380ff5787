package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// streams are the standard streams of the process, as main found them.
type streams struct {
	in  *os.File
	out io.Writer
	err io.Writer
}

func newRootCommand(in *os.File, out, errOut io.Writer) *cobra.Command {
	std := streams{in, out, errOut}
	flags := &globalFlags{}
	root := &cobra.Command{
		Use:   "gtagsmcp",
		Short: "Indexed code navigation for AI agents",
		Long: `gtagsmcp answers where names are defined, used and called, from an index of the
whole source tree. It installs its own toolchain (GNU Global, Universal Ctags)
into ~/.gtags-mcp, without root, and serves agents over MCP.

Started without a command by a client, it serves; on a terminal it prints this.`,
		Example: `  gtagsmcp setup                                     install the toolchain
  gtagsmcp config                                    print the entry for an MCP client
  gtagsmcp call find_definition symbol=main          ask what an agent would ask`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := flags.readLogLevel(); err != nil {
				return err
			}
			tellOfNewer(cmd, std, flags)
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if term.IsTerminal(int(in.Fd())) {
				return cmd.Help()
			}
			return serve(cmd.Context(), std, flags, transport{})
		},
	}
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &exitError{exitUsage, fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
	})
	flags.register(root.PersistentFlags())
	root.AddCommand(
		newServeCommand(std, flags),
		newSetupCommand(std, flags),
		newUpgradeCommand(std, flags),
		newDoctorCommand(std, flags),
		newCallCommand(std, flags),
		newIndexCommand(std, indexOpener(std, flags)),
		newEvalCommand(std, flags),
		newConfigCommand(std, flags),
		newServiceCommand(std, flags),
		newGoResolverCommand(std),
		newVersionCommand(std),
	)
	return root
}

// logger writes to standard error only. Clients show what stands there as
// errors and some never read it, so little is logged below debug level.
func (s streams) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(s.err, &slog.HandlerOptions{Level: level}))
}
