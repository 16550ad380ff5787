package toolchain

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch"
	"github.com/gtagsmcp/gtagsmcp/toolchain/fetch/releasetest"
)

// withVersion is cfg with a release of another version, of the same archive.
func withVersion(server *releasetest.Server, cfg Config, archive []byte, version string) Config {
	locked := *cfg.pins
	locked.Version, locked.Tag = version, "toolchain-"+version
	assets := make(map[string][]byte)
	for _, a := range locked.Assets {
		assets[a.Name] = archive
	}
	server.Add(releasetest.Release{Repo: locked.Repository, Tag: locked.Tag, Assets: assets})
	cfg.pins = &locked
	return cfg
}

func presentGeneration(t *testing.T, cfg Config) string {
	t.Helper()
	root, err := cfg.mustComplete(t).current()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Base(root)
}

func TestFollowAndRollback(t *testing.T) {
	t.Parallel()
	good := packed(t, nil)
	server, one := released(t, good, good)
	first, _, err := Install(t.Context(), one, nil)
	if err != nil {
		t.Fatal(err)
	}
	old := presentGeneration(t, one)
	if why, _ := Behind(one); why != "" {
		t.Errorf("as pinned: Behind says %q", why)
	}
	if set, _, err := Follow(t.Context(), one, nil); set != nil || err != nil {
		t.Errorf("as pinned: Follow gave %+v, %v", set, err)
	}

	two := withVersion(server, one, good, "6.6.15-1")
	broken, fine := two, two
	broken.Environ = append(slices.Clone(two.Environ), fetch.EnvMirror+"=http://127.0.0.1:9")
	set, report, err := Follow(t.Context(), broken, nil)
	var failed *InstallError
	if set != nil || !errors.As(err, &failed) || len(report.Rungs) != 2 || presentGeneration(t, one) != old {
		t.Errorf("unreachable: got %+v, %v, and %s is current", set, err, presentGeneration(t, one))
	}
	why, tried := Behind(fine)
	if !strings.Contains(why, old) || !strings.Contains(why, "toolchain-6.6.15-1") || time.Since(tried) > time.Minute {
		t.Errorf("unreachable: Behind says %q, tried %v", why, tried)
	}

	set, report, err = Follow(t.Context(), fine, nil)
	if err != nil || set.Rung != RungPrebuilt || !strings.HasPrefix(presentGeneration(t, one), "6.6.15-1-") {
		t.Fatalf("got %+v, %v, and %s is current; report:\n%s", set, err, presentGeneration(t, one), report)
	}
	if !exists(first.Gtags.Path) {
		t.Error("the first set is gone while it is in use")
	}

	back, err := Rollback(t.Context(), fine, nil)
	if err != nil || back.Gtags.Path != first.Gtags.Path || back.Ctags.Path != first.Ctags.Path || presentGeneration(t, one) != old {
		t.Fatalf("rollback: got %+v, %v, and %s is current", back, err, presentGeneration(t, one))
	}
	if why, _ := Behind(fine); why != "" {
		t.Errorf("rolled back: Behind says %q", why)
	}
	three := withVersion(server, one, good, "6.6.16-1")
	if why, _ := Behind(three); !strings.Contains(why, "toolchain-6.6.16-1") {
		t.Errorf("rolled back, a newer version: Behind says %q", why)
	}
	forth, err := Rollback(t.Context(), fine, nil)
	if err != nil || forth.Gtags.Path != set.Gtags.Path {
		t.Errorf("second rollback: got %+v, %v, want what was left", forth, err)
	}
}

// A set that the user chose is not replaced; the distribution's, to which the
// ladder fell, is, as soon as the release can be reached.
func TestFollowFromOtherRungs(t *testing.T) {
	t.Parallel()
	good := packed(t, nil)
	_, cfg := released(t, good, good)
	away := cfg
	away.Environ = append(slices.Clone(cfg.Environ), fetch.EnvMirror+"=http://127.0.0.1:9")
	if set, report, err := Install(t.Context(), away, nil); err != nil || set.Rung != RungDistro {
		t.Fatalf("got %+v, %v, want the distribution's; report:\n%s", set, err, report)
	}
	if set, _, err := Follow(t.Context(), cfg, nil); err != nil || set == nil || set.Rung != RungPrebuilt {
		t.Errorf("got %+v, %v, want the pinned set", set, err)
	}
	away.Rung = RungDistro
	if _, _, err := Install(t.Context(), away, nil); err != nil {
		t.Fatal(err)
	}
	if why, _ := Behind(cfg); why != "" {
		t.Errorf("chosen: Behind says %q", why)
	}
	if _, err := Rollback(t.Context(), cfg, nil); err != nil {
		t.Errorf("rollback of a choice: %v", err)
	}
}

func TestRollbackNeedsAnEarlierToolchain(t *testing.T) {
	cfg := Config{Home: t.TempDir(), Environ: []string{}}
	if _, err := Rollback(t.Context(), cfg, nil); err == nil || !strings.Contains(err.Error(), "keeps no toolchain before") {
		t.Errorf("got %v", err)
	}
}

// TestSweepKeepsWhatIsUsed: an old generation goes when no process holds it and
// none took it lately.
func TestSweepKeepsWhatIsUsed(t *testing.T) {
	c := Config{Home: t.TempDir()}.mustComplete(t)
	long := time.Now().Add(-2 * unusedAfter)
	for _, name := range []string{"now", "before", "held", "fresh", "idle"} {
		root := filepath.Join(c.Home, generationsDir, name)
		writeTestFile(t, filepath.Join(root, "bin", "gtags"), "x", 0o755)
		if err := os.Chtimes(root, long, long); err != nil {
			t.Fatal(err)
		}
	}
	path := func(name string) string { return filepath.Join(c.Home, generationsDir, name, "bin", "gtags") }
	if err := errors.Join(c.point(currentName, "toolchains/now"), c.point(previousName, "toolchains/before")); err != nil {
		t.Fatal(err)
	}
	held, fresh := c.use(&Program{Path: path("held")}), c.use(&Program{Path: path("fresh")})
	if held == nil || fresh == nil {
		t.Fatal("a managed program is not marked as used")
	}
	if got := c.use(&Program{Path: "/usr/bin/gtags"}); got != nil {
		t.Error("a program of the system was marked")
	}
	fresh.Close()
	if err := os.Chtimes(filepath.Join(c.Home, generationsDir, "held"), long, long); err != nil {
		t.Fatal(err)
	}
	left := func() (names []string) {
		if err := c.sweep(); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(filepath.Join(c.Home, generationsDir))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	if got := left(); !slices.Equal(got, []string{"before", "fresh", "held", "now"}) {
		t.Errorf("got %v, want all but the idle one", got)
	}
	held.Close()
	if got := left(); !slices.Equal(got, []string{"before", "fresh", "now"}) {
		t.Errorf("got %v after the holder ended", got)
	}
	if exists(filepath.Join(c.Home, stagingDir)) {
		t.Error("the sweep left its staging folder")
	}
}

// A Set that nobody can reach any more gives its generation free.
func TestCollectedSetIsNotInUse(t *testing.T) {
	c := Config{Home: t.TempDir()}.mustComplete(t)
	root := filepath.Join(c.Home, generationsDir, "one")
	writeTestFile(t, filepath.Join(root, "bin", "gtags"), "x", 0o755)
	set := &Set{uses: []*os.File{c.use(&Program{Path: filepath.Join(root, "bin", "gtags")})}}
	if !inUse(root) {
		t.Error("not in use while there is a set")
	}
	runtime.KeepAlive(set)
	set = nil
	for deadline := time.Now().Add(10 * time.Second); inUse(root); time.Sleep(time.Millisecond) {
		if runtime.GC(); time.Now().After(deadline) {
			t.Fatal("still in use after the set is gone")
		}
	}
}

func TestUninstall(t *testing.T) {
	t.Parallel()
	good := packed(t, nil)
	_, cfg := released(t, good, good)
	cfg = cfg.mustComplete(t)
	if _, err := Uninstall(t.Context(), cfg, nil); err == nil || !strings.Contains(err.Error(), "nothing to uninstall") {
		t.Errorf("no home: %v", err)
	}
	set, _, err := Install(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	foreign := []string{"notes.txt", "conf/mine.conf", "cache/mine", "toolchains/mine/file", "index/x"}
	for _, name := range foreign {
		writeTestFile(t, filepath.Join(cfg.Home, name), "the user's", 0o644)
	}
	if _, err := Uninstall(t.Context(), cfg, nil); err == nil || !strings.Contains(err.Error(), "used by a running process") {
		t.Errorf("in use: %v", err)
	}
	runtime.KeepAlive(set)
	cfg.Force = true
	r, err := Uninstall(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range foreign {
		if !exists(filepath.Join(cfg.Home, name)) {
			t.Errorf("%s was removed", name)
		}
	}
	if want := []string{"cache", "conf", "index", "notes.txt", "toolchains"}; len(r.Left) != len(want) {
		t.Errorf("left %v, want %v", r.Left, want)
	}
	if set, _ := Locate(t.Context(), cfg); set != nil {
		t.Errorf("located %+v after uninstalling", set)
	}
	// What is left is no managed home; without the user's files nothing is left.
	for _, dir := range []string{"libexec", "conf", "cache"} { // Locate writes its configuration anew
		os.RemoveAll(filepath.Join(cfg.Home, dir))
	}
	if _, err := Uninstall(t.Context(), cfg, nil); err == nil || !strings.Contains(err.Error(), "is not a managed folder") {
		t.Errorf("again: %v", err)
	}
}

func TestUninstallLeavesNothing(t *testing.T) {
	t.Parallel()
	good := packed(t, nil)
	_, cfg := released(t, good, good)
	cfg = cfg.mustComplete(t)
	for range 2 {
		cfg.Force = true
		if _, _, err := Install(t.Context(), cfg, nil); err != nil {
			t.Fatal(err)
		}
	}
	writeTestFile(t, filepath.Join(cfg.Home, sourcesDir, "global-6.6.14.tar.gz"), "x", 0o644)
	writeTestFile(t, filepath.Join(cfg.Home, sourceLogName), "x", 0o644)
	r, err := Uninstall(t.Context(), cfg, nil)
	if err != nil || len(r.Left) != 0 {
		t.Errorf("left %v, %v", r.Left, err)
	}
	if _, err := os.Lstat(cfg.Home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the home is still there: %v", err)
	}
}

func TestUninstallRefusesOtherFolders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"cache/proofs.json", "staging/x", "conf/0123456789abcdef.conf", "current"} {
		writeTestFile(t, filepath.Join(dir, name), "x", 0o644)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ home, want string }{
		{dir, "is not a managed folder"}, {link, "not a folder of ours"}, {"/", "not for the toolchain alone"},
		{filepath.Join(dir, "current"), "not a folder of ours"},
	} {
		if _, err := Uninstall(t.Context(), Config{Home: tt.home, Environ: []string{}}, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.home, err, tt.want)
		}
	}
	if !exists(filepath.Join(dir, "staging/x")) {
		t.Error("something was removed")
	}
}
