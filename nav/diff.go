package nav

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/gtagsmcp/gtagsmcp/nav/index"
)

// lineRange is a run of lines, both ends included.
type lineRange struct{ first, last int }

// fileDiff is what changed in one file. Paths are relative to the root; "" on
// the side where the file does not exist.
type fileDiff struct {
	oldPath, newPath string
	// oldLines were removed or replaced, newLines added or put in their place.
	// A pure deletion leaves an empty newLines run between two lines.
	oldLines, newLines []lineRange
}

// changes compares the working tree with a commit, untracked files included,
// and returns the hash of the commit.
func (v *View) changes(ctx context.Context, ref string) (diffs []fileDiff, commit string, err error) {
	if ref == "" || strings.HasPrefix(ref, "-") || strings.ContainsAny(ref, "\x00\n ") {
		return nil, "", fmt.Errorf("git_ref %q is not the name of a commit; give a branch, a tag or a hash", ref)
	}
	if err := v.w.fencedGit(ctx); err != nil {
		return nil, "", err
	}
	// Each of the three takes its time in processes or in a walk of the whole tree:
	// at once they take that of the longest.
	var tracked []byte
	var untracked []string
	var unknown error
	git, gctx := errgroup.WithContext(ctx)
	git.Go(func() error {
		commit, unknown = v.commit(ctx, ref)
		return unknown
	})
	git.Go(func() (err error) {
		tracked, err = index.GitDiff(gctx, v.w.root, "--no-ext-diff", "--no-textconv", "--no-color",
			"--unified=0", "--find-renames", "--relative", "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=all", ref+"^{commit}", "--")
		return err
	})
	git.Go(func() (err error) {
		untracked, err = v.snap.Untracked(gctx)
		return err
	})
	if err := git.Wait(); err != nil {
		return nil, "", cmp.Or(unknown, err)
	}
	diffs, err = parseDiff(tracked)
	if err != nil {
		return nil, "", fmt.Errorf("the output of git diff: %w", err)
	}
	tracks := map[string]bool{} // a file may have been added since the tree was looked at
	for i := range diffs {
		tracks[diffs[i].newPath] = true
	}
	for _, p := range untracked {
		if !strings.HasPrefix(p, ".gtags-mcp/") && !tracks[p] {
			diffs = append(diffs, fileDiff{newPath: p, newLines: []lineRange{{1, 1 << 30}}})
		}
	}
	return diffs, commit, nil
}

// commit is the hash of a commit that somebody named.
func (v *View) commit(ctx context.Context, ref string) (string, error) {
	out, err := index.Git(ctx, v.w.root, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if errors.Is(err, index.ErrNoGit) {
		return "", fmt.Errorf("%s is not in a git repository: a blast radius needs one", v.w.root)
	}
	if err != nil {
		return "", fmt.Errorf("git_ref %s: no such commit in %s", ref, v.w.root)
	}
	return strings.TrimSpace(string(out)), nil
}

// parseDiff reads a unified diff without context. Only its headers matter; the
// lines of hunks are skipped by their counts, so that no text in them can be
// taken for a header.
func parseDiff(diff []byte) ([]fileDiff, error) {
	var all []fileDiff
	lines := strings.Split(string(diff), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if strings.HasPrefix(line, "diff --git ") {
			all = append(all, fileDiff{})
			continue
		}
		if len(all) == 0 {
			continue
		}
		file := &all[len(all)-1]
		var err error
		switch {
		case strings.HasPrefix(line, "rename from "):
			file.oldPath, err = diffPath(line[len("rename from "):], "")
		case strings.HasPrefix(line, "rename to "):
			file.newPath, err = diffPath(line[len("rename to "):], "")
		case strings.HasPrefix(line, "--- "):
			file.oldPath, err = diffPath(line[4:], "a/")
		case strings.HasPrefix(line, "+++ "):
			file.newPath, err = diffPath(line[4:], "b/")
		case strings.HasPrefix(line, "@@ "):
			var skip int
			skip, err = file.hunk(line)
			i += skip
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return all, nil
}

// hunk reads "@@ -12,3 +12,0 @@" and returns how many lines of text follow.
func (f *fileDiff) hunk(header string) (lines int, err error) {
	fields := strings.Fields(header)
	if len(fields) < 3 {
		return 0, fmt.Errorf("hunk header %q", header)
	}
	before, nBefore, err := hunkSide(fields[1], "-")
	if err != nil {
		return 0, err
	}
	after, nAfter, err := hunkSide(fields[2], "+")
	if err != nil {
		return 0, err
	}
	if nBefore > 0 {
		f.oldLines = append(f.oldLines, lineRange{before, before + nBefore - 1})
	}
	// An empty side names the line before the gap.
	f.newLines = append(f.newLines, lineRange{after, after + nAfter - 1})
	return nBefore + nAfter, nil
}

func hunkSide(field, sign string) (start, count int, err error) {
	numbers, ok := strings.CutPrefix(field, sign)
	if !ok {
		return 0, 0, fmt.Errorf("hunk range %q", field)
	}
	first, second, both := strings.Cut(numbers, ",")
	if start, err = strconv.Atoi(first); err != nil || start < 0 {
		return 0, 0, fmt.Errorf("hunk range %q", field)
	}
	if !both {
		return start, 1, nil
	}
	if count, err = strconv.Atoi(second); err != nil || count < 0 {
		return 0, 0, fmt.Errorf("hunk range %q", field)
	}
	return start, count, nil
}

// diffPath reads a path of a diff header: git puts names with quotes or control
// characters into C quotes, and a tab behind names with blanks.
func diffPath(text, prefix string) (string, error) {
	text = strings.TrimSuffix(text, "\t")
	if strings.HasPrefix(text, `"`) {
		unquoted, err := strconv.Unquote(text)
		if err != nil {
			return "", fmt.Errorf("quoted path %s", text)
		}
		text = unquoted
	}
	if text == "/dev/null" {
		return "", nil
	}
	return path.Clean(strings.TrimPrefix(text, prefix)), nil
}
