package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

// Config is what a Server is made of.
type Config struct {
	Version string
	// Above holds the settings of flags and environment, Below those of the
	// user's own config file. A project's config file comes between.
	Above, Below Settings
	// Problems are mistakes in the settings above. They never stop the server;
	// every answer carries them as a warning until they are mended.
	Problems []string
	// Fence holds all that clients may read. Nil: whatever this process can read.
	// Open must open workspaces within the same fence.
	Fence *nav.Fence
	// Open opens the workspace at a root with the settings that hold there.
	Open func(root string, s Settings) (*nav.Workspace, error)
	// ClientDir is the folder the client said it works in when it started the
	// server, "" if it did not say.
	ClientDir string
	// Dir is the working directory.
	Dir string
	// Patience is how long a call waits for what passes by itself, such as the
	// toolchain's installation. Zero means 5 seconds: a small installation ends
	// within the first call, and hosts give up on a call much later.
	Patience time.Duration
	// Toolchain says whether an index could be built now: nil when it could. It
	// starts what is missing, and waits for a moment only. Nil: nobody knows.
	Toolchain func(context.Context) error
	// Metrics counts calls, for the metrics page over HTTP.
	Metrics bool
	Logger  *slog.Logger
}

// Server answers tool calls. It is safe for concurrent use. Close it last.
type Server struct {
	cfg   Config
	tools map[string]*tool
	roots rootCache

	workspaces workspaces
	metrics    *metrics // nil: not wanted
}

// New makes a server. It touches neither the disk nor the network: that waits
// for the first call, because hosts give up on a slow start.
func New(cfg Config) *Server {
	if cfg.Patience == 0 {
		cfg.Patience = 5 * time.Second
	}
	s := &Server{cfg: cfg, tools: map[string]*tool{}}
	s.workspaces = workspaces{fence: cfg.Fence, open: map[string]*openWorkspace{}, make: s.openWorkspace}
	for _, t := range tools() {
		s.tools[t.name] = &t
	}
	if cfg.Metrics {
		s.metrics = newMetrics(&s.workspaces)
	}
	return s
}

// Tools returns the names of all tools, sorted.
func (s *Server) Tools() []string {
	var names []string
	for name := range s.tools {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Project returns the tree that a call without project_root is about when
// there is no client, and the settings that hold there.
func (s *Server) Project() (root string, settings Settings, err error) {
	root, err = s.root(request{roots: func() []string { return nil }})
	if err != nil {
		return "", settings, err
	}
	real, dir, err := s.cfg.Fence.Folder(root)
	if err != nil {
		return "", settings, err
	}
	defer dir.Close()
	settings, err = s.settings(real, dir)
	return root, settings, err
}

// settings are those that hold at a root. The error is a mistake in the
// project's config file; what could be read counts all the same.
func (s *Server) settings(root string, dir *os.Root) (Settings, error) {
	project, err := readProjectSettings(root, dir)
	return s.cfg.Above.Over(project).Over(s.cfg.Below), err
}

// openWorkspace opens the workspace at root with the settings that hold there.
func (s *Server) openWorkspace(root string, dir *os.Root) (ws *nav.Workspace, problem string, err error) {
	settings, err := s.settings(root, dir)
	if err != nil {
		problem = err.Error()
	}
	ws, err = s.cfg.Open(root, settings)
	return ws, problem, err
}

// Close closes all workspaces. Calls that still run lose them.
func (s *Server) Close() error { return s.workspaces.close() }

// request is one tool call, whoever made it: a client or the command line.
type request struct {
	tool      string
	arguments json.RawMessage
	roots     func() []string
	remote    bool // by a client that did not start this process
	progress  func(message string, done, total float64)
}

// answer runs one call to its end. It always returns an envelope: a failure is
// an answer too, and says what to do next.
func (s *Server) answer(ctx context.Context, req request) (e *envelope) {
	t := s.tools[req.tool]
	defer s.metrics.call(req.tool)(&e)
	defer func() {
		if p := recover(); p != nil {
			s.cfg.Logger.Error("panic in a tool", "tool", req.tool, "panic", p, "stack", string(debug.Stack()))
			e = &envelope{outcome: outcomePanic, Error: fmt.Sprintf("internal error in %s: %v; the server is still running, other calls are not affected", req.tool, p)}
		}
		e.Tool = req.tool
		if e.Error != "" {
			e.NextTools = t.onError
		}
	}()
	root, err := s.root(req)
	if err != nil {
		return failure("", err)
	}
	ws, err := s.workspaces.acquire(root)
	if err != nil {
		return failure(root, err)
	}
	defer s.workspaces.release(ws)
	c := &call{workspace: ws.Workspace, progress: req.progress, patience: s.cfg.Patience}
	e, err = t.run(ctx, c, req.arguments)
	if err != nil {
		e = failure(root, err)
	}
	e.Root = root
	e.Warning = joinWarnings(append(slices.Clone(s.cfg.Problems), ws.problem, e.Warning))
	if common(req.arguments).Format != "json" && !choosesSize(req.arguments) {
		e.fit(maxText)
	}
	return e
}

func failure(root string, err error) *envelope {
	return &envelope{Root: root, Error: err.Error(), retry: nav.Temporary(err), outcome: outcomeOf(err)}
}

func joinWarnings(warnings []string) string {
	return strings.Join(slices.DeleteFunc(warnings, func(w string) bool { return w == "" }), "; ")
}

// common reads the arguments that matter before a tool's own are looked at.
// Mistakes in them are found later, by the tool's schema.
func common(raw json.RawMessage) shared {
	var in shared
	_ = json.Unmarshal(raw, &in)
	return in
}

func (s *Server) root(req request) (string, error) {
	ladder := rootLadder{
		argument: common(req.arguments).ProjectRoot,
		roots:    req.roots,
		around:   s.cfg.Dir,
		fence:    s.cfg.Fence,
	}
	if !req.remote {
		ladder.clientDir, ladder.cwd = s.cfg.ClientDir, s.cfg.Dir
	}
	if configured := s.cfg.Above.Over(s.cfg.Below).Root; configured != nil {
		ladder.configured = *configured
	}
	return ladder.resolve()
}

// Answer is what a caller reads, and how the call went.
type Answer struct {
	Text   string
	Failed bool
	// Retry is set when the failure passes by itself.
	Retry bool
}

// Call runs one tool outside any session, as the command line does. The error
// says that there is no such tool; all else is part of the answer.
func (s *Server) Call(ctx context.Context, name string, arguments json.RawMessage, progress func(message string, done, total float64)) (Answer, error) {
	if _, ok := s.tools[name]; !ok {
		return Answer{}, fmt.Errorf("unknown tool %q; the tools are %s", name, strings.Join(s.Tools(), ", "))
	}
	e := s.answer(ctx, request{
		tool: name, arguments: arguments,
		roots:    func() []string { return nil },
		progress: progress,
	})
	return Answer{Text: render(e, common(arguments).Format), Failed: e.Error != "", Retry: e.retry}, nil
}
