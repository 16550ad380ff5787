package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gtagsmcp/gtagsmcp/server"
)

func newCallCommand(std streams, flags *globalFlags) *cobra.Command {
	var format string
	var noWait bool
	cmd := &cobra.Command{
		Use:   "call TOOL [NAME=VALUE ...]",
		Short: "Run one tool and print what an agent would get",
		Long: `Run one tool and print what an agent would get.

Values that spell a number, true, false or null are passed as such, all others
as text. While the toolchain is being installed or the first index built, an
agent is told to retry; this command says so on standard error and retries by
itself. With --no-wait it prints that answer and ends, and what was under way
ends with it.

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
			answer, err := callUntilAnswered(cmd.Context(), std, s, args[0], arguments, noWait)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(std.out, answer.Text); err != nil {
				return err
			}
			return answerExit(answer)
		},
	}
	cmd.Flags().StringVar(&format, "format", "", "text or json")
	cmd.Flags().BoolVar(&noWait, "no-wait", false, "print what the first call answers, also when it is \"retry\"")
	return cmd
}

// callUntilAnswered calls a tool again for as long as it answers "retry".
func callUntilAnswered(ctx context.Context, std streams, s *app, tool string, arguments json.RawMessage, noWait bool) (server.Answer, error) {
	show := newProgressLine(std.err)
	for {
		answer, err := s.Call(ctx, tool, arguments, show)
		switch {
		case err != nil:
			return answer, &exitError{exitUsage, err}
		case !answer.Retry || noWait:
			return answer, nil
		case ctx.Err() != nil:
			return answer, ctx.Err()
		}
		fmt.Fprintln(std.err, answer.Text)
	}
}

// newProgressLine returns a function that prints progress, but no line twice
// and none too soon after the last.
func newProgressLine(out io.Writer) func(message string, done, total float64) {
	const apart = time.Second
	var last string
	var at time.Time
	return func(message string, done, total float64) {
		if total > 0 {
			message = fmt.Sprintf("%s: %.0f of %.0f", message, done, total)
		}
		if message == last || time.Since(at) < apart {
			return
		}
		last, at = message, time.Now()
		fmt.Fprintln(out, message)
	}
}

func answerExit(answer server.Answer) error {
	switch {
	case answer.Retry:
		return &exitError{code: exitRetry}
	case answer.Failed:
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
