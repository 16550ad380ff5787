package ctagscom

import (
	"regexp"
	"strings"
)

// heredoc is the beginning of a Ruby here document: `<<~NAME`, `<<-'NAME'`,
// `<<NAME`.
var heredoc = regexp.MustCompile("<<([~-]?)[\"'`]?([A-Z_][A-Z0-9_]*)")

// maskHeredocs empties the lines of here documents, of which the lexer does not
// know. One whose end does not come is none: `list <<CONSTANT` is an operation.
func maskHeredocs(text string) string {
	if !strings.Contains(text, "<<") {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); i++ {
		for _, m := range heredoc.FindAllStringSubmatch(lines[i], -1) {
			i = maskUntil(lines, i+1, m[2], m[1] != "")
		}
	}
	return strings.Join(lines, "")
}

// maxHeredoc bounds the search for an end, which every `<<NAME` starts anew.
const maxHeredoc = 2000

// maskUntil empties the lines from first on until the one that holds the mark, and
// returns its index, or first-1 when there is none.
func maskUntil(lines []string, first int, mark string, indented bool) int {
	for end := first; end < min(len(lines), first+maxHeredoc); end++ {
		line := strings.TrimSuffix(lines[end], "\n")
		if indented {
			line = strings.TrimLeft(line, " \t")
		}
		if line != mark {
			continue
		}
		for i := first; i <= end; i++ {
			lines[i] = lines[i][len(strings.TrimSuffix(lines[i], "\n")):]
		}
		return end
	}
	return first - 1
}
