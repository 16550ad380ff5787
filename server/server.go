package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
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
	Logger   *slog.Logger
}

// Server answers tool calls. It is safe for concurrent use. Close it last.
type Server struct {
	cfg   Config
	tools map[string]*tool
	roots rootCache

	mu         sync.Mutex
	workspaces map[string]*openWorkspace
}

// New makes a server. It touches neither the disk nor the network: that waits
// for the first call, because hosts give up on a slow start.
func New(cfg Config) *Server {
	if cfg.Patience == 0 {
		cfg.Patience = 5 * time.Second
	}
	s := &Server{cfg: cfg, tools: map[string]*tool{}, workspaces: map[string]*openWorkspace{}}
	for _, t := range tools() {
		s.tools[t.name] = &t
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

// openWorkspace is a workspace and the state of the config file it was opened
// with, so that an edit of the file takes effect at the next call.
type openWorkspace struct {
	*nav.Workspace
	config  fileMark
	problem string
}

// fileMark tells one state of a file from the next.
type fileMark struct {
	size  int64
	mtime time.Time
}

func markOf(path string) fileMark {
	info, err := os.Stat(path)
	if err != nil {
		return fileMark{size: -1}
	}
	return fileMark{info.Size(), info.ModTime()}
}

// open returns the workspace at root, opening it with the project's own
// settings when this is the first call or they have changed.
func (s *Server) open(root string) (*openWorkspace, error) {
	file := filepath.Join(root, projectConfig)
	mark := markOf(file)
	s.mu.Lock()
	defer s.mu.Unlock()
	if ws, ok := s.workspaces[root]; ok {
		if ws.config == mark {
			return ws, nil
		}
		delete(s.workspaces, root)
		// Calls that still use the old workspace finish with it first.
		time.AfterFunc(time.Minute, func() { ws.Close() })
	}
	settings, err := s.settings(root)
	opened := &openWorkspace{config: mark}
	if err != nil {
		opened.problem = err.Error()
	}
	opened.Workspace, err = s.cfg.Open(root, settings)
	if err != nil {
		return nil, err
	}
	s.workspaces[root] = opened
	return opened, nil
}

// settings are those that hold at a root. The error is a mistake in the
// project's config file; what could be read counts all the same.
func (s *Server) settings(root string) (Settings, error) {
	project, err := ReadSettingsFile(filepath.Join(root, projectConfig))
	return s.cfg.Above.Over(project).Over(s.cfg.Below), err
}

// Project returns the tree that a call without project_root is about when
// there is no client, and the settings that hold there.
func (s *Server) Project() (root string, settings Settings, err error) {
	root, err = s.root(request{roots: func() []string { return nil }})
	if err != nil {
		return "", settings, err
	}
	settings, err = s.settings(root)
	return root, settings, err
}

// Close closes all workspaces.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for root, ws := range s.workspaces {
		errs = append(errs, ws.Close())
		delete(s.workspaces, root)
	}
	return errors.Join(errs...)
}

// request is one tool call, whoever made it: a client or the command line.
type request struct {
	tool      string
	arguments json.RawMessage
	roots     func() []string
	progress  func(message string, done, total float64)
}

// answer runs one call to its end. It always returns an envelope: a failure is
// an answer too, and says what to do next.
func (s *Server) answer(ctx context.Context, req request) (e *envelope) {
	t := s.tools[req.tool]
	defer func() {
		if p := recover(); p != nil {
			s.cfg.Logger.Error("panic in a tool", "tool", req.tool, "panic", p, "stack", string(debug.Stack()))
			e = &envelope{Error: fmt.Sprintf("internal error in %s: %v; the server is still running, other calls are not affected", req.tool, p)}
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
	ws, err := s.open(root)
	if err != nil {
		return failure(root, err)
	}
	c := &call{workspace: ws.Workspace, progress: req.progress, patience: s.cfg.Patience}
	e, err = t.run(ctx, c, req.arguments)
	if err != nil {
		e = failure(root, err)
	}
	e.Root = root
	e.Warning = joinWarnings(append(slices.Clone(s.cfg.Problems), ws.problem, e.Warning))
	return e
}

func failure(root string, err error) *envelope {
	return &envelope{Root: root, Error: err.Error(), retry: nav.Temporary(err)}
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
		argument:  common(req.arguments).ProjectRoot,
		clientDir: s.cfg.ClientDir,
		roots:     req.roots,
		cwd:       s.cfg.Dir,
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
