package ctags

import (
	"strings"
	"testing"
)

// FuzzEnds: no text makes the block reader or what mends its tags panic, and an
// end never comes before its beginning or after the text.
func FuzzEnds(f *testing.F) {
	for _, seed := range []string{
		"function f() { return `${ {} }` / /[/}]/ }", "fn f<'a>(c: char) { r#\"}\"#; '\\''; /* /* } */ }", "f() {\n cat <<-'EOF'\n}\nEOF\n}",
		"function f() if x then [==[ end ]] ]==] --[[ ]] end end", "func f() struct{} {\n\tx := `}`\n}", "`${`${`${", "<<", "<< \n", "'", "r#", "/*", "--[", "\\", "record R(int a) {\n int f() { return a; }\n}", "namespace n {\n const f = (a) => {\n }\n}",
	} {
		f.Add(seed, 1)
	}
	f.Fuzz(func(t *testing.T, text string, line int) {
		lines := strings.Count(text, "\n") + 1
		for language := range syntaxes {
			for _, kind := range []string{"function", "constant"} {
				tags := []Tag{{Name: "f", Kind: kind, Language: language, Line: max(line, 1)}}
				for _, tag := range complete(tags, "f"+mended[language], []byte(text)) {
					if tag.End != 0 && (tag.End < tag.Line || tag.End > lines) {
						t.Fatalf("%s %s %s from line %d to %d of %d", language, tag.Kind, tag.Name, tag.Line, tag.End, lines)
					}
				}
			}
		}
	})
}

// TestArrowFunctions: versions of ctags disagree on what an arrow function is, but
// its end is that of its block, and an expression has none.
func TestArrowFunctions(t *testing.T) {
	s := newService(t, Options{})
	src := "const arrow = (x) => x + 1;\nconst block = (x) => {\n  return x;\n};\nconst late = async (\n  a,\n) => {\n  return a;\n};\nconst plain = 3\nfunction next() {}\n"
	for _, path := range []string{"a.js", "a.ts"} {
		tags, err := s.Tags(t.Context(), path, []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		ends := map[string]int{}
		for _, tag := range tags {
			ends[tag.Name] = tag.End
		}
		for name, want := range map[string]int{"block": 4, "late": 9, "next": 11} {
			if ends[name] != want {
				t.Errorf("%s: %s ends on line %d, want %d", path, name, ends[name], want)
			}
		}
		for name, line := range map[string]int{"arrow": 1, "plain": 10} {
			if end := ends[name]; end != 0 && end != line {
				t.Errorf("%s: %s ends on line %d", path, name, end)
			}
		}
	}
}
