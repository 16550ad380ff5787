package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// gitTimeout bounds one git command; listing Linux takes 0.15 s.
const gitTimeout = 2 * time.Minute

// gitSafe are options that take precedence over the repository's own
// configuration, which may come from a stranger: nothing named there is run.
var gitSafe = []string{
	"--literal-pathspecs",
	"-c", "core.fsmonitor=false",
	"-c", "core.hooksPath=/dev/null",
	"-c", "core.sshCommand=false",
	"-c", "protocol.allow=never",
	"-c", "safe.bareRepository=explicit",
	"-c", "advice.graftFileDeprecated=false",
}

// errNoGit means that the folder is not in a git work tree, or git is missing.
var errNoGit = errors.New("not in a git work tree")

// runGit runs one read-only git command in dir and returns its output.
func runGit(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return runGitWith(ctx, nil, dir, args...)
}

// runGitWith is runGit with configuration that takes precedence over the
// repository's own.
func runGitWith(ctx context.Context, config []gitSetting, dir string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	cmd := exec.Command("git", append(append([]string(nil), gitSafe...), args...)...)
	cmd.Dir = dir
	cmd.Env = append(gitEnv(), gitConfigEnv(config)...)
	var out bytes.Buffer
	stderr := &tailBuffer{limit: 4 << 10}
	cmd.Stdout, cmd.Stderr = &out, stderr
	err := runChild(ctx, cmd, nil)
	switch {
	case err == nil:
		return out.Bytes(), nil
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("%w: the git program is not installed", errNoGit)
	case strings.Contains(stderr.String(), "not a git repository"):
		return nil, errNoGit
	}
	return nil, fmt.Errorf("git %s in %s: %w: %s", args[0], dir, err, strings.TrimSpace(stderr.String()))
}

// gitEnv is the environment without the variables that would point git at
// another repository or make it write, ask or fetch.
func gitEnv() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "LC_ALL=") {
			env = append(env, kv)
		}
	}
	return append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1",
		// Unlike protocol.allow, no repository overrules this one. There is no such protocol.
		"GIT_ALLOW_PROTOCOL=none", "LC_ALL=C")
}

// gitSetting is one line of git's configuration.
type gitSetting struct{ key, value string }

// gitConfigEnv hands settings to git in the environment: a key on the command
// line cannot hold an equals sign.
func gitConfigEnv(settings []gitSetting) []string {
	if len(settings) == 0 {
		return nil
	}
	env := []string{fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings))}
	for i, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s.key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s.value))
	}
	return env
}

// noFilters are settings under which git runs none of the programs by which a
// repository wants its files converted, before they are compared for instance.
func noFilters(ctx context.Context, dir string) ([]gitSetting, error) {
	out, err := runGit(ctx, dir, "config", "-z", "--name-only", "--get-regexp", `^filter\.`)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil, nil // there are none
	}
	if err != nil {
		return nil, err
	}
	var off []gitSetting
	for key := range splitNUL(out) {
		driver := key[:bytes.LastIndexByte(key, '.')+1]
		for _, s := range []gitSetting{{"clean", ""}, {"smudge", ""}, {"process", ""}, {"required", "false"}} {
			off = append(off, gitSetting{string(driver) + s.key, s.value})
		}
	}
	return off, nil
}

// listRepo adds to l what git lists in the folder prefix ("" is the root), and
// then the same for the submodules and nested repositories found there.
func (l *lister) listRepo(ctx context.Context, prefix string) error {
	dir := filepath.Join(l.root, prefix)
	files := []string{"ls-files", "-z", "-s", "-c", "-o"}
	if !l.ignored {
		files = append(files, "--exclude-standard")
	}
	// Untracked folders hold no listed file yet perhaps, but one created there
	// belongs to the set.
	folders := []string{"ls-files", "-z", "-o", "--directory", "--exclude-standard"}
	var listed, untracked []byte
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { listed, err = runGit(gctx, dir, files...); return err })
	g.Go(func() (err error) { untracked, err = runGit(gctx, dir, folders...); return err })
	if err := g.Wait(); err != nil {
		return err
	}
	var nested []string
	loose := []string{}
	for entry := range splitNUL(listed) {
		mode, path := parseListed(string(entry))
		if mode == "" && !strings.HasSuffix(path, "/") && len(loose) <= maxUntracked {
			loose = append(loose, path)
		}
		if mode == "160000" {
			nested = append(nested, path)
		} else if repo, ok := strings.CutSuffix(path, "/"); ok {
			nested = append(nested, repo)
		} else {
			l.add(join(prefix, path))
		}
	}
	for entry := range splitNUL(untracked) {
		if path, isDir := strings.CutSuffix(string(entry), "/"); isDir {
			l.watchBelow(join(prefix, path))
		}
	}
	if prefix == "" && !l.ignored && len(loose) <= maxUntracked {
		l.untracked = loose
	}
	l.repos = append(l.repos, prefix)
	return l.listNested(ctx, prefix, nested)
}

func (l *lister) listNested(ctx context.Context, prefix string, nested []string) error {
	for _, path := range nested {
		sub := join(prefix, path)
		// A submodule that is not checked out is an empty folder: listing it
		// would list the repository around it once more.
		if strings.Contains(path, "\n") || !exists(filepath.Join(l.root, sub, ".git")) {
			continue
		}
		if realDir(l.root, sub) != nil {
			continue
		}
		if err := l.listRepo(ctx, sub); err != nil {
			l.notes = append(l.notes, fmt.Sprintf("the nested repository %s is left out: %v", sub, err))
		}
	}
	return nil
}

// parseListed reads an entry of ls-files -s: `<mode> <object> <stage>TAB<path>`
// for a tracked file, the bare path for another one. An untracked file whose
// name looks like the former costs no more than a look at another path.
func parseListed(entry string) (mode, path string) {
	if head, path, ok := strings.Cut(entry, "\t"); ok {
		if fields := strings.Split(head, " "); len(fields) == 3 && len(fields[0]) == 6 && len(fields[1]) >= 40 && len(fields[2]) == 1 {
			return fields[0], path
		}
	}
	return "", entry
}

func splitNUL(out []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(out) > 0 {
			entry, rest, _ := bytes.Cut(out, []byte{0})
			if len(entry) > 0 && !yield(entry) {
				return
			}
			out = rest
		}
	}
}
