package csource

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// benchTree returns the C files under the folder that CSOURCE_BENCH_TREE names,
// or else under testdata.
func benchTree(b *testing.B) (files [][]byte, langs []Lang, size int64) {
	root := os.Getenv("CSOURCE_BENCH_TREE")
	if root == "" {
		root = "testdata"
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		lang, ok := LangOf(path)
		if err != nil || !ok || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		files, langs, size = append(files, text), append(langs, lang), size+int64(len(text))
		return err
	})
	if err != nil || len(files) == 0 {
		b.Fatalf("%s: %d files, %v", root, len(files), err)
	}
	return files, langs, size
}

// BenchmarkScan reads whole files into outlines.
func BenchmarkScan(b *testing.B) {
	files, langs, size := benchTree(b)
	b.SetBytes(size)
	b.ReportAllocs()
	var s Scanner
	for b.Loop() {
		for i, text := range files {
			s.Scan(text, langs[i])
		}
	}
}

// BenchmarkLex reads tokens and directives alone.
func BenchmarkLex(b *testing.B) {
	files, langs, size := benchTree(b)
	b.SetBytes(size)
	var s Scanner
	for b.Loop() {
		for i, text := range files {
			s.tokens(text, langs[i])
		}
	}
}
