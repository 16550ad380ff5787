package semantic

import (
	"fmt"
	"testing"
	"testing/fstest"
	"time"
)

// BenchmarkSymbolsWarm asks about 20,000 files with 100,000 declarations, which is
// as much as an inventory holds: for one of them, for a fifth of them, for none.
func BenchmarkSymbolsWarm(b *testing.B) {
	files := fstest.MapFS{}
	for i := range 20_000 {
		name := fmt.Sprintf("src/p%03d/c%05d.toy", i/50, i)
		files[name] = &fstest.MapFile{Data: fmt.Appendf(nil, "class C%05d\n\tfield f%05[1]d\n\tmethod get%05[1]d\n\tmethod set%05[1]d\n\tmethod total\n", i)}
	}
	w := &world{files: files, toy: &toy{}}
	tree := w.tree()
	e := New(Options{Languages: []Language{{Name: "Toy", Extensions: []string{".toy"}, Parsers: []Parser{w.toy}}}, Wait: time.Minute})
	defer e.Close()
	if _, err := e.Find(b.Context(), tree, Request{Route: Symbols, Query: "C"}); err != nil {
		b.Fatal(err)
	}
	for _, test := range []struct {
		query string
		total int
	}{{"get12345", 1}, {"total", 20_000}, {"absent", 0}} {
		b.Run(test.query, func(b *testing.B) {
			for b.Loop() {
				a, err := e.Find(b.Context(), tree, Request{Route: Symbols, Query: test.query})
				if err != nil || a.Total != test.total || !a.Meta.Inventory.Complete {
					b.Fatalf("got %d of %d, %v", a.Total, test.total, err)
				}
			}
		})
	}
}
