package server

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

// TestJSONKeys holds the keys of every tool's answer against a file: within a
// major version keys are added, never renamed or removed. Run with
// UPDATE_SNAPSHOTS=1 to accept new ones.
func TestJSONKeys(t *testing.T) {
	root := navtest.Tree(t, smallTree+goTree)
	commit := exec.Command("sh", "-c", "git add -A && git -c user.name=t -c user.email=t@invalid commit -qm x && echo '/* edited */ int fresh;' >> lib/user.c")
	commit.Dir = root
	if out, err := commit.CombinedOutput(); err != nil {
		t.Fatalf("git: %v\n%s", err, out)
	}
	session := connect(t, newTestServer(t, nil), eras[0], nil)
	questions := map[string][]map[string]any{
		"find_definition":      {{"symbol": "map_page"}, {"symbol": "map_pag"}, {"symbol": "map_page", "active_config": "X"}},
		"find_references":      {{"symbol": "map_page"}, {"symbol": "external_call"}},
		"get_symbol_body":      {{"symbol": "map_page"}},
		"find_callers":         {{"symbol": "map_page"}},
		"find_callees":         {{"symbol": "use_twice"}},
		"reachability":         {{"from_symbol": "use", "to_symbol": "map_page"}},
		"blast_radius":         {{}},
		"symbol_info":          {{"symbol": "map_page"}},
		"summarize_references": {{"symbol": "map_page"}},
		"list_file_symbols":    {{"file_path": "lib/user.c"}},
		"update_index":         {{}},
		"find_code": {
			{"route": "structure", "path": "include/map.h"}, {"route": "symbols", "query": "map_"}, {"route": "symbols", "query": "map_", "limit": 1},
			{"route": "resolve", "query": "Twice"},
		},
	}
	for _, tool := range tools() {
		keys := map[string]bool{}
		if len(questions[tool.name]) == 0 {
			t.Errorf("no question for %s", tool.name)
		}
		for _, arguments := range append(questions[tool.name], map[string]any{"nonsense": 1}) {
			arguments["project_root"], arguments["format"] = root, "json"
			text, _ := ask(t, session, tool.name, arguments)
			var answer any
			if err := json.Unmarshal([]byte(text), &answer); err != nil {
				t.Fatalf("%s: %v in %s", tool.name, err, text)
			}
			collectKeys("", answer, keys)
		}
		got := strings.Join(slices.Sorted(maps.Keys(keys)), "\n") + "\n"
		file := filepath.Join("testdata", "keys", tool.name+".txt")
		if os.Getenv("UPDATE_SNAPSHOTS") != "" {
			navtest.Write(t, ".", file, got)
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s answers with the keys\n%swant, by %s,\n%s", tool.name, got, file, want)
		}
	}
}

// collectKeys names every key below a JSON value by its path.
func collectKeys(prefix string, value any, keys map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			keys[prefix+key] = true
			collectKeys(prefix+key+".", inner, keys)
		}
	case []any:
		for _, inner := range v {
			collectKeys(prefix, inner, keys)
		}
	}
}
