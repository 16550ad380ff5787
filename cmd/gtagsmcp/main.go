// Command gtagsmcp bootstraps a source-navigation toolchain in user space and
// serves indexed code navigation to agents over MCP.
//
// It is the one place that knows every layer, prints, and decides exit codes:
//
//	0  done
//	1  failed; the reason is on standard error
//	2  the command line is wrong
//	3  call: the tool answered with an error
//	4  something is under way (installing, indexing, upgrading); retry
//	5  upgrade --check: there is a newer release
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/gtagsmcp/gtagsmcp/toolchain/ctagscom"
)

const (
	exitFailure   = 1
	exitUsage     = 2
	exitToolError = 3
	exitRetry     = 4
	exitNewer     = 5
)

// exitError is an error that decides the exit code itself.
type exitError struct {
	code int
	err  error // nil when everything has been said already
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func main() {
	if ctagscom.Invoked(os.Args[0]) {
		os.Exit(ctagscom.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Setenv("PATH", absoluteOnly(os.Getenv("PATH")))
	// Standard output belongs to the answer. Whatever a dependency prints by
	// mistake goes to standard error instead of into the protocol.
	out := os.Stdout
	os.Stdout = os.Stderr

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(exitCode(newRootCommand(os.Stdin, out, os.Stderr).ExecuteContext(ctx)))
}

// absoluteOnly leaves out the folders of a search path that depend on where we
// run: that is in trees that are not trusted, and none of their programs may stand
// in for git or a compiler, or keep it from being found.
func absoluteOnly(path string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, string(filepath.ListSeparator))
}

func exitCode(err error) int {
	var exit *exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if exit.err != nil {
			fmt.Fprintln(os.Stderr, "gtagsmcp:", exit.err)
		}
		return exit.code
	}
	fmt.Fprintln(os.Stderr, "gtagsmcp:", err)
	return exitFailure
}
