package nav

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/gtagsmcp/gtagsmcp/nav/ctags"
	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

// What find_code is asked and answers with.
type (
	CodeQuery   = semantic.Request
	CodeAnswer  = semantic.Answer
	CodeMeta    = semantic.Meta
	Declaration = semantic.Declaration
	// CodeQueryError says what is wrong with one argument of a CodeQuery.
	CodeQueryError = semantic.RequestError
)

func newCodeEngine(w *Workspace) *semantic.Engine {
	o := semantic.Options{Languages: w.opts.FrontEnds.languages(), Log: w.opts.Logger, Limits: w.opts.CodeLimits, Wait: w.opts.CodeWait}
	o.Ctags = func(ctx context.Context) *ctags.Service {
		service, _ := w.ctagsService(ctx) // its absence is a reason in meta
		return service
	}
	if w.opts.Fence != nil {
		// What a build description names may lie anywhere.
		o.NoResolve = "this server answers from the folders that it was allowed alone, and a compiler reads more"
	}
	return semantic.New(o)
}

// FindCode answers about declarations, from parsers and compilers.
func (v *View) FindCode(ctx context.Context, q CodeQuery) (CodeAnswer, error) {
	for name, path := range map[string]*string{"path": &q.Path, "file": &q.File} {
		if *path == "" {
			continue
		}
		rel, err := v.w.relative(*path)
		if err != nil {
			return CodeAnswer{}, &CodeQueryError{Argument: name, Reason: err.Error()}
		}
		*path = rel
	}
	return v.w.code.Find(ctx, v.codeTree(), q)
}

// codeTree is the tree as find_code sees it, made once for each state.
func (v *View) codeTree() *semantic.Tree {
	contents := fmt.Sprintf("%016x", v.snap.Contents())
	if t := v.w.codeTree.Load(); t != nil && t.Contents == contents {
		return t
	}
	files := v.snap.Files()
	t := &semantic.Tree{
		Root: v.w.root, FS: v.w.files.root.FS(), Contents: contents,
		Files: make([]semantic.TreeFile, len(files)), Read: v.w.files.uncached,
	}
	for i, f := range files {
		t.Files[i] = semantic.TreeFile{Path: f.Path, Size: f.Size, State: f.State}
	}
	v.w.codeTree.Store(t)
	return t
}

// uncached reads a file past the cache: who reads a whole tree once would only push
// out what questions need. It reads no more than limit+1 bytes.
func (c *sourceCache) uncached(path string, limit int64) ([]byte, error) {
	info, err := c.root.Stat(filepath.FromSlash(path)) // before it is opened: a pipe would wait for its writer
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := c.root.Open(filepath.FromSlash(path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit+1))
}
