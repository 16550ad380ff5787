package ctagscom

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A list changes when files are lexed, never what is answered: not if gtags passes
// files over, asks in another order, for files that are not in it, or twice.
func TestListChangesNoAnswer(t *testing.T) {
	tree := make(map[string]string)
	var listed []string
	for i := range 2*aheadOf + 50 {
		name := fmt.Sprintf("d/%04d.py", i)
		tree[name] = fmt.Sprintf("name_%d = other(x)\n", i)
		listed = append(listed, name, fmt.Sprintf("d/%04d.c", i)) // no C file is lexed
	}
	tree["list"] = "absent.py\n./d/../gone.py\n" + strings.Join(listed, "\n") + "\n" + listed[0] + "\nlast \xff.py"
	tree["last \xff.py"], tree["unlisted.py"] = "last(1)\n", "unlisted(1)\n"
	chdirTree(t, tree)
	list, err := filepath.Abs("list")
	if err != nil {
		t.Fatal(err)
	}
	requests := []string{"./d/0003.py", "./unlisted.py", "./d/0001.py", "./d/0003.py"}
	for i := 4; i < 2*aheadOf+50; i += 3 {
		requests = append(requests, fmt.Sprintf("./d/%04d.py", i))
	}
	requests = append(requests, "./d/absent.py", "./last \xff.py", "./d/0555.py")

	serve := func(list string) []string {
		s := &server{tagger: fakeTagger(t), lexers: newLexerPool("Python:.py", patience), stderr: t.Output(), patience: patience}
		t.Cleanup(s.lexers.stop)
		if list != "" {
			if err := s.lexers.readList(list); err != nil {
				t.Fatal(err)
			}
		}
		answers, err := ask(t, s, requests...)
		if err != nil {
			t.Fatal(err)
		}
		return answers
	}
	want := serve("")
	if got := serve(list); !slices.Equal(got, want) {
		t.Errorf("got %q\nwithout a list %q", got, want)
	}
	if got, want := want[0], "D 0003 1 ./d/0003.py \nR name_3 1 ./d/0003.py \nR other 1 ./d/0003.py \nR x 1 ./d/0003.py \n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUnreadableListIsNoError(t *testing.T) {
	chdirTree(t, map[string]string{"a.py": "x = 1\n"})
	t.Setenv(EnvCtags, fakeTagger(t).path)
	t.Setenv(EnvFiles, "/no/such/list")
	var out, stderr bytes.Buffer
	code := Main([]string{"--langmap=Python:.py"}, strings.NewReader("./a.py\n"), &out, &stderr)
	if want := "D a 1 ./a.py \nR x 1 ./a.py \n" + terminator; code != 0 || out.String() != want {
		t.Errorf("got exit code %d and %q, want %q", code, &out, want)
	}
	if !strings.Contains(stderr.String(), EnvFiles+": open /no/such/list") {
		t.Errorf("stderr %q does not name the list", &stderr)
	}
}

// Files that use up their limit use up the patience with such files.
func TestSlowFilesUsePatience(t *testing.T) {
	chdirTree(t, map[string]string{"slow.rs": strings.Repeat("a.b(c) ", 40000) + strings.Repeat("\n", 1000)})
	pool := newLexerPool("Rust:.rs", 0) // no patience: the shortest limit
	l := pool.start("./slow.rs")
	<-l.done
	if got, want := pool.patience.Load(), -2*int64(minFileLimit); l.err == nil || len(l.refs) != 0 || got != want {
		t.Errorf("got %v, %d references, patience %d, want an error, none, and %d", l.err, len(l.refs), got, want)
	}
}
