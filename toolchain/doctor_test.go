package toolchain

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
)

func find(checks []Check, name string) (found []Check) {
	for _, c := range checks {
		if c.Name == name {
			found = append(found, c)
		}
	}
	return found
}

// Every finding that is not good says what to type, and every component has its
// place, version, proof and rung.
func TestDoctorFindings(t *testing.T) {
	t.Parallel()
	good := packed(t, nil)
	_, cfg := released(t, good, good)
	away := cfg
	away.Environ = append(slices.Clone(cfg.Environ), fetch.EnvMirror+"=http://127.0.0.1:9")
	set, _, err := Install(t.Context(), away, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := func(cfg Config, name string, level Level, texts ...string) {
		t.Helper()
		checks := Doctor(t.Context(), cfg)
		for _, c := range checks {
			if c.Level != LevelOK && c.Fix == "" {
				t.Errorf("%s says nothing to type: %+v", c.Name, c)
			}
		}
		for _, c := range find(checks, name) {
			missing := slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return strings.Contains(c.Detail+" > "+c.Fix, s) })
			if c.Level == level && len(missing) == 0 {
				return
			}
		}
		t.Errorf("got %+v, want one with level %s and %q", find(checks, name), level, texts)
	}
	want(cfg, "gtags", LevelOK, set.Gtags.Version, set.Gtags.Path, "managed, by rung distro", "proved by indexing")
	want(cfg, "global", LevelOK, set.Global.Path, "managed, by rung distro", "proved by")
	want(cfg, "ctags", LevelOK, set.Ctags.Version, set.Ctags.Path, "managed, by rung distro", "proved by")
	want(cfg, "helper", LevelOK, HelperName, "proved by")
	want(cfg, "installed", LevelWarn, "goes with toolchain-", "gtagsmcp setup --follow")
	want(cfg, "locks", LevelOK, "flock works")
	want(cfg, "disk", LevelOK, "MB free")
	want(cfg, "system", LevelOK, "linux/")

	if _, _, err := Follow(t.Context(), cfg, nil); err != nil {
		t.Fatal(err)
	}
	want(cfg, "gtags", LevelOK, "managed, by rung prebuilt")
	want(cfg, "installed", LevelOK, "setup --rollback")

	// Other copies in PATH.
	bin := t.TempDir()
	shadowed := cfg
	shadowed.Environ = append(slices.Clone(cfg.Environ), "PATH="+bin)
	fake(t, filepath.Join(bin, "gtags"), "* out gtags of another kind")
	writeTestFile(t, filepath.Join(bin, "gtagsmcp"), "#!/bin/sh\n", 0o755)
	want(shadowed, "path", LevelOK, filepath.Join(bin, "gtags"), "not used here")
	want(shadowed, "path", LevelWarn, filepath.Join(bin, "gtagsmcp"), "put "+filepath.Dir(helper(t))+" first in PATH")

	// A home that others may write to, and one that is no folder.
	if err := os.Chmod(set.Home, 0o777); err != nil {
		t.Fatal(err)
	}
	want(cfg, "home", LevelWarn, "may be written by others", "chmod go-w "+set.Home)
	file := cfg
	file.Home = filepath.Join(t.TempDir(), "file")
	writeTestFile(t, file.Home, "x", 0o644)
	want(file, "home", LevelFail, "is not a folder", "export GTAGS_MCP_HOME=")
	want(Config{Home: "/a:b", Environ: []string{}}, "settings", LevelFail, "colon", "correct that flag or variable")
}
