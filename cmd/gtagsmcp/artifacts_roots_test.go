//go:build artifacts && linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/build-global"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch/releasetest"
)

// envOldRoot names the root of an older system, as debootstrap makes it.
const envOldRoot = "GTAGS_MCP_TEST_OLD_ROOT"

// What every shipped program needs, from its headers.
func TestArtifactCeilings(t *testing.T) {
	for _, a := range readLock(t).Assets {
		platform, err := buildglobal.PlatformNamed(a.Platform)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range buildglobal.Programs {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, fileIn(t, artifact(t, a.Name), "bin/"+name), 0o755); err != nil {
				t.Fatal(err)
			}
			n, err := buildglobal.CheckELF(path, platform)
			if err != nil {
				t.Error(err)
			}
			t.Log(n.Row(a.Platform + " " + name))
		}
	}
}

// rooted runs the program in another root, whose folder /w it may write to.
func rooted(t *testing.T, root, mirror string, args ...string) (string, error) {
	t.Helper()
	for _, dir := range []string{"w", "tmp", "etc", "dev"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	hosts := []byte("127.0.0.1 localhost\n") // the server's files are at localhost
	if err := os.WriteFile(filepath.Join(root, "etc", "hosts"), hosts, 0o644); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(builtProgram(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "w", "gtagsmcp"), data, 0o755); err != nil {
		t.Fatal(err)
	}
	const script = `root=$1; shift; : > "$root/dev/null"; mount --bind /dev/null "$root/dev/null" && exec chroot "$root" /w/gtagsmcp "$@"`
	cmd := exec.Command("unshare", append([]string{"-rm", "sh", "-c", script, "sh", root}, args...)...)
	cmd.Env = []string{"HOME=/w/home", "GTAGS_MCP_MIRROR=" + mirror, "PATH=/usr/bin:/bin:/usr/sbin:/sbin"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// answersIn installs in a root and asks, in C and in a language that goes through ctags.
func answersIn(t *testing.T, root, set string) {
	t.Helper()
	server := releaseServer(t, releasetest.New)
	t.Cleanup(func() { os.RemoveAll(filepath.Join(root, "w")) })
	out, err := rooted(t, root, server.URL, "setup")
	t.Logf("setup:\n%s", lastLines(out, 8))
	if err != nil || !strings.Contains(out, "prebuilt  ok ") {
		t.Fatalf("setup: %v", err)
	}
	for _, tt := range readLock(t).Assets {
		wanted := tt.Platform == "linux-"+runtime.GOARCH+"-"+set
		if got := strings.Contains(out, "-"+tt.SHA256[:16]); got != wanted {
			t.Errorf("%s installed: %v, want %v", tt.Platform, got, wanted)
		}
	}
	for name, text := range map[string]string{
		"a.c":  "int callee(int n) { return n; }\nint caller(void) { return callee(1); }\n",
		"b.py": "class Kind:\n    def method(self):\n        pass\n\nKind().method()\n",
	} {
		path := filepath.Join(root, "w", "a tree", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ tool, symbol, want string }{
		{"find_callers", "callee", "caller  a.c:2:"}, {"find_definition", "method", "b.py:2:"}, {"find_references", "method", "b.py:5:"},
	} {
		out, err := rooted(t, root, server.URL, "call", tt.tool, "symbol="+tt.symbol, "--root", "/w/a tree")
		if err != nil || !strings.Contains(out, tt.want) {
			t.Errorf("%s %s: %v, %s\nwant %q", tt.tool, tt.symbol, err, out, tt.want)
		}
	}
	if out, err := rooted(t, root, server.URL, "doctor"); err != nil {
		t.Errorf("doctor: %v\n%s", err, out)
	} else {
		t.Logf("doctor: %s", line(out, "system"))
	}
}

// In a root that holds our one program and /dev/null there is neither a C library
// nor a shell nor git: the static set does it.
func TestArtifactEmptyRoot(t *testing.T) {
	root := t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	answersIn(t, root, "musl")
}

// In an older system the set for glibc is taken.
func TestArtifactOldRoot(t *testing.T) {
	root := os.Getenv(envOldRoot)
	if root == "" {
		t.Fatalf("%s must name the root of an older system", envOldRoot)
	}
	answersIn(t, root, "gnu")
}

// Where no archive can be used, the programs are compiled from the sources that
// lie beside the archives, in a home whose name has a blank.
func TestArtifactSourceBuild(t *testing.T) {
	server := releaseServer(t, releasetest.New)
	m := newMachine(t, server.URL)
	began := time.Now()
	out, err := m.run(t, "setup", "--rung", "source")
	if err != nil || !strings.Contains(out, "source    ok ") || !strings.Contains(out, "ctags     6.2.1") {
		t.Fatalf("setup: %v\n%s", err, out)
	}
	t.Logf("built in %v with the sources of %d requests:\n%s", time.Since(began).Round(time.Second), len(server.Requests()), out)

	// What the compiler says stays in the home, and what was there stays in use.
	broken := filepath.Join(t.TempDir(), "cc")
	script := "#!/bin/sh\ncase \"$*\" in *\" -c \"*) echo 'gtags.c:1: error: no such luck' >&2; exit 1;; esac\nexec gcc \"$@\"\n"
	if err := os.WriteFile(broken, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	m.env = append(m.env, "PATH="+filepath.Dir(broken)+":"+os.Getenv("PATH"))
	_, err = m.run(t, "setup", "--rung", "source", "--force")
	if err == nil || !strings.Contains(err.Error(), "no such luck") || !strings.Contains(err.Error(), "source-build.log") {
		t.Errorf("broken compiler: %v", err)
	}
	t.Log(line(err.Error(), "source: "))
	if log, err := os.ReadFile(filepath.Join(m.managed(), "source-build.log")); err != nil || !strings.Contains(string(log), "no such luck") {
		t.Errorf("the log has %q, %v", log, err)
	}
	if out, err := m.run(t, "setup"); err != nil || !strings.Contains(out, "managed   ok") {
		t.Errorf("after it: %v\n%s", err, out)
	}
}
