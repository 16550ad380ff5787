package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/bootstrap/release"
	"github.com/gtagsmcp/gtagsmcp/bootstrap/upgrade"
)

func TestUpgradeExitCodes(t *testing.T) {
	for _, c := range []struct {
		err    error
		code   int
		stdout string
	}{
		{fmt.Errorf("%w: v1.0.0", upgrade.ErrUpToDate), 0, "gtagsmcp is up to date: v1.0.0\n"},
		{fmt.Errorf("/x: %w", upgrade.ErrBusy), exitRetry, ""},
		{release.ErrNoKey, exitFailure, ""},
		{&upgrade.Refusal{Target: "/x", Why: "belongs to root", Type: "sudo /x upgrade"}, exitFailure, ""},
		{&exitError{code: exitNewer}, exitNewer, ""},
	} {
		var out bytes.Buffer
		got := explained(streams{out: &out}, c.err)
		if code := exitCode(got); code != c.code || out.String() != c.stdout {
			t.Errorf("%v: exit code %d, printed %q; want %d, %q", c.err, code, out.String(), c.code, c.stdout)
		}
		if errors.Is(c.err, release.ErrNoKey) && !strings.Contains(got.Error(), upgrade.InstallCommand) {
			t.Errorf("%v does not say what to type", got)
		}
	}
}
