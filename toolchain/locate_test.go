package toolchain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// wrapped puts scripts that start the installed gtags and global into dir, as a
// system without the rest of our toolchain would have them.
func wrapped(t *testing.T, dir string) {
	t.Helper()
	set := installed(t)
	for name, path := range map[string]string{"gtags": set.Gtags.Path, "global": set.Global.Path} {
		writeTestFile(t, filepath.Join(dir, name), "#!/bin/sh\nLD_LIBRARY_PATH='"+set.Gtags.libs+"' exec '"+path+"' \"$@\"\n", 0o755)
	}
}

// wrappedCtags does the same for ctags.
func wrappedCtags(t *testing.T, path string) {
	t.Helper()
	set := installed(t)
	writeTestFile(t, path, "#!/bin/sh\nLD_LIBRARY_PATH='"+set.Ctags.libs+"' exec '"+set.Ctags.Path+"' \"$@\"\n", 0o755)
}

func TestLocateRejectsWithAReason(t *testing.T) {
	good := map[string]string{"gtags": "* out gtags (GNU Global) 6.6.9", "global": "* out global (GNU Global) 6.6.9"}
	tests := []struct {
		name  string
		fakes map[string]string
		path  string // the candidate that must be named
		want  string
	}{
		{"another program", map[string]string{"gtags": "* out gtags 0.1: genome tags"}, "gtags", "another program"},
		{"alone", map[string]string{"gtags": good["gtags"]}, "gtags", "no global beside it"},
		{"versions differ", map[string]string{"gtags": good["gtags"], "global": "* out global (GNU Global) 6.6.14"}, "gtags", "6.6.14"},
		{"too old", map[string]string{"gtags": "* out gtags (GNU GLOBAL) 5.9", "global": "* out global (GNU GLOBAL) 5.9"}, "gtags", "older than"},
		{"broken", map[string]string{"gtags": "* err no such thing\n* exit 9"}, "gtags", "exit status 9: no such thing"},
		{"loses names", good, "", "a definition in C was not found"},
		{"Exuberant Ctags", with(good, "ctags", "--version out Exuberant Ctags 5.8, Copyright (C) 1996-2009"), "ctags", "Exuberant Ctags; Universal Ctags"},
		{"Emacs", with(good, "ctags", "--version out ctags (GNU Emacs 28.2)"), "ctags", "the ctags of Emacs"},
		{"BSD", with(good, "ctags", "* err ctags: illegal option -- -\n* exit 1"), "ctags", "illegal option"},
		{"no JSON", with(good, "ctags-universal", "--version out Universal Ctags 6.1.0(abc), Copyright\n--list-features out interactive"), "ctags-universal", "without json"},
		{"no end", with(good, "ctags", "--version out Universal Ctags 6.1.0, Copyright\n--list-features out json\n--list-features out interactive\n"+
			"--list-maps out Python *.py\n"+ctagsFields+" out {\"_type\":\"completed\"}"), "ctags", "did not report the end"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home, bin := t.TempDir(), t.TempDir()
			for name, script := range tt.fakes {
				fake(t, filepath.Join(bin, name), script)
			}
			set, report := Locate(t.Context(), Config{Helper: helper(t), Environ: []string{"HOME=" + home, "PATH=" + bin}})
			if set != nil {
				t.Fatalf("got %+v, want no set", set)
			}
			if tt.path == "" {
				if text := report.String(); !strings.Contains(text, tt.want) {
					t.Errorf("report lacks %q:\n%s", tt.want, text)
				}
				return
			}
			for _, f := range report.Findings {
				if f.Path == filepath.Join(bin, tt.path) && strings.Contains(f.Reason, tt.want) {
					return
				}
			}
			t.Errorf("no finding on %s says %q: %+v", tt.path, tt.want, report.Findings)
		})
	}
}

func with(m map[string]string, key, value string) map[string]string {
	out := map[string]string{key: value}
	for k, v := range m {
		out[k] = v
	}
	return out
}

func TestLocateSystem(t *testing.T) {
	tests := []struct {
		name    string
		arrange func(t *testing.T, home, bin string)
		change  func(*Config)
		label   string
		missing string // "" demands a complete set
	}{
		{"in ~/.local/bin, no ctags", func(t *testing.T, home, bin string) {
			wrapped(t, filepath.Join(home, ".local", "bin"))
		}, nil, LabelNative, "Universal Ctags"},
		{"no ctags wanted", func(t *testing.T, home, bin string) {
			wrapped(t, bin)
		}, func(c *Config) { c.NoCtags = true }, LabelNative, ""},
		{"Exuberant before Universal", func(t *testing.T, home, bin string) {
			wrapped(t, bin)
			fake(t, filepath.Join(bin, "ctags"), "--version out Exuberant Ctags 5.8")
			wrappedCtags(t, filepath.Join(home, ".local", "bin", "ctags"))
			linkPlugins(t, bin)
		}, nil, LabelCtags, ""},
		{"without the plugin", func(t *testing.T, home, bin string) {
			wrapped(t, bin)
			wrappedCtags(t, filepath.Join(bin, "ctags-universal"))
		}, nil, LabelNative, "languages beyond the native ones: functional proof with label native-ctags"},
		{"no helper wanted", func(t *testing.T, home, bin string) {
			wrapped(t, bin)
			wrappedCtags(t, filepath.Join(bin, "ctags"))
		}, func(c *Config) { c.Helper = "" }, LabelNative, ""},
		{"with a helper that is something else", func(t *testing.T, home, bin string) {
			wrapped(t, bin)
			wrappedCtags(t, filepath.Join(bin, "ctags"))
			linkPlugins(t, bin)
		}, func(c *Config) { c.Helper = "/bin/true" }, LabelNative, "/bin/true: it is no parser helper"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home, bin := t.TempDir(), filepath.Join(t.TempDir(), "bin")
			tt.arrange(t, home, bin)
			cfg := Config{Helper: helper(t), Environ: []string{"HOME=" + home, "PATH=" + bin}}
			if tt.change != nil {
				tt.change(&cfg)
			}
			set, report := Locate(t.Context(), cfg)
			if set == nil || set.Rung != RungSystem || set.Label != tt.label {
				t.Fatalf("got %+v, want a system set with label %s; report:\n%s%+v", set, tt.label, report, report.Findings)
			}
			if missing := strings.Join(set.Missing, "; "); (tt.missing == "") != set.complete() || !strings.Contains(missing, tt.missing) {
				t.Errorf("missing: got %q, want %q", missing, tt.missing)
			}
		})
	}
}

// linkPlugins gives the scripts in bin the plugins of the installed gtags.
func linkPlugins(t *testing.T, bin string) {
	t.Helper()
	lib := filepath.Join(filepath.Dir(bin), "lib")
	if err := os.MkdirAll(lib, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(installed(t).Gtags.libs, "gtags"), filepath.Join(lib, "gtags")); err != nil {
		t.Fatal(err)
	}
}

func TestBinDirComesFirst(t *testing.T) {
	set := installed(t)
	bin := t.TempDir()
	wrapped(t, bin)
	cfg := Config{Home: set.Home, Helper: helper(t), BinDir: bin, NoCtags: true, Environ: []string{"PATH="}}
	got, report := Locate(t.Context(), cfg)
	if got == nil || got.Rung != RungBinDir || filepath.Dir(got.Gtags.Path) != bin {
		t.Errorf("got %+v, want the set in bin_dir; report:\n%s", got, report)
	}
	cfg.BinDir = t.TempDir()
	got, report = Locate(t.Context(), cfg)
	if got == nil || got.Rung != RungManaged || !strings.Contains(report.String(), RungBinDir) {
		t.Errorf("empty bin_dir: got %+v, want the managed set and a line on bin_dir; report:\n%s", got, report)
	}
}

func TestRelativePathEntriesAreNotSearched(t *testing.T) {
	t.Chdir(t.TempDir())
	fake(t, "gtags", "* out gtags (GNU Global) 6.6.9")
	_, report := Locate(t.Context(), Config{Environ: []string{"HOME=" + t.TempDir(), "PATH=.::bin"}})
	if len(report.Findings) != 0 {
		t.Errorf("a program of the working directory was looked at: %+v", report.Findings)
	}
}

func TestBadSettings(t *testing.T) {
	for _, tt := range []struct {
		cfg  Config
		want string
	}{
		{Config{Environ: []string{}}, "HOME is not set"},
		{Config{Home: "/a:b"}, "colon"},
		{Config{Home: "/a", Label: "pygments"}, `unknown label "pygments"`},
		{Config{Home: "/a", Rung: "lift"}, `unknown rung "lift"`},
		{Config{Home: "/proc/no/such"}, "managed folder /proc/no/such cannot be used"},
	} {
		if _, _, err := Install(t.Context(), tt.cfg, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got %v, want an error with %q", tt.cfg, err, tt.want)
		}
	}
}

func TestDamagedProofCacheIsEmpty(t *testing.T) {
	home := t.TempDir()
	c := openProofCache(home)
	c.put("k", probed{Version: "1"})
	if err := c.save(); err != nil {
		t.Fatal(err)
	}
	var got probed
	if !openProofCache(home).get("k", &got) || got.Version != "1" {
		t.Errorf("got %+v, want what was saved", got)
	}
	writeTestFile(t, c.path, `{"k": {"vers`, 0o644)
	if openProofCache(home).get("k", &got) {
		t.Error("half a cache still answers")
	}
}

func TestIdentityChangesWithTheFile(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "program"), filepath.Join(dir, "link")
	writeTestFile(t, path, "one", 0o755)
	if err := os.Symlink("program", link); err != nil {
		t.Fatal(err)
	}
	before := identity(link)
	writeTestFile(t, filepath.Join(dir, "new"), "other content", 0o755)
	if err := os.Rename(filepath.Join(dir, "new"), path); err != nil {
		t.Fatal(err)
	}
	if after := identity(link); after == before {
		t.Errorf("identity is still %q after its target was replaced", after)
	}
}

func TestPublishNeverReplaces(t *testing.T) {
	c := Config{Home: t.TempDir()}.mustComplete(t)
	var roots []string
	var undoLast func() error
	for range 2 {
		staged, err := c.stage("test")
		if err != nil {
			t.Fatal(err)
		}
		root, undo, err := c.publish(staged, "1.0-abc")
		if err != nil {
			t.Fatal(err)
		}
		undoLast = undo
		if now, err := c.current(); err != nil || now != root {
			t.Errorf("current is %q, %v, want %q", now, err, root)
		}
		roots = append(roots, root)
	}
	if roots[0] == roots[1] {
		t.Errorf("both generations are called %s", roots[0])
	}
	if _, err := os.Stat(roots[0]); err != nil {
		t.Errorf("the first generation is gone: %v", err)
	}
	if err := undoLast(); err != nil {
		t.Fatal(err)
	}
	if now, err := c.current(); err != nil || now != roots[0] {
		t.Errorf("after undo current is %q, %v, want %q", now, err, roots[0])
	}
	link := filepath.Join(c.Home, currentName)
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", link); err != nil {
		t.Fatal(err)
	}
	if root, err := c.current(); err == nil {
		t.Errorf("a link out of the generations was followed to %s", root)
	}
}

func TestHelperOutlivesItsExecutable(t *testing.T) {
	home, exe := t.TempDir(), filepath.Join(t.TempDir(), "program")
	put := func(age time.Duration) {
		t.Helper()
		info, err := os.Stat(helper(t))
		if err == nil {
			err = copyFile(exe, helper(t), info)
		}
		if err == nil {
			err = os.Chtimes(exe, time.Time{}, time.Now().Add(-age))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	published := func() os.FileInfo {
		t.Helper()
		path, err := publishHelper(t.Context(), home, exe)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	put(2 * time.Hour)
	first := published()
	if err := os.Remove(exe); err != nil {
		t.Fatal(err)
	}
	if got := published(); !os.SameFile(got, first) {
		t.Error("executable removed: the published helper changed")
	}
	put(time.Hour)
	second := published()
	if os.SameFile(second, first) {
		t.Error("executable replaced: the helper is still the old one")
	}
	if _, err := publishHelper(t.Context(), home, "/bin/true"); err == nil || !strings.Contains(err.Error(), "no parser helper") {
		t.Errorf("/bin/true: got %v, want a refusal", err)
	}
	if got := published(); !os.SameFile(got, second) {
		t.Error("a program that is no helper replaced the helper")
	}
}

func TestFindPython(t *testing.T) {
	set := installed(t)
	for _, tt := range []struct{ name, script, want string }{
		{"no pygments", "* out /bin/sh\n* out 3.11.0", "no pygments"},
		{"not python", "* out hello", `it says "hello"`},
		{"broken", "* err shim: no version is set\n* exit 127", "no version is set"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bin := t.TempDir()
			fake(t, filepath.Join(bin, "python3"), strings.ReplaceAll(tt.script, "/bin/sh", filepath.Join(bin, "python3")))
			_, err := probePython(t.Context(), Config{Environ: []string{}, Home: set.Home}.mustComplete(t), filepath.Join(bin, "python3"), "")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
	// A shim that starts the real interpreter elsewhere, which finds Pygments in
	// the managed home only.
	bin := t.TempDir()
	real := fake(t, filepath.Join(bin, "real"), "* out "+filepath.Join(bin, "real")+"\n* out 3.11.0\n* out 2.14.0")
	shim := fake(t, filepath.Join(bin, "python3"), "* out "+real+"\n* out 3.11.0")
	py, err := FindPython(t.Context(), Config{Home: set.Home, Environ: []string{"PATH=" + filepath.Dir(shim)}})
	if err != nil || py.Path != real || py.Pygments != "2.14.0" {
		t.Errorf("got %+v, %v, want the interpreter behind the shim", py, err)
	}
}

func TestDoctorAndPlan(t *testing.T) {
	set := installed(t)
	levels := func(cfg Config) map[string]Level {
		got := make(map[string]Level)
		for _, c := range Doctor(t.Context(), cfg) {
			if c.Detail == "" {
				t.Errorf("check %s says nothing", c.Name)
			}
			got[c.Name] = c.Level
		}
		return got
	}
	good := Config{Home: set.Home, Helper: helper(t), Environ: bareEnviron(t, t.TempDir())}
	if got := levels(good); got["gtags"] != LevelOK || got["ctags"] != LevelOK || got["home"] != LevelOK || got["packages"] != LevelOK {
		t.Errorf("installed: got %v", got)
	}
	plan, err := Plan(t.Context(), good)
	if err != nil || len(plan.Rungs) != 1 || !plan.Rungs[0].OK {
		t.Errorf("plan when installed: got %+v, %v, want the managed rung alone", plan, err)
	}
	home := filepath.Join(t.TempDir(), "none")
	none := Config{Home: home, Helper: helper(t), Environ: bareEnviron(t, t.TempDir())}
	if got := levels(none); got["gtags"] != LevelFail {
		t.Errorf("nothing there: got %v, want gtags to fail", got)
	}
	plan, err = Plan(t.Context(), none)
	if last := plan.Rungs[len(plan.Rungs)-1]; err != nil || !last.OK || last.Rung != RungDistro || plan.Hint != "" {
		t.Errorf("plan when nothing is there: got %+v, %v, want the distribution's packages", plan, err)
	}
	if _, err := os.Stat(home); !os.IsNotExist(err) {
		t.Errorf("doctor or plan made %s (%v)", home, err)
	}
}

// A program that failed for a passing reason is tried again; one that is another
// program is not.
func TestOnlyLastingProbesAreRemembered(t *testing.T) {
	home, bin := t.TempDir(), t.TempDir()
	gtags := filepath.Join(bin, "gtags")
	reason := func() string {
		t.Helper()
		_, report := Locate(t.Context(), Config{Home: home, Environ: []string{"PATH=" + bin}})
		if len(report.Findings) != 1 {
			t.Fatalf("got findings %+v, want one", report.Findings)
		}
		return report.Findings[0].Reason
	}
	fake(t, gtags, "* err out of memory\n* exit 1")
	first := reason()
	writeTestFile(t, gtags+fakeSuffix, "* out gtags of another kind", 0o644)
	second := reason()
	writeTestFile(t, gtags+fakeSuffix, "* out gtags (GNU Global) 6.6.9", 0o644)
	if third := reason(); first == second || third != second {
		t.Errorf("got %q, then %q, then %q; want the second kept and the first not", first, second, third)
	}
}
