package index

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
	"github.com/gtagsmcp/gtagsmcp/nav/macro"
)

// Tools is what building an index needs. The package runs it and never
// installs or looks for anything.
type Tools struct {
	Gtags string   // absolute path of the program
	Env   []string // the complete environment to run it with
	Label string   // GTAGSLABEL; "" when Env has it
	// FilesEnv is the variable by which the toolchain's parser helper learns the
	// list of files that gtags will ask it for; "" when it has none.
	FilesEnv string
	// Fingerprint names the toolchain and its configuration: an index built
	// under another one is rebuilt.
	Fingerprint string
}

// Options say how an index is kept. The zero value works for everything that
// needs no build.
type Options struct {
	// Tools is asked when something must be built, and only then; its error
	// ("being installed, retry") is returned as it is. Nil: an existing index
	// can be read, and nothing can be built.
	Tools func(context.Context) (Tools, error)
	// Expect returns the label and fingerprint that an up-to-date index
	// carries, when they are known without installing anything; ok is false
	// when they are not. Nil: known only once something is built.
	Expect func() (label, fingerprint string, ok bool)
	// SkipGlobs leave files out; `**` crosses folders, a pattern without a
	// slash matches any element of a path. Nil: none.
	SkipGlobs []string
	// IncludeIgnored also indexes what .gitignore leaves out. False: respect it.
	IncludeIgnored bool
	// AllowAny permits an index of the home directory, of the file system's
	// root, and of any number of files without git. False: refuse these.
	AllowAny bool
	// MaxFiles is the most source files of a tree without git. 0: 200,000.
	MaxFiles int
	// CacheDir is where the index goes when the root cannot be written to.
	// "": the user's cache directory.
	CacheDir string
	// Shards is the number of gtags processes of a base or delta. 0: one for
	// each core, and fewer when there is little to parse.
	Shards int
	// FileTimeout is how long gtags may be busy with one file. 0: one minute.
	FileTimeout time.Duration
	// MaxMemory is the limit in bytes of one gtags process. 0: 1 GiB.
	MaxMemory uint64
	// LockTimeout is how long to wait for another process that publishes.
	// 0: 30 seconds.
	LockTimeout time.Duration
	// CheckTimeout is how long a query waits to learn what has changed, before
	// it answers with a warning. 0: one second; Linux without notifications
	// needs 0.1 s. The first query of a process waits as long as it may.
	CheckTimeout time.Duration
	// Mint tells which names a macro invocation in a file is about; the outline
	// keeps them. Nil: none.
	Mint func(path string, call csource.Symbol) []macro.Name
	// NoWatch never uses file system notifications. False: use them where they work.
	NoWatch bool
	// Logger gets what is worth knowing and no answer says. Nil: nothing.
	Logger *slog.Logger
}

func (o *Options) setDefaults() {
	if o.MaxFiles == 0 {
		o.MaxFiles = 200_000
	}
	if o.AllowAny {
		o.MaxFiles = 0
	}
	if o.FileTimeout == 0 {
		o.FileTimeout = time.Minute
	}
	if o.MaxMemory == 0 {
		o.MaxMemory = 1 << 30
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = 30 * time.Second
	}
	if o.CheckTimeout == 0 {
		o.CheckTimeout = time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Tools == nil {
		o.Tools = func(context.Context) (Tools, error) {
			return Tools{}, errors.New("there is no toolchain to build an index with")
		}
	}
}

// Index is the index of one tree. It is safe for concurrent use.
type Index struct {
	root string
	dir  string // where the files of the index are
	opts Options
	ctx  context.Context // ends with Close; background work runs under it
	stop context.CancelFunc
	work sync.WaitGroup

	mu       sync.Mutex
	view     *view    // of the present generation; nil before the first
	seen     identity // of CURRENT when view was opened
	base     *job     // builds a base; nil when none runs
	delta    *job     // builds a delta; nil when none runs
	notes    []string // what every answer has to say
	damage   string   // what the next answer has to say
	rejected rejected // the generation that was found damaged
	tree     *tree

	outlining    bool      // an outline is being made
	outlineAfter time.Time // none is begun before
}

// Open prepares the index of the tree at root. It builds and scans nothing.
func Open(root string, opts Options) (*Index, error) {
	opts.setDefaults()
	if _, err := matcher("", opts.SkipGlobs); err != nil {
		return nil, err
	}
	root, err := filepath.Abs(root)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "index", Path: root, Err: unix.ENOTDIR}
	}
	dir, err := place(root, opts.CacheDir)
	if err != nil {
		return nil, err
	}
	x := &Index{root: root, dir: dir, opts: opts}
	x.ctx, x.stop = context.WithCancel(context.Background())
	x.tree = &tree{root: root, dir: dir, opts: opts, ctx: x.ctx, work: &x.work}
	return x, nil
}

// place chooses where the index of root lives: in the root itself, or below
// cacheDir when the root cannot be written to.
func place(root, cacheDir string) (string, error) {
	inRoot := filepath.Join(root, dirName)
	info, err := os.Lstat(inRoot)
	switch {
	case err == nil && info.IsDir() && unix.Access(inRoot, unix.W_OK) == nil:
		return inRoot, nil
	case errors.Is(err, fs.ErrNotExist) && unix.Access(root, unix.W_OK) == nil:
		return inRoot, nil
	}
	if cacheDir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("%s cannot be written to, and there is no cache directory: %w", root, err)
		}
		cacheDir = filepath.Join(user, "gtags-mcp", "index")
	}
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(cacheDir, fmt.Sprintf("%s-%x", filepath.Base(root), sum[:8])), nil
}

// Root is the tree's absolute path, without symbolic links.
func (x *Index) Root() string { return x.root }

// Close ends background work and gives the present generation back. Snapshots
// stay valid until they are released.
func (x *Index) Close() error {
	x.mu.Lock()
	x.stop() // under both mutexes, so that nothing begins afterwards
	x.mu.Unlock()
	x.tree.close()
	x.work.Wait()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.view != nil {
		x.view.release()
		x.view = nil
	}
	return nil
}

// makeDir creates the index folder, which git ignores by its own .gitignore.
func (x *Index) makeDir() error {
	if err := os.MkdirAll(x.dir, 0o755); err != nil {
		return err
	}
	ignore := filepath.Join(x.dir, ".gitignore")
	if exists(ignore) {
		return nil
	}
	return os.WriteFile(ignore, []byte("*\n"), 0o644)
}

// refuse returns an error for a root that is probably a mistake.
func (x *Index) refuse() error {
	if x.opts.AllowAny {
		return nil
	}
	home, _ := os.UserHomeDir()
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	for _, dir := range []string{"/", home} {
		if x.root == dir {
			return fmt.Errorf("%s is not indexed without being asked to explicitly: choose a project below it, or use --allow-any-root (allow_any_root in a config file)", dir)
		}
	}
	return nil
}
