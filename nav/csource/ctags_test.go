package csource

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

type tag struct {
	Kind, Name string
	Line, End  int
}

// goFiles lists the C files of the Go distribution: a real tree that every
// machine that runs these tests has.
func goFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(out)), "src"), func(path string, d fs.DirEntry, err error) error {
		if ext := filepath.Ext(path); err == nil && (ext == ".c" || ext == ".h") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 50 {
		t.Fatalf("%d C files in %s, %v", len(files), strings.TrimSpace(string(out)), err)
	}
	return files
}

// ctagsTags runs ctags over files and returns its tags by file.
func ctagsTags(t *testing.T, files []string) map[string]map[tag]bool {
	t.Helper()
	tools := navtest.Tools(t)
	cmd := exec.CommandContext(t.Context(), tools.Ctags, "--options=NONE", "--output-format=json", "--fields=+neK",
		"--langmap=C:+.h", "--languages=C", "--kinds-C=defgmstuv", "--sort=no", "-f", "-", "-L", "-")
	cmd.Env = tools.Env
	cmd.Stdin = strings.NewReader(strings.Join(files, "\n"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", tools.Ctags, err)
	}
	tags := map[string]map[tag]bool{}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var v struct {
			tag
			Path string
		}
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(v.Name, "__anon") {
			continue
		}
		if tags[v.Path] == nil {
			tags[v.Path] = map[tag]bool{}
		}
		tags[v.Path][comparableTag(v.tag)] = true
	}
	return tags
}

// comparableTag keeps the last line only of kinds for which ctags has it.
func comparableTag(v tag) tag {
	switch v.Kind {
	case "function", "struct", "union", "enum":
	default:
		v.End = 0
	}
	return v
}

// TestAgainstCtags holds that both find the same definitions, on the same lines
// and to the same last line, but for one in a hundred.
func TestAgainstCtags(t *testing.T) {
	files := goFiles(t)
	theirs := ctagsTags(t, files)
	both, alone := map[string]int{}, map[string]int{}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f := Scan(text, Header)
		if f.lang == CPlusPlus {
			continue // ctags was told that it is C
		}
		ours := map[tag]bool{}
		for _, s := range f.Symbols() {
			if v := comparableTag(tag{s.Kind.String(), s.Name, s.Line, s.End}); s.Kind.Definition() && !s.Dead && !ours[v] {
				ours[v] = true
				if theirs[path][v] {
					both[v.Kind]++
				} else {
					alone[v.Kind]++
					t.Logf("%s:%d: only ours: %+v", path, s.Line, v)
				}
			}
		}
		for v := range theirs[path] {
			if !ours[v] {
				alone[v.Kind]++
				t.Logf("%s:%d: only ctags: %+v", path, v.Line, v)
			}
		}
	}
	for kind, want := range map[string]int{"function": 200, "macro": 150, "struct": 20, "typedef": 40, "variable": 60, "member": 80} {
		if both[kind] < want || alone[kind]*100 > both[kind] {
			t.Errorf("%s: got %d in both and %d in one, want at least %d and at most one in a hundred", kind, both[kind], alone[kind], want)
		}
	}
}
