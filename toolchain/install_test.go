package toolchain

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// installing is another process that installs into home.
type installing struct {
	cmd *exec.Cmd
	out bytes.Buffer
}

func startInstall(t *testing.T, exe, home, how string, as *syscall.Credential) *installing {
	t.Helper()
	p := &installing{}
	environ := append(fromRepository(t, home), envInstall+"="+how, envNoFlock+"="+os.Getenv(envNoFlock))
	err := startRetrying(t.Context(), func() error {
		p.cmd = exec.Command(exe)
		p.cmd.Env, p.cmd.Dir = environ, "/"
		p.cmd.Stdout, p.cmd.Stderr = &p.out, os.Stderr
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
		return p.cmd.Start()
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *installing) wait(t *testing.T) outcome {
	t.Helper()
	if err := p.cmd.Wait(); err != nil {
		t.Fatalf("installing process: %v", err)
	}
	var o outcome
	if err := json.Unmarshal(p.out.Bytes(), &o); err != nil {
		t.Fatalf("installing process said %q: %v", p.out.String(), err)
	}
	return o
}

func TestInstallIsCompleteAndLocatedWithoutRunningAnything(t *testing.T) {
	set := installed(t)
	if !set.complete() || set.Ctags == nil || set.Label != LabelCtags || set.Rung != RungDistro {
		t.Fatalf("got %+v, want a complete set from the distribution", set)
	}
	cfg := Config{Home: set.Home, Helper: helper(t), Environ: bareEnviron(t, t.TempDir())}
	again, report := Locate(t.Context(), cfg)
	if again == nil || again.Rung != RungManaged || again.Fingerprint != set.Fingerprint || !slices.Equal(again.Env, set.Env) {
		t.Fatalf("Locate: got %+v, want the installed set; report:\n%s", again, report)
	}
	// With the proofs at hand nothing runs: a gtags that hangs is not noticed.
	cfg = cfg.mustComplete(t)
	before := openProofCache(cfg.Home).entries
	Locate(t.Context(), cfg)
	if after := openProofCache(cfg.Home).entries; len(after) != len(before) {
		t.Errorf("a second Locate proved %d things anew", len(after)-len(before))
	}
	for _, kv := range set.Env {
		key, _, _ := strings.Cut(kv, "=")
		if !slices.Contains([]string{"PATH", "LC_ALL", "LD_LIBRARY_PATH", "GTAGSCONF", "GTAGSLABEL", "LTDL_LIBRARY_PATH", EnvCtags}, key) {
			t.Errorf("%s comes through to gtags", kv)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(set.Home, stagingDir)); len(left) != 0 {
		t.Errorf("the install left %v in its staging folder", left)
	}
}

// hostileTree has every file that makes gtags or ctags run or hide something,
// and names of every kind.
func hostileTree(t *testing.T) (dir, marker string) {
	dir = t.TempDir()
	marker = filepath.Join(t.TempDir(), "ran")
	script := "#!/bin/sh\necho ran >> '" + marker + "'\n"
	for name, text := range map[string]string{
		"gtags.conf":             "default:\\\n\t:ctagscom=./evil.sh:\\\n\t:langmap=Python\\:.py:\\\n\t:gtags_parser=Python\\:universal-ctags.so:\n",
		".globalrc":              "default:\\\n\t:ctagscom=./evil.sh:\n",
		".ctags.d/a.ctags":       "--languages=-Python\n",
		".ctags":                 "--languages=-Python\n",
		"plain.py":               "def in_plain():\n    pass\n",
		"with blank.py":          "def in_blank():\n    pass\n",
		"\u6f22.py":              "def in_han():\n    pass\n",
		"quote'\"$(x).py":        "def in_quote():\n    pass\n",
		"latin\xe9.py":           "def in_latin():\n    pass\n",
		"main.go":                "package main\n\nfunc inGo() {}\n",
		"lib.rs":                 "pub fn in_rust() {}\n",
		"app.js":                 "function inJavaScript() {}\nvar o = {\"a b\": function () {}, \"###terminator###\": 1}\n",
		"app.ts":                 "class InTypeScript {}\n",
		"run.sh":                 "in_shell() { :; }\n",
		"mod.rb":                 "class InRuby\nend\n",
		"native.c":               "int in_c(void) { return 0; }\nint use(void) { return in_c(); }\n",
		"broken.py":              "\x00\xff(((((((\n",
		"sub/#include/deep er.c": "int in_deep(void) { return 0; }\n",
	} {
		writeTestFile(t, filepath.Join(dir, name), text, 0o644)
	}
	writeTestFile(t, filepath.Join(dir, "evil.sh"), script, 0o755)
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo.py"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, marker
}

func TestHostileTreeIsIndexedAndRunsNothing(t *testing.T) {
	set := installed(t)
	dir, marker := hostileTree(t)
	index := command{path: set.Gtags.Path, env: set.Env, dir: dir, timeout: time.Minute}.run(t.Context())
	if err := explain("gtags", index); err != nil {
		t.Fatal(err)
	}
	for _, symbol := range []string{"in_plain", "in_blank", "in_han", "in_quote", "in_latin", "inGo", "in_rust",
		"inJavaScript", "InTypeScript", "in_shell", "InRuby", "in_c", "in_deep"} {
		out, err := output(t.Context(), command{path: set.Global.Path, env: set.Env, dir: dir, args: []string{"-dx", symbol}})
		if err != nil || !strings.HasPrefix(out, symbol+" ") {
			t.Errorf("definition of %s: got %q, %v", symbol, out, err)
		}
	}
	if ran, err := os.ReadFile(marker); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the project's program ran: %q, %v", ran, err)
	}
}

// TestOrdinaryUser installs as nobody when the tests run as root; else every
// test of this package shows the same.
func TestOrdinaryUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		if set := installed(t); !set.complete() {
			t.Errorf("got %+v, want a complete set", set)
		}
		return
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "toolchain-nobody-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	exe := filepath.Join(dir, "install")
	info, err := os.Stat(helper(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := copyFile(exe, helper(t), info); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	if err := errors.Join(os.Mkdir(home, 0o700), os.Chmod(dir, 0o755), os.Chown(home, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	o := startInstall(t, exe, home, "yes", &syscall.Credential{Uid: nobody, Gid: nobody}).wait(t)
	if o.Set == nil || !o.Set.complete() || o.Set.Rung != RungDistro {
		t.Errorf("got %+v, want a complete set from the distribution", o)
	}
}

// oneInstallOfTen runs ten processes that install into one empty home.
func oneInstallOfTen(t *testing.T) {
	t.Helper()
	home := t.TempDir()
	var all []*installing
	for range 10 {
		all = append(all, startInstall(t, helper(t), home, "yes", nil))
	}
	installs := 0
	gtags := make(map[string]bool)
	for _, p := range all {
		o := p.wait(t)
		if o.Set == nil {
			t.Fatalf("one of ten failed: %s", o.Err)
		}
		if gtags[o.Set.Gtags.Path] = true; o.Set.Rung == RungDistro {
			installs++
		}
	}
	if generations, _ := os.ReadDir(filepath.Join(home, ".gtags-mcp", generationsDir)); len(generations) != 1 || installs != 1 || len(gtags) != 1 {
		t.Errorf("got %d installs, generations %v, sets %v; want one of each", installs, generations, gtags)
	}
	if _, err := os.Lstat(filepath.Join(home, ".gtags-mcp", lockHeldName)); err == nil {
		t.Error("the lock is still there")
	}
}

func TestTenProcessesEndInOneInstall(t *testing.T) {
	t.Parallel()
	oneInstallOfTen(t)
}

// TestKilledInstall kills an install at each of its steps: what was there stays,
// and the next install is good.
func TestKilledInstall(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	cfg := Config{Helper: helper(t), Environ: fromRepository(t, home)}.mustComplete(t)
	killAt := func(step, how string) {
		t.Helper()
		began := time.Now()
		p := startInstall(t, helper(t), home, how, nil)
		for {
			s := readState(cfg.Home)
			if s.Started.After(began) && strings.Contains(s.Step.Text, step) {
				break
			}
			if time.Since(began) > 2*time.Minute {
				t.Fatalf("the install never came to %q; it is at %+v", step, s)
			}
			time.Sleep(time.Millisecond)
		}
		p.cmd.Process.Kill()
		p.cmd.Wait()
	}
	for _, step := range []string{"package lists", "asking", "downloading", "unpacking", "proving"} {
		killAt(step, "yes")
		if set, _ := Locate(t.Context(), cfg); set != nil {
			t.Fatalf("killed while %s: got a set %+v", step, set)
		}
	}
	set, _, err := Install(t.Context(), cfg, nil)
	if err != nil || !set.complete() {
		t.Fatalf("install after the kills: %v", err)
	}
	if _, err := os.Stat(filepath.Join(cfg.Home, stagingDir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the staging folder is still there (%v)", err)
	}
	killAt("proving", "force")
	if old, report := Locate(t.Context(), cfg); old == nil || old.Gtags.Path != set.Gtags.Path {
		t.Errorf("killed while replacing it: got %+v, want the old set; %s", old, report)
	}
	if err := os.Truncate(set.Gtags.Path, 6000); err != nil {
		t.Fatal(err)
	}
	repaired, report, err := Install(t.Context(), cfg, nil)
	if err != nil || !repaired.complete() || !strings.Contains(report.String(), string(CauseTruncated)) {
		t.Errorf("damaged: got %+v, %v, want a new set and the damage in the report:\n%s", repaired, err, report)
	}
}

func TestNoNetworkIsAClearError(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	// Nothing listens on the discard port of this machine.
	environ := append(bareEnviron(t, home), "http_proxy=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9")
	set, report, err := Install(t.Context(), Config{Helper: helper(t), Environ: environ}, nil)
	var failed *InstallError
	if set != nil || !errors.As(err, &failed) {
		t.Fatalf("got %v, %v, want an InstallError", set, err)
	}
	for _, want := range []string{"distro: apt-get", "127.0.0.1", "network", "prebuilt: ", "Type: "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	if len(report.Rungs) != 6 {
		t.Errorf("got %d report lines, want one a rung and two for the two prebuilt sets:\n%s", len(report.Rungs), report)
	}
}
