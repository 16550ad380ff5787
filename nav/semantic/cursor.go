package semantic

import (
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
)

// A cursor is, in base64:
//
//	8 bytes   hash of the generation
//	8 bytes   hash of the arguments and the limit
//	uvarint   how many declarations come before the page
//
// It is opaque to callers, who can forge nothing with it but another page of an
// answer that they may have anyway.
type cursor struct {
	generation, arguments uint64
	offset                int
}

// CursorError says why a cursor is refused.
type CursorError struct{ Reason string }

func (e *CursorError) Error() string {
	return "cursor " + e.Reason + "; ask again without a cursor"
}

func (c cursor) String() string {
	b := binary.BigEndian.AppendUint64(nil, c.generation)
	b = binary.BigEndian.AppendUint64(b, c.arguments)
	b = binary.AppendUvarint(b, uint64(c.offset))
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseCursor(text string) (c cursor, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < 17 {
		return c, false
	}
	offset, n := binary.Uvarint(b[16:])
	if n != len(b)-16 || offset == 0 || offset > 1<<40 {
		return c, false
	}
	c = cursor{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), int(offset)}
	return c, c.String() == text
}

// start is where the page that a request asks for begins, among total
// declarations of the generation.
func (r *Request) start(generation string, total int) (int, error) {
	if r.Cursor == "" {
		return 0, nil
	}
	c, ok := parseCursor(r.Cursor)
	switch {
	case !ok:
		return 0, &CursorError{"is none that this tool gave"}
	case c.arguments != r.hash():
		return 0, &CursorError{"belongs to a call with other arguments or another limit"}
	case c.generation != digest(generation):
		return 0, &CursorError{"belongs to an earlier state of the workspace: files have changed since"}
	case c.offset >= total:
		return 0, &CursorError{"is past the end"}
	}
	return c.offset, nil
}

// digest is the same in every process of the program, but that the names of
// generations are not.
func digest(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return h.Sum64()
}
