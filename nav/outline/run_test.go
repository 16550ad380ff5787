package outline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
)

// TestRunsSortAndMerge holds radix sort, runs and merge against sorting strings
// in memory, with names of every length around the eight bytes that are compared
// at a time and with many equal ones.
func TestRunsSortAndMerge(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s, err := newSpill(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.file.Close()
	want := make(map[string][]posting)
	var b runBuffer
	for i := range 20000 {
		name := strings.Repeat("mmDCP0_GRPH_", rng.IntN(3)) + string("ab\xff"[rng.IntN(3)]) + strings.Repeat("x", rng.IntN(20)) + fmt.Sprint(rng.IntN(200))
		p := posting{file: uint32(i / 100), symbol: uint32(i % 100), kind: csource.Kind(rng.IntN(16)), family: uint32(rng.IntN(3))}
		want[name] = append(want[name], p)
		b.add(name, p)
		if i%7001 == 7000 {
			if err := s.write(&b); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.add("", posting{})
	b.add("a\x00b", posting{})
	if err := s.write(&b); err != nil {
		t.Fatal(err)
	}
	if len(s.runs) != 3 {
		t.Fatalf("%d runs, want 3", len(s.runs))
	}
	var last string
	count := 0
	err = s.merge(func(name, postings []byte) error {
		if count > 0 && string(name) <= last {
			t.Errorf("%q comes after %q", name, last)
		}
		last = string(name)
		count++
		got, ok := readPostings(nil, postings)
		if !ok || !slices.Equal(got, want[last]) {
			t.Errorf("postings of %q: got %v, want %v", name, got, want[last])
		}
		return nil
	})
	if err != nil || count != len(want) {
		t.Errorf("merge gave %d names and error %v, want %d names", count, err, len(want))
	}
}
