package nav

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/nav/index"
)

// fencedGit refuses a repository that git would read outside the fence. A `.git`
// can be a file or a link that points anywhere, its configuration can name
// another work tree, and its objects can be borrowed from another repository.
func (w *Workspace) fencedGit(ctx context.Context) error {
	fence := w.opts.Fence
	if fence == nil {
		return nil
	}
	out, err := index.Git(ctx, w.root, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--show-toplevel")
	if errors.Is(err, index.ErrNoGit) {
		return nil // the caller says so
	}
	if err != nil {
		return fmt.Errorf("the git repository of %s cannot be looked at: %w", w.root, err)
	}
	places := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(places) != 3 {
		return fmt.Errorf("the git repository of %s has a line break in its path", w.root)
	}
	for _, place := range places {
		if real, err := filepath.EvalSymlinks(place); err != nil || !fence.Holds(real) {
			return w.gitOutside(place)
		}
	}
	seen := map[string]bool{}
	for _, dir := range places[:2] {
		if err := w.gitInside(ctx, dir, seen); err != nil {
			return err
		}
	}
	return nil
}

func (w *Workspace) gitOutside(place string) error {
	return fmt.Errorf("the git repository of %s reads %w", w.root, &OutsideError{place, w.opts.Fence.Folders()})
}

// gitInside looks for what leads from a repository to the outside.
func (w *Workspace) gitInside(ctx context.Context, dir string, seen map[string]bool) error {
	if seen[dir] {
		return nil
	}
	seen[dir] = true
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		if e.Type()&fs.ModeSymlink == 0 {
			return nil
		}
		if real, err := filepath.EvalSymlinks(path); err != nil || !w.opts.Fence.Holds(real) {
			return w.gitOutside(path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	objects := filepath.Join(dir, "objects")
	const longest = 64 << 10 // bytes of a list of some folders
	list, err := w.opts.Fence.ReadFile(filepath.Join(objects, "info", "alternates"), longest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(list)) {
		other := strings.TrimSuffix(line, "\n")
		if !filepath.IsAbs(other) {
			other = filepath.Join(objects, other)
		}
		if real, err := filepath.EvalSymlinks(other); err != nil || !w.opts.Fence.Holds(real) {
			return w.gitOutside(other)
		}
		// What is borrowed can be borrowed itself.
		if err := w.gitInside(ctx, filepath.Dir(other), seen); err != nil {
			return err
		}
	}
	return nil
}
