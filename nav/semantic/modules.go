package semantic

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// modules are the build modules of a tree, by folder, and what they were read
// from.
type modules struct {
	contents string
	byDir    map[*Language]map[string]Module
	ids      map[string]bool
	files    []string // descriptions
	state    string   // of these
	problems []Problem
}

// modulesOf finds the modules of a tree, or remembers them.
func (e *Engine) modulesOf(ctx context.Context, t *Tree) (*modules, error) {
	e.mu.Lock()
	m := e.modules
	e.mu.Unlock()
	if m != nil && m.contents == t.Contents && m.state == describe(t.FS, m.files) {
		return m, nil
	}
	m = &modules{contents: t.Contents, byDir: map[*Language]map[string]Module{}, ids: map[string]bool{}}
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
	e.mu.Lock()
	e.modules = m
	e.mu.Unlock()
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
