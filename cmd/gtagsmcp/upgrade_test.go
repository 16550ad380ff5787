package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// TestServiceIsRestarted: the program that is asked is the new one, a release
// that knows no service is no trouble, and a service that does not come back is.
func TestServiceIsRestarted(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"restarts":     {`[ "$*" = "service restart --if-running" ] && echo restarted`, "restarted\n"},
		"none runs":    {`exit 0`, ""},
		"no such":      {`echo 'gtagsmcp: unknown command "service" for "gtagsmcp"' >&2; exit 1`, ""},
		"no such flag": {`echo 'gtagsmcp: unknown flag: --if-running; see gtagsmcp --help' >&2; exit 2`, ""},
		"fails":        {`echo port in use >&2; exit 1`, "the background service still runs the program before: exit status 1: port in use\n"},
	} {
		t.Run(name, func(t *testing.T) {
			target := filepath.Join(t.TempDir(), "gtagsmcp")
			if err := os.WriteFile(target, []byte("#!/bin/sh\n"+c.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			var said bytes.Buffer
			restartService(t.Context(), streams{err: &said}, target)
			if said.String() != c.want {
				t.Errorf("said %q, want %q", said.String(), c.want)
			}
		})
	}
}

// TestToolchainFollows: where a managed toolchain is, the new program is asked
// to look at it, and not waited for.
func TestToolchainFollows(t *testing.T) {
	home, target := t.TempDir(), filepath.Join(t.TempDir(), "gtagsmcp")
	t.Setenv("GTAGS_MCP_HOME", home)
	asked := filepath.Join(t.TempDir(), "asked")
	script := "#!/bin/sh\nsleep 1; echo \"$*\" >" + asked + ".new && mv " + asked + ".new " + asked + "\n"
	if err := os.WriteFile(target, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	std, flags := streams{err: &bytes.Buffer{}}, &globalFlags{}
	followToolchain(std, flags, target) // nothing is managed: nobody is asked
	if err := os.Symlink("toolchains/x", filepath.Join(home, "current")); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	followToolchain(std, flags, target)
	if took := time.Since(began); took > 900*time.Millisecond {
		t.Errorf("waited %v for the toolchain", took)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if text, err := os.ReadFile(asked); err == nil {
			if string(text) != "setup --follow\n" {
				t.Errorf("asked for %q", text)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the new program was not asked")
		}
	}
}
