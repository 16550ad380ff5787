package semantic

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// symbols answers with the declarations of the tree whose name contains the
// query.
func (e *Engine) symbols(ctx context.Context, t *Tree, m *modules, r *Request) (Answer, error) {
	if r.File != "" {
		if _, ok := t.file(r.File); !ok {
			return Answer{}, &RequestError{"file", r.File + " is no source file of this tree"}
		}
	}
	inv, err := e.inventoryOf(ctx, t)
	if err != nil {
		return Answer{}, err
	}
	generation := generationOf(t, m)
	hits := e.search(inv, m, r)
	a, list, err := e.page(r, generation, len(hits), func(i int) Declaration {
		return e.found(generation, m, hits[i].file, hits[i].at)
	})
	if err != nil {
		return Answer{}, err
	}
	a.Declarations = append([]Declaration{}, list...)
	cover := inv.coverage
	inv.usage.report(&a.Meta, &cover)
	a.Meta.Problems = append(slices.Clip(a.Meta.Problems), m.problems...)
	if a.Total == 0 {
		a.Message = e.missed(inv, r)
	}
	return a, nil
}

// hit is one declaration of an inventory.
type hit struct {
	file *parsedFile
	at   int
}

func (e *Engine) search(inv *inventory, m *modules, r *Request) (hits []hit) {
	for i := range inv.files {
		f := &inv.files[i]
		if r.File != "" && f.path != r.File {
			continue
		}
		if r.Module != "" && e.moduleOf(m, f.path) != r.Module {
			continue
		}
		for n := range f.entries {
			d := &f.entries[n]
			if strings.Contains(d.Name, r.Query) && (r.Kind == "" || d.Kind == r.Kind) {
				hits = append(hits, hit{f, n})
			}
		}
	}
	return hits
}

func (e *Engine) moduleOf(m *modules, file string) string {
	if l := e.front[extension(file)]; l != nil {
		return m.of(l, file).ID
	}
	return ""
}

// missed says why nothing was found, as far as it is known.
func (e *Engine) missed(inv *inventory, r *Request) string {
	message := fmt.Sprintf("no declaration has a name that contains %q", r.Query)
	if r.Kind != "" || r.File != "" || r.Module != "" {
		message += " and passes the filters"
	}
	if r.Kind != "" && !inv.kinds[r.Kind] {
		message += fmt.Sprintf("; nothing is of kind %q here, the kinds are %s", r.Kind, inWords(inv.kinds))
	}
	if !inv.coverage.Complete {
		message += "; not everything was read: " + strings.Join(inv.coverage.Reasons, "; ")
	}
	return message
}
