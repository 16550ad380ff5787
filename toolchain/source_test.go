package toolchain

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch/releasetest"
)

// A compiler counts when what it makes of two lines runs.
func TestCompilerIsProbed(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	cfg := Config{Home: t.TempDir(), Environ: []string{"PATH=" + bin}}.mustComplete(t)
	scripts := map[string]string{
		"cc":       "* err probe.c:1:10: fatal error: stdio.h: No such file or directory\n* exit 1\n",
		"gcc":      "* out this one makes nothing\n",
		"clang":    "* crash\n",
		"tcc":      "* exit 127\n",
		"musl-gcc": "* err no specs\n* exit 1\n",
	}
	for name, script := range scripts {
		fake(t, filepath.Join(bin, name), script)
	}
	_, err := cfg.findCompiler(t.Context(), t.TempDir())
	for _, want := range []string{"stdio.h", "gcc/probe: not there", string(CauseCrash), "exit status 127", "no specs"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	real, err := exec.LookPath("gcc")
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(bin, "gcc"))
	if err := os.Symlink(real, filepath.Join(bin, "gcc")); err != nil {
		t.Fatal(err)
	}
	if cc, err := cfg.findCompiler(t.Context(), t.TempDir()); err != nil || cc != filepath.Join(bin, "gcc") {
		t.Errorf("got %s, %v, want the one that works", cc, err)
	}
}

// Without the sources the rung ends before anything is compiled, and says where
// they may be put.
func TestSourcesMustMatch(t *testing.T) {
	t.Parallel()
	server, cfg := released(t, []byte("x"), []byte("y"))
	server.Use(releasetest.When("global-", releasetest.Answer(http.StatusOK, "other bytes", "Content-Type", "application/gzip")))
	cfg.Rung = RungSource
	_, report, err := Install(t.Context(), cfg, nil)
	var failed *InstallError
	if !errors.As(err, &failed) || len(report.Rungs) != 1 {
		t.Fatalf("got %v, want an InstallError", err)
	}
	for _, want := range []string{"source of global", "wrong size", "or put the file into " + cfg.mustComplete(t).Home} {
		if !strings.Contains(report.Rungs[0].Detail, want) {
			t.Errorf("%q lacks %q", report.Rungs[0].Detail, want)
		}
	}
	for _, r := range server.Requests() {
		if !strings.HasPrefix(r.URL.Path, "/owner/name/releases/download/toolchain-6.6.14-7/global-") {
			t.Errorf("asked for %s", r.URL)
		}
	}
	if _, err := os.Stat(filepath.Join(cfg.mustComplete(t).Home, sourceLogName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was compiled: %v", err)
	}
}
