package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommands(t *testing.T) {
	notELF := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(notELF, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args   string
		stdout string
		err    string // empty: success
	}{
		{"sources", "global-6.6.14.tar.gz", ""},
		{"paint", "", `unknown command "paint"`},
		{"-no-such-flag", "", "no-such-flag"},
		{"build -platforms plan9-mips", "", `unknown platform "plan9-mips"`},
		{"build -sources " + t.TempDir() + " -cache " + t.TempDir() + " -out " + t.TempDir(), "", "no archive with a pinned size"},
		{"build -timeout 1ns -cache " + t.TempDir() + " -out " + t.TempDir(), "", "not done after 1ns (-timeout)"},
		{"here", "", "no C compiler"},
		{"check linux-amd64-gnu", "", "files"},
		{"check linux-amd64-gnu " + notELF, "", notELF},
		{"prove", "", "needs an archive"},
		{"prove " + notELF, "", "archive refused"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			err := run(t.Context(), strings.Fields(tt.args), &stdout, &stderr)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if !strings.Contains(stdout.String(), tt.stdout) {
				t.Errorf("printed %q, want %q", stdout.String(), tt.stdout)
			}
		})
	}
}
