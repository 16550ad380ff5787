package index

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const cFiles = "c:.c.h"

func listed(t *testing.T, root string, opts Options) listing {
	t.Helper()
	match, err := matcher(cFiles, opts.SkipGlobs)
	if err != nil {
		t.Fatal(err)
	}
	l, err := list(t.Context(), root, opts, match)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// found is what is listed and is a regular file there.
func found(t *testing.T, root string, opts Options) []string {
	t.Helper()
	entries, err := statAll(t.Context(), root, listed(t, root, opts).paths)
	if err != nil {
		t.Fatal(err)
	}
	return paths(entries)
}

func symlink(t *testing.T, to, from string) {
	t.Helper()
	if err := os.Symlink(to, from); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func TestFileSet(t *testing.T) {
	commit := func(t *testing.T, root string) {
		git(t, root, "init", "-q")
		git(t, root, "add", "-A")
		git(t, root, "commit", "-qm", "x")
	}
	tests := []struct {
		name  string
		files []string
		setup func(t *testing.T, root string)
		below string // the root to list, below the project
		opts  Options
		want  []string
	}{
		{name: "git: tracked and untracked, not other languages", files: []string{"a.c", "b/b.h", "README"},
			setup: func(t *testing.T, root string) {
				commit(t, root)
				write(t, root, map[string]string{"new.c": "", "c/new.c": ""})
			},
			want: []string{"a.c", "b/b.h", "c/new.c", "new.c"}},
		{name: "git: odd names", files: []string{"sp ace.c", `q"uo'te.c`, "co:lon.c", "back\\slash.c", "größe.c", "latin\xfc.c", "-dash.c", " lead.c", "new\nline.c", "tab\t.c"},
			setup: commit,
			want:  []string{" lead.c", "-dash.c", "back\\slash.c", "co:lon.c", "größe.c", "latin\xfc.c", `q"uo'te.c`, "sp ace.c", "tab\t.c"}},
		{name: "git: ignored", files: []string{"a.c", "gen/b.c", ".gitignore"},
			setup: func(t *testing.T, root string) {
				write(t, root, map[string]string{".gitignore": "gen\n"})
				commit(t, root)
			},
			want: []string{"a.c"}},
		{name: "git: ignored, but asked for", files: []string{"a.c", "gen/b.c"},
			setup: func(t *testing.T, root string) {
				write(t, root, map[string]string{".gitignore": "gen\n"})
				commit(t, root)
			},
			opts: Options{IncludeIgnored: true}, want: []string{"a.c", "gen/b.c"}},
		{name: "git: deleted and replaced", files: []string{"a.c", "gone.c", "dir/x.c", "link.c", "real/x.c"},
			setup: func(t *testing.T, root string) {
				commit(t, root)
				remove(t, filepath.Join(root, "gone.c"))
				remove(t, filepath.Join(root, "dir"))
				symlink(t, "real", filepath.Join(root, "dir"))
				remove(t, filepath.Join(root, "link.c"))
				symlink(t, "a.c", filepath.Join(root, "link.c"))
			},
			want: []string{"a.c", "real/x.c"}},
		{name: "git: symbolic links and loops", files: []string{"real/a.c"},
			setup: func(t *testing.T, root string) {
				symlink(t, "real", filepath.Join(root, "link"))
				symlink(t, "..", filepath.Join(root, "real", "loop"))
				symlink(t, "/etc", filepath.Join(root, "outside"))
				symlink(t, "real/a.c", filepath.Join(root, "b.c"))
				commit(t, root)
			},
			want: []string{"real/a.c"}},
		{name: "git: a file in conflict is listed once", files: []string{"a.c"},
			setup: func(t *testing.T, root string) {
				commit(t, root)
				git(t, root, "checkout", "-qb", "other")
				write(t, root, map[string]string{"a.c": "1\n"})
				git(t, root, "commit", "-qam", "1")
				git(t, root, "checkout", "-q", "-")
				write(t, root, map[string]string{"a.c": "2\n"})
				git(t, root, "commit", "-qam", "2")
				if _, err := runGit(t.Context(), root, "-c", "user.name=t", "-c", "user.email=t@t", "merge", "-q", "other"); err == nil {
					t.Fatal("the merge has no conflict")
				}
			},
			want: []string{"a.c"}},
		{name: "git: submodule and nested repositories", files: []string{"a.c"},
			setup: func(t *testing.T, root string) {
				other := project(t, map[string]string{"s.c": "", "deep/t.c": ""})
				commit(t, other)
				commit(t, root)
				git(t, root, "submodule", "add", "-q", other, "sub")
				git(t, root, "commit", "-qm", "sub")
				git(t, root, "clone", "-q", other, "nested")
				git(t, root, "clone", "-q", other, "deeper/nested")
				write(t, root, map[string]string{"sub/untracked.c": ""})
			},
			want: []string{"a.c", "deeper/nested/deep/t.c", "deeper/nested/s.c", "nested/deep/t.c", "nested/s.c", "sub/deep/t.c", "sub/s.c", "sub/untracked.c"}},
		{name: "git: submodule that is not checked out", files: []string{"a.c"},
			setup: func(t *testing.T, root string) {
				other := project(t, map[string]string{"s.c": ""})
				commit(t, other)
				commit(t, root)
				git(t, root, "submodule", "add", "-q", other, "sub")
				git(t, root, "submodule", "--quiet", "deinit", "-f", "sub")
			},
			want: []string{"a.c"}},
		{name: "git: worktree", files: []string{"a.c", "b/b.c"},
			setup: func(t *testing.T, root string) {
				commit(t, root)
				git(t, root, "worktree", "add", "-q", "wt")
				write(t, root, map[string]string{"wt/new.c": ""})
			},
			below: "wt", want: []string{"a.c", "b/b.c", "new.c"}},
		{name: "git: a folder below the top", files: []string{"a.c", "b/b.c"}, setup: commit, below: "b", want: []string{"b.c"}},
		{name: "git: an ignored folder is walked when it is the root", files: []string{"gen/b.c"},
			setup: func(t *testing.T, root string) {
				write(t, root, map[string]string{".gitignore": "gen\n"})
				commit(t, root)
			},
			below: "gen", want: []string{"b.c"}},
		{name: "git: the index folder", files: []string{"a.c", ".gtags-mcp/x.c"}, setup: commit, want: []string{"a.c"}},
		{name: "git: hostile configuration", files: []string{"a.c"},
			setup: func(t *testing.T, root string) {
				commit(t, root)
				evil := filepath.Join(root, "evil.sh")
				if err := os.WriteFile(evil, []byte("#!/bin/sh\n> "+filepath.Join(root, "pwned.c")+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
				git(t, root, "config", "core.fsmonitor", evil)
				git(t, root, "config", "core.hooksPath", root)
			},
			want: []string{"a.c"}},
		{name: "git: broken", files: []string{"a.c", ".git/HEAD"}, want: []string{"a.c"}},
		{name: "walk: names that kernels use for sources", files: []string{"drivers/target/core.c", "lib/out/o.c", "dist/d.c", "build/b.c", "vendor/v.c"},
			want: []string{"build/b.c", "dist/d.c", "drivers/target/core.c", "lib/out/o.c", "vendor/v.c"}},
		{name: "walk: junk", files: []string{"a.c", "node_modules/n.c", "x/__pycache__/p.c", "env/pyvenv.cfg", "env/e.c", ".svn/s.c"}, want: []string{"a.c"}},
		{name: "walk: generated target folders", files: []string{"a.c", "target/x.c", "java/pom.xml", "java/target/y.c", "java/src/z.c"},
			setup: func(t *testing.T, root string) {
				write(t, root, map[string]string{"target/CACHEDIR.TAG": cacheTag + "\n# made by cargo\n"})
			},
			want: []string{"a.c", "java/src/z.c"}},
		{name: "walk: repositories below", files: []string{"a.c", "repo/b.c", "repo/gen.c"},
			setup: func(t *testing.T, root string) {
				write(t, root, map[string]string{"repo/.gitignore": "gen.c\n"})
				commit(t, filepath.Join(root, "repo"))
			},
			want: []string{"a.c", "repo/b.c"}},
		{name: "skip globs", files: []string{"a.c", "third/x.c", "lib/third/y.c", "lib/gen_a.c", "docs/d/e.c", "keep/docs/f.c"},
			opts: Options{SkipGlobs: []string{"third/", "gen_*", "docs/**"}}, want: []string{"a.c", "keep/docs/f.c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			for _, f := range tt.files {
				files[f] = ""
			}
			root := project(t, files)
			if tt.setup != nil {
				tt.setup(t, root)
			}
			got := found(t, filepath.Join(root, tt.below), tt.opts)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestListNotes(t *testing.T) {
	root := project(t, map[string]string{"a.c": "", "new\nline.c": ""})
	if l := listed(t, root, Options{}); len(l.notes) != 1 || !strings.Contains(l.notes[0], "line break") {
		t.Errorf("notes: got %q, want one on line breaks", l.notes)
	}
	root = project(t, map[string]string{"a.c": "", ".git/HEAD": "rubbish"})
	if l := listed(t, root, Options{}); len(l.notes) != 1 || !strings.Contains(l.notes[0], "git failed") {
		t.Errorf("notes: got %q, want one on git", l.notes)
	}
}

func TestTooManyFiles(t *testing.T) {
	root := project(t, map[string]string{"a.c": "", "b.c": "", "c.c": ""})
	match, _ := matcher(cFiles, nil)
	_, err := list(t.Context(), root, Options{MaxFiles: 2}, match)
	var many *TooManyFilesError
	if !errors.As(err, &many) || !strings.Contains(err.Error(), "git init") {
		t.Errorf("got %v, want a TooManyFilesError that says what to do", err)
	}
}

func TestRefusedRoots(t *testing.T) {
	home := project(t, map[string]string{"a.c": ""})
	t.Setenv("HOME", home)
	for _, root := range []string{"/", home} {
		x := &Index{root: root}
		if err := x.refuse(); err == nil || !strings.Contains(err.Error(), root+" is not indexed") {
			t.Errorf("%s: got %v, want a refusal", root, err)
		}
		x.opts.AllowAny = true
		if err := x.refuse(); err != nil {
			t.Errorf("%s, allowed: got %v", root, err)
		}
	}
}

func TestLangmap(t *testing.T) {
	source := parseLangmap(`c:.c.h,yacc:.y,cpp:.c++.cc.C,make:.mk(Makefile*)(GNU?akefile),rust:.rs`)
	for path, want := range map[string]bool{
		"a.c": true, "d.d/a.h": true, "x.c++": true, "x.C": true, "x.rs": true, "Makefile.am": true, "d/GNUmakefile": true,
		"a.cc.txt": false, "c": false, "d.c/README": false, "a.": false, "xMakefile": false, ".c": true,
	} {
		if got := source(path); got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
	if !parseLangmap("")("any") {
		t.Error("an empty map does not accept every file")
	}
}
