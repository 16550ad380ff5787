package nav

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
	"github.com/gtagsmcp/gtagsmcp/nav/ctags"
	"github.com/gtagsmcp/gtagsmcp/nav/gtagsdb"
	"github.com/gtagsmcp/gtagsmcp/nav/index"
	"github.com/gtagsmcp/gtagsmcp/nav/macro"
	"github.com/gtagsmcp/gtagsmcp/nav/outline"
	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
	"github.com/gtagsmcp/gtagsmcp/nav/semantic/golang"
	"github.com/gtagsmcp/gtagsmcp/nav/semantic/java"
)

// Toolchain is what the engine may run. It comes from outside: nav never looks
// for programs and never installs any.
type Toolchain struct {
	Index index.Tools
	Ctags ctags.Command
}

// Options configures a Workspace. The zero value of every field but Toolchain
// is a usable default.
type Options struct {
	// Toolchain is asked when an index must be built and when symbols are to be
	// described. Its error reaches the caller of a question only when the index
	// itself is missing; it is the place for "installing, retry".
	Toolchain func(context.Context) (Toolchain, error)
	// Fence holds all that may be read; the root must be inside. Nil: everything.
	Fence *Fence
	// Index holds the settings of the index; its Tools field is filled in.
	Index index.Options
	// NoEnrich leaves kind, typeref, scope and signature out of the answers.
	NoEnrich bool
	// NoGuards leaves the #if stack out of the answers.
	NoGuards bool
	// NoMacros turns off finding names that macros mint and names with other
	// leading underscores.
	NoMacros bool
	// Macros are families of macros that mint names, beside those that are built
	// in and before them.
	Macros []MacroFamily
	// AwaitOutline makes the first questions wait for the outline of a large tree,
	// which follows the index by some seconds. It is for programs that end after
	// one answer, and would stop the making of the outline every time.
	AwaitOutline bool
	// FirstWait is how long a question waits for the first build of an index
	// before it gives up with an *index.BuildingError. Zero means 10 seconds,
	// well below the 60 seconds after which hosts give up on a call.
	FirstWait time.Duration
	// FrontEnds are those of find_code; nil means new ones that belong
	// to this workspace alone and do not resolve.
	FrontEnds *FrontEnds
	// CodeLimits bound what find_code reads; the zero value means those of the
	// contract.
	CodeLimits semantic.Limits
	// CodeWait is how long FindCode waits for what it has to read or compile before
	// it ends with an error that is Temporary. Zero means 200 ms.
	CodeWait time.Duration
	Logger   *slog.Logger
}

// Workspace answers questions about one source tree. It is safe for concurrent
// use; Close it when no view is open any more.
type Workspace struct {
	root  string
	opts  Options
	index *index.Index
	files *sourceCache

	macros   *macro.Table
	outlined outlineCache
	callers  callerCache
	usual    usualConfigs

	code     *semantic.Engine
	codeTree atomic.Pointer[semantic.Tree]
	own      *FrontEnds // closed with the workspace; nil when they are shared

	mu          sync.Mutex
	ctags       *ctags.Service
	exportSites exportSites
}

// OpenWorkspace opens the tree at root, an absolute path. It is cheap: nothing
// is built or scanned before the first question.
func OpenWorkspace(root string, opts Options) (*Workspace, error) {
	if opts.Toolchain == nil {
		return nil, errors.New("nav: Options.Toolchain is required")
	}
	if opts.FirstWait == 0 {
		opts.FirstWait = 10 * time.Second
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	var own *FrontEnds
	if opts.FrontEnds == nil {
		own = NewFrontEnds(golang.Options{}, java.Options{})
		opts.FrontEnds = own
	}
	macros, err := macro.New(opts.Macros)
	if err != nil {
		return nil, err
	}
	real, dir, err := opts.Fence.Folder(root)
	if err != nil {
		return nil, err
	}
	opts.Index.Logger = opts.Logger
	opts.Index.Tools = func(ctx context.Context) (index.Tools, error) {
		tc, err := opts.Toolchain(ctx)
		return tc.Index, err
	}
	if !opts.NoMacros {
		opts.Index.Mint = func(path string, call csource.Symbol) []macro.Name {
			return mint(macros, path, call)
		}
	}
	x, err := index.Open(real, opts.Index)
	if err == nil {
		err = SameFolder(dir, x.Root())
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	w := &Workspace{root: root, opts: opts, index: x, files: newSourceCache(dir), macros: macros, own: own}
	w.code = newCodeEngine(w)
	w.usual.files = w.files
	return w, nil
}

// Root is the folder this workspace was opened at.
func (w *Workspace) Root() string { return w.root }

// State is what the index of the tree is doing, and how many files it holds.
func (w *Workspace) State() (s index.State, files int) { return w.index.State() }

// Close ends the processes and lets go of the files of this workspace.
func (w *Workspace) Close() error {
	w.code.Close()
	if w.own != nil {
		w.own.Close()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctags != nil {
		w.ctags.Close()
	}
	return errors.Join(w.index.Close(), w.files.close())
}

// tagger returns the ctags service, or nil when this machine has none or none is
// wanted: answers are then given without what it would add. While the toolchain
// is being installed the error is Temporary: an answer that waits is right, one
// without parsers would name the wrong callers.
func (w *Workspace) tagger(ctx context.Context) (*ctags.Service, error) {
	if w.opts.NoEnrich {
		return nil, nil
	}
	return w.ctagsService(ctx)
}

// ctagsService is the service whether answers are enriched or not: find_code asks
// for parsers.
func (w *Workspace) ctagsService(ctx context.Context) (*ctags.Service, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctags == nil {
		tc, err := w.opts.Toolchain(ctx)
		if Temporary(err) {
			return nil, err
		}
		if err != nil || tc.Ctags.Path == "" {
			return nil, nil
		}
		w.ctags = ctags.New(tc.Ctags, ctags.Options{Log: w.opts.Logger})
	}
	return w.ctags, nil
}

// View is the state of a tree at one moment: every question asked through it
// sees the same generation of the index. Release it after use.
type View struct {
	w    *Workspace
	snap *index.Snapshot
	set  *gtagsdb.Set
	// outlines knows what C-like files define; nil while it is being made.
	outlines     *outline.Set
	wantsOutline bool // false for a view that wants no outline

	mu     sync.Mutex
	unread map[string]error // files that an answer should have looked at
	last   *resolution      // of the last name that was looked up
}

// View returns the present state of the tree, brought up to date first when
// that is quick. It fails with *index.BuildingError while the first index is
// being built, and with the toolchain's error when nothing can be built.
func (w *Workspace) View(ctx context.Context, progress func(index.Progress)) (*View, error) {
	v, err := w.CodeView(ctx, progress)
	if err != nil {
		return nil, err
	}
	w.usual.prepare()
	v.wantsOutline, v.outlines = true, v.snap.Outline()
	if v.outlines == nil {
		v.outlines = w.awaitOutline(ctx, v.snap, progress)
	}
	return v, nil
}

// CodeView is a View for FindCode alone, which needs no outline and waits for
// none.
func (w *Workspace) CodeView(ctx context.Context, progress func(index.Progress)) (*View, error) {
	snap, err := w.index.Acquire(ctx, index.AcquireOptions{Wait: w.opts.FirstWait, Progress: progress})
	if err != nil {
		return nil, err
	}
	return &View{w: w, snap: snap, set: snap.Set()}, nil
}

// outlineWait is how long a question waits for the outline: that of a small tree
// is there by then.
const outlineWait = time.Second

func (w *Workspace) awaitOutline(ctx context.Context, snap *index.Snapshot, progress func(index.Progress)) *outline.Set {
	if progress != nil {
		progress(Progress{Phase: "outlining"})
	}
	if !w.opts.AwaitOutline {
		bounded, cancel := context.WithTimeout(ctx, outlineWait)
		defer cancel()
		ctx = bounded
	}
	return snap.AwaitOutline(ctx)
}

// unreadable notes that an answer lacks what a file would have told. A file that
// was deleted a moment ago has nothing to tell.
func (v *View) unreadable(path string, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.unread == nil {
		v.unread = map[string]error{}
	}
	v.unread[path] = err
}

// Warnings says what the caller should know about the answers of this view so
// far: files that are not indexed or cannot be read, a refresh still under way.
func (v *View) Warnings() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	warnings := v.snap.Warnings()
	if v.wantsOutline && v.outlines == nil {
		warnings = append(slices.Clone(warnings), "the outline of the tree is still being made: variables, members and operators may be missing; ask again in some seconds")
	}
	for path, err := range v.unread {
		return append(slices.Clone(warnings), fmt.Sprintf("%d files could not be read, %s for one: %v", len(v.unread), path, err))
	}
	return warnings
}

// Damaged takes an error that a question ended with. When it means that the
// index is damaged, a new one is built, and the error returned says so.
func (v *View) Damaged(err error) error { return v.snap.Damaged(err) }

// Release gives the view back; it must not be used afterwards.
func (v *View) Release() { v.snap.Release() }

// Update brings the index up to date before it returns, from scratch if full.
func (w *Workspace) Update(ctx context.Context, full bool, progress func(index.Progress)) (index.Report, error) {
	return w.index.Update(ctx, full, progress)
}

// Temporary reports whether an error goes away without anybody doing anything:
// the first index is being built, or the toolchain is being installed.
func Temporary(err error) bool {
	var building *index.BuildingError
	var passing interface{ Temporary() bool }
	return errors.As(err, &building) || errors.As(err, &passing) && passing.Temporary()
}

// Progress says how far the building of an index has come.
type Progress = index.Progress

// UpdateReport says what an update of the index did.
type UpdateReport = index.Report

// IndexState is what the index of a tree is doing.
type IndexState = index.State

// The states of an index.
const (
	IndexUnknown    = index.Unknown
	IndexBuilding   = index.Building
	IndexRefreshing = index.Refreshing
	IndexReady      = index.Ready
)
