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
	if end := from + len(list); end < total {
		a.NextCursor = cursor{digest(generation), r.hash(), end}.String()
	}
	return a, list, nil
}

// sizeOf is the length of a declaration as JSON, in characters; text is shorter.
func sizeOf(d *Declaration) int {
	b, err := json.Marshal(d)
	if err != nil {
		return 0 // strings and numbers can always be marshalled
	}
	return utf8.RuneCount(b) + 1
}
