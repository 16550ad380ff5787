//go:build javatree

package java

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

// javaTree is the tree that GTAGS_MCP_JAVA_TREE names: sources of java.base.
func javaTree(t *testing.T) (root string, files []string) {
	t.Helper()
	root = os.Getenv("GTAGS_MCP_JAVA_TREE")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".java") {
			rel, _ := filepath.Rel(root, path)
			files = append(files, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil || len(files) < 3000 {
		t.Fatalf("%d Java files below GTAGS_MCP_JAVA_TREE=%q, %v; at least 3,000 are wanted", len(files), root, err)
	}
	slices.Sort(files)
	return root, files
}

// sample picks n of the elements; JAVA_SEED repeats a choice.
func sample[T any](t *testing.T, all []T, n int) []T {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("JAVA_SEED"); s != "" {
		fmt.Sscan(s, &seed)
	}
	t.Logf("JAVA_SEED=%d", seed)
	all = slices.Clone(all)
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}

func readFiles(t *testing.T, root string, paths []string) (files []semantic.File) {
	t.Helper()
	for _, path := range paths {
		content, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, semantic.File{Path: path, Content: content})
	}
	return files
}

// TestTreeParses parses everything twice, with a cold and a warm helper.
func TestTreeParses(t *testing.T) {
	root, paths := javaTree(t)
	files := readFiles(t, root, paths)
	f := ownFrontEnd(t, Options{})
	for range 2 {
		start, declarations, incomplete := time.Now(), 0, 0
		for some := range slices.Chunk(files, 300) {
			parsed, err := f.Parse(t.Context(), some)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range parsed {
				declarations += count(p.Declarations)
				if !p.Complete {
					incomplete++
					t.Errorf("%s: %v", p.Path, p.Problems)
				}
			}
		}
		s := f.Status()
		t.Logf("%d files, %d declarations, %d incomplete, in %v; helper %d MiB resident, heap limit %d MiB, jdk %s",
			len(files), declarations, incomplete, time.Since(start).Round(time.Millisecond), s.RSS>>20, s.HeapLimit>>20, s.JDK)
	}
}

func count(declarations []semantic.Declaration) int {
	n := len(declarations)
	for _, d := range declarations {
		n += count(d.Children)
	}
	return n
}

// TestTreeStructure compares the structure of 500 files with what a program of
// its own finds in the compiler's own nodes.
func TestTreeStructure(t *testing.T) {
	root, paths := javaTree(t)
	paths = sample(t, paths, 500)
	f := ownFrontEnd(t, Options{})
	parsed, err := f.Parse(t.Context(), readFiles(t, root, paths))
	if err != nil {
		t.Fatal(err)
	}
	want := secondOpinion(t, f.Status().Home, root, paths)
	compared, differences := 0, 0
	for _, p := range parsed {
		got := flatLines(p.Declarations)
		compared += len(got)
		if !slices.Equal(got, want[p.Path]) {
			differences++
			t.Errorf("%s:\ngot\n%s\nwant\n%s", p.Path, strings.Join(got, "\n"), strings.Join(want[p.Path], "\n"))
		}
	}
	t.Logf("%d files, %d declarations compared, %d files differ", len(parsed), compared, differences)
	if compared < 500 {
		t.Errorf("only %d declarations compared", compared)
	}
}

func flatLines(declarations []semantic.Declaration) (lines []string) {
	for _, d := range declarations {
		modifiers := slices.Sorted(slices.Values(d.Modifiers))
		lines = append(lines, fmt.Sprintf("%s %s %d-%d [%s] %s", d.Kind, d.QualifiedName, d.Line, d.EndLine,
			strings.Join(modifiers, " "), d.Signature))
		lines = append(lines, flatLines(d.Children)...)
	}
	return lines
}

func secondOpinion(t *testing.T, home, root string, paths []string) map[string][]string {
	t.Helper()
	var exports []string
	for _, p := range []string{"tree", "code", "util"} {
		exports = append(exports, "--add-exports", "jdk.compiler/com.sun.tools.javac."+p+"=ALL-UNNAMED")
	}
	classes := t.TempDir()
	compile := exec.Command(filepath.Join(home, "bin", "javac"), append(exports, "-proc:none", "-d", classes, "testdata/SecondOpinion.java")...)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(filepath.Join(home, "bin", "java"), append(exports, "-cp", classes, "SecondOpinion")...)
	var input strings.Builder
	for _, path := range paths {
		fmt.Fprintln(&input, filepath.Join(root, path))
	}
	cmd.Stdin, cmd.Stderr = strings.NewReader(input.String()), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	path := ""
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "file "); ok {
			path, _ = filepath.Rel(root, name)
			continue
		}
		found[path] = append(found[path], line)
	}
	return found
}

// TestTreeMentions holds the quick look for names against the parser.
func TestTreeMentions(t *testing.T) {
	root, paths := javaTree(t)
	mentioned(t, frontEnd(t), readFiles(t, root, sample(t, paths, 1000)))
}
