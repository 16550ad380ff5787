package main

import (
	"encoding/json"
	"fmt"
	"time"

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
			if err := printEval(std, asJSON, report, report.Text()); err != nil {
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
	cmd.AddCommand(newEvalAgentCommand(std, flags))
	return cmd
}

func printEval(std streams, asJSON bool, report any, text string) error {
	if asJSON {
		out, err := json.MarshalIndent(report, "", "  ")
		if err != nil {
			return err
		}
		text = string(out) + "\n"
	}
	_, err := fmt.Fprint(std.out, text)
	return err
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

func newEvalAgentCommand(std streams, flags *globalFlags) *cobra.Command {
	var questions, with, without string
	var timeout time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Compare a coding agent with this server and without it",
		Long: `Ask a coding agent questions about a tree, once with this server and once
without, and grade the replies by the names and places they must hold.

The two command lines are run by sh in the root of the tree, with the question
in $QUESTION; what they print is the reply.`,
		Example: `  gtagsmcp eval agent --questions evals/agent/questions.toml --root ~/linux \
    --with    'claude -p "$QUESTION" --strict-mcp-config --mcp-config gtagsmcp.json --allowedTools "mcp__gtagsmcp,Read,Grep"' \
    --without 'claude -p "$QUESTION" --strict-mcp-config --allowedTools "Read,Grep"'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if questions == "" || with == "" || without == "" {
				return &exitError{exitUsage, fmt.Errorf("eval agent needs --questions, --with and --without; see %s --help", cmd.CommandPath())}
			}
			list, err := evals.LoadQuestions(questions)
			if err != nil {
				return err
			}
			root, err := projectRoot(std, flags)
			if err != nil {
				return err
			}
			agents := []evals.Agent{{Name: "with", Command: with}, {Name: "without", Command: without}}
			grades, err := evals.RunAgent(cmd.Context(), root, list, agents, evals.AgentOptions{
				Timeout: timeout,
				Done: func(g evals.Grade) {
					fmt.Fprintf(std.err, "%s, %s: right %v, %.1f s\n", g.Question, g.Agent, g.Right, g.Seconds)
				},
			})
			if err != nil {
				return err
			}
			return printEval(std, asJSON, grades, evals.AgentText(agents, grades))
		},
	}
	cmd.Flags().StringVar(&questions, "questions", "", "file of questions (required)")
	cmd.Flags().StringVar(&with, "with", "", "command line of the agent that has this server (required)")
	cmd.Flags().StringVar(&without, "without", "", "command line of the agent that has not (required)")
	cmd.Flags().DurationVar(&timeout, "timeout", 10*time.Minute, "longest time for one reply")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print every grade as JSON")
	return cmd
}

func projectRoot(std streams, flags *globalFlags) (string, error) {
	s, err := newServer(std, flags)
	if err != nil {
		return "", err
	}
	defer s.Close()
	root, _, err := s.Project()
	return root, err
}
