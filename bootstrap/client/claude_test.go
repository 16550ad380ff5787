package client

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// claude puts a program in PATH that changes the file as Claude Code does, or
// does nothing, or fails.
func claude(t *testing.T, script string) CLI {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "claude"), "#!/bin/sh\n"+script, 0o755)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	cli, ok := find(t, "claude-code").CLI()
	if !ok {
		t.Fatal("the program is not found")
	}
	return cli
}

func TestClaudeChangesItsOwnFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), ".claude.json")
	put(t, file, `{"projects": {}}`, 0o600)
	t.Setenv("FILE", file)
	cli := claude(t, `echo "$*" >> "$FILE.log"
case "$2" in
  add-json) echo "{\"projects\": {}, \"mcpServers\": {\"$5\": $6}}" > "$FILE" ;;
  remove) echo '{"projects": {}, "mcpServers": {}}' > "$FILE" ;;
esac
`)
	for _, changed := range []bool{true, false} {
		res, err := cli.Write(t.Context(), file, program)
		if err != nil || res.Changed != changed {
			t.Fatalf("%+v, %v; want changed %v", res, err, changed)
		}
	}
	if got := get(t, file+BackupSuffix); got != `{"projects": {}}` {
		t.Errorf("backup: %s", got)
	}
	moved := program
	moved.Program = "/new"
	if _, err := cli.Write(t.Context(), file, moved); err != nil {
		t.Fatal(err)
	}
	if res, err := cli.Remove(t.Context(), file); err != nil || !res.Changed {
		t.Fatalf("%+v, %v", res, err)
	}
	want := `mcp add-json --scope user gtags {"args":["serve"],"command":"/opt/g","type":"stdio"}
mcp remove --scope user gtags
mcp add-json --scope user gtags {"args":["serve"],"command":"/new","type":"stdio"}
mcp remove --scope user gtags
`
	if got := get(t, file+".log"); got != want {
		t.Errorf("got runs\n%swant\n%s", got, want)
	}
}

func TestClaudeThatDidNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), ".claude.json")
	for script, want := range map[string]string{
		"echo added; exit 0":              "does not show it",
		"echo no such option >&2; exit 3": "exit status 3: no such option",
	} {
		if _, err := claude(t, script).Write(t.Context(), file, program); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want …%s…", script, err, want)
		}
	}
}

func TestATokenIsNoArgument(t *testing.T) {
	file := filepath.Join(t.TempDir(), ".claude.json")
	cli := claude(t, "exit 1")
	if _, err := cli.Write(t.Context(), file, served); err != nil {
		t.Fatal(err)
	}
	if got := get(t, file); !strings.Contains(got, "Bearer s3cret") {
		t.Errorf("the file is %s", got)
	}
}
