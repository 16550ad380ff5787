package bootstrap

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/gtagsmcp/gtagsmcp/toolchain"
)

// Options of a Gate. The zero value installs what is missing with the default
// toolchain.Config.
type Options struct {
	Toolchain toolchain.Config
	// NoAutoSetup answers with instructions instead of installing.
	NoAutoSetup bool
	// Follow brings a managed toolchain that works up to what this version of the
	// program pins, in the background; see toolchain.Follow. It is for processes
	// that live long.
	Follow bool
}

// Gate knows whether the toolchain is ready, for all sessions of one process.
type Gate struct {
	opts    Options
	locate  func(context.Context, toolchain.Config) (*toolchain.Set, toolchain.Report)
	install func(context.Context, toolchain.Config, func(toolchain.Step)) (*toolchain.Set, toolchain.Report, error)
	behind  func(toolchain.Config) (string, time.Time)
	follow  func(context.Context, toolchain.Config, func(toolchain.Step)) (*toolchain.Set, toolchain.Report, error)
	ctx     context.Context
	cancel  context.CancelFunc
	jobs    sync.WaitGroup

	mu      sync.Mutex
	set     *toolchain.Set // what Ready returns while its files are there
	job     *job           // the look or install under way, if any
	failure *failure       // how the last install ended
	peeked  bool           // Known has started its look
	follows bool           // keepUp has been started
	changed chan struct{}  // closed and replaced when a job or its step changes
}

// job is one look for a toolchain and, when that finds none, one install.
type job struct {
	began  time.Time
	looked chan struct{} // closed when the look is over
	done   chan struct{} // closed at the end
	step   toolchain.Step
	err    error // valid after done
}

// failure remembers a failed install, so that a client that asks again at once
// does not start the next one at once.
type failure struct {
	err   error
	at    time.Time
	count int
}

const (
	// lookPatience is how long Ready waits for the look. It takes a millisecond
	// when the toolchain was proved before, half a second when it was not.
	lookPatience = 3 * time.Second
	retryAfter   = 5 * time.Second
	backOff      = 20 * time.Second
	maxBackOff   = 10 * time.Minute

	// followPause lets the first questions of a session have the machine, and
	// followEvery bounds how often, over all processes, a release that cannot be
	// reached is asked for.
	followPause = 10 * time.Second
	followEvery = time.Hour
)

// New makes a gate. Nothing is looked at before the first Ready. Close it to stop
// an install that runs.
func New(opts Options) *Gate {
	ctx, cancel := context.WithCancel(context.Background())
	return &Gate{opts: opts, locate: toolchain.Locate, install: toolchain.Install,
		behind: toolchain.Behind, follow: toolchain.Follow, ctx: ctx, cancel: cancel, changed: make(chan struct{})}
}

// Close stops what runs in the background and waits for its end.
func (g *Gate) Close() {
	g.cancel()
	g.jobs.Wait()
}

// Ready returns the toolchain, or says as what kind of error why there is none
// yet. It never waits for an install.
func (g *Gate) Ready(ctx context.Context) (*toolchain.Set, error) {
	g.mu.Lock()
	if g.set != nil && present(g.set) {
		defer g.mu.Unlock()
		return g.set, nil
	}
	j := g.job
	if j == nil {
		j = g.start()
	}
	g.mu.Unlock()
	patience := time.NewTimer(lookPatience)
	defer patience.Stop()
	select {
	case <-j.looked:
	case <-patience.C:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case <-j.done:
		// A look that found something, or was not to go on, ends at once.
	default:
		return nil, g.notReady(j)
	}
	if j.err != nil {
		return nil, j.err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.set, nil
}

// Known returns the toolchain if it is known to be there, else nil. It never
// installs: the first call starts a look in the background.
func (g *Gate) Known() *toolchain.Set {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.set == nil && !g.peeked {
		g.peeked = true
		g.jobs.Go(func() {
			set, _ := g.locate(g.ctx, g.opts.Toolchain)
			g.mu.Lock()
			defer g.mu.Unlock()
			if g.set == nil && set != nil {
				g.found(set)
			}
		})
	}
	return g.set
}

// found takes a toolchain into use and, once, starts to keep it up. g.mu is held.
func (g *Gate) found(set *toolchain.Set) {
	g.set = set
	if g.opts.Follow && !g.opts.NoAutoSetup && !g.follows && set.Rung != toolchain.RungSystem && set.Rung != toolchain.RungBinDir {
		g.follows = true
		g.jobs.Go(g.keepUp)
	}
}

// keepUp follows until the toolchain is what this version pins. What is in use
// serves on until the other one has been proved.
func (g *Gate) keepUp() {
	wait := followPause
	for {
		select {
		case <-g.ctx.Done():
			return
		case <-time.After(wait):
		}
		why, tried := g.behind(g.opts.Toolchain)
		if why == "" {
			return
		}
		if wait = time.Until(tried.Add(followEvery)); wait > 0 {
			continue
		}
		set, _, err := g.follow(g.ctx, g.opts.Toolchain, nil)
		if wait = followEvery; err == nil && set == nil {
			set, _ = g.locate(g.ctx, g.opts.Toolchain) // another process was faster
		}
		if err != nil || set == nil {
			continue
		}
		g.mu.Lock()
		g.set = set
		g.signal()
		g.mu.Unlock()
		return
	}
}

// present notices a toolchain that was removed under a running server.
func present(set *toolchain.Set) bool {
	for _, path := range []string{set.Gtags.Path, set.Global.Path} {
		if _, err := os.Stat(path); err != nil {
			return false
		}
	}
	return true
}

func (g *Gate) notReady(j *job) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return &NotReadyError{Step: j.step.Text, Elapsed: time.Since(j.began), Retry: retryAfter}
}

// start runs a job in the background. g.mu is held.
func (g *Gate) start() *job {
	j := &job{began: time.Now(), looked: make(chan struct{}), done: make(chan struct{}),
		step: toolchain.Step{Text: "looking for the programs", At: time.Now()}}
	g.job = j
	g.jobs.Go(func() {
		set, err := g.work(j)
		g.mu.Lock()
		defer g.mu.Unlock()
		if err == nil {
			g.found(set)
			g.failure = nil
		}
		j.err = err
		g.job = nil
		close(j.done)
		g.signal()
		select {
		case <-j.looked:
		default:
			close(j.looked)
		}
	})
	return j
}

// work looks, then installs unless that is switched off or has just failed.
func (g *Gate) work(j *job) (*toolchain.Set, error) {
	set, report := g.locate(g.ctx, g.opts.Toolchain)
	if set != nil {
		return set, nil
	}
	if g.opts.NoAutoSetup {
		return nil, &DisabledError{Report: report}
	}
	if err := g.backingOff(); err != nil {
		return nil, err
	}
	close(j.looked)
	set, report, err := g.install(g.ctx, g.opts.Toolchain, func(step toolchain.Step) {
		g.mu.Lock()
		defer g.mu.Unlock()
		j.step = step
		g.signal()
	})
	if err == nil {
		return set, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	f := &failure{err: err, at: time.Now(), count: 1}
	if g.failure != nil {
		f.count += g.failure.count
	}
	g.failure = f
	return nil, f.error(report)
}

// backingOff returns the last failure while it is too early to try again.
func (g *Gate) backingOff() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failure == nil || time.Since(g.failure.at) >= g.failure.wait() {
		return nil
	}
	return g.failure.error(toolchain.Report{})
}

func (f *failure) wait() time.Duration {
	return min(backOff<<min(f.count-1, 10), maxBackOff)
}

func (f *failure) error(report toolchain.Report) error {
	var install *toolchain.InstallError
	if errors.As(f.err, &install) {
		report = install.Report
	}
	return &FailedError{Report: report, Err: f.err, Retry: max(0, f.wait()-time.Since(f.at))}
}

// Changed returns a channel that is closed at the next step or end of an
// install; ask Step or Ready then.
func (g *Gate) Changed() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.changed
}

// signal wakes those who wait for Changed. g.mu is held.
func (g *Gate) signal() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// Step returns the step that an install is at; ok is false when none runs.
func (g *Gate) Step() (step toolchain.Step, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job == nil {
		return toolchain.Step{}, false
	}
	return g.job.step, true
}
