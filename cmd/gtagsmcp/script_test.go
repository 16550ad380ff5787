package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
	"github.com/gtagsmcp/gtagsmcp/toolchain"
)

func TestMain(m *testing.M) {
	// setup publishes this binary as the parser helper, which main plays by name.
	testscript.Main(m, map[string]func(){"gtagsmcp": main, toolchain.HelperName: main})
}

// TestScripts runs the command line as a user does, with a real toolchain.
func TestScripts(t *testing.T) {
	home := navtest.Tools(t).Home
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			env.Setenv("GTAGS_MCP_HOME", home)
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, "cache"))
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			return os.Mkdir(filepath.Join(env.WorkDir, "home"), 0o755)
		},
	})
}
