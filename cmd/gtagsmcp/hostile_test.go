package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

// hostileTree has traps in every place from which gtags, ctags or git take
// configuration or a program, and returns the file that a trap would make.
func hostileTree(t *testing.T) (tree, ran string) {
	t.Helper()
	tree = navtest.Tree(t, `-- a.c --
int in_c(void) { return 0; }
int use(void) { return in_c(); }
-- b.py --
def in_python():
    pass
in_python()
-- gtags.conf --
default:\
	:ctagscom=./trap:\
	:langmap=Python\:.c.py:\
	:gtags_parser=Python\:./trap.so:
evil:\
	:skip=a.c,b.py:
-- .globalrc --
default:\
	:ctagscom=./trap:
-- .ctags --
--languages=-Python,-C
-- .ctags.d/a.ctags --
--languages=-Python,-C
-- .gitattributes --
*.c filter=x diff=x
-- .python-version --
0.0
`)
	ran = filepath.Join(t.TempDir(), "ran")
	trap := filepath.Join(tree, "trap")
	navtest.Write(t, tree, "trap", "#!/bin/sh\ntouch '"+ran+"'\ncat\n")
	if err := os.Chmod(trap, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gtags", "global", "ctags", "universal-ctags", "git", "sort", "gtagsmcp-ctagscom", "cc", "python3"} {
		if err := os.Symlink("trap", filepath.Join(tree, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, hook := range []string{"post-index-change", "fsmonitor-watchman", "post-checkout", "reference-transaction"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(tree, ".git", "hooks"), 0o755), os.Symlink(trap, filepath.Join(tree, ".git", "hooks", hook))); err != nil {
			t.Fatal(err)
		}
	}
	for key, value := range map[string]string{
		"core.fsmonitor": trap, "diff.external": trap, "diff.x.command": trap, "diff.x.textconv": trap, "filter.x.clean": trap,
		"filter.x.process": trap, "core.pager": trap, "core.sshCommand": trap, "core.editor": trap, "core.hooksPath": filepath.Join(tree, ".git", "hooks"),
		"alias.ls-files": "!" + trap, "credential.helper": "!" + trap,
	} {
		git := exec.Command("git", "-c", "core.fsmonitor=false", "config", key, value)
		git.Dir = tree
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git config %s: %v: %s", key, err, out)
		}
	}
	return tree, ran
}

// hostileEnvironment are variables by which a shell that was set up for another
// project would change what gtags, global, ctags, git or python do.
func hostileEnvironment(t *testing.T, tree string) []string {
	t.Helper()
	home, other := t.TempDir(), t.TempDir()
	for _, name := range []string{".ctags", ".ctags.d/a.ctags", ".config/ctags/a.ctags"} {
		navtest.Write(t, home, name, "--languages=-Python,-C\n")
	}
	for _, name := range []string{".globalrc", ".gtags.conf", "gtags.conf"} {
		navtest.Write(t, home, name, "default:\\\n\t:ctagscom="+tree+"/trap:\\\n\t:skip=a.c,b.py:\n")
	}
	return []string{
		"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "CTAGS=--languages=-Python", "ETAGS=--languages=-C",
		"GTAGSCONF=" + tree + "/gtags.conf", "GTAGSLABEL=evil", "GTAGSROOT=" + other, "GTAGSDBPATH=" + other, "GTAGSOBJDIR=objects",
		"GTAGSOBJDIRPREFIX=" + other, "GTAGSLIBPATH=" + other, "GTAGSTHROUGH=1", "GTAGSFORCECPP=1", "GTAGSCACHE=1", "GTAGSBLANKENCODE=1",
		"GTAGSLOGGING=" + other + "/log", "GTAGSGLOBAL=" + tree + "/trap", "GTAGSGTAGS=" + tree + "/trap", "MAKEOBJDIR=objects", "MAKEOBJDIRPREFIX=" + other,
		"LTDL_LIBRARY_PATH=" + tree, "PYTHONPATH=" + tree, "GREP_OPTIONS=-v",
		"GIT_DIR=" + other, "GIT_WORK_TREE=" + other, "GIT_INDEX_FILE=" + other + "/index", "GIT_EXTERNAL_DIFF=" + tree + "/trap",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=" + tree + "/trap", "GIT_SSH_COMMAND=" + tree + "/trap",
		"GIT_PAGER=" + tree + "/trap", "GIT_EXEC_PATH=" + tree,
		// What is in the working directory is not run because PATH says ".".
		"PATH=.:" + os.Getenv("PATH"),
	}
}

// What a tree holds, and what a shell was set up for, runs nothing and changes
// nothing of what is answered.
func TestHostileTreeAndEnvironment(t *testing.T) {
	tools := navtest.Tools(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tree, ran := hostileTree(t)
	ask := func(environment []string, args ...string) string {
		t.Helper()
		cmd := exec.Command(program)
		cmd.Args = append([]string{"gtagsmcp", "--root", tree}, args...)
		cmd.Env = append(append(os.Environ(), "GTAGS_MCP_HOME="+tools.Home), environment...)
		cmd.Dir = tree
		var errOut strings.Builder
		cmd.Stderr = &errOut
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%v: %v: %s%s", args, err, out, errOut.String())
		}
		return string(out)
	}
	questions := [][]string{
		{"call", "find_definition", "symbol=in_c"}, {"call", "find_references", "symbol=in_c"}, {"call", "find_callers", "symbol=in_c"},
		{"call", "find_definition", "symbol=in_python"}, {"call", "find_references", "symbol=in_python"},
		{"call", "list_file_symbols", "file_path=b.py"}, {"call", "blast_radius"},
	}
	commit := exec.Command("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "filter.x.clean=", "-c", "filter.x.process=",
		"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "x", "--allow-empty")
	commit.Dir = tree
	if out, err := commit.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	answers := func(environment []string) (all []string) {
		ask(environment, "call", "update_index", "full=true")
		for _, q := range questions {
			all = append(all, ask(environment, q...))
		}
		return all
	}
	os.Remove(ran)
	plain := answers(nil)
	for i, want := range []string{"a.c:1:", "a.c:2:", "use", "b.py:1:", "b.py:3:", "in_python"} {
		if !strings.Contains(plain[i], want) {
			t.Errorf("%v: got %q, want %q", questions[i], plain[i], want)
		}
	}
	hostile := answers(hostileEnvironment(t, tree))
	for i := range questions {
		if plain[i] != hostile[i] {
			t.Errorf("%v: got %q, in another environment %q", questions[i], plain[i], hostile[i])
		}
	}
	if _, err := os.Lstat(ran); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a trap ran: %v", err)
	}
	for _, name := range []string{"GTAGS", "GRTAGS", "GPATH", "objects"} {
		if _, err := os.Lstat(filepath.Join(tree, name)); err == nil {
			t.Errorf("the tree has %s now", name)
		}
	}
	// The traps work: git runs one when it is asked as the owner would.
	status := exec.Command("git", "status", "--short")
	status.Dir = tree
	status.Run()
	if _, err := os.Lstat(ran); err != nil {
		t.Errorf("git itself runs no trap: %v", err)
	}
}
