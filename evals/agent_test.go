package evals

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

// standIn plays the model: a shell script that answers from grep when the
// server is at hand, and from imagination when it is not.
const standIn = `#!/bin/sh
case "$QUESTION" in
*hang*) sleep 600 & sleep 600 ;;
*fail*) echo "no account" >&2; exit 3 ;;
esac
if [ "$1" = with ]; then
	echo "See $(grep -n 'long mini_read' fs/read.c | sed 's|^\([0-9]*\):.*|fs/read.c:\1|'): mini_read calls check."
else
	echo "Probably mini_reader in fs/read.c:120, which calls checker."
fi
`

func TestRunAgent(t *testing.T) {
	root := committedCopy(t, filepath.Join("testdata", "mini-kernel"))
	dir := t.TempDir()
	navtest.Write(t, dir, "model", standIn)
	model := filepath.Join(dir, "model")
	if err := os.Chmod(model, 0o755); err != nil {
		t.Fatal(err)
	}
	agents := []Agent{{"with", model + " with"}, {"without", model + " without"}}
	questions := []Question{
		{ID: "definition", Ask: "Where is mini_read defined?", Places: places("fs/read.c~long mini_read("), Names: []string{"mini_read"}},
		{ID: "callee", Ask: "What does it call?", Names: []string{"check"}, Wrong: []string{"checker"}},
		{ID: "hang", Ask: "Please hang.", Names: []string{"x"}},
		{ID: "fail", Ask: "Please fail.", Names: []string{"x"}},
	}
	var heard int
	grades, err := RunAgent(t.Context(), root, questions, agents, AgentOptions{Timeout: 2 * time.Second, Done: func(Grade) { heard++ }})
	if err != nil {
		t.Fatal(err)
	}
	var right []string
	for _, g := range grades {
		if g.Right {
			right = append(right, g.Agent+" "+g.Question)
		}
	}
	if want := []string{"with definition", "with callee"}; !slices.Equal(right, want) || heard != len(grades) {
		t.Errorf("got right %v of %d heard %d, want %v", right, len(grades), heard, want)
	}
	text := AgentText(agents, grades)
	for _, want := range []string{"2 of 4 right", "0 of 4 right", "names checker", "no reply in 2s", "no account", "lacks fs/read.c:12"} {
		if !strings.Contains(text, want) {
			t.Errorf("got no %q in:\n%s", want, text)
		}
	}
}

func TestHoldsWord(t *testing.T) {
	for _, test := range []struct {
		reply, word string
		want        bool
	}{
		{"in fs/a.c:12.", "fs/a.c:12", true},
		{"`./fs/a.c:12`", "fs/a.c:12", true},
		{"in fs/a.c:123", "fs/a.c:12", false},
		{"in tools/fs/a.c:12", "fs/a.c:12", false},
		{"vfs_readv()", "vfs_read", false},
		{"vfs_read()", "vfs_read", true},
	} {
		if got := holdsWord(test.reply, test.word); got != test.want {
			t.Errorf("holdsWord(%q, %q): got %v, want %v", test.reply, test.word, got, test.want)
		}
	}
}

func TestQuestions(t *testing.T) {
	questions, err := LoadQuestions(filepath.Join("agent", "questions.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(questions); got != 40 {
		t.Errorf("got %d questions, want 40", got)
	}
	seen := map[string]bool{}
	for _, q := range questions {
		if seen[q.ID] {
			t.Errorf("question %s is there twice", q.ID)
		}
		seen[q.ID] = true
		for _, p := range q.Places {
			if p.Text == "" {
				t.Errorf("question %s: place %s has no text", q.ID, p)
			}
		}
	}
}
