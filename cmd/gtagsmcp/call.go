package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newCallCommand(std streams, flags *globalFlags) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "call TOOL [NAME=VALUE ...]",
		Short: "Run one tool and print what an agent would get",
		Long: `Run one tool and print what an agent would get.

Values are read as JSON where they are a number, true, false or null, and as
text otherwise; NAME:=VALUE takes VALUE as JSON and nothing else, NAME=="VALUE"
is not needed: quote for the shell only.

Exit code 0: answered; 3: the tool answered with an error; 4: retry later.`,
		Example: `  gtagsmcp call find_definition symbol=tcp_v4_rcv --root ~/linux
  gtagsmcp call find_references symbol=kmalloc limit=20 --format json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &exitError{exitUsage, fmt.Errorf("call needs the name of a tool; see gtagsmcp call --help")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			arguments, err := callArguments(args[1:], format)
			if err != nil {
				return &exitError{exitUsage, err}
			}
			s, err := newServer(std, flags)
			if err != nil {
				return err
			}
			defer s.Close()
			answer, err := s.Call(cmd.Context(), args[0], arguments, func(message string) {
				fmt.Fprintln(std.err, message)
			})
			if err != nil {
				return &exitError{exitUsage, err}
			}
			if _, err := fmt.Fprintln(std.out, answer.Text); err != nil {
				return err
			}
			return answerExit(answer.Retry, answer.Failed)
		},
	}
	cmd.Flags().StringVar(&format, "format", "", "text or json")
	return cmd
}

func answerExit(retry, failed bool) error {
	switch {
	case retry:
		return &exitError{code: exitRetry}
	case failed:
		return &exitError{code: exitToolError}
	}
	return nil
}

// callArguments makes the JSON object of a call from NAME=VALUE words.
func callArguments(words []string, format string) (json.RawMessage, error) {
	arguments := map[string]any{}
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("argument %q is not of the form NAME=VALUE", word)
		}
		if _, twice := arguments[name]; twice {
			return nil, fmt.Errorf("argument %s is given twice", name)
		}
		arguments[name] = callValue(value)
	}
	if format != "" {
		arguments["format"] = format
	}
	return json.Marshal(arguments)
}

// callValue reads a value as the number, truth value or null that it spells,
// and as text otherwise.
func callValue(value string) any {
	var parsed any
	if err := json.Unmarshal([]byte(value), &parsed); err == nil {
		switch parsed.(type) {
		case float64, bool, nil:
			return json.RawMessage(value)
		}
	}
	return value
}
