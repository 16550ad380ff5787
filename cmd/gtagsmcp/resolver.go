package main

import (
	"github.com/spf13/cobra"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic/golang"
)

// goResolver is the command by which the server starts its resolver for Go.
const goResolver = "go-resolver"

func newGoResolverCommand(std streams) *cobra.Command {
	return &cobra.Command{
		Use:    goResolver,
		Short:  "Answer questions about Go code for the server, on standard input and output",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return golang.Serve(cmd.Context(), std.in, std.out)
		},
	}
}
