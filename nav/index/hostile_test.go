package index

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

// git runs git in dir as its owner would.
func ownersGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@invalid"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// TestGitRunsNothingOfTheRepository compares trees whose configuration names a
// program in every place that git would run one from.
func TestGitRunsNothingOfTheRepository(t *testing.T) {
	for _, test := range []struct {
		name       string
		config     [][2]string
		attributes string
	}{
		{"clean filter", [][2]string{{"filter.x.clean", "RUN"}, {"filter.x.required", "true"}}, "*.c filter=x\n"},
		{"filter process", [][2]string{{"filter.x.process", "RUN"}}, "*.c filter=x\n"},
		{"filter with an equals sign in its name", [][2]string{{"filter.a=b.clean", "RUN"}}, "*.c filter=a=b\n"},
		{"filter of another case", [][2]string{{"FILTER.X.Clean", "RUN"}}, "*.c filter=X\n"},
		{"external diff", [][2]string{{"diff.external", "RUN"}}, ""},
		{"diff driver", [][2]string{{"diff.x.command", "RUN"}}, "*.c diff=x\n"},
		{"textconv", [][2]string{{"diff.x.textconv", "RUN"}}, "*.c diff=x\n"},
		{"fsmonitor", [][2]string{{"core.fsmonitor", "RUN"}}, ""},
		{"pager", [][2]string{{"core.pager", "RUN"}, {"pager.diff", "RUN"}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := navtest.Tree(t, "-- a.c --\nint a;\n")
			ownersGit(t, root, "add", "-A")
			ownersGit(t, root, "commit", "-qm", "x")
			ran := filepath.Join(t.TempDir(), "ran")
			program := filepath.Join(t.TempDir(), "program")
			if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+ran+"\ncat\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, setting := range test.config {
				value := setting[1]
				if value == "RUN" {
					value = program
				}
				ownersGit(t, root, "config", setting[0], value)
			}
			navtest.Write(t, root, ".gitattributes", test.attributes)
			navtest.Write(t, root, "a.c", "int a;\nint b;\n")
			out, err := GitDiff(t.Context(), root, "--no-ext-diff", "--no-textconv", "HEAD", "--")
			if err != nil || len(out) == 0 {
				t.Errorf("got %q, %v", out, err)
			}
			if _, err := Git(t.Context(), root, "ls-files", "-z", "-s", "-c", "-o", "--exclude-standard"); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(ran); err == nil {
				t.Error("the repository's program was run")
			}
			// The trap works: without our settings, git runs the program.
			if cmd := exec.Command("git", "-c", "core.pager=cat", "diff", "HEAD"); test.name == "clean filter" {
				cmd.Dir = root
				cmd.Run()
				if _, err := os.Lstat(ran); err != nil {
					t.Error("git itself does not run the program either")
				}
			}
		})
	}
}

// TestGitFetchesNothing asks for an object that a repository only promises, from
// a place that is a command.
func TestGitFetchesNothing(t *testing.T) {
	root := navtest.Tree(t, "-- a.c --\nint a;\n")
	ownersGit(t, root, "add", "-A")
	ownersGit(t, root, "commit", "-qm", "x")
	ran := filepath.Join(t.TempDir(), "ran")
	for _, setting := range [][2]string{
		{"core.repositoryformatversion", "1"}, {"extensions.partialClone", "origin"}, {"remote.origin.promisor", "true"},
		{"remote.origin.url", "ext::sh -c touch% " + ran}, {"protocol.ext.allow", "always"},
		{"remote.origin.uploadpack", "touch " + ran}, {"protocol.file.allow", "always"},
	} {
		ownersGit(t, root, "config", setting[0], setting[1])
	}
	if err := os.RemoveAll(filepath.Join(root, ".git", "objects")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, ".git", "objects"), 0o755); err != nil {
		t.Fatal(err)
	}
	navtest.Write(t, root, "a.c", "int b;\n")
	if out, err := GitDiff(t.Context(), root, "HEAD", "--"); err == nil {
		t.Errorf("got %q without the objects", out)
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("the repository's program was run")
	}
}

// TestIndexFolderOfAStranger opens trees that bring an index folder with links
// and pipes in it: nothing outside is written or read, and nothing hangs.
func TestIndexFolderOfAStranger(t *testing.T) {
	t.Run("locks that are links", func(t *testing.T) {
		dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
		if err := os.WriteFile(victim, []byte("precious"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(victim, filepath.Join(dir, lockName)); err != nil {
			t.Fatal(err)
		}
		if l, err := tryLock(dir, lockName); err == nil {
			l.unlock()
			t.Error("the link was taken for a lock")
		}
		if text, err := os.ReadFile(victim); err != nil || string(text) != "precious" {
			t.Errorf("the file it leads to has %q, %v", text, err)
		}
	})
	t.Run("a temporary file that is a link", func(t *testing.T) {
		dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
		if err := os.WriteFile(victim, []byte("precious"), 0o644); err != nil {
			t.Fatal(err)
		}
		tmp := filepath.Join(dir, "file")
		if err := os.Symlink(victim, tmp); err != nil {
			t.Fatal(err)
		}
		if err := writeFileSync(tmp, []byte("x")); err == nil {
			t.Error("written through a link")
		}
		if text, err := os.ReadFile(victim); err != nil || string(text) != "precious" {
			t.Errorf("the file it leads to has %q, %v", text, err)
		}
	})
	t.Run("CURRENT that is a pipe", func(t *testing.T) {
		dir := t.TempDir()
		if err := unix.Mkfifo(filepath.Join(dir, currentName), 0o644); err != nil {
			t.Fatal(err)
		}
		var corrupt *CorruptError
		if _, err := readCurrent(dir); !errors.As(err, &corrupt) {
			t.Errorf("got %v, want a CorruptError", err)
		}
	})
	t.Run("a base that is a link", func(t *testing.T) {
		dir, elsewhere := t.TempDir(), t.TempDir()
		if err := os.Symlink(elsewhere, filepath.Join(dir, "base-000001")); err != nil {
			t.Fatal(err)
		}
		var corrupt *CorruptError
		if _, err := openLayer(dir, "base-000001"); !errors.As(err, &corrupt) {
			t.Errorf("got %v, want a CorruptError", err)
		}
	})
}
