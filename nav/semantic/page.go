package semantic

import (
	"encoding/json"
	"unicode/utf8"
)

// page cuts the page of a request out of total declarations, of which at makes
// one, and ends it early when it would grow too large.
func (e *Engine) page(r *Request, generation string, total int, at func(i int) Declaration) (Answer, []Declaration, error) {
	from, err := r.start(generation, total)
	if err != nil {
		return Answer{}, nil, err
	}
	a := Answer{Total: total, Offset: from}
	var list []Declaration
	size := 0
	for i := from; i < total && len(list) < r.limit(); i++ {
		d := at(i)
		tidy(&d)
		size += sizeOf(&d)
		if size > e.opts.Limits.OutputChars && len(list) > 0 {
			a.OutputLimited = true
			break
		}
		list = append(list, d)
	}
	a.resume = func(at int) string { return cursor{digest(generation), r.hash(), at}.String() }
	if end := from + len(list); end < total {
		a.NextCursor = a.resume(end)
	}
	return a, list, nil
}

// Returned counts the declarations of the page, members too.
func (a *Answer) Returned() int { return count(a.Declarations) }

func count(list []Declaration) int {
	n := len(list)
	for i := range list {
		n += count(list[i].Children)
	}
	return n
}

// First is the same answer with a page of the first n declarations alone.
func (a Answer) First(n int) Answer {
	if n >= a.Returned() {
		return a
	}
	a.NextCursor, a.OutputLimited = a.resume(a.Offset+n), true
	a.Declarations, _ = first(a.Declarations, n)
	return a
}

// first takes n declarations, an outer one before its members, and says how many
// of the n were not there.
func first(list []Declaration, n int) (part []Declaration, left int) {
	part = []Declaration{}
	for _, d := range list {
		if n == 0 {
			break
		}
		n--
		if len(d.Children) > 0 {
			d.Children, n = first(d.Children, n)
		}
		part = append(part, d)
	}
	return part, n
}

// sizeOf is the length of a declaration as JSON, in characters; text is shorter.
func sizeOf(d *Declaration) int {
	b, err := json.Marshal(d)
	if err != nil {
		return 0 // strings and numbers can always be marshalled
	}
	return utf8.RuneCount(b) + 1
}
