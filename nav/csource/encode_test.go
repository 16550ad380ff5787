package csource

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
)

// public drops what an encoding leaves out.
func public(symbols []Symbol) []Symbol {
	out := slices.Clone(symbols)
	for i := range out {
		out[i].from, out[i].to, out[i].name, out[i].body = 0, 0, 0, 0
	}
	return out
}

func TestEncode(t *testing.T) {
	for _, path := range faultFiles(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lang, _ := LangOf(path)
		want := public(Scan(text, lang).Symbols())
		got, err := Decode(Encode(nil, want))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %+v\nwant %+v", path, got, want)
		}
	}
}

func TestDecodeDamaged(t *testing.T) {
	good := Encode(nil, Scan([]byte("int a;\nstruct s { int a; } b;\n"), C).Symbols())
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "cut off"},
		{"version", []byte{9, 0}, "version 9"},
		{"count", []byte{1, 200, 1}, "200 symbols in 3 bytes"},
		{"cut", good[:len(good)-1], "cut off"},
		{"trailing", append(slices.Clone(good), 0), "1 bytes behind the last symbol"},
		{"kind", append([]byte{1, 1, 0}, make([]byte, 20)...), "kind 0"},
		{"string", append([]byte{1, 1, 4, 77}, make([]byte, 20)...), "string 77 of 1"},
		{"long string", append([]byte{1, 1, 4, 0, 99}, make([]byte, 20)...), "a string of 99 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Decode(tt.data); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, path := range faultFiles(f) {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(Encode(nil, Scan(text, C).Symbols()))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		symbols, err := Decode(data)
		if err != nil {
			return
		}
		again := Encode(nil, symbols)
		back, err := Decode(again)
		if err != nil || !slices.Equal(back, symbols) {
			t.Fatalf("%x: got %+v, %v after encoding again, want %+v", data, back, err, symbols)
		}
		if twice := Encode(nil, back); !bytes.Equal(twice, again) {
			t.Fatalf("%x: encodes to %x, then to %x", data, again, twice)
		}
	})
}
