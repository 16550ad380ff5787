package gtagsdb

import (
	"testing"
	"time"
)

// benchmark runs `global` with a question, then times ask with the same one, and
// reports how many times longer global takes.
func benchmark(b *testing.B, args []string, ask func(s *Set) (int, error)) {
	o := newOracle(b, sampleTree(b))
	s := openSet(b, o.dir)
	const runs = 20
	start := time.Now()
	for range runs {
		if o.run("", o.Global, args...) == "" {
			b.Fatalf("global %q has no answer", args)
		}
	}
	global := time.Since(start) / runs
	b.ReportAllocs()
	for b.Loop() {
		if n, err := ask(s); n == 0 || err != nil {
			b.Fatalf("%d answers, %v", n, err)
		}
	}
	b.ReportMetric(float64(global)*float64(b.N)/float64(b.Elapsed()), "global/op")
}

func BenchmarkDefinition(b *testing.B) {
	benchmark(b, []string{"-xd", "mallocgc"}, func(s *Set) (int, error) {
		sites, err := s.Definitions("mallocgc")
		return len(sites), err
	})
}

func BenchmarkOccurrences(b *testing.B) {
	benchmark(b, []string{"-xr", "many_ref"}, func(s *Set) (int, error) {
		files, err := s.Occurrences("many_ref")
		return len(files), err
	})
}

func BenchmarkFolded(b *testing.B) {
	benchmark(b, []string{"-xdi", "MANY_ref"}, func(s *Set) (int, error) {
		names, err := s.FoldedNames("MANY_ref", Definitions)
		return len(names), err
	})
}

func BenchmarkOpen(b *testing.B) {
	o := newOracle(b, sampleTree(b))
	for b.Loop() {
		db, err := Open(o.dir)
		if err != nil {
			b.Fatal(err)
		}
		s := newSet(b, Member{DB: db})
		if sites, err := s.Definitions("many_ref"); len(sites) == 0 || err != nil {
			b.Fatalf("%d answers, %v", len(sites), err)
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
