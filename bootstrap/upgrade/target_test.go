package upgrade

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary be a program that runs while it is replaced, and
// one that looks at a target with another user's eyes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "wait-for-end":
			_, err := io.Copy(io.Discard, os.Stdin)
			os.Exit(map[bool]int{true: 0, false: 1}[err == nil])
		case "check-target":
			fmt.Println(checkTarget(context.Background(), os.Args[2]))
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

func contextAfter(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}

func wantRefusal(t *testing.T, err error, target, why, typed string) {
	t.Helper()
	var r *Refusal
	if !errors.As(err, &r) || r.Target != target || !strings.Contains(r.Why, why) || !strings.Contains(r.Type, typed) {
		t.Errorf("%v; want a refusal that says %q and to type %q", err, why, typed)
	}
}

func TestSymlinkIsRefused(t *testing.T) {
	w := newWorld(t)
	w.good("v1.1.0")
	link := filepath.Join(t.TempDir(), "gtags mcp")
	if err := os.Symlink(w.target, link); err != nil {
		t.Fatal(err)
	}
	o := w.options()
	o.Target = link
	_, err := Run(t.Context(), o)
	wantRefusal(t, err, link, "symbolic link to "+w.target, w.target+" upgrade")
	_, err = Rollback(t.Context(), o)
	wantRefusal(t, err, link, "symbolic link", "upgrade")
	w.wantProgram("v1.0.0")
	if n := len(w.server.Requests()); n != 0 {
		t.Errorf("%d requests for a target that is refused", n)
	}
}

// TestSymlinkedFolder: only a link in place of the file itself is somebody's
// decision about this program.
func TestSymlinkedFolder(t *testing.T) {
	w := newWorld(t)
	w.good("v1.1.0")
	link := filepath.Join(t.TempDir(), "bin")
	if err := os.Symlink(w.dir, link); err != nil {
		t.Fatal(err)
	}
	o := w.options()
	o.Target = filepath.Join(link, "gtagsmcp")
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	w.wantProgram("v1.1.0")
}

func TestForeign(t *testing.T) {
	for _, c := range []struct {
		owner, self int
		want        string
	}{{0, 0, ""}, {1000, 0, ""}, {1000, 1000, ""}, {0, 1000, "sudo /x/gtagsmcp upgrade"}, {987654, 1000, "sudo -u 987654 /x/gtagsmcp upgrade"}} {
		err := foreign("/x/gtagsmcp", c.owner, c.self)
		if c.want == "" && err != nil {
			t.Errorf("%+v: %v", c, err)
		} else if c.want != "" {
			wantRefusal(t, err, "/x/gtagsmcp", "belongs to", c.want)
		}
	}
}

// TestReadOnlyFolder looks with the eyes of a user to whom modes apply: root's
// test runs become nobody for it.
func TestReadOnlyFolder(t *testing.T) {
	open := t.TempDir()
	for dir := open; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			break // not ours: it was made for everybody
		}
	}
	looker, dir := filepath.Join(open, "looker"), filepath.Join(open, "bin")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(dir, "gtagsmcp")
	if err := errors.Join(copyFile(self, looker), os.Mkdir(dir, 0o755), os.WriteFile(target, []byte(script("v1.0.0")), 0o755)); err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	root := os.Geteuid() == 0
	look := func() string {
		cmd := exec.CommandContext(t.Context(), looker, "check-target", target)
		if root {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if root {
		if got := look(); !strings.Contains(got, "belongs to root") || !strings.Contains(got, "sudo "+target+" upgrade") {
			t.Errorf("root's file: %s", got)
		}
		if err := os.Chown(target, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o755) })
	if got := look(); !strings.Contains(got, "may not write to") || !strings.Contains(got, "sudo "+target+" upgrade") {
		t.Errorf("a folder that cannot be written to: %s", got)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if got := look(); got != "<nil>\n" {
		t.Errorf("a folder that can be written to: %s", got)
	}
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	return errors.Join(err, os.WriteFile(to, content, 0o755))
}

// TestPackaged asks stand-ins for the package managers, which answer as the real
// ones do: a PATH holds them alone.
func TestPackaged(t *testing.T) {
	target := filepath.Join(t.TempDir(), "gtagsmcp")
	if err := os.WriteFile(target, []byte(script("v1.0.0")), 0o755); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(target)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ tool, script, why, typed string }{
		"dpkg":            {"dpkg", `[ "$1" = -S ] && echo "gtagsmcp: $2"`, "package gtagsmcp", "apt-get install --only-upgrade gtagsmcp"},
		"dpkg, with arch": {"dpkg", `echo "diversion by dash from: $2"; echo "code-tools:amd64, other: $2"`, "package code-tools:amd64", "--only-upgrade code-tools:amd64"},
		"dpkg, nobody's":  {"dpkg", `echo "dpkg-query: no path found matching pattern $2" >&2; exit 1`, "", ""},
		"dpkg, pattern":   {"dpkg", `echo "other: $2-else"`, "", ""},
		"rpm":             {"rpm", `[ "$1" = -qf ] && echo gtagsmcp`, "installed by rpm", "dnf upgrade gtagsmcp"},
		"rpm, nobody's":   {"rpm", `echo "file $4 is not owned by any package"; exit 1`, "", ""},
		"pacman":          {"pacman", `[ "$1" = -Qqo ] && echo gtagsmcp-bin`, "installed by pacman", "pacman -Syu gtagsmcp-bin"},
		"none":            {"sh", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			if err := os.WriteFile(filepath.Join(bin, c.tool), []byte("#!/bin/sh\n"+c.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", bin)
			err := checkTarget(t.Context(), target)
			if c.why == "" && err != nil {
				t.Errorf("refused: %v", err)
			} else if c.why != "" {
				wantRefusal(t, err, target, c.why, c.typed)
			}
		})
	}
	for path, want := range map[string]string{
		"/nix/store/abc-gtagsmcp-1.0/bin/gtagsmcp":         "nix profile upgrade gtagsmcp",
		"/opt/homebrew/Cellar/gtagsmcp/1.0.0/bin/gtagsmcp": "brew upgrade gtagsmcp",
		"/snap/gtagsmcp/12/bin/gtagsmcp":                   "snap refresh gtagsmcp",
		"/gnu/store/abc-gtagsmcp-1.0/bin/gtagsmcp":         "guix upgrade gtagsmcp",
	} {
		wantRefusal(t, packaged(t.Context(), "/usr/local/bin/gtagsmcp", path), "/usr/local/bin/gtagsmcp", "was installed by", want)
	}
	t.Setenv("PATH", t.TempDir())
	if err := packaged(t.Context(), real, "/home/me/snap/nix/store/gtagsmcp"); err != nil {
		t.Errorf("a folder of one's own: %v", err)
	}
}

func TestQuoted(t *testing.T) {
	for path, want := range map[string]string{"/a/b-c_d.e": "/a/b-c_d.e", "/a b/c": "'/a b/c'", "/it's": `'/it'\''s'`} {
		if got := quoted(path); got != want {
			t.Errorf("quoted(%q) = %s, want %s", path, got, want)
		}
	}
}
