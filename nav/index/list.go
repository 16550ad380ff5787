package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// listing is which files belong to an index, and where new ones may appear.
type listing struct {
	paths []string // slash-separated, relative to the root, sorted, distinct
	dirs  []string // folders in which a new file would belong to the set; "" is the root
	repos []string // folders listed by git; none when the tree was walked
	rules []string // the .gitignore files
	notes []string // what was left out and why, for people
	// untracked are the files of the outermost repository that git does not track
	// nor ignore, of any language; nil when that is not known.
	untracked []string
}

// lister collects a listing.
type lister struct {
	root    string
	ignored bool // list what .gitignore leaves out, too
	limit   int  // most files of a tree without git; 0: any number
	inGit   bool
	match   func(path string) bool

	paths   []string
	dirs    map[string]struct{}
	repos   []string
	rules   []string
	notes   []string
	newline int

	untracked []string
}

// TooManyFilesError refuses a tree without git that is probably not a project.
type TooManyFilesError struct {
	Root  string
	Limit int
}

func (e *TooManyFilesError) Error() string {
	return fmt.Sprintf("%s is not in a git work tree and holds more than %d source files, or ten times as many others; "+
		"choose a smaller folder, run `git init` there, leave folders out with skip_globs, or set allow_any_root", e.Root, e.Limit)
}

// list finds the files of the tree at root that match accepts: what git lists
// (submodules and nested repositories included), or what a walk finds.
func list(ctx context.Context, root string, opts Options, match func(path string) bool) (listing, error) {
	l := &lister{
		root: root, ignored: opts.IncludeIgnored, limit: opts.MaxFiles,
		match: match, dirs: map[string]struct{}{"": {}},
	}
	l.inGit = true
	err := l.listRepo(ctx, "")
	nothing := err == nil && len(l.paths) == 0 && !exists(filepath.Join(root, ".git"))
	if err != nil || nothing {
		// Nothing listed below the top of a work tree: the folder is ignored
		// as a whole, and yet somebody asks about it.
		if ctx.Err() != nil {
			return listing{}, context.Cause(ctx)
		}
		if err != nil && (!errors.Is(err, errNoGit) || exists(filepath.Join(root, ".git"))) {
			l.notes = append(l.notes, fmt.Sprintf("the files were found by walking the folders, without .gitignore, because git failed: %v", err))
		}
		l.inGit, l.repos, l.paths, l.untracked = false, nil, nil, nil
		if err := l.walk(ctx, ""); err != nil {
			return listing{}, err
		}
	}
	return l.result(), nil
}

func (l *lister) result() listing {
	slices.Sort(l.paths)
	dirs := make([]string, 0, len(l.dirs))
	for d := range l.dirs {
		dirs = append(dirs, d)
	}
	slices.Sort(dirs)
	if l.newline > 0 {
		l.notes = append(l.notes, fmt.Sprintf("%d paths contain a line break, which the index format cannot hold; they are left out", l.newline))
	}
	return listing{paths: slices.Compact(l.paths), dirs: dirs, repos: l.repos, rules: l.rules, notes: l.notes, untracked: l.untracked}
}

// add takes a path that git or the walk found.
func (l *lister) add(path string) {
	l.addDir(parent(path))
	if strings.HasSuffix(path, ".gitignore") {
		l.rules = append(l.rules, path)
	}
	if !l.match(path) {
		return
	}
	if strings.ContainsAny(path, "\n\r") {
		l.newline++
		return
	}
	l.paths = append(l.paths, path)
}

func (l *lister) addDir(dir string) {
	for ; ; dir = parent(dir) {
		if _, known := l.dirs[dir]; known || strings.Contains(dir, "\n") {
			return
		}
		l.dirs[dir] = struct{}{}
	}
}

// matcher accepts the paths that gtags would parse under this language map and
// that no skip pattern covers.
func matcher(langmap string, skip []string) (func(path string) bool, error) {
	for _, g := range skip {
		if !doublestar.ValidatePattern(g) {
			return nil, fmt.Errorf("skip_globs: %q is not a valid pattern", g)
		}
	}
	source := parseLangmap(langmap)
	return func(path string) bool {
		if !source(path) {
			return false
		}
		if path == dirName || strings.HasPrefix(path, dirName+"/") {
			return false
		}
		return !slices.ContainsFunc(skip, func(g string) bool { return skips(g, path) })
	}, nil
}

// skips reports whether the pattern covers path: the whole of it, a folder
// above it, or, for a pattern without a slash, any one element.
func skips(glob, path string) bool {
	glob = strings.TrimSuffix(glob, "/")
	for p := path; p != ""; p = parent(p) {
		name := p
		if !strings.Contains(glob, "/") {
			name = p[strings.LastIndexByte(p, '/')+1:]
		}
		if ok, _ := doublestar.Match(strings.TrimPrefix(glob, "/"), name); ok {
			return true
		}
	}
	return false
}

// parseLangmap reads gtags' language map, `c:.c.h,yacc:.y,make:(Makefile*)…`:
// comma-separated languages, each with suffixes that begin with a dot and file
// name patterns in parentheses. An empty map accepts every file.
func parseLangmap(langmap string) func(path string) bool {
	suffixes := map[string]bool{}
	var globs []string
	for lang := range strings.SplitSeq(langmap, ",") {
		_, specs, _ := strings.Cut(lang, ":")
		for specs != "" {
			if specs[0] == '(' {
				end := strings.IndexByte(specs, ')')
				if end < 0 {
					break
				}
				globs = append(globs, specs[1:end])
				specs = specs[end+1:]
				continue
			}
			end := strings.IndexAny(specs[1:], ".(")
			if end < 0 {
				end = len(specs) - 1
			}
			suffixes[specs[:end+1]] = true
			specs = specs[end+1:]
		}
	}
	if len(suffixes)+len(globs) == 0 {
		return func(string) bool { return true }
	}
	return func(path string) bool {
		name := path[strings.LastIndexByte(path, '/')+1:]
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 && suffixes[name[dot:]] {
			return true
		}
		return slices.ContainsFunc(globs, func(g string) bool { ok, _ := filepath.Match(g, name); return ok })
	}
}

// parent is the folder of a slash-separated path, "" at the top.
func parent(path string) string {
	return path[:max(strings.LastIndexByte(path, '/'), 0)]
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
