package semantic

import "testing"

// FuzzCursor takes any text for a cursor: what is accepted must be written again
// as the same text, or two texts would name one page.
func FuzzCursor(f *testing.F) {
	f.Add(cursor{1, 2, 3}.String())
	f.Add(cursor{^uint64(0), 0, 1 << 39}.String())
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := parseCursor(text)
		if ok && (c.String() != text || c.offset <= 0) {
			t.Errorf("%q is taken for %+v, which is written %q", text, c, c)
		}
	})
}

func TestCursorsBindEverything(t *testing.T) {
	base := Request{Route: Symbols, Query: "q", Kind: "k", File: "f", Module: "m", Limit: 7}
	hashes := map[uint64]Request{base.hash(): base}
	for _, change := range []func(*Request){
		func(r *Request) { r.Route = Resolve },
		func(r *Request) { r.Path = "p" },
		func(r *Request) { r.Query, r.Kind = "qk", "" },
		func(r *Request) { r.Kind = "" },
		func(r *Request) { r.File = "" },
		func(r *Request) { r.Module = "" },
		func(r *Request) { r.Scope = "main" },
		func(r *Request) { r.Limit = 8 },
	} {
		r := base
		change(&r)
		if twin, ok := hashes[r.hash()]; ok {
			t.Errorf("%+v and %+v share their cursors", r, twin)
		}
		hashes[r.hash()] = r
	}
	r := base
	r.Cursor = "x"
	if r.hash() != base.hash() {
		t.Error("the cursor of a page is bound to the cursor before")
	}
}
