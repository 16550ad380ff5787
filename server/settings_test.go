package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadSettingsFile(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"good", "label = \"native\"\nskip_globs = [\"*.gen.c\"]\nguards = false\n", ""},
		{"syntax", "label = \"native\"\nguards = maybe\n", ":2: key \"guards\""},
		{"wrong type", "guards = \"yes\"\n", "guards"},
		{"unknown key", "label = \"x\"\n\nlabels = \"y\"\n", ":3: unknown key \"labels\""},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), projectConfig)
			if err := os.WriteFile(path, []byte(test.text), 0o644); err != nil {
				t.Fatal(err)
			}
			s, err := ReadSettingsFile(path)
			if test.want == "" {
				if err != nil || *s.Label != "native" || *s.Guards || len(s.SkipGlobs) != 1 {
					t.Errorf("got %+v, %v", s, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got error %v, want it to hold %q and the file", err, test.want)
			}
		})
	}
	if _, err := ReadSettingsFile(filepath.Join(t.TempDir(), "none.toml")); err != nil {
		t.Errorf("a missing file: got error %v, want none", err)
	}
}

func TestSettingsPrecedence(t *testing.T) {
	text := func(s string) *string { return &s }
	no := false
	flags := Settings{Label: text("flag")}
	env := Settings{Label: text("env"), BinDir: text("env"), Guards: &no}
	user := Settings{Label: text("user"), BinDir: text("user"), Root: text("user"), SkipGlobs: []string{"u"}}
	got := flags.Over(env).Over(user)
	if *got.Label != "flag" || *got.BinDir != "env" || *got.Root != "user" || *got.Guards || len(got.SkipGlobs) != 1 || got.Enrich != nil {
		t.Errorf("got %+v", got)
	}
}

func TestReadEnvironment(t *testing.T) {
	env := map[string]string{"GTAGS_MCP_LABEL": "native", "GTAGS_MCP_GUARDS": "0", "GTAGS_MCP_ENRICH": "maybe"}
	s, err := ReadEnvironment(func(name string) string { return env[name] })
	if err == nil || !strings.Contains(err.Error(), "GTAGS_MCP_ENRICH") {
		t.Errorf("got error %v, want it to name GTAGS_MCP_ENRICH", err)
	}
	if *s.Label != "native" || *s.Guards || s.Enrich != nil {
		t.Errorf("got %+v", s)
	}
}
