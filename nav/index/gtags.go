package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// gtagsRun is one gtags process: it writes the database of files into dir.
type gtagsRun struct {
	tools  Tools
	limits limits
	root   string
	dir    string // exists and is empty
	files  []entry
	done   *atomic.Int64 // files parsed, for progress; counts on over retries
}

// fileFailure says at which file a gtags process ended or hung.
type fileFailure struct {
	at     int // index in gtagsRun.files; -1: killed or stuck before the first
	path   string
	reason string
}

func (e *fileFailure) Error() string { return fmt.Sprintf("gtags fails on %s: %s", e.path, e.reason) }

// errIdle is the cause with which a gtags that makes no progress is stopped.
var errIdle = errors.New("no progress")

// run returns the indexes of the files that gtags passed over (unreadable,
// removed meanwhile, or named in the skip list of its configuration). An exit
// status of 0 means little: gtags also exits 0 when the disk is full, so the
// caller has to check what was written.
//
// With -v gtags writes ` [<n>] extracting tags of <path>` before it reads a
// file. That is the progress, and it names the file that ends the process.
func (r *gtagsRun) run(ctx context.Context) (passed []int, err error) {
	tmp := filepath.Join(r.dir, "tmp")
	if err := os.Mkdir(tmp, 0o755); err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	at := -1
	moved := make(chan struct{}, 1)
	tail := &tailBuffer{limit: 2 << 10}
	follow := &lineWriter{f: func(line []byte) {
		path, ok := announced(line)
		if !ok {
			tail.Write(append(bytes.Clone(line), '\n'))
			return
		}
		for at++; at < len(r.files) && r.files[at].path != path; at++ {
			passed = append(passed, at)
		}
		r.done.Add(1)
		select {
		case moved <- struct{}{}:
		default:
		}
	}}
	// With -f - gtags copies the list to /tmp, whatever TMPDIR says, and dies of a
	// segmentation fault where nobody may write there.
	list := filepath.Join(tmp, "files")
	if err := os.WriteFile(list, fileList(r.files), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(r.tools.Gtags, "-v", "--accept-dotfiles", "--skip-unreadable", "-f", list, r.dir)
	cmd.Dir = r.root
	// The temporary files of its two sorts belong on the disk whose space is
	// checked, in a folder that is swept when this process dies.
	cmd.Env = append(r.tools.environ(), "TMPDIR="+tmp)
	if name := r.tools.FilesEnv; name != "" {
		cmd.Env = append(cmd.Env, name+"="+list)
	}
	cmd.Stderr = writer(func(p []byte) (int, error) {
		n, err := follow.Write(p)
		if at > calmAfter {
			time.Sleep(calm)
		}
		return n, err
	})
	go r.watch(ctx, cancel, moved)
	err = runChild(ctx, cmd, func(pid int) { limitChild(pid, r.limits.memory, r.limits.fileSize) })
	if at >= len(r.files) {
		return nil, fmt.Errorf("gtags announced a file that it was not given; it said: %s", tail)
	}
	if err == nil {
		for at++; at < len(r.files); at++ {
			passed = append(passed, at)
		}
		return passed, nil
	}
	return nil, r.failure(err, at, strings.TrimSpace(tail.String()))
}

// gtags announces some thousand files a second, and to wake up for each costs
// as much CPU as 2 % of the parsing. Once it is clear that there are many, what
// has gathered is read fifty times a second; a pipe holds ten times as much.
const (
	calmAfter = 200 // files
	calm      = 20 * time.Millisecond
)

type writer func(p []byte) (int, error)

func (f writer) Write(p []byte) (int, error) { return f(p) }

// failure turns the end of a process into the failure of a file, when it was
// at one.
func (r *gtagsRun) failure(err error, at int, said string) error {
	var exit *exec.ExitError
	reason := lastLine(said)
	switch {
	case errors.Is(err, errIdle):
		reason = fmt.Sprintf("no progress for %v", r.limits.file)
	case !errors.As(err, &exit):
		return err
	case at < 0 && exit.ExitCode() >= 0:
		return fmt.Errorf("gtags ended before it read a file: %s", said)
	case said == "" || exit.ExitCode() < 0:
		reason = strings.TrimSuffix(exit.String()+": "+reason, ": ")
	}
	// Where gtags names the file itself, that is the one: `gtags: #if stack
	// over flow. [./deep.c]`.
	if _, name, ok := strings.Cut(reason, "[./"); ok {
		if i := r.position(strings.TrimSuffix(name, "]")); i >= 0 {
			at = i
		}
	}
	failure := &fileFailure{at: at, path: "no file in particular", reason: reason}
	if at >= 0 {
		failure.path = r.files[at].path
	}
	return failure
}

// position is the index of path among the files of the run, or -1.
func (r *gtagsRun) position(path string) int {
	i, ok := slices.BinarySearchFunc(r.files, path, byPath)
	if !ok {
		return -1
	}
	return i
}

// watch stops a gtags that announces no file and whose output does not grow.
func (r *gtagsRun) watch(ctx context.Context, stop context.CancelCauseFunc, moved <-chan struct{}) {
	// Before it announces the first file it reads the whole list.
	timer := time.NewTimer(max(r.limits.file, 30*time.Second))
	defer timer.Stop()
	size := int64(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-moved:
		case <-timer.C:
			now := diskUsage(r.dir)
			if now == size {
				stop(errIdle)
				return
			}
			size = now
		}
		timer.Reset(r.limits.file)
	}
}

// announced reads a line ` [<n>] extracting tags of <path>`.
func announced(line []byte) (path string, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(" ["))
	if !ok {
		return "", false
	}
	n, rest, ok := bytes.Cut(rest, []byte("] extracting tags of "))
	if !ok {
		return "", false
	}
	if _, err := strconv.Atoi(string(n)); err != nil {
		return "", false
	}
	return string(bytes.TrimPrefix(rest, []byte("./"))), true
}

// fileList is what gtags -f reads. The `./` keeps a name that begins with a
// dash or a blank what it is.
func fileList(files []entry) []byte {
	n := 0
	for i := range files {
		n += len(files[i].path) + 3
	}
	b := make([]byte, 0, n)
	for i := range files {
		b = append(b, "./"...)
		b = append(b, files[i].path...)
		b = append(b, '\n')
	}
	return b
}

// environ is the environment for gtags: the toolchain's own and nothing that
// changes what gtags does.
func (t Tools) environ() []string {
	env := append([]string(nil), t.Env...)
	if t.Label != "" {
		env = append(env, "GTAGSLABEL="+t.Label)
	}
	return env
}

// langmap asks gtags which file names it parses under the toolchain's label.
func (t Tools) langmap(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var out bytes.Buffer
	stderr := &tailBuffer{limit: 2 << 10}
	cmd := exec.Command(t.Gtags, "--config=langmap")
	cmd.Dir = os.TempDir()
	cmd.Env = t.environ()
	cmd.Stdout, cmd.Stderr = &out, stderr
	if err := runChild(ctx, cmd, nil); err != nil {
		return "", fmt.Errorf("%s --config=langmap: %w: %s", t.Gtags, err, strings.TrimSpace(stderr.String()))
	}
	langmap := strings.TrimSpace(out.String())
	if langmap == "" {
		return "", fmt.Errorf("%s --config=langmap printed nothing; GTAGSCONF or the label is wrong", t.Gtags)
	}
	return langmap, nil
}

func lastLine(s string) string {
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// diskUsage is the size of the regular files directly in dir.
func diskUsage(dir string) (n int64) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
	}
	return n
}
