package index

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// junk are folders that never hold a project's own sources. Names that real
// trees use for sources (target, out, dist, build: the Linux kernel has
// drivers/target) are not here; [lister.isJunk] tells them by what they hold.
var junk = map[string]bool{
	".git": true, ".hg": true, ".svn": true, ".bzr": true, "CVS": true, dirName: true,
	"node_modules": true, "bower_components": true, "__pycache__": true,
	".venv": true, ".tox": true, ".nox": true, ".eggs": true, ".mypy_cache": true, ".pytest_cache": true,
	".ruff_cache": true, ".cache": true, ".gradle": true, ".terraform": true, ".direnv": true, ".next": true,
}

// cacheTag begins the file that marks a folder as somebody's cache; cargo
// writes one into its target folder.
const cacheTag = "Signature: 8a477f597d28d172789f06886806bc55"

// isJunk reports whether the folder at path is generated or a cache.
func (l *lister) isJunk(path string) bool {
	name := filepath.Base(path)
	if junk[name] {
		return true
	}
	dir := filepath.Join(l.root, path)
	if exists(filepath.Join(dir, "pyvenv.cfg")) {
		return true
	}
	if name == "target" && exists(filepath.Join(filepath.Dir(dir), "pom.xml")) {
		return true
	}
	tag, err := os.Open(filepath.Join(dir, "CACHEDIR.TAG"))
	if err != nil {
		return false
	}
	defer tag.Close()
	buf := make([]byte, len(cacheTag))
	n, _ := tag.Read(buf)
	return string(buf[:n]) == cacheTag
}

// walk adds the files below the folder at path, without junk. A repository met
// on the way is listed by git. Symbolic links are not followed.
func (l *lister) walk(ctx context.Context, path string) error {
	visited := 0
	return l.eachDir(ctx, path, func(dir string, entries []fs.DirEntry) error {
		for _, e := range entries {
			if e.Type().IsRegular() {
				l.add(join(dir, e.Name()))
			}
		}
		// Folders full of other things are no project either.
		visited += len(entries)
		if l.limit > 0 && (len(l.paths) > l.limit || visited > 10*l.limit) {
			return &TooManyFilesError{Root: l.root, Limit: l.limit}
		}
		return nil
	})
}

// watchBelow adds the folder at path and those below it, not their files.
func (l *lister) watchBelow(path string) {
	if strings.Contains(path, "\n") || l.isJunk(path) {
		return
	}
	// An unreadable folder is one in which nothing can be indexed.
	_ = l.eachDir(context.Background(), path, func(string, []fs.DirEntry) error {
		if len(l.dirs) > maxEmptyDirs {
			return fs.SkipAll
		}
		return nil
	})
}

// maxEmptyDirs bounds the folders that are known only because a source could
// appear in them.
const maxEmptyDirs = 100_000

// eachDir calls f for the folder at path and every folder below it that is not junk.
func (l *lister) eachDir(ctx context.Context, path string, f func(dir string, entries []fs.DirEntry) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(l.root, path))
	if err != nil {
		if path == "" {
			return err
		}
		l.notes = append(l.notes, "the folder "+path+" cannot be read and is left out")
		return nil
	}
	l.addDir(path)
	if err := f(path, entries); err != nil {
		if errors.Is(err, fs.SkipAll) {
			return nil
		}
		return err
	}
	for _, e := range entries {
		sub := join(path, e.Name())
		if !e.IsDir() || strings.Contains(e.Name(), "\n") || l.isJunk(sub) {
			continue
		}
		if exists(filepath.Join(l.root, sub, ".git")) && !l.inGit {
			if err := l.listRepo(ctx, sub); err == nil {
				continue
			}
		}
		if err := l.eachDir(ctx, sub, f); err != nil {
			return err
		}
	}
	return nil
}
