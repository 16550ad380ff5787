package outline

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
	"github.com/gtagsmcp/gtagsmcp/nav/macro"
)

// FuzzRecord holds the record of any text against the scan of it.
func FuzzRecord(f *testing.F) {
	for path, text := range crowded {
		if lang, _ := csource.LangOf(path); len(text) < 1000 { // else too slow to mutate
			f.Add([]byte(text), byte(lang))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, lang byte) {
		path := []string{"a.c", "a.cc", "a.h", "a.S"}[lang%4]
		set := NewSet(Member{Store: storeOfText(t, path, text)})
		agree(t, set, path, text, 40)
	})
}

// storeOfText is a store, in memory, of one file and without names.
func storeOfText(t *testing.T, path string, text []byte) *Store {
	t.Helper()
	lang, _ := csource.LangOf(path)
	w := new(recordWriter)
	data, err := w.append(make([]byte, headerSize), text, csource.Scan(text, lang))
	if err != nil {
		t.Fatal(err)
	}
	h := header{files: 1, names: uint64(len(data)), index: uint64(len(data))}
	b := &builder{files: []source{{path: path, offset: headerSize, size: int64(len(data)) - headerSize}}}
	data = append(data, 0, 0, 0, 0) // the checksum of no bytes is 0
	h.paths = uint64(len(data))
	data = append(data, b.paths()...)
	h.size = uint64(len(data))
	copy(data, h.encode())
	s := storeOf(data)
	if err := s.view(s.load); err != nil {
		t.Fatal(err)
	}
	return s
}

// FuzzStore reads damaged stores whose checksums are all right.
func FuzzStore(f *testing.F) {
	mint := func(string, csource.Symbol) []macro.Name {
		return []macro.Name{{Name: "m", Label: "l", Role: macro.Define}}
	}
	for _, tr := range []tree{
		{"a.c": crowded["guards.c"] + crowded["one.c"], "b/c.S": crowded["entry.S"]},
		{"m.h": manyMacros(70), "n.h": "CALL(x);\n" + manyMacros(3)},
		{},
	} {
		f.Add(bytes.Clone(tr.build(f, Options{Mint: mint}).data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		reseal(data)
		_, err := everything(storeOf(data))
		var corrupt *CorruptError
		if err != nil && !errors.As(err, &corrupt) {
			t.Errorf("error %v is no CorruptError", err)
		}
	})
}

// reseal makes the checksums of a store right, as far as it can be taken apart.
func reseal(data []byte) {
	if len(data) < headerSize {
		return
	}
	le.PutUint32(data[headerSize-4:], checksum(data[:headerSize-4]))
	h, err := decodeHeader(data)
	if err != nil {
		return
	}
	for _, end := range []uint64{h.paths, h.size} {
		from := h.index
		if end == h.size {
			from = h.paths
		}
		le.PutUint32(data[end-4:], checksum(data[from:end-4]))
	}
	s := storeOf(data)
	if s.load() != nil {
		return
	}
	for i := range s.paths.len() {
		resealRecord(data[s.paths.offsets[i]:][:s.paths.sizes[i]])
	}
	for i := range int(h.blocks) {
		part, _, err := s.blockPart(i)
		if err != nil {
			continue
		}
		r := reader{b: part}
		if size := r.uvarint(); size < uint64(len(part)) {
			if b := r.bytes(size + 4); !r.bad {
				seal(b, 0)
			}
		}
	}
}

func resealRecord(b []byte) {
	if len(b) < recordHead {
		return
	}
	if n := le.Uint32(b[4:]); n < 1<<20 {
		if size := recordHead + blockEntry*blockCount(int(n)); size <= len(b) {
			le.PutUint32(b, checksum(b[4:size]))
		}
	}
	r, err := openRecord(b)
	if err != nil {
		return
	}
	parts := [][]byte{r.guards, r.steps}
	from := uint32(0)
	for e := range slices.Chunk(r.table, blockEntry) {
		if to := le.Uint32(e); from <= to && int(to) <= len(r.blocks) {
			parts = append(parts, r.blocks[from:to])
			from = to
		}
	}
	for _, p := range parts {
		if len(p) >= 4 {
			seal(p, 0)
		}
	}
}
