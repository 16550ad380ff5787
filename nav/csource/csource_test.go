package csource

import "testing"

func TestLangOf(t *testing.T) {
	tests := []struct {
		name string
		want Lang
		ok   bool
	}{
		{"a/b.c", C, true},
		{"a.h", Header, true},
		{"a.hpp", CPlusPlus, true},
		{"a.C", CPlusPlus, true},
		{"arch/x86/entry.S", Assembly, true},
		{"a.py", C, false},
		{"c", C, false},
		{"Makefile", C, false},
	}
	for _, tt := range tests {
		if got, ok := LangOf(tt.name); got != tt.want || ok != tt.ok {
			t.Errorf("%s: got %v, %v, want %v, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

func TestScannerReuse(t *testing.T) {
	var s Scanner
	s.Scan([]byte("#if A\nint f(void) { return g(); }\n"), C)
	f := s.Scan([]byte("int x;"), C)
	if got, want := outline(f), "variable x 1-1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := f.Guards(1); len(got) != 0 {
		t.Errorf("got guards %q of the file before", got)
	}
	if got := f.Lines(); got != 1 {
		t.Errorf("got %d lines, want 1", got)
	}
}
