package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

// rootLadder finds the tree that a call is about. The first rung that applies
// wins; a rung that names a bad folder is an error, never skipped.
type rootLadder struct {
	argument   string          // project_root of the call
	configured string          // flag, environment or config file, in this order
	clientDir  string          // the folder the client says it works in
	roots      func() []string // URIs of the client's workspace roots, nil when it has none
	cwd        string          // the client's working directory; "" over HTTP, where nobody knows it
	around     string          // the server's working directory
	fence      *nav.Fence      // holds every tree that may be chosen
}

// RootError says why no tree can be chosen.
type RootError struct{ Reason string }

func (e *RootError) Error() string { return e.Reason }

func (l rootLadder) resolve() (string, error) {
	switch {
	case l.argument != "":
		return l.usable("project_root", l.argument)
	case l.configured != "":
		return l.usable("the configured root", l.configured)
	case l.clientDir != "":
		return l.usable("the client's project folder", l.clientDir)
	}
	if roots := l.roots(); len(roots) > 0 {
		return l.fromClient(roots)
	}
	folders := l.fence.Folders()
	if len(folders) == 1 && isProject(folders[0]) {
		return l.usable("the one folder that is served", folders[0])
	}
	if found := enclosingProject(l.around); found != "" && l.fence.Holds(found) {
		return l.usable("the project around the working directory", found)
	}
	if len(folders) > 0 {
		return "", &RootError{"no project: the client named no workspace; pass project_root, below " + strings.Join(folders, " or ")}
	}
	return "", &RootError{fmt.Sprintf("no project: %s is not inside a git repository and the client named no workspace; "+
		"pass project_root, or start the server with --root or GTAGS_MCP_ROOT", l.around)}
}

// fromClient picks among several open workspaces the one that holds the
// working directory. To guess another would answer about the wrong tree.
func (l rootLadder) fromClient(roots []string) (string, error) {
	var folders []string
	for _, root := range roots {
		u, err := url.Parse(root)
		if err != nil || u.Scheme != "file" || u.Path == "" {
			continue
		}
		folders = append(folders, filepath.Clean(u.Path))
	}
	switch len(folders) {
	case 0:
		return "", &RootError{"none of the client's workspace roots is a local folder; pass project_root"}
	case 1:
		return l.usable("the client's workspace root", folders[0])
	}
	best := ""
	for _, folder := range folders {
		if within(l.cwd, folder) && len(folder) > len(best) {
			best = folder
		}
	}
	if best == "" {
		return "", &RootError{"several workspaces are open: " + strings.Join(folders, ", ") + "; pass project_root to choose one"}
	}
	return l.usable("the client's workspace root", best)
}

func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// usable resolves a folder that somebody named and says in their terms what is
// wrong with it.
func (l rootLadder) usable(origin, path string) (string, error) {
	fail := func(reason string) (string, error) {
		return "", &RootError{fmt.Sprintf("%s %s: %s", origin, clip(path, 300), reason)}
	}
	if strings.ContainsRune(path, 0) {
		return "", &RootError{fmt.Sprintf("%s %q is not a path", origin, clip(path, 300))}
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return fail("~ cannot be resolved: " + err.Error())
		}
		path = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(path) {
		if l.cwd == "" {
			return fail("give an absolute path")
		}
		path = filepath.Join(l.cwd, path)
	}
	real, dir, err := l.fence.Folder(path)
	var outside *nav.OutsideError
	switch {
	case errors.As(err, &outside):
		return "", &RootError{origin + " " + err.Error()}
	case err != nil:
		return fail(folderProblem(err))
	}
	dir.Close()
	return real, nil
}

func folderProblem(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such folder"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}

// enclosingProject walks up to the nearest folder that is a git repository or
// already has an index. A bare .gtags-mcp folder does not count: the one in
// the home directory holds the toolchain.
func enclosingProject(dir string) string {
	for {
		if isProject(dir) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

func isProject(dir string) bool {
	for _, mark := range []string{".git", "GTAGS", filepath.Join(".gtags-mcp", "CURRENT")} {
		if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
			return true
		}
	}
	return false
}
