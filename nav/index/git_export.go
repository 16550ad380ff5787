package index

import "context"

// ErrNoGit means that a folder is in no git work tree, or that there is no git.
var ErrNoGit = errNoGit

// Git runs one read-only git command in dir and returns its output. Nothing that
// the repository's own configuration names is run.
func Git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return runGit(ctx, dir, args...)
}

// GitDiff runs git diff in dir and returns its output. As with Git, nothing that
// the repository names is run: files are compared as they are.
func GitDiff(ctx context.Context, dir string, args ...string) ([]byte, error) {
	config, err := noFilters(ctx, dir)
	if err != nil {
		return nil, err
	}
	return runGitWith(ctx, config, dir, append([]string{"-c", "core.quotePath=false", "diff"}, args...)...)
}
