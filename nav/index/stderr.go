package index

import "bytes"

// tailBuffer keeps the last limit bytes written to it.
type tailBuffer struct {
	limit int
	buf   []byte
}

func (t *tailBuffer) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p[max(0, len(p)-t.limit):]...)
	if over := len(t.buf) - t.limit; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

func (t *tailBuffer) String() string { return string(t.buf) }

// lineWriter calls f for each complete line written to it, without its line
// break. A line longer than maxLine is cut.
type lineWriter struct {
	f   func(line []byte)
	buf []byte
}

const maxLine = 64 << 10

func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		line, rest, complete := bytes.Cut(p, []byte("\n"))
		if room := maxLine - len(w.buf); room > 0 {
			w.buf = append(w.buf, line[:min(room, len(line))]...)
		}
		if complete {
			w.f(w.buf)
			w.buf = w.buf[:0]
		}
		p = rest
	}
	return n, nil
}
