package outline

import "encoding/binary"

// reader takes values from bytes. Once they do not suffice it is bad and gives
// zeros; nothing it returns lies outside of b.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) fail() {
	r.b, r.bad = nil, true
}

func (r *reader) uvarint() uint64 {
	if len(r.b) > 0 && r.b[0] < 0x80 {
		v := r.b[0]
		r.b = r.b[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

// number reads a uvarint that has to be below limit.
func (r *reader) number(limit int) int {
	v := r.uvarint()
	if v >= uint64(limit) {
		r.fail()
		return 0
	}
	return int(v)
}

// delta reads a varint that has to stay within what a line or column can be.
func (r *reader) delta() int {
	v := r.uvarint()
	d := int64(v>>1) ^ -int64(v&1)
	if d < -maxPlace || d > maxPlace {
		r.fail()
		return 0
	}
	return int(d)
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail()
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail()
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

// maxPlace bounds lines and columns: csource reads no more than a GiB of a file.
const maxPlace = 1<<30 + 1

// checked returns the body of a part headed by its checksum.
func checked(part []byte) ([]byte, error) {
	if len(part) < 4 {
		return nil, errMalformed
	}
	if binary.LittleEndian.Uint32(part) != checksum(part[4:]) {
		return nil, errChecksum
	}
	return part[4:], nil
}

// seal fills in the checksum of a part that began at from with 4 free bytes.
func seal(b []byte, from int) {
	binary.LittleEndian.PutUint32(b[from:], checksum(b[from+4:]))
}

// words is the dictionary of one part: a string stands in full where it occurs
// first and as its number, counted from 1, afterwards.
type words struct {
	numbers map[string]uint64 // of a writer
	spans   [][]byte          // of a reader
}

func (w *words) reset() {
	clear(w.numbers)
	w.spans = w.spans[:0]
}

func (w *words) append(b []byte, s string) []byte {
	if n, ok := w.numbers[s]; ok {
		return binary.AppendUvarint(b, n)
	}
	if w.numbers == nil {
		w.numbers = make(map[string]uint64)
	}
	w.numbers[s] = uint64(len(w.numbers) + 1)
	b = append(b, 0)
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func (w *words) read(r *reader) []byte {
	n := r.number(len(w.spans) + 1)
	if n > 0 {
		return w.spans[n-1]
	}
	s := r.bytes(r.uvarint())
	w.spans = append(w.spans, s)
	return s
}
