package client

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func find(t *testing.T, name string) Client {
	t.Helper()
	c, ok := Find(name)
	if !ok {
		t.Fatalf("no client %s", name)
	}
	return c
}

func put(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestLinkedFile follows links, as people have who keep their settings in a
// repository, and leaves mode and backup with the file itself.
func TestLinkedFile(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "dotfiles", "mcp.json"), filepath.Join(dir, ".cursor", "mcp.json")
	put(t, real, "{}\n", 0o640)
	if err := os.Mkdir(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../dotfiles/mcp.json", link); err != nil {
		t.Fatal(err)
	}
	res, err := find(t, "cursor").Write(link, program)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v; want 0640", info.Mode(), err)
	}
	if got := get(t, real); !strings.Contains(got, `"/opt/g"`) {
		t.Errorf("the file is %q", got)
	}
	if res.Backup != real+BackupSuffix || get(t, res.Backup) != "{}\n" {
		t.Errorf("backup %s", res.Backup)
	}
	again, err := find(t, "cursor").Write(link, program)
	if err != nil || again.Changed || again.Backup != "" {
		t.Errorf("a second time: %+v, %v; want no change", again, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(real)); err != nil || len(entries) != 2 {
		t.Errorf("%d files left beside it, want file and backup", len(entries))
	}
}

func TestNewFileIsForItsOwnerAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a", "b", "config.toml")
	res, err := find(t, "codex").Write(file, served)
	if err != nil || !res.Changed || res.Backup != "" || res.Exposed {
		t.Fatalf("%+v, %v", res, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if res, err = find(t, "codex").Write(file, served); err != nil || !res.Exposed {
		t.Errorf("a token that others may read: %+v, %v; want Exposed", res, err)
	}
}

func TestARefusedFileIsNotTouched(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mcp.json")
	put(t, file, "{\n oops", 0o600)
	_, err := find(t, "cursor").Write(file, program)
	if err == nil || !strings.Contains(err.Error(), file+": line 2, column 2: ") {
		t.Errorf("got %v, want file, line and column", err)
	}
	if got := get(t, file); got != "{\n oops" {
		t.Errorf("the file became %q", got)
	}
	if entries, _ := os.ReadDir(filepath.Dir(file)); len(entries) != 1 {
		t.Errorf("%d files, want the one", len(entries))
	}
	if _, err := find(t, "cursor").Write(filepath.Dir(file), program); err == nil {
		t.Error("a folder was taken for a file")
	}
}

func TestRemoveWithoutAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "none", "mcp.json")
	if res, err := find(t, "cursor").Remove(file); err != nil || res.Changed {
		t.Errorf("%+v, %v; want nothing to do", res, err)
	}
	if _, err := os.Stat(filepath.Dir(file)); err == nil {
		t.Error("removing made a folder")
	}
}

// TestAFileThatIsWrittenMeanwhile: between reading and replacing, its owner
// writes the file. Neither change may be lost.
func TestAFileThatIsWrittenMeanwhile(t *testing.T) {
	file := filepath.Join(t.TempDir(), ".claude.json")
	put(t, file, `{"count": 1}`, 0o600)
	old, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * time.Millisecond) // file times are coarse
	put(t, file, `{"count": 2}`, 0o600)
	if _, err := old.replace(file, []byte(`{"lost": true}`)); !errors.Is(err, errChanged) {
		t.Fatalf("got %v, want errChanged", err)
	}
	if got := get(t, file); got != `{"count": 2}` {
		t.Errorf("the file became %s", got)
	}
	if _, err := find(t, "claude-code").Write(file, program); err != nil {
		t.Fatal(err)
	}
	if got := get(t, file); !strings.Contains(got, `"count": 2`) || !strings.Contains(got, `"/opt/g"`) {
		t.Errorf("the file is %s", got)
	}
}

func TestPlaces(t *testing.T) {
	for _, c := range []struct{ client, os, env, want string }{
		{"claude-code", "linux", "", "/h/.claude.json"},
		{"claude-code", "darwin", "CLAUDE_CONFIG_DIR=/c", "/c/.claude.json"},
		{"claude-desktop", "linux", "", "/h/.config/Claude/claude_desktop_config.json"},
		{"claude-desktop", "darwin", "", "/h/Library/Application Support/Claude/claude_desktop_config.json"},
		{"cursor", "darwin", "", "/h/.cursor/mcp.json"},
		{"vscode", "linux", "XDG_CONFIG_HOME=/x", "/x/Code/User/mcp.json"},
		{"vscode", "linux", "XDG_CONFIG_HOME=relative", "/h/.config/Code/User/mcp.json"},
		{"vscode", "darwin", "XDG_CONFIG_HOME=/x", "/h/Library/Application Support/Code/User/mcp.json"},
		{"codex", "linux", "", "/h/.codex/config.toml"},
		{"codex", "linux", "CODEX_HOME=/c", "/c/config.toml"},
		{"gemini", "linux", "", "/h/.gemini/settings.json"},
		{"zed", "darwin", "", "/h/.config/zed/settings.json"},
		{"opencode", "linux", "", "/h/.config/opencode/opencode.json"},
	} {
		key, value, _ := strings.Cut(c.env, "=")
		p := Places{OS: c.os, Home: "/h", Getenv: func(name string) string {
			if name == key {
				return value
			}
			return ""
		}}
		if got, err := find(t, c.client).File(p); err != nil || got != c.want {
			t.Errorf("%s on %s with %s: %s, %v; want %s", c.client, c.os, c.env, got, err, c.want)
		}
	}
	if _, err := find(t, "json").File(Places{Home: "/h"}); err == nil {
		t.Error("the generic format has a file")
	}
	if _, err := find(t, "cursor").File(Places{}); err == nil {
		t.Error("a file without a home")
	}
}

func TestDesktopTakesNoAddress(t *testing.T) {
	if _, err := find(t, "claude-desktop").Snippet(served); err == nil || !strings.Contains(err.Error(), "Connectors") {
		t.Errorf("got %v, want what to do instead", err)
	}
}
