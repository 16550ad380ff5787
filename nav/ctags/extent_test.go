package ctags

import (
	"strings"
	"testing"
)

// FuzzEnds: no text makes the block reader panic, and an end never comes before
// its beginning or after the text.
func FuzzEnds(f *testing.F) {
	for _, seed := range []string{
		"function f() { return `${ {} }` / /[/}]/ }", "fn f<'a>(c: char) { r#\"}\"#; '\\''; /* /* } */ }", "f() {\n cat <<-'EOF'\n}\nEOF\n}",
		"function f() if x then [==[ end ]] ]==] --[[ ]] end end", "func f() struct{} {\n\tx := `}`\n}", "`${`${`${", "<<", "<< \n", "'", "r#", "/*", "--[", "\\",
	} {
		f.Add(seed, 1)
	}
	f.Fuzz(func(t *testing.T, text string, line int) {
		lines := strings.Count(text, "\n") + 1
		for language := range syntaxes {
			for _, kind := range []string{"function", "constant"} {
				tags := []Tag{{Name: "f", Kind: kind, Language: language, Line: max(line, 1)}}
				fillEnds(tags, []byte(text))
				if end := tags[0].End; end != 0 && (end < tags[0].Line || end > lines) {
					t.Fatalf("%s %s from line %d to %d of %d", language, kind, tags[0].Line, end, lines)
				}
			}
		}
	})
}
