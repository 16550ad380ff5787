package ctags

import (
	"bufio"
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestRequestFits(t *testing.T) {
	if line, err := request(strings.Repeat("n", maxName), 1<<40); err != nil || len(line) > 1022 {
		t.Errorf("got %d bytes, %v", len(line), err)
	}
	if _, err := request(strings.Repeat("n", 1100), 1); err == nil {
		t.Error("a request that ctags would cut was accepted")
	}
}

func TestMadeUpName(t *testing.T) {
	for _, c := range []struct{ path, content, want string }{
		{"fs/ext4/inode.c", "", "inode.c"},
		{"größe.py", "", "x.py"},
		{"a b.tar.gz", "", "x.tar.gz"},
		{"ü.lds.S", "", "x.lds.S"},
		{"dir/" + strings.Repeat("a", 100) + ".c", "", "x.c"},
		{"a.c\nx", "", "x"},
		{"", "", "."},
		{"Makefile", "", "Makefile"},
		{"a.h", "int x;\n", "a.c"},
		{"a.h", "template <class T> int f();", "a.h"},
		{"a.h", "\tclass Foo\n{", "a.h"},
		{"a.h", "public :\n", "a.h"},
		{"a.h", "class of devices\nusing them is easy\nstruct class *class;\nint template;\n", "a.c"},
		{"run", "#!/usr/bin/perl -w\n", "run.pl"},
		{"run", "#! /usr/bin/env -S FOO=1 node\n", "run.js"},
		{"run", "#!", "run"},
		{"run", "#!/usr/bin/env", "run"},
		{"run", "#!/bin/unknown", "run"},
		{"run.c", "#!/usr/bin/perl -w\n", "run.c"},
	} {
		got := madeUpName(c.path, []byte(c.content))
		if got != c.want {
			t.Errorf("madeUpName(%q, %q): got %q, want %q", c.path, c.content, got, c.want)
		}
	}
}

// FuzzMadeUpName: whatever the path and content, the request is one that ctags
// reads as one.
func FuzzMadeUpName(f *testing.F) {
	f.Add("größe.lds.S", []byte("#!/usr/bin/env python3"))
	f.Add("a.h", []byte("class x;"))
	f.Fuzz(func(t *testing.T, path string, content []byte) {
		name := madeUpName(path, content)
		if line, err := request(name, len(content)); err != nil || len(line) > 200 {
			t.Fatalf("request for %q: %q, %v", name, line, err)
		}
		for _, r := range name {
			if r < ' ' || r > '~' || r == '/' {
				t.Fatalf("made-up name %q", name)
			}
		}
	})
}

// FuzzAnswer: no answer makes the reader panic, every tag is well formed, and a
// tag written out again reads the same.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"_type": "tag", "name": "f", "line": 3, "kind": "function", "inherits": false, "end": 9}` + "\n" + `{"_type": "completed"}` + "\n"))
	f.Add([]byte("(null)\n" + `{"_type": "error", "message": "x"}` + "\r\n" + `{"_type": "tag", "name": "g", "line": -1}` + "\n"))
	f.Add([]byte(`{"_type": "program", "name": "Universal Ctags"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bufio.NewReaderSize(bytes.NewReader(b), 64)
		a, err := readAnswer(r, "completed")
		if err != nil {
			return
		}
		var again bytes.Buffer
		for _, tag := range a.tags {
			if tag.Name == "" || tag.Line < 1 || tag.End != 0 && tag.End < tag.Line {
				t.Fatalf("bad tag %+v", tag)
			}
			line, err := json.Marshal(map[string]any{
				"_type": "tag", "name": tag.Name, "kind": tag.Kind, "language": tag.Language, "line": tag.Line, "end": tag.End,
				"scope": tag.Scope, "scopeKind": tag.ScopeKind, "typeref": tag.Typeref, "signature": tag.Signature,
				"access": tag.Access, "inherits": tag.Inherits, "properties": tag.Properties, "roles": tag.Roles,
				"extras": map[bool]string{true: "anonymous"}[tag.Anonymous],
			})
			if err != nil {
				t.Fatal(err)
			}
			again.Write(append(line, '\n'))
		}
		again.WriteString(`{"_type": "completed"}` + "\n")
		b2, err := readAnswer(bufio.NewReaderSize(&again, 1<<20), "completed")
		if err != nil || b2.junk != 0 || !slices.Equal(b2.tags, a.tags) {
			t.Fatalf("got %+v, %v; want %+v", b2, err, a.tags)
		}
	})
}

// FuzzEncode: what is sent has the same lines, holds no NUL and nothing that is
// not UTF-8, and decodes to what it was.
func FuzzEncode(f *testing.F) {
	f.Add([]byte("int caf\xe9(void); /* größe ∈ S */ q0x1z\x00\n"))
	f.Add([]byte("\xef\xbb\xbfint x; q0q0x é"))
	f.Fuzz(func(t *testing.T, content []byte) {
		e := encode(content)
		if strings.ToValidUTF8(string(e.content), "") != string(e.content) || bytes.IndexByte(e.content, 0) >= 0 {
			t.Fatalf("%q is sent as %q", content, e.content)
		}
		if got, want := bytes.Count(e.content, []byte("\n")), bytes.Count(content, []byte("\n")); got != want {
			t.Fatalf("%d lines, want %d", got, want)
		}
		want := strings.ReplaceAll(string(content), "\x00", " ")
		if got := e.decode(string(e.content)); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}
