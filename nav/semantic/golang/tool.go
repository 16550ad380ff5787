package golang

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"sync"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

// Options configures a Tool. Without Child and Go it only parses.
type Options struct {
	// Child is the command that runs Serve: this program in its other role.
	Child []string
	// Go is the absolute path of the go command; "" when there is none.
	Go string
	// Env is the environment of the server, of which the child gets what says
	// where things are.
	Env []string
	// Memory bounds the child, in bytes. Zero means 4 GiB.
	Memory uint64
	// Idle is how long a child without questions lives. Zero means 5 minutes.
	Idle time.Duration
	Log  *slog.Logger
}

// Tool is the front end for Go. It is safe for concurrent use; Close it last.
type Tool struct {
	opts Options
	turn chan struct{} // held by who talks to the child

	mu     sync.Mutex
	child  *child
	closed bool
}

// New returns a Tool that runs nothing yet.
func New(o Options) *Tool {
	if o.Memory == 0 {
		o.Memory = 4 << 30
	}
	if o.Idle == 0 {
		o.Idle = 5 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Tool{opts: o, turn: make(chan struct{}, 1)}
}

// Close ends the child.
func (t *Tool) Close() {
	t.mu.Lock()
	t.closed = true
	c := t.child
	t.child = nil
	t.mu.Unlock()
	if c != nil {
		c.end()
	}
}

// Status is what runs at the moment.
type Status struct {
	PID    int    // of the child, which is also its process group; 0 when there is none
	RSS    int64  // resident memory of the child in bytes; 0 where the system does not tell
	Memory uint64 // its limit, in bytes
}

// Status reports on the child without starting it.
func (t *Tool) Status() Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := Status{Memory: t.opts.Memory}
	if t.child != nil {
		s.PID = t.child.cmd.Process.Pid
		s.RSS = semantic.ResidentBytes(s.PID)
	}
	return s
}

// request is a line to the child.
type request struct {
	Root       string            `json:"root"`
	Generation string            `json:"generation"`
	Files      []string          `json:"files"` // the .go files
	Modules    []semantic.Module `json:"modules"`
	Query      semantic.Query    `json:"query"`
}

// response is its answer.
type response struct {
	Resolution semantic.Resolution `json:"resolution"`
	Error      string              `json:"error"`
}

// maxResponse is the longest answer that is read, in bytes.
const maxResponse = 64 << 20

// Resolve asks the child, starting it when there is none.
func (t *Tool) Resolve(ctx context.Context, p semantic.Project, q semantic.Query) (semantic.Resolution, error) {
	var none semantic.Resolution
	if t.opts.Go == "" || len(t.opts.Child) == 0 {
		return none, fmt.Errorf("the go command is %w on this machine", semantic.ErrUnavailable)
	}
	modules, err := t.Modules(ctx, p)
	if err != nil {
		return none, err
	}
	r := request{Root: p.Root, Generation: p.Generation, Files: goFiles(p.Files), Modules: modules, Query: q}
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
	c, err := t.running()
	if err != nil {
		return none, err
	}
	answer, err := c.ask(ctx, r)
	if err != nil {
		t.drop(c)
		if ctx.Err() != nil {
			return none, context.Cause(ctx)
		}
		return none, fmt.Errorf("the resolver for Go broke down: %w%s", err, c.lastWords())
	}
	t.rest(c)
	if answer.Error != "" {
		return none, errors.New(answer.Error)
	}
	return answer.Resolution, nil
}

// running is the child, started if need be. The caller has the turn.
func (t *Tool) running() (*child, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, errors.New("the resolver for Go is closed")
	}
	if t.child != nil {
		t.child.idle.Stop()
		return t.child, nil
	}
	c, err := startChild(t.opts)
	if err != nil {
		return nil, fmt.Errorf("the resolver for Go does not start: %w", err)
	}
	t.child = c
	c.idle = time.AfterFunc(t.opts.Idle, func() { t.drop(c) })
	c.idle.Stop()
	return c, nil
}

func (t *Tool) rest(c *child) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.child == c {
		c.idle.Reset(t.opts.Idle)
	}
}

// drop ends a child, unless somebody else has.
func (t *Tool) drop(c *child) {
	t.mu.Lock()
	mine := t.child == c
	if mine {
		t.child = nil
	}
	t.mu.Unlock()
	if mine {
		c.end()
	}
}

// child is a running Serve.
type child struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	words *tail
	idle  *time.Timer
	kill  func()
}

func startChild(o Options) (*child, error) {
	cmd := exec.Command(o.Child[0], o.Child[1:]...)
	cmd.Env = environment(o)
	cmd.Dir = "/"
	cmd.SysProcAttr = ownGroup()
	cmd.WaitDelay = time.Second
	c := &child{cmd: cmd, words: &tail{}}
	cmd.Stderr = c.words
	var err error
	if c.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReaderSize(out, 64<<10)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	limitMemory(cmd.Process.Pid, o.Memory)
	c.kill = sync.OnceFunc(func() { killGroup(cmd.Process.Pid) })
	return c, nil
}

// ask sends one request and reads the answer. After an error the child is of no
// more use.
func (c *child) ask(ctx context.Context, r request) (answer response, err error) {
	stop := context.AfterFunc(ctx, c.kill)
	defer stop()
	line, err := json.Marshal(r)
	if err != nil {
		return answer, err
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		return answer, err
	}
	reply, err := readLine(c.out, maxResponse)
	if err != nil {
		return answer, err
	}
	return answer, json.Unmarshal(reply, &answer)
}

// end kills the child and all that it started, and waits for it.
func (c *child) end() {
	c.kill()
	c.in.Close()
	c.cmd.Wait() // its status says that it was killed, which is no news
}

func (c *child) lastWords() string {
	if s := c.words.String(); s != "" {
		return "; its last words: " + s
	}
	return ""
}

var errLongLine = errors.New("the line is too long")

func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > limit:
			return nil, errLongLine
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// tail keeps the last line or so of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(b []byte) (int, error) {
	const keep = 500
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	t.buf = t.buf[max(len(t.buf)-keep, 0):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
