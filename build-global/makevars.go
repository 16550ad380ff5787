package buildglobal

import (
	"fmt"
	"regexp"
	"strings"
)

// makeVars are the variables of a makefile, unexpanded. Upstream's own lists of
// its C files are read from there, so that a new version needs no new list here.
//
// Understood is what these lists use: NAME = WORDS, lines continued by a
// backslash, comments, $(OTHER) and $(OTHER:.from=.to). "+=" is left out: it
// stands in conditional parts for features that the recipe does not build.
type makeVars map[string]string

var assignment = regexp.MustCompile(`(?m)^([A-Za-z_0-9]+)[ \t]*=(.*)$`)

func parseMakefile(text string) makeVars {
	text = strings.ReplaceAll(text, "\\\n", " ")
	vars := makeVars{"NULL": ""}
	for _, m := range assignment.FindAllStringSubmatch(text, -1) {
		value, _, _ := strings.Cut(m[2], "#")
		vars[m[1]] = value
	}
	return vars
}

// files expands a variable to its words that end in .c.
func (v makeVars) files(name string) ([]string, error) {
	words, err := v.expand(name, 0)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, w := range words {
		if strings.HasSuffix(w, ".c") {
			files = append(files, w)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("makefile variable %s names no C file", name)
	}
	return files, nil
}

func (v makeVars) expand(name string, depth int) ([]string, error) {
	value, ok := v[name]
	if !ok || depth > 10 {
		return nil, fmt.Errorf("makefile variable %s is not set, or refers to itself", name)
	}
	var words []string
	for word := range strings.FieldsSeq(value) {
		ref, isRef := strings.CutPrefix(word, "$(")
		if !isRef {
			words = append(words, word)
			continue
		}
		ref, subst, hasSubst := strings.Cut(strings.TrimSuffix(ref, ")"), ":")
		from, to, _ := strings.Cut(subst, "=")
		inner, err := v.expand(ref, depth+1)
		if err != nil {
			return nil, err
		}
		for _, w := range inner {
			if hasSubst {
				w = strings.TrimSuffix(w, from) + to
			}
			words = append(words, w)
		}
	}
	return words, nil
}
