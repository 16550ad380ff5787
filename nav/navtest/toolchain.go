package navtest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// Toolchain is what `gtagsmcp setup --json` prints: where the programs are and
// the complete environment to run them with.
type Toolchain struct {
	Gtags  string   `json:"gtags"`
	Global string   `json:"global"`
	Ctags  string   `json:"ctags"`
	Env    []string `json:"env"`
	// Home is the managed folder that the toolchain was installed into.
	Home string `json:"home"`
	// Fingerprint changes when an index built by another toolchain is stale.
	Fingerprint string `json:"fingerprint"`
}

// Tools returns the toolchain that the program's own setup command installed,
// installing it first when need be. The test fails when that fails: a test that
// needs a tool is never skipped.
//
// GTAGS_MCP_TEST_TOOLCHAIN may name a file that holds the output of an earlier
// `gtagsmcp setup --json`, so that a run over many packages sets up once.
func Tools(t testing.TB) Toolchain {
	t.Helper()
	tc, err := setup()
	if err != nil {
		t.Fatalf("toolchain for the tests: %v", err)
	}
	return tc
}

var setup = sync.OnceValues(func() (tc Toolchain, err error) {
	var out []byte
	if file := os.Getenv("GTAGS_MCP_TEST_TOOLCHAIN"); file != "" {
		out, err = os.ReadFile(file)
	} else {
		cmd := exec.Command("go", "run", "./cmd/gtagsmcp", "setup", "--json")
		cmd.Dir = Root()
		cmd.Env = append(os.Environ(), "GTAGS_MCP_HOME="+filepath.Join(Root(), ".cache", "home"))
		cmd.Stderr = os.Stderr
		out, err = cmd.Output()
	}
	if err != nil {
		return tc, err
	}
	return tc, json.Unmarshal(bytes.TrimSpace(out), &tc)
})

// Root is the folder of this repository's go.mod.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}
