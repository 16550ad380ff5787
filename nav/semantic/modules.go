package semantic

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"
)

// modules are the build modules of a tree, by folder, and what they were read
// from.
type modules struct {
	paths    uint64 // of the files of the tree
	byDir    map[*Language]map[string]Module
	ids      map[string]bool
	files    []string // descriptions
	state    string   // of these
	problems []Problem
}

// modulesOf finds the modules of a tree, or remembers them: they change with the
// descriptions of the builds, and when files come and go, not when one is edited.
// It is a *BusyError while they are being read.
func (e *Engine) modulesOf(ctx context.Context, t *Tree) (*modules, error) {
	e.mu.Lock()
	m, job := e.modules, e.modelling
	e.mu.Unlock()
	if m != nil && m.paths == t.paths() && m.state == describe(t.FS, m.files) {
		return m, nil
	}
	if job == nil {
		job = e.startModelling(t)
	}
	found, err := job.wait(ctx, e.opts.Wait, func(elapsed time.Duration) *BusyError {
		return &BusyError{What: "Reading the descriptions of the builds in " + t.Root, Elapsed: elapsed}
	})
	if err != nil {
		return nil, err
	}
	if found.paths != t.paths() {
		return nil, &BusyError{What: "The tree changed while the descriptions of its builds were being read"}
	}
	return found, nil
}

func (e *Engine) startModelling(t *Tree) *task[*modules] {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.modelling == nil {
		e.modelling = start(e, longest, func(ctx context.Context) (*modules, error) {
			m, err := e.model(ctx, t)
			e.mu.Lock()
			defer e.mu.Unlock()
			if e.modelling = nil; err == nil {
				e.modules = m
			}
			return m, err
		})
	}
	return e.modelling
}

// model reads the modules of all languages of a tree.
func (e *Engine) model(ctx context.Context, t *Tree) (*modules, error) {
	m := &modules{paths: t.paths(), byDir: map[*Language]map[string]Module{}, ids: map[string]bool{}}
	for _, l := range e.languagesIn(t) {
		if l.Moduler == nil {
			continue
		}
		found, err := l.Moduler.Modules(ctx, e.project(t, ""))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			m.problems = append(m.problems, Problem{Message: fmt.Sprintf("the modules of %s could not be read: %v", l.Name, err)})
			continue
		}
		m.add(l, found)
	}
	slices.Sort(m.files)
	m.files = slices.Compact(m.files)
	m.state = describe(t.FS, m.files)
	return m, nil
}

func (m *modules) add(l *Language, found []Module) {
	m.byDir[l] = map[string]Module{}
	for _, module := range found {
		m.byDir[l][path.Clean(module.Dir)] = module
		m.ids[module.ID] = true
		if module.File != "" {
			m.files = append(m.files, module.File)
		}
	}
}

// of is the module that a file belongs to; its ID is empty when there is none.
func (m *modules) of(l *Language, file string) Module {
	dirs := m.byDir[l]
	for dir := path.Dir(file); len(dirs) > 0; dir = path.Dir(dir) {
		if module, ok := dirs[dir]; ok {
			return module
		}
		if dir == "." {
			break
		}
	}
	return Module{}
}

// describe tells one state of some files from another.
func describe(tree fs.FS, files []string) string {
	state := make([]string, 0, len(files))
	for _, f := range files {
		info, err := fs.Stat(tree, f)
		if err != nil {
			state = append(state, f+" "+err.Error())
			continue
		}
		state = append(state, fmt.Sprint(f, info.Size(), info.ModTime().UnixNano()))
	}
	return fmt.Sprintf("%x", digest(state...))
}
