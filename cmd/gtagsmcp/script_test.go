package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gtagsmcp/gtagsmcp/bootstrap/service"
	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
	"github.com/gtagsmcp/gtagsmcp/toolchain"
)

func TestMain(m *testing.M) {
	// setup publishes this binary as the parser helper, which main plays by name.
	testscript.Main(m, map[string]func(){"gtagsmcp": main, toolchain.HelperName: main})
}

// stopService ends the background server of a script that failed.
func stopService(t *testing.T, home string) {
	o := service.Options{OS: runtime.GOOS, Home: home, Getenv: func(string) string { return "" }}
	m, err := service.Find(context.Background(), o, "process")
	if err == nil {
		err = m.Stop(context.Background())
	}
	if err != nil {
		t.Error(err)
	}
}

// freePort is a port of this machine that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
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
			env.Setenv("FREE_PORT", freePort(t))
			env.Defer(func() { stopService(t, filepath.Join(env.WorkDir, "home")) })
			return os.Mkdir(filepath.Join(env.WorkDir, "home"), 0o755)
		},
	})
}
