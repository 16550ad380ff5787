package java

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

// Options are the limits of a FrontEnd. The zero value is right for a server,
// except that Dir should be set.
type Options struct {
	// Dir receives the compiled helper, a few dozen KiB for each JDK. Empty, or when
	// nothing can be written there, a folder below the user's cache or the temporary
	// folder is used.
	Dir string
	// Getenv finds JAVA_HOME, PATH and HOME; nil means os.Getenv.
	Getenv func(string) string
	// HeapMiB bounds the heap of the helper; 0 means 768. The process takes up to
	// some 250 MiB beside its heap.
	HeapMiB int
	// ParseTime is for a few files, ResolveTime for one compilation; 0 means 20 s and
	// 60 s.
	ParseTime, ResolveTime time.Duration
	// Idle ends a helper that nobody asks for so long; 0 means 10 min.
	Idle time.Duration
	// Log receives what goes wrong; nil means nobody.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	o.HeapMiB = cmp.Or(o.HeapMiB, 768)
	o.ParseTime = cmp.Or(o.ParseTime, 20*time.Second)
	o.ResolveTime = cmp.Or(o.ResolveTime, time.Minute)
	o.Idle = cmp.Or(o.Idle, 10*time.Minute)
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// ErrClosed is what a FrontEnd answers after Close.
var ErrClosed = errors.New("the Java front end is closed")

// startPause keeps a JDK that is missing or broken from being tried for every
// question.
const startPause = 30 * time.Second

// FrontEnd answers about Java. Its methods may be called by many goroutines.
type FrontEnd struct {
	options Options
	turn    chan struct{} // holds a token while the process is free
	ctx     context.Context
	stop    context.CancelFunc

	// These belong to whoever holds the turn.
	process  *process
	startErr error // of the last start, while it is before retry
	retry    time.Time
	rest     *time.Timer

	mu     sync.Mutex
	status Status
	jdk    helperJDK // of the last helper that started

	layouts struct {
		sync.Mutex
		last *layout
	}
}

// helperJDK is what answers depend on.
type helperJDK struct {
	version string
	feature int
	modules []string
}

// New returns a FrontEnd that runs nothing yet.
func New(o Options) *FrontEnd {
	f := &FrontEnd{options: o.withDefaults(), turn: make(chan struct{}, 1)}
	f.ctx, f.stop = context.WithCancel(context.Background())
	f.turn <- struct{}{}
	return f
}

// Close ends the helper and returns when it is gone. Calls under way and later ones
// fail with ErrClosed.
func (f *FrontEnd) Close() {
	f.stop()
	<-f.turn // whoever has it gives it back soon: the context ends the exchange
	f.end()
	f.turn <- struct{}{}
}

// exchange has the helper answer one request, starting it when need be. The error
// wraps semantic.ErrUnavailable when there is no helper, and errBroke when this
// request is what it broke down of.
func (f *FrontEnd) exchange(ctx context.Context, limit time.Duration, request any, contents [][]byte, answer any) error {
	if err := f.take(ctx); err != nil {
		return err
	}
	defer f.put()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(f.ctx, cancel)()
	for {
		p, err := f.running(ctx)
		if err != nil {
			return f.closedOr(err)
		}
		fresh := p.served == 0
		err = p.ask(ctx, limit, request, contents, answer)
		if err == nil {
			return nil
		}
		f.end()
		if ctx.Err() != nil {
			return f.closedOr(ctx.Err())
		}
		// One that served before may have died at rest: a fresh one decides.
		if fresh || errors.Is(err, context.DeadlineExceeded) {
			f.options.Log.Warn("the Java helper broke down", "err", err, "stderr", string(p.stderr.bytes()))
			return fmt.Errorf("%w: %s", errBroke, reason(err, limit, p))
		}
	}
}

var errBroke = errors.New("the JDK's compiler broke down")

func reason(err error, limit time.Duration, p *process) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("it took more than %v", limit)
	}
	return err.Error() + p.stderr.suffix()
}

func (f *FrontEnd) closedOr(err error) error {
	if f.ctx.Err() != nil {
		return ErrClosed
	}
	return err
}

func (f *FrontEnd) take(ctx context.Context) error {
	select {
	case <-f.turn:
	case <-ctx.Done():
		return ctx.Err()
	case <-f.ctx.Done():
		return ErrClosed
	}
	if f.ctx.Err() != nil {
		f.turn <- struct{}{}
		return ErrClosed
	}
	return nil
}

// put gives the process to the next caller, and ends it when none comes.
func (f *FrontEnd) put() {
	if f.process != nil {
		if f.rest == nil {
			f.rest = time.AfterFunc(f.options.Idle, f.retire)
		}
		f.rest.Reset(f.options.Idle)
	}
	f.turn <- struct{}{}
}

func (f *FrontEnd) retire() {
	select {
	case <-f.turn:
		f.end()
		f.turn <- struct{}{}
	default: // in use: put sets the timer again
	}
}

// running returns the process, started if there is none. The caller has the turn.
func (f *FrontEnd) running(ctx context.Context) (*process, error) {
	if f.process != nil {
		return f.process, nil
	}
	if f.startErr != nil && time.Now().Before(f.retry) {
		return nil, f.startErr
	}
	p, err := f.launch(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !errors.Is(err, semantic.ErrUnavailable) {
			err = fmt.Errorf("the Java compiler is %w: %w", semantic.ErrUnavailable, err)
		}
		f.startErr, f.retry = err, time.Now().Add(startPause)
		return nil, err
	}
	f.process, f.startErr = p, nil
	f.mu.Lock()
	f.jdk = helperJDK{p.jdk.version, p.jdk.feature, p.modules}
	f.mu.Unlock()
	f.setStatus(Status{JDK: p.jdk.version, Home: p.jdk.home, PID: p.cmd.Process.Pid, HeapLimit: int64(f.options.HeapMiB) << 20})
	return p, nil
}

func (f *FrontEnd) launch(ctx context.Context) (*process, error) {
	j, err := findJDK(ctx, f.options.Getenv)
	if err != nil {
		return nil, err
	}
	classes, err := f.install(ctx, j)
	if err != nil {
		return nil, err
	}
	return start(ctx, j, classes, f.options.HeapMiB)
}

// install tries the folders that may take the compiled helper, the given one first.
func (f *FrontEnd) install(ctx context.Context, j jdk) (string, error) {
	dirs := []string{f.options.Dir}
	if cache, err := os.UserCacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "gtags-mcp", "java"))
	}
	var errs []error
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		classes, err := install(ctx, j, dir)
		if err == nil {
			return classes, nil
		}
		errs = append(errs, err)
	}
	// A folder that others could have prepared would run their code.
	dir, err := os.MkdirTemp("", "gtags-mcp-java-")
	if err != nil {
		return "", errors.Join(append(errs, err)...)
	}
	context.AfterFunc(f.ctx, func() { os.RemoveAll(dir) })
	return install(ctx, j, dir)
}

// end ends the process, if any. The caller has the turn.
func (f *FrontEnd) end() {
	if f.process != nil {
		f.process.end()
		f.process = nil
		f.setStatus(Status{})
	}
}

func (f *FrontEnd) setStatus(s Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status = s
}

// answering is the JDK that answered last.
func (f *FrontEnd) answering() helperJDK {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.jdk
}

// name says who answers: "jdk 17.0.9".
func (f *FrontEnd) name() string { return "jdk " + f.answering().version }

func (f *FrontEnd) feature() int { return f.answering().feature }

// systemModules are the modules of the JDK that answers.
func (f *FrontEnd) systemModules() []string { return f.answering().modules }
