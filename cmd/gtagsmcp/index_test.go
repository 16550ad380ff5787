package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav/index"
	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

func TestIndexCommand(t *testing.T) {
	tc := navtest.Tools(t)
	root := t.TempDir()
	deep := bytes.Repeat([]byte("#if X\n"), 110)
	for name, content := range map[string][]byte{"a.c": []byte("int a(void) { return b(); }\n"), "deep.c": deep} {
		if err := os.WriteFile(filepath.Join(root, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	open := func(_ context.Context, allowAny bool) (*index.Index, error) {
		return index.Open(root, index.Options{AllowAny: allowAny, Tools: func(context.Context) (index.Tools, error) {
			return index.Tools{Gtags: tc.Gtags, Env: tc.Env, Fingerprint: tc.Fingerprint}, nil
		}})
	}
	steps := []struct {
		args    []string
		out     string // a regular expression
		failure string // likewise; "" when it must succeed
	}{
		{[]string{"status"}, `generation  none yet`, ""},
		{[]string{"verify"}, ``, `no index of .* to verify`},
		{[]string{"build"}, `^built base-000001: 1 files in [\d.]+ s\nleft out deep.c: .*#if stack over flow`, ""},
		{[]string{"build"}, `^base-000001: 1 files; 0 added, 0 changed, 0 removed`, ""},
		{[]string{"build", "--full"}, `^built base-000002: 1 files`, ""},
		{[]string{"status"}, `generation  base-000002: 1 files(.|\n)*fresh       yes\nleft out    deep.c`, ""},
		{[]string{"status", "--json"}, `"Generation": ?"base-000002"`, ""},
		{[]string{"verify"}, `^all \d+ pages and their records are good\n$`, ""},
		{[]string{"clean"}, `^removed the index of `, ""},
		{[]string{"clean"}, `^removed the index of `, ""},
		{[]string{"verify", "x"}, ``, `unknown command|accepts`},
	}
	for _, step := range steps {
		var out, errOut bytes.Buffer
		cmd := newIndexCommand(streams{out: &out, err: &errOut}, open)
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		cmd.SetArgs(step.args)
		err := cmd.ExecuteContext(t.Context())
		switch {
		case step.failure == "" && err != nil:
			t.Errorf("index %q: %v", step.args, err)
		case step.failure != "" && (err == nil || !regexp.MustCompile(step.failure).MatchString(err.Error())):
			t.Errorf("index %q: got %v, want a failure like %q", step.args, err, step.failure)
		}
		if !regexp.MustCompile(step.out).MatchString(out.String()) {
			t.Errorf("index %q: got\n%s\nwant %q", step.args, out.String(), step.out)
		}
	}
	if _, err := os.Stat(filepath.Join(root, ".gtags-mcp")); !os.IsNotExist(err) {
		t.Errorf("after clean: got %v, want the folder gone", err)
	}
}
