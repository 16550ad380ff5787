package ctags

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

// BenchmarkTags parses a file of 1,000 functions: for the first time, and out of
// the cache.
func BenchmarkTags(b *testing.B) {
	tc := navtest.Tools(b)
	var src strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&src, "static int function_%d(struct page *page, int flags)\n{\n\treturn flags + %d;\n}\n\n", i, i)
	}
	for _, cached := range []bool{false, true} {
		b.Run(fmt.Sprintf("cached=%v", cached), func(b *testing.B) {
			s := New(Command{Path: tc.Ctags, Env: tc.Env}, Options{})
			defer s.Close()
			b.SetBytes(int64(src.Len()))
			i := 0
			for b.Loop() {
				if !cached {
					i++
				}
				tags, err := s.Tags(b.Context(), "a.c", fmt.Appendf(nil, "%s/* %d */", src.String(), i))
				if err != nil || len(tags) != 1000 {
					b.Fatalf("%d tags, %v", len(tags), err)
				}
			}
		})
	}
}
