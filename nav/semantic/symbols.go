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

// nameList is the names of an inventory in one piece: scanning it touches a
// hundredth of the memory that the declarations take.
type nameList struct {
	text   string // each name and a line end
	starts []int32
	owners []hit
}

func newNameList(files []parsedFile) *nameList {
	l := &nameList{}
	var text strings.Builder
	for i := range files {
		f := &files[i]
		for n := range f.entries {
			l.starts = append(l.starts, int32(text.Len()))
			l.owners = append(l.owners, hit{f, n})
			text.WriteString(f.entries[n].Name)
			text.WriteByte('\n')
		}
	}
	l.text = text.String()
	return l
}

// containing calls yield for every name that contains the query, in order.
func (l *nameList) containing(query string, yield func(hit)) {
	for from := 0; ; {
		i := strings.Index(l.text[from:], query)
		if i < 0 {
			return
		}
		n, exact := slices.BinarySearch(l.starts, int32(from+i))
		if !exact {
			n--
		}
		yield(l.owners[n])
		if n+1 == len(l.starts) {
			return
		}
		from = int(l.starts[n+1])
	}
}

func (e *Engine) search(inv *inventory, m *modules, r *Request) (hits []hit) {
	var file *parsedFile // of the hit before, and whether it passes the filters
	passes := false
	inv.names.containing(r.Query, func(h hit) {
		if h.file != file {
			file = h.file
			passes = (r.File == "" || file.path == r.File) && (r.Module == "" || e.moduleOf(m, file.path) == r.Module)
		}
		if passes && (r.Kind == "" || file.entries[h.at].Kind == r.Kind) {
			hits = append(hits, h)
		}
	})
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
