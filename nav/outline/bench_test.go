package outline

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
)

// goSources are the C-like files of the Go distribution.
func goSources(b *testing.B) (root string, files []string) {
	b.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	root = strings.TrimSpace(string(out))
	return root, sources(b, root)
}

// BenchmarkScan is what Build cannot be faster than.
func BenchmarkScan(b *testing.B) {
	root, files := goSources(b)
	var scanner csource.Scanner
	for b.Loop() {
		for _, f := range files {
			text, err := os.ReadFile(filepath.Join(root, f))
			if err != nil {
				b.Fatal(err)
			}
			lang, _ := csource.LangOf(f)
			scanner.Scan(text, lang)
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	path, files := goSources(b)
	root, err := os.OpenRoot(path)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	dir := b.TempDir()
	for b.Loop() {
		if _, err := Build(b.Context(), dir, root, files, Options{Workers: 1}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSet(b *testing.B) {
	root, files := goSources(b)
	store, _ := buildFrom(b, root, files, Options{})
	set := NewSet(Member{Store: store})
	names, err := set.Names("", 0)
	if err != nil {
		b.Fatal(err)
	}
	outlines := make([]*File, len(files))
	for i, path := range files {
		if outlines[i], _, err = set.File(path); err != nil {
			b.Fatal(err)
		}
	}
	for _, bm := range []struct {
		name string
		do   func(i int) error
	}{
		{"lookup", func(i int) error { _, err := set.Lookup(names[i*7919%len(names)], nil); return err }},
		{"names", func(i int) error { _, err := set.Names(names[i*7919%len(names)], 20); return err }},
		{"symbols", func(i int) error { _, err := outlines[i%len(files)].Symbols(); return err }},
		{"enclosing", func(i int) error {
			f := outlines[i%len(files)]
			_, _, err := f.Enclosing(i*31%max(f.Lines(), 1) + 1)
			return err
		}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if err := bm.do(i); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
