package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gtagsmcp/gtagsmcp/evals"
)

func newEvalCommand(std streams, flags *globalFlags) *cobra.Command {
	var golden string
	var threshold float64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "Score the answers about a tree against golden questions",
		Long: `Ask every question of a golden file about a tree, as a client does, and print
recall, precision@1 and every miss. A case may edit a file of the tree; the file
is put back before the next one.

Exit code 0 only when recall and precision@1 both reach the threshold.`,
		Example: `  gtagsmcp eval --golden evals/golden/linux-6.1.toml --root ~/linux --threshold 0.99`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := runGolden(cmd, std, flags, golden)
			if err != nil {
				return err
			}
			text := report.Text()
			if asJSON {
				out, err := json.MarshalIndent(report, "", "  ")
				if err != nil {
					return err
				}
				text = string(out) + "\n"
			}
			if _, err := fmt.Fprint(std.out, text); err != nil {
				return err
			}
			if !report.Reaches(threshold) {
				return fmt.Errorf("recall %.4f and precision@1 %.4f do not both reach %g", report.Recall(), report.PrecisionAt1(), threshold)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&golden, "golden", "", "golden file (required)")
	cmd.Flags().Float64Var(&threshold, "threshold", 0.99, "least recall and precision@1, 0 to 1")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the whole report as JSON")
	return cmd
}

func runGolden(cmd *cobra.Command, std streams, flags *globalFlags, file string) (*evals.Report, error) {
	if file == "" {
		return nil, &exitError{exitUsage, fmt.Errorf("eval needs --golden FILE; see %s --help", cmd.CommandPath())}
	}
	golden, err := evals.Load(file)
	if err != nil {
		return nil, err
	}
	s, err := newServer(std, flags)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	root, _, err := s.Project()
	if err != nil {
		return nil, err
	}
	return evals.Run(cmd.Context(), s, golden, root)
}
