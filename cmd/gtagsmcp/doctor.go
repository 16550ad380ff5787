package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gtagsmcp/gtagsmcp/toolchain"
)

func newDoctorCommand(std streams, flags *globalFlags) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Examine the toolchain and say what to type for each finding",
		Long: `Examine the toolchain and what it stands on, and say what to type for each
finding. Installs nothing.

Exit code 0: the main job can run, perhaps with warnings; 1: it cannot.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := flags.toolchainConfig(std)
			if err != nil {
				return err
			}
			checks := toolchain.Doctor(cmd.Context(), cfg)
			_, _, problems := flags.settings()
			for _, p := range problems {
				checks = append(checks, toolchain.Check{Name: "config", Level: toolchain.LevelWarn, Detail: p, Fix: "correct that file or variable"})
			}
			if err := printChecks(std, checks, asJSON); err != nil {
				return err
			}
			if slices.ContainsFunc(checks, func(c toolchain.Check) bool { return c.Level == toolchain.LevelFail }) {
				return errors.New("the toolchain is not ready")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as one JSON object")
	return cmd
}

func printChecks(std streams, checks []toolchain.Check, asJSON bool) error {
	if asJSON {
		return printJSON(std, struct {
			Version string            `json:"version"`
			Checks  []toolchain.Check `json:"checks"`
		}{version(), checks})
	}
	for _, c := range checks {
		if _, err := fmt.Fprintf(std.out, "%-4s  %-9s  %s\n", c.Level, c.Name, c.Detail); err != nil {
			return err
		}
		if c.Fix != "" {
			fmt.Fprintf(std.out, "%17s> %s\n", "", c.Fix)
		}
	}
	return nil
}
