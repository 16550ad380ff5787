package semantic

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/ctags"
)

// Options configures an Engine. The zero value of every field is a usable
// default.
type Options struct {
	Languages []Language
	// Ctags gives the service that reads the languages without a front end, or
	// nil while there is none.
	Ctags func(context.Context) *ctags.Service
	// NoResolve says why the route resolve is off; "" when it is on.
	NoResolve string
	// Limits are DefaultLimits when they are zero.
	Limits Limits
	// Wait is how long a question waits for what has to be read or compiled first
	// before it ends with a *BusyError. Zero means 200 ms.
	Wait time.Duration
	// ResolveTime bounds one question to a compiler front end. Zero means 5
	// minutes.
	ResolveTime time.Duration
	Log         *slog.Logger
}

// Engine answers find_code about one tree. It is safe for concurrent use; Close
// it last.
type Engine struct {
	opts  Options
	front map[string]*Language // by extension

	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu        sync.Mutex
	modules   *modules
	modelling *task[*modules] // nil when nothing is under way
	inventory *inventory
	reading   *reading
	parsed    map[string]parsedFile // what the last inventories were made of
	resolving map[string]*resolving
}

// TreeFile is a source file and what tells its content from the next.
type TreeFile struct {
	Path  string
	Size  int64
	State uint64
}

// Tree is one state of a source tree. Nobody changes it.
type Tree struct {
	Root string // absolute
	FS   fs.FS
	// Files are sorted by path, which is relative to Root with slashes.
	Files []TreeFile
	// Contents changes whenever a file does.
	Contents string
	// Read reads a file, of which it may return no more than limit+1 bytes. It is
	// called for as long as the Engine is open.
	Read func(file string, limit int64) ([]byte, error)

	once   sync.Once
	digest uint64 // of the paths
}

// paths changes when a file appears or goes.
func (t *Tree) paths() uint64 {
	t.once.Do(func() {
		names := make([]string, len(t.Files))
		for i, f := range t.Files {
			names[i] = f.Path
		}
		t.digest = digest(names...)
	})
	return t.digest
}

// BusyError means that the answer is being prepared: asking again helps.
type BusyError struct {
	What        string
	Elapsed     time.Duration
	Done, Total int
}

func (e *BusyError) Error() string {
	progress := ""
	if e.Total > 0 {
		progress = fmt.Sprintf(", %d of %d files", e.Done, e.Total)
	}
	return fmt.Sprintf("%s (%ds elapsed%s). Retry this call shortly.", e.What, int(e.Elapsed.Seconds()), progress)
}

// Temporary tells that the error passes by itself.
func (e *BusyError) Temporary() bool { return true }

// New returns an Engine that has read nothing yet.
func New(o Options) *Engine {
	if o.Limits == (Limits{}) {
		o.Limits = DefaultLimits
	}
	if o.Wait == 0 {
		o.Wait = 200 * time.Millisecond
	}
	if o.ResolveTime == 0 {
		o.ResolveTime = 5 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	e := &Engine{opts: o, front: map[string]*Language{}, parsed: map[string]parsedFile{}, resolving: map[string]*resolving{}}
	e.ctx, e.stop = context.WithCancel(context.Background())
	for i := range o.Languages {
		for _, ext := range o.Languages[i].Extensions {
			e.front[ext] = &o.Languages[i]
		}
	}
	return e
}

// Close ends what is under way. Front ends are closed by who made them.
func (e *Engine) Close() {
	e.stop()
	e.running.Wait()
}

// Answer is one page.
type Answer struct {
	Declarations []Declaration
	Total        int // of all pages
	Offset       int // of this page
	// NextCursor asks for the next page; "" on the last.
	NextCursor string
	// OutputLimited is set when the page ends early because of its size.
	OutputLimited bool
	// Message says why there is nothing.
	Message string
	Meta    Meta

	resume func(at int) string // the cursor of the page that begins there
}

// Meta says how far an answer can be trusted, an absence above all.
type Meta struct {
	Generation string `json:"generation"`

	// Of the parser routes.
	Inventory      *Coverage   `json:"inventory,omitempty"`
	ParserComplete *bool       `json:"parserComplete,omitempty"`
	Parsers        []ParserUse `json:"parsers,omitempty"`
	Problems       []Problem   `json:"problems,omitempty"` // the first ten

	// Of resolve.
	FrontEnds          []string     `json:"frontEnds,omitempty"`
	InputCoverage      *Coverage    `json:"inputCoverage,omitempty"`
	BindingComplete    *bool        `json:"bindingComplete,omitempty"`
	DiagnosticCoverage *Diagnostics `json:"diagnosticCoverage,omitempty"`

	Limitations []string `json:"limitations,omitempty"`
}

// ParserUse says which parser read how many files.
type ParserUse struct {
	Parser   string `json:"parser"`
	Files    int    `json:"files"`
	Complete int    `json:"complete"` // files in which no declaration can be missing
}

// maxProblems is how many problems an answer names.
const maxProblems = 10

// Find answers one request about one state of the tree.
func (e *Engine) Find(ctx context.Context, t *Tree, r Request) (Answer, error) {
	if err := r.check(); err != nil {
		return Answer{}, err
	}
	m, err := e.modulesOf(ctx, t)
	if err != nil {
		return Answer{}, err
	}
	if r.Module != "" && !m.ids[r.Module] {
		return Answer{}, &RequestError{"module", "names no module of this tree; " + knownModules(m)}
	}
	var a Answer
	switch r.Route {
	case Structure:
		a, err = e.structure(ctx, t, m, &r)
	case Symbols:
		a, err = e.symbols(ctx, t, m, &r)
	case Resolve:
		a, err = e.resolve(ctx, t, m, &r)
	}
	if err == nil {
		a.Meta.Generation = generationOf(t, m)
	}
	return a, err
}

func knownModules(m *modules) string {
	if len(m.ids) == 0 {
		return "no go.mod, pom.xml or settings.gradle was found that names one"
	}
	return "there are " + inWords(m.ids)
}

// generationOf names a state of the sources and of what describes their builds.
func generationOf(t *Tree, m *modules) string {
	return fmt.Sprintf("%016x", digest(t.Contents, m.state))
}

func (e *Engine) project(t *Tree, generation string) Project {
	files := make([]string, len(t.Files))
	for i, f := range t.Files {
		files[i] = f.Path
	}
	return Project{
		Root: t.Root, FS: t.FS, Generation: generation, Files: files,
		Content: func(file string) ([]byte, error) { return e.read(t, file) },
	}
}

// errTooLarge means that a file is above Limits.FileBytes.
var errTooLarge = errors.New("the file is too large")

func (e *Engine) read(t *Tree, file string) ([]byte, error) {
	limit := e.opts.Limits.FileBytes
	content, err := t.Read(file, limit)
	if err == nil && int64(len(content)) > limit {
		return nil, errTooLarge
	}
	return content, err
}

// languagesIn are the languages with a front end that the tree has files of, in
// the order of the options.
func (e *Engine) languagesIn(t *Tree) []*Language {
	present := map[*Language]bool{}
	for i := range t.Files {
		if l := e.front[path.Ext(t.Files[i].Path)]; l != nil {
			present[l] = true
		}
	}
	var list []*Language
	for i := range e.opts.Languages {
		if l := &e.opts.Languages[i]; present[l] {
			list = append(list, l)
		}
	}
	return list
}

func (t *Tree) file(name string) (TreeFile, bool) {
	i, ok := slices.BinarySearchFunc(t.Files, name, func(f TreeFile, name string) int {
		switch {
		case f.Path < name:
			return -1
		case f.Path > name:
			return 1
		}
		return 0
	})
	if !ok {
		return TreeFile{}, false
	}
	return t.Files[i], true
}
