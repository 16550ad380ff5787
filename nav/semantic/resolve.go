package semantic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// NoFrontEndError means that no compiler front end knows the languages of a tree.
type NoFrontEndError struct {
	Have []string // languages of the tree, the most frequent first
	Know []string // languages with a front end
}

func (e *NoFrontEndError) Error() string {
	return fmt.Sprintf("route resolve needs a compiler front end, and there is none for %s, only for %s; "+
		"the routes structure and symbols read every language with parsers", strings.Join(e.Have, ", "), strings.Join(e.Know, " and "))
}

// resolving is one question to the front ends, under way or answered.
type resolving struct {
	*task[*resolved]
	generation string
	used       time.Time
}

// resolved is the answer to it.
type resolved struct {
	declarations []Declaration
	meta         Meta
}

// maxResolved is how many answered questions are kept, for their other pages.
const maxResolved = 8

// resolve answers with what compilers know about a name.
func (e *Engine) resolve(ctx context.Context, t *Tree, m *modules, r *Request) (Answer, error) {
	if e.opts.NoResolve != "" {
		return Answer{}, fmt.Errorf("route resolve is off: %s; the routes structure and symbols answer", e.opts.NoResolve)
	}
	languages := slices.DeleteFunc(e.languagesIn(t), func(l *Language) bool {
		return l.Resolver == nil || r.Module != "" && !m.has(l, r.Module)
	})
	if len(languages) == 0 {
		return Answer{}, e.noFrontEnd(t)
	}
	generation := generationOf(t, m)
	job := e.startResolving(t, m, generation, languages, Query{Name: r.Query, Kind: r.Kind, Module: r.Module, Scope: r.Scope})
	found, err := job.wait(ctx, e.opts.Wait, func(elapsed time.Duration) *BusyError {
		return &BusyError{What: "The compiler front end is reading " + t.Root, Elapsed: elapsed}
	})
	if err != nil {
		e.dropFailed(job)
		return Answer{}, err
	}
	a, list, err := e.page(r, generation, len(found.declarations), func(i int) Declaration { return found.declarations[i] })
	if err != nil {
		return Answer{}, err
	}
	a.Declarations, a.Meta = append([]Declaration{}, list...), found.meta
	if a.Total == 0 {
		a.Message = notResolved(r, &found.meta)
	}
	return a, nil
}

func notResolved(r *Request, meta *Meta) string {
	message := "nothing is named " + r.Query
	if r.Kind != "" || r.Module != "" || r.Scope != "" {
		message += " and passes the filters"
	}
	message += "; the name must be exact, simple or qualified"
	if !meta.InputCoverage.Complete {
		message += "; the compiler did not see everything: " + strings.Join(meta.InputCoverage.Reasons, "; ")
	}
	return message
}

func (m *modules) has(l *Language, id string) bool {
	for _, module := range m.byDir[l] {
		if module.ID == id {
			return true
		}
	}
	return false
}

func (e *Engine) noFrontEnd(t *Tree) error {
	count := map[string]int{}
	var have []string
	for i := range t.Files {
		name := e.languageOf(t.Files[i].Path)
		if count[name]++; count[name] == 1 {
			have = append(have, name)
		}
	}
	slices.SortStableFunc(have, func(a, b string) int { return count[b] - count[a] })
	var know []string
	for _, l := range e.opts.Languages {
		if l.Resolver != nil {
			know = append(know, l.Name)
		}
	}
	if len(have) == 0 {
		have = []string{"a tree without source files"}
	}
	return &NoFrontEndError{have[:min(len(have), 5)], know}
}

// startResolving asks the front ends in the background, unless the question has
// been asked already.
func (e *Engine) startResolving(t *Tree, m *modules, generation string, languages []*Language, q Query) *resolving {
	key := fmt.Sprint(generation, digest(q.Name, q.Kind, q.Module, q.Scope))
	e.mu.Lock()
	defer e.mu.Unlock()
	if job := e.resolving[key]; job != nil {
		job.used = time.Now()
		return job
	}
	e.trimResolving(generation)
	job := &resolving{generation: generation, used: time.Now()}
	job.task = start(e, e.opts.ResolveTime, func(ctx context.Context) (*resolved, error) {
		found, err := ask(ctx, e.project(t, generation), languages, q)
		if err == nil {
			found.complete(e, m, generation)
		}
		return found, err
	})
	e.resolving[key] = job
	return job
}

// trimResolving makes room for one more question. The caller holds e.mu.
func (e *Engine) trimResolving(generation string) {
	oldest, count := "", 0
	for key, job := range e.resolving {
		select {
		case <-job.finished:
		default:
			continue
		}
		if job.generation != generation {
			delete(e.resolving, key)
			continue
		}
		if count++; oldest == "" || job.used.Before(e.resolving[oldest].used) {
			oldest = key
		}
	}
	if count >= maxResolved {
		delete(e.resolving, oldest)
	}
}

// dropFailed forgets a question that failed, so that it can be asked again.
func (e *Engine) dropFailed(job *resolving) {
	select {
	case <-job.finished:
	default:
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.DeleteFunc(e.resolving, func(_ string, other *resolving) bool { return other == job && job.err != nil })
}

// ask puts the answers of several front ends together. One that is not on this
// machine is a limitation as long as another answers.
func ask(ctx context.Context, p Project, languages []*Language, q Query) (*resolved, error) {
	answers := make([]Resolution, len(languages))
	failed := make([]error, len(languages))
	var asking sync.WaitGroup
	for i, l := range languages {
		asking.Go(func() {
			failed[i] = guarded(func() (err error) {
				answers[i], err = l.Resolver.Resolve(ctx, p, q)
				return err
			})
		})
	}
	asking.Wait()
	bound := true
	j := &resolved{meta: Meta{
		InputCoverage:      &Coverage{Complete: true, Reasons: []string{}},
		BindingComplete:    &bound,
		DiagnosticCoverage: &Diagnostics{Complete: true, Problems: []Problem{}},
	}}
	var missing []error
	for i, l := range languages {
		switch err := failed[i]; {
		case errors.Is(err, ErrUnavailable):
			missing = append(missing, fmt.Errorf("%s: %w", l.Name, err))
		case err != nil:
			return nil, timeIsUp(ctx, l.Name, err)
		default:
			j.add(&answers[i])
		}
	}
	if len(missing) == len(languages) {
		return nil, fmt.Errorf("%w; the routes structure and symbols need no compiler", errors.Join(missing...))
	}
	for _, err := range missing {
		j.meta.InputCoverage.Complete = false
		j.meta.InputCoverage.Reasons = append(j.meta.InputCoverage.Reasons, "frontEnd: "+err.Error())
	}
	return j, nil
}

// add puts the answer of one more front end behind those before.
func (j *resolved) add(r *Resolution) {
	j.declarations = append(j.declarations, r.Declarations...)
	m := &j.meta
	m.FrontEnds = append(m.FrontEnds, r.FrontEnd)
	m.Limitations = append(m.Limitations, r.Limitations...)
	c := m.InputCoverage
	c.Complete = c.Complete && r.InputCoverage.Complete
	c.Reasons = append(c.Reasons, r.InputCoverage.Reasons...)
	c.Files += r.InputCoverage.Files
	c.Bytes += r.InputCoverage.Bytes
	*m.BindingComplete = *m.BindingComplete && r.BindingComplete
	d := m.DiagnosticCoverage
	d.Complete = d.Complete && r.DiagnosticCoverage.Complete
	d.Errors += r.DiagnosticCoverage.Errors
	d.Problems = append(d.Problems, r.DiagnosticCoverage.Problems...)
	d.Problems = d.Problems[:min(maxProblems, len(d.Problems))]
}

func timeIsUp(ctx context.Context, language string, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("the front end of %s did not answer in time; narrow the question down with module, or use the route symbols", language)
	}
	return err
}

// complete adds what front ends leave to us: keys and modules.
func (j *resolved) complete(e *Engine, m *modules, generation string) {
	type place struct {
		path, name, kind string
		line             int
	}
	twins := map[place]int{}
	for i := range j.declarations {
		d := &j.declarations[i]
		at := place{d.Path, d.Name, d.Kind, d.Line}
		if d.Path == "" {
			at.name = d.QualifiedName
		}
		d.Key = keyOf(generation, d, twins[at])
		twins[at]++
		if d.Module == "" && d.Path != "" {
			d.Module = e.moduleOf(m, d.Path)
		}
	}
}
