package ctags

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Command is how to run ctags.
type Command struct {
	Path string   // absolute; empty when there is none
	Env  []string // the complete environment
}

// Options are the limits of a Service. The zero value is right for a server.
type Options struct {
	Workers    int           // processes at most; 0 means one a core, four at most
	FileTime   time.Duration // for one file; 0 means 3 s
	FileSize   int           // in bytes; 0 means 8 MiB
	Memory     uint64        // address space of one process in bytes; 0 means 1 GiB
	CacheSize  int           // in bytes; 0 means 64 MiB
	Idle       time.Duration // a process at rest for so long ends; 0 means 1 min
	RetryAfter time.Duration // a content that failed is tried again; 0 means 5 min
	Log        *slog.Logger  // nil means none
}

func (o Options) withDefaults() Options {
	o.Workers = cmp.Or(max(o.Workers, 0), min(runtime.GOMAXPROCS(0), 4))
	o.FileTime = cmp.Or(o.FileTime, 3*time.Second)
	o.FileSize = cmp.Or(o.FileSize, 8<<20)
	o.Memory = cmp.Or(o.Memory, 1<<30)
	o.CacheSize = cmp.Or(o.CacheSize, 64<<20)
	o.Idle = cmp.Or(o.Idle, time.Minute)
	o.RetryAfter = cmp.Or(o.RetryAfter, 5*time.Minute)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Why Tags has no answer. All but ErrUnavailable and ErrClosed are about the one
// file.
var (
	ErrUnavailable = errors.New("universal-ctags is not available")
	ErrClosed      = errors.New("the ctags service is closed")
	ErrTooLarge    = errors.New("file too large for ctags")
	ErrTimeout     = errors.New("ctags took too long")
	ErrBroke       = errors.New("ctags broke down")
)

// startTime is what a program gets to say hello. It is not the file's fault when
// a busy machine takes long over it.
const startTime = 10 * time.Second

// startPause keeps a broken program from being started once a file.
const startPause = 10 * time.Second

// Service answers for files with a few ctags processes. Its methods may be
// called by many goroutines at once.
type Service struct {
	command Command
	options Options
	cache   *cache
	slots   chan struct{} // one token a process that may run
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup // parses and processes

	mu       sync.Mutex
	closed   bool
	idle     []*process // the last one used is at the end
	startErr error      // of the last start, while it is before retry
	retry    time.Time
}

// New returns a Service that runs nothing yet.
func New(c Command, o Options) *Service {
	o = o.withDefaults()
	ctx, stop := context.WithCancel(context.Background())
	return &Service{
		command: c, options: o,
		cache: newCache(o.CacheSize),
		slots: make(chan struct{}, o.Workers),
		ctx:   ctx, stop: stop,
	}
}

// Close ends all processes and returns when they are gone. Calls under way and
// later ones fail with ErrClosed.
func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	idle := s.idle
	s.idle = nil
	s.mu.Unlock()
	s.stop()
	for _, p := range idle {
		p.end()
	}
	s.running.Wait()
}

// Tags returns the tags of the content, by line. The path selects the language; a
// language that ctags does not know has no tags, which is no error. The caller
// must not change the slice.
func (s *Service) Tags(ctx context.Context, path string, content []byte) ([]Tag, error) {
	if s.command.Path == "" {
		return nil, ErrUnavailable
	}
	if len(content) > s.options.FileSize {
		return nil, fmt.Errorf("%s: %w: %d bytes, the limit is %d", path, ErrTooLarge, len(content), s.options.FileSize)
	}
	name := madeUpName(path, content)
	e, first := s.cache.claim(contentKey(name, content))
	if first {
		// The parse may outlive this call, the caller's buffer may not.
		content = bytes.Clone(content)
		if !s.track(func() { s.fill(e, name, content) }) {
			s.cache.settle(e, nil, ErrClosed, 0)
		}
	}
	tags, err := s.cache.wait(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return tags, nil
}

// track runs f in a goroutine that Close waits for, or not at all after Close.
func (s *Service) track(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.running.Go(f)
	return true
}

// fill parses the content for everybody who waits for the entry.
func (s *Service) fill(e *entry, name string, content []byte) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-e.abandoned:
		return
	case <-s.ctx.Done():
		s.cache.settle(e, nil, ErrClosed, 0)
		return
	}
	select {
	case <-e.abandoned: // while it queued
		return
	default:
	}
	tags, err := s.parse(name, content)
	remember := s.options.RetryAfter
	if errors.Is(err, ErrClosed) || errors.Is(err, ErrUnavailable) {
		remember = 0
	}
	s.cache.settle(e, tags, err, remember)
}

// parse has one process answer. A process that served before may have died at
// rest, so its end says nothing about this content: a fresh one decides.
func (s *Service) parse(name string, content []byte) ([]Tag, error) {
	enc := encode(content)
	for {
		p, err := s.take()
		if err != nil {
			return nil, err
		}
		fresh := p.served == 0
		tags, err := p.ask(s.ctx, s.options.FileTime, name, enc.content)
		if err == nil {
			s.put(p)
			return enc.tidy(tags, name, content), nil
		}
		p.end()
		switch {
		case s.ctx.Err() != nil:
			return nil, ErrClosed
		case errors.Is(err, context.DeadlineExceeded):
			err = fmt.Errorf("%w: more than %v", ErrTimeout, s.options.FileTime)
		case fresh:
			err = fmt.Errorf("%w: %v%s", ErrBroke, err, p.stderr.suffix())
		default:
			continue
		}
		s.options.Log.Warn("ctags failed on a file", "as", name, "bytes", len(content), "err", err)
		return nil, err
	}
}

// take returns a process at rest, or a new one.
func (s *Service) take() (*process, error) {
	s.mu.Lock()
	if n := len(s.idle); n > 0 {
		p := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.mu.Unlock()
		p.rest.Stop()
		return p, nil
	}
	err, retry := s.startErr, s.retry
	s.mu.Unlock()
	if err != nil && time.Now().Before(retry) {
		return nil, err
	}
	p, err := start(s.ctx, s.command, s.options.Memory, startTime)
	if s.ctx.Err() != nil {
		if err == nil {
			p.end()
		}
		return nil, ErrClosed
	}
	if err != nil {
		err = fmt.Errorf("%w: %s: %w", ErrUnavailable, s.command.Path, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.startErr, s.retry = err, time.Now().Add(startPause)
	return p, err
}

// put lays a process to rest, and ends it when nobody takes it for a while.
func (s *Service) put(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		p.end()
		return
	}
	s.idle = append(s.idle, p)
	if p.rest == nil {
		p.rest = time.AfterFunc(s.options.Idle, func() { s.retire(p) })
	} else {
		p.rest.Reset(s.options.Idle)
	}
}

// retire ends the process if it is at rest.
func (s *Service) retire(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.idle, p); i >= 0 {
		s.idle = slices.Delete(s.idle, i, i+1)
		p.end()
	}
}

// Languages returns the names of the languages that this ctags parses.
func (s *Service) Languages(ctx context.Context) ([]string, error) {
	if s.command.Path == "" {
		return nil, ErrUnavailable
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.command.Path, "--options=NONE", "--list-languages")
	cmd.Env, cmd.Dir, cmd.WaitDelay = s.command.Env, rootDir, time.Second
	ownGroup(cmd)
	cmd.Cancel = func() error { killGroup(cmd.Process); return nil }
	out := &capped{limit: 1 << 20}
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s --list-languages: %w", ErrUnavailable, s.command.Path, cmp.Or(ctx.Err(), err))
	}
	var languages []string
	for line := range strings.Lines(out.String()) {
		if name := strings.TrimSpace(line); name != "" && !strings.HasSuffix(name, "[disabled]") {
			languages = append(languages, name)
		}
	}
	return languages, nil
}

// capped takes no more bytes than its limit.
type capped struct {
	bytes.Buffer
	limit int
}

func (c *capped) Write(b []byte) (int, error) {
	if c.Len()+len(b) > c.limit {
		return 0, errAnswerTooLong
	}
	return c.Buffer.Write(b)
}
