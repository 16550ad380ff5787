package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
	"github.com/gtagsmcp/gtagsmcp/toolchain"
	"github.com/gtagsmcp/gtagsmcp/toolchain/ctagscom"
)

// command runs the command line in this process and returns its exit code.
func command(t *testing.T, args ...string) (out, errOut string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	root := newRootCommand(os.Stdin, &stdout, &stderr)
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	if err != nil {
		stderr.WriteString(err.Error())
	}
	return stdout.String(), stderr.String(), exitCode(err)
}

// withoutToolchain makes this process one on a machine that has nothing of ours.
func withoutToolchain(t *testing.T) (home string) {
	t.Helper()
	home = filepath.Join(t.TempDir(), "managed")
	for key, value := range map[string]string{
		"GTAGS_MCP_HOME": home, "HOME": t.TempDir(), "PATH": t.TempDir(), "XDG_CONFIG_HOME": t.TempDir(),
		"GTAGS_MCP_BIN_DIR": "", "GTAGS_MCP_LABEL": "",
	} {
		t.Setenv(key, value)
	}
	return home
}

func TestSetupAndDoctorWithAToolchain(t *testing.T) {
	tools, tree, git := navtest.Tools(t), navtest.Tree(t, "-- a.c --\nint x;\n"), pathWith(t, "git")
	withoutToolchain(t)
	t.Setenv("GTAGS_MCP_HOME", tools.Home)
	t.Setenv("PATH", git)
	t.Chdir(tree)
	out, errOut, code := command(t, "setup", "--json")
	var got setupJSON
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
		t.Fatalf("setup --json: exit code %d, %q, %q, %v", code, out, errOut, err)
	}
	if got.Gtags != tools.Gtags || got.Ctags != tools.Ctags || got.Fingerprint != tools.Fingerprint || !slices.Equal(got.Env, tools.Env) ||
		got.Label != toolchain.LabelCtags || got.Home != tools.Home || len(got.Languages) < 20 {
		t.Errorf("setup --json: got %+v, want the toolchain of the tests %+v", got, tools)
	}
	if strings.Contains(out, "null") {
		t.Errorf("setup --json has a null: %s", out)
	}
	out, _, code = command(t, "setup")
	if code != 0 || !strings.Contains(out, tools.Gtags) || !strings.Contains(out, "managed   ok") {
		t.Errorf("setup: exit code %d, %q", code, out)
	}

	out, _, code = command(t, "doctor", "--json")
	var doctor struct{ Checks []toolchain.Check }
	if err := json.Unmarshal([]byte(out), &doctor); err != nil || code != 0 || len(doctor.Checks) < 6 {
		t.Fatalf("doctor --json: exit code %d, %q, %v", code, out, err)
	}
	for _, name := range []string{"gtags", "global", "ctags", "helper", "installed", "home", "locks", "disk", "system", "config", "tree", "git", "index"} {
		if !slices.ContainsFunc(doctor.Checks, func(c toolchain.Check) bool { return c.Name == name && c.Detail != "" }) {
			t.Errorf("doctor --json lacks %s: %s", name, out)
		}
	}
	for _, c := range doctor.Checks {
		if c.Level != toolchain.LevelOK && c.Fix == "" {
			t.Errorf("nothing to type for %+v", c)
		}
	}
	// The text says the same. Another run might not: memory and disk change.
	var text strings.Builder
	if err := printChecks(streams{out: &text}, doctor.Checks, false); err != nil {
		t.Fatal(err)
	}
	for _, c := range doctor.Checks {
		if !strings.Contains(text.String(), c.Detail) || !strings.Contains(text.String(), c.Fix) {
			t.Errorf("the text of doctor lacks %+v", c)
		}
	}
}

// A mistake in a config file is named with its file and key; the main job runs.
func TestDoctorNamesMistakes(t *testing.T) {
	tools, git := navtest.Tools(t), pathWith(t, "git")
	tree := navtest.Tree(t, "-- a.c --\nint x;\n-- .gtags-mcp.toml --\nlabul = \"native\"\n")
	withoutToolchain(t)
	t.Setenv("GTAGS_MCP_HOME", tools.Home)
	t.Setenv("PATH", git)
	t.Setenv("GTAGS_MCP_GUARDS", "perhaps")
	navtest.Write(t, os.Getenv("XDG_CONFIG_HOME"), "gtags-mcp/config.toml", "enrich = 7\n")
	out, errOut, code := command(t, "--root", tree, "doctor")
	if code != 0 {
		t.Errorf("exit code %d, %s", code, errOut)
	}
	for _, want := range []string{"GTAGS_MCP_GUARDS", "config.toml", "enrich", ".gtags-mcp.toml", "labul", "> correct that file"} {
		if !strings.Contains(out, want) {
			t.Errorf("doctor lacks %q:\n%s", want, out)
		}
	}
}

func TestSetupAndDoctorWithoutAToolchain(t *testing.T) {
	home := withoutToolchain(t)
	out, errOut, code := command(t, "doctor")
	if code != exitFailure || !strings.Contains(out, "fail  gtags") || !strings.Contains(out, "> gtagsmcp setup") || !strings.Contains(errOut, "cannot run") {
		t.Errorf("doctor: exit code %d, %q, %q", code, out, errOut)
	}
	out, errOut, code = command(t, "setup", "--dry-run")
	if lines := strings.Count(out, "\n"); code != 0 || lines != 6 || !strings.Contains(out, "distro    yes") {
		t.Errorf("setup --dry-run: exit code %d, %q, %q", code, out, errOut)
	}
	if _, err := os.Stat(home); !os.IsNotExist(err) {
		t.Errorf("doctor or setup --dry-run made %s (%v)", home, err)
	}
	out, errOut, code = command(t, "setup", "--json", "--rung", "managed")
	if code != exitFailure || out != "" || !strings.Contains(errOut, "managed: nothing installed yet") || !strings.Contains(errOut, "Type: ") {
		t.Errorf("setup --rung managed: exit code %d, %q, %q", code, out, errOut)
	}
	for flag, want := range map[string]string{"--rollback": "keeps no toolchain before", "--uninstall": "nothing to uninstall"} {
		if out, errOut, code := command(t, "setup", flag); code != exitFailure || out != "" || !strings.Contains(errOut, want) {
			t.Errorf("setup %s: exit code %d, %q, %q", flag, code, out, errOut)
		}
	}
	out, errOut, code = command(t, "setup", "--from", filepath.Join(home, "no such archive"))
	if code != exitFailure || out != "" || !strings.Contains(errOut, "archive: ") || !strings.Contains(errOut, "no such archive") {
		t.Errorf("setup --from: exit code %d, %q, %q", code, out, errOut)
	}
	for _, args := range [][]string{{"setup", "--rung", "lift"}, {"setup", "--label", "pygments"}, {"setup", "--no-such-flag"}, {"setup", "--dry-run", "--rung", "lift"},
		{"setup", "--unverified"}, {"setup", "--from", "x", "--rung", "distro"}, {"setup", "--rollback", "--uninstall"}, {"setup", "--dry-run", "--follow"}} {
		if out, errOut, code := command(t, args...); code != exitUsage || out != "" || errOut == "" {
			t.Errorf("%v: exit code %d, %q, %q; want %d and a message", args, code, out, errOut, exitUsage)
		}
	}
}

// The two halves that meet only here agree on names.
func TestHelperNames(t *testing.T) {
	if toolchain.HelperName != ctagscom.Name || toolchain.EnvCtags != ctagscom.EnvCtags {
		t.Errorf("got %s and %s, want %s and %s", toolchain.HelperName, toolchain.EnvCtags, ctagscom.Name, ctagscom.EnvCtags)
	}
}
