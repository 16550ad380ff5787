package index

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
)

const (
	// maxUntracked is how many untracked files a check remembers; listing more
	// anew costs little beside what is done with them.
	maxUntracked = 10_000
	// maxLoose is how many paths git is asked about one by one.
	maxLoose = 100
)

// Untracked lists what git does below the root for `ls-files -o
// --exclude-standard`: the files that are neither tracked nor ignored, those of
// nested repositories left out. Where notifications work, the last check of the
// tree has seen them, and git is only asked about what was touched since; else it
// walks the tree.
func (s *Snapshot) Untracked(ctx context.Context) ([]string, error) {
	t := s.index.tree
	if known, loose, ok := t.untracked(); ok {
		fresh, err := gitUntracked(ctx, t.root, loose)
		if err != nil {
			return nil, err
		}
		return append(slices.DeleteFunc(slices.Clone(known), func(path string) bool {
			return slices.Contains(loose, path) || !exists(filepath.Join(t.root, path))
		}), fresh...), nil
	}
	return listUntracked(ctx, t.root)
}

// untracked are the files that the last listing found and the paths touched since,
// about which only git can tell. ok is false when the listing may be out of date.
func (t *tree) untracked() (known, loose []string, ok bool) {
	t.mu.Lock()
	s, watch := t.state, t.watch
	t.mu.Unlock()
	if watch == nil || s.watch != watch || s.untracked == nil || len(s.loose) > maxLoose || changed(s.control) {
		return nil, nil, false
	}
	for path := range s.loose {
		if _, regular := lstat(filepath.Join(t.root, path)); !regular && exists(filepath.Join(t.root, path)) {
			return nil, nil, false // a folder, perhaps, with files in it
		}
	}
	return s.untracked, slices.Sorted(maps.Keys(s.loose)), true
}

// touch notes paths that are not among the sources found.
func (s *treeState) touch(paths []string) {
	if len(paths) > 0 {
		loose := maps.Clone(s.loose) // the old state keeps its own
		if loose == nil {
			loose = map[string]bool{}
		}
		for _, path := range paths[:min(len(paths), maxLoose+1)] {
			loose[path] = true
		}
		s.loose = loose
	}
}

// gitUntracked are those of the paths that git knows as untracked files.
func gitUntracked(ctx context.Context, root string, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	return listUntracked(ctx, root, append([]string{"--"}, paths...)...)
}

func listUntracked(ctx context.Context, root string, args ...string) (files []string, err error) {
	out, err := runGit(ctx, root, append([]string{"ls-files", "-z", "-o", "--exclude-standard"}, args...)...)
	if err != nil {
		return nil, err
	}
	for entry := range splitNUL(out) {
		if path := string(entry); path[len(path)-1] != '/' {
			files = append(files, path)
		}
	}
	return files, nil
}
