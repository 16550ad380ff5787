package semantic

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// parsedFile is what one content of a file declares.
type parsedFile struct {
	path     string
	state    uint64
	parser   string
	complete bool
	problems []Problem
	entries  []entry // in source order, an outer declaration before its members
}

// entry is a declaration without its members, and how deep it is nested.
type entry struct {
	Declaration
	depth int
}

// parse reads files, each with the best parser there is for it. The order of the
// answer is that of the files.
func (e *Engine) parse(ctx context.Context, files []File) ([]parsedFile, error) {
	out := make([]parsedFile, len(files))
	groups := map[string][]int{}
	for i, f := range files {
		ext := path.Ext(f.Path)
		if e.front[ext] == nil {
			ext = "" // shared parsers ask for the path themselves
			if len(e.parsers(f.Path)) > 1 {
				ext = "c"
			}
		}
		groups[ext] = append(groups[ext], i)
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, members := range groups {
		group.Go(func() error {
			batch := make([]File, len(members))
			for n, i := range members {
				batch[n] = files[i]
			}
			for n, p := range e.parseBatch(ctx, batch) {
				out[members[n]] = flatten(p)
			}
			return ctx.Err()
		})
	}
	return out, group.Wait()
}

// parseBatch tries one parser after the other. What a parser could not say
// because it failed as a whole is a problem of the answer that another gave.
func (e *Engine) parseBatch(ctx context.Context, files []File) []Parsed {
	var failed []string
	for _, p := range e.parsers(files[0].Path) {
		var parsed []Parsed
		err := guarded(func() (err error) {
			parsed, err = p.Parse(ctx, files)
			return err
		})
		if err == nil && len(parsed) != len(files) {
			err = fmt.Errorf("%d answers for %d files", len(parsed), len(files))
		}
		if err == nil {
			return parsed
		}
		e.logPanic(err)
		if ctx.Err() != nil {
			break
		}
		failed = append(failed, err.Error())
		if !errors.Is(err, ErrUnavailable) {
			e.opts.Log.Warn("a parser failed; the next one is tried", "file", files[0].Path, "files", len(files), "err", err)
		}
	}
	out := make([]Parsed, len(files))
	for i, f := range files {
		out[i] = Parsed{Path: f.Path, Parser: "none", Problems: []Problem{{Path: f.Path, Message: "no parser: " + strings.Join(failed, "; ")}}}
	}
	return out
}

// flatten turns a tree of declarations into a list.
func flatten(p Parsed) parsedFile {
	f := parsedFile{path: p.Path, parser: p.Parser, complete: p.Complete, problems: p.Problems}
	var add func(list []Declaration, depth int)
	add = func(list []Declaration, depth int) {
		for _, d := range list {
			children := d.Children
			d.Children, d.Path = nil, p.Path
			f.entries = append(f.entries, entry{d, depth})
			add(children, depth+1)
		}
	}
	add(p.Declarations, 0)
	f.entries = slices.Clip(f.entries)
	return f
}

// nest turns part of such a list into trees again. A member whose outer
// declaration is not in the part stands at the top; its container says where it
// belongs.
func nest(list []entry) []Declaration {
	out := []Declaration{}
	for i := 0; i < len(list); {
		end := i + 1
		for end < len(list) && list[end].depth > list[i].depth {
			end++
		}
		d := list[i].Declaration
		if end > i+1 {
			d.Children = nest(list[i+1 : end])
		}
		out = append(out, d)
		i = end
	}
	return out
}

// found is one declaration of a file, ready for an answer.
func (e *Engine) found(generation string, m *modules, f *parsedFile, i int) Declaration {
	d := f.entries[i].Declaration
	twin := 0
	for n := range i {
		if o := &f.entries[n]; o.Line == d.Line && o.Name == d.Name && o.Kind == d.Kind {
			twin++
		}
	}
	if l := e.front[path.Ext(d.Path)]; l != nil {
		module := m.of(l, d.Path)
		d.Module = module.ID
		if l.Qualify != nil {
			d.QualifiedName = l.Qualify(d.QualifiedName, d.Path, module)
			if d.Container != "" {
				d.Container = l.Qualify(d.Container, d.Path, module)
			}
		}
	}
	d.Key = keyOf(generation, &d, twin)
	return d
}

// keyOf is the same on every route that finds the declaration.
func keyOf(generation string, d *Declaration, twin int) string {
	return fmt.Sprintf("%016x", digest(generation, d.Path, fmt.Sprint(d.Line, twin), d.Kind, d.Name))
}

// maxSignature is how much of a signature an answer holds, in bytes. Some
// generated ones have thousands.
const maxSignature = 2000

func tidy(d *Declaration) {
	if d.Modifiers == nil {
		d.Modifiers = []string{}
	}
	if len(d.Signature) > maxSignature {
		d.Signature = strings.ToValidUTF8(d.Signature[:maxSignature], "") + "…"
	}
	if f := d.Facts; f != nil {
		for _, list := range []*[]string{&f.Supertypes, &f.Overrides, &f.Implements, &f.Annotations} {
			if *list == nil {
				*list = []string{}
			}
		}
	}
}
