package gtagsdb

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// FuzzFiles reads arbitrary bytes as each of the three files. Nothing may panic
// or go on for ever, and every error must be one about the files. Minimising three
// files takes the fuzzer a minute each time: give it -fuzzminimizetime 20x.
func FuzzFiles(f *testing.F) {
	tiny := shape{order: binary.BigEndian, size: 512}
	for _, s := range []shape{tiny, {order: binary.LittleEndian, size: 512}} {
		im := s.database(150, 30)
		f.Add(im.gtags, im.grtags, im.gpath)
	}
	f.Add(tiny.encode(nil), tiny.encode([]pair{{"a\x00", "1 @n 1\x00"}}), tiny.encode([]pair{{"./a\x00", "1\x00"}}))
	f.Fuzz(func(t *testing.T, gtags, grtags, gpath []byte) {
		if len(gtags)+len(grtags)+len(gpath) > 1<<15 {
			return // more of the same only takes longer
		}
		db, err := images{gtags, grtags, gpath}.open()
		if err != nil {
			if !expected(err) {
				t.Fatalf("open: %v", err)
			}
			return
		}
		if err := db.Verify(t.Context(), nil); err != nil && !expected(err) {
			t.Fatalf("Verify: %v", err)
		}
		begins := func(p string) bool { return strings.HasPrefix(p, "b") }
		s := newSet(t, Member{DB: db, Hidden: begins}, Member{DB: db, Hidden: func(p string) bool { return !begins(p) }})
		for key, v := range everything(s, smallNames) {
			if err, failed := v.(error); failed && !expected(err) {
				t.Fatalf("%s: %v", key, err)
			}
		}
		for path := range s.Files() {
			if !s.HasFile(path) || !confined([]byte("./"+path)) {
				t.Fatalf("path %q: present %t", path, s.HasFile(path))
			}
		}
	})
}

var (
	listForm   = regexp.MustCompile(`^[0-9]+([,-][0-9]+)*$`)
	listItem   = regexp.MustCompile(`[,-]?[0-9]+`)
	recordForm = regexp.MustCompile(`^(?s)([0-9]+) ([^ ]+) ([0-9]+)(.*)\x00$`)
)

// slowRecord reads a record in the plainest way.
func slowRecord(data string, compact bool) (fid int, name string, lines []int, image string, ok bool) {
	m := recordForm.FindStringSubmatch(data)
	if m == nil || strings.Count(data, "\x00") != 1 {
		return
	}
	fid, err := strconv.Atoi(m[1])
	line, err2 := strconv.Atoi(m[3])
	if err != nil || err2 != nil || fid > maxNumber || line > maxNumber || line == 0 {
		return
	}
	if !compact {
		image, ok = strings.CutPrefix(m[4], " ")
		return fid, m[2], []int{line}, image, ok
	}
	if !listForm.MatchString(m[3] + m[4]) {
		return
	}
	lines = []int{line}
	for _, item := range listItem.FindAllString(m[4], -1) {
		n, err := strconv.Atoi(item[1:])
		if err != nil || n == 0 || line+n > maxNumber {
			return
		}
		if item[0] == ',' {
			line += n
			lines = append(lines, line)
			continue
		}
		for range n {
			line++
			lines = append(lines, line)
		}
	}
	return fid, m[2], lines, "", true
}

// FuzzRecord holds the reader of records against its slow twin.
func FuzzRecord(f *testing.F) {
	for _, s := range []string{"4 @n 1 int @n;\x00", "4 @n 3,2-4,10\x00", "9 a 10-3\x00", "1 x 5-1,2\x00", "4 @n 1\x00", "4 @n 1 \x00", "004 @n 01,02\x00", "4  1\x00", "4 @n 0\x00", "4 @n 99999999999\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if regexp.MustCompile(`-[0-9]{5}`).Match(data) {
			return // correct, but memory for a fuzzer
		}
		for _, compact := range []bool{true, false} {
			fid, name, lines, image, ok := slowRecord(string(data), compact)
			tags := &tags{compact: compact, deltas: true}
			r, parsed := parseRecord(data, compact)
			var got []int
			if parsed {
				got, parsed = tags.appendLines(nil, data)
			}
			if parsed != ok {
				t.Fatalf("record %q, compact %t: read %t, want %t", data, compact, parsed, ok)
			}
			if ok && (r.fid != fid || string(r.name) != name || !slices.Equal(got, lines) || !compact && string(r.rest) != image) {
				t.Fatalf("record %q, compact %t: got %d %q %v %q, want %d %q %v %q", data, compact, r.fid, r.name, got, r.rest, fid, name, lines, image)
			}
		}
	})
}

// FuzzLines encodes lines and reads them back.
func FuzzLines(f *testing.F) {
	f.Add([]byte{1, 1, 1, 5, 1, 1, 200})
	f.Add([]byte{255})
	f.Fuzz(func(t *testing.T, gaps []byte) {
		line, lines := 0, []int(nil)
		for _, gap := range gaps {
			line += int(gap) + 1
			lines = append(lines, line)
		}
		if len(lines) == 0 {
			return
		}
		record := "7 @n " + encodeLines(lines) + "\x00"
		got, ok := (&tags{compact: true, deltas: true}).appendLines(nil, []byte(record))
		if !ok || !slices.Equal(got, lines) {
			t.Fatalf("%q: got %v, %t, want %v", record, got, ok, lines)
		}
	})
}

func encodeLines(lines []int) string {
	out := strconv.Itoa(lines[0])
	for i := 1; i < len(lines); {
		run := 0
		for i+run < len(lines) && lines[i+run] == lines[i-1]+run+1 {
			run++
		}
		if run > 0 {
			out += "-" + strconv.Itoa(run)
			i += run
			continue
		}
		out += "," + strconv.Itoa(lines[i]-lines[i-1])
		i++
	}
	return out
}

var escape = regexp.MustCompile(`@(@|[a-z]|[4-9]|\{[0-9]+\}|)`)

// slowText decodes in the plainest way. ok is false for what is not text.
func slowText(a *abbreviations, s, key string) (out string, ok bool) {
	ok = true
	out = escape.ReplaceAllStringFunc(s, func(e string) string {
		switch {
		case e == "@@":
			return "@"
		case e == "@n":
			return key
		case len(e) == 2 && e[1] >= 'a':
			ok = ok && a[e[1]-'a'] != ""
			return a[e[1]-'a']
		case len(e) == 2:
			return strings.Repeat(" ", int(e[1]-'0'))
		case len(e) > 3:
			n, _ := strconv.Atoi(e[2 : len(e)-1])
			return strings.Repeat(" ", n)
		}
		ok = false
		return ""
	})
	return out, ok
}

// encodeText compresses as gtags does.
func encodeText(a *abbreviations, s, key string) string {
	var out strings.Builder
	for s != "" {
		blanks := len(s) - len(strings.TrimLeft(s, " "))
		switch {
		case strings.HasPrefix(s, key):
			out.WriteString("@n")
			s = s[len(key):]
			continue
		case s[0] == '@':
			out.WriteString("@@")
			s = s[1:]
			continue
		case blanks >= 10:
			out.WriteString("@{" + strconv.Itoa(blanks) + "}")
			s = s[blanks:]
			continue
		case blanks >= 4:
			out.WriteString("@" + strconv.Itoa(blanks))
			s = s[blanks:]
			continue
		}
		i := slices.IndexFunc(a[:], func(w string) bool { return w != "" && strings.HasPrefix(s, w) })
		if i >= 0 {
			out.WriteString("@" + string(rune('a'+i)))
			s = s[len(a[i]):]
			continue
		}
		out.WriteByte(s[0])
		s = s[1:]
	}
	return out.String()
}

// FuzzText decodes what is encoded, and arbitrary bytes as the slow twin does.
func FuzzText(f *testing.F) {
	for _, s := range []string{`#@d @n "@@@@ @@n" a@4b@{13}c`, "@@@d_me", "@", "@{", "@{}", "@{12", "@z", "@3", "a    b\tdefine  typedef_key          "} {
		f.Add([]byte(s), "key")
	}
	f.Fuzz(func(t *testing.T, s []byte, key string) {
		if key == "" || regexp.MustCompile(`@\{[0-9]{6}`).Match(s) {
			return
		}
		words, ok := parseAbbreviations([]byte("ddefine ttypedef"))
		if !ok {
			t.Fatal("the abbreviations cannot be read")
		}
		got, ok := words.appendText(nil, s, key)
		want, wantOK := slowText(&words, string(s), key)
		if ok != wantOK || ok && string(got) != want {
			t.Fatalf("%q with key %q: got %q, %t, want %q, %t", s, key, got, ok, want, wantOK)
		}
		compressed := encodeText(&words, string(s), key)
		if got, ok := words.appendText(nil, []byte(compressed), key); !ok || !bytes.Equal(got, s) {
			t.Fatalf("%q compressed to %q with key %q: got %q, %t", s, compressed, key, got, ok)
		}
	})
}
