package nav

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/gtagsmcp/gtagsmcp/nav/ctags"
)

// snippetLimit is the longest part of a source line that an answer quotes, in
// characters.
const snippetLimit = 200

// Symbol is one place where a name stands in the source. Empty strings mean
// that the fact is not known.
type Symbol struct {
	Name      string
	Path      string // relative to the root, with slashes
	Line, Col int    // counted from 1; Col 0 when the line does not hold the name
	Kind      string
	Typeref   string
	Scope     string
	Signature string
	// Guards is the stack of #if conditions around the line, outermost first:
	// empty when it was looked at and is unconditional, nil when not known.
	Guards  []string
	Snippet string
}

// at makes the record of name at one line of one file: the line is read from
// the file as it is now, and described by the tags of that file.
func (v *View) at(ctx context.Context, name, path string, line int) Symbol {
	s := Symbol{Name: name, Path: path, Line: line}
	src, err := v.w.files.read(path)
	if err != nil {
		return s // deleted or unreadable since it was indexed: the place is still right
	}
	text := src.line(line)
	s.Col = column(text, name)
	s.Snippet = snippet(text)
	return s
}

// describe fills in what Universal Ctags knows about a definition.
func (v *View) describe(ctx context.Context, s *Symbol) {
	for _, tag := range v.tags(ctx, s.Path) {
		if tag.Line == s.Line && tag.Name == s.Name {
			s.Kind, s.Typeref, s.Scope, s.Signature = tag.Kind, tag.Typeref, tag.Scope, tag.Signature
			return
		}
	}
}

// tags returns the tags of one file, or none when there is no ctags or it
// cannot parse the file; that costs an answer its descriptions, not its places.
func (v *View) tags(ctx context.Context, path string) []ctags.Tag {
	service := v.w.tagger(ctx)
	if service == nil {
		return nil
	}
	src, err := v.w.files.read(path)
	if err != nil {
		return nil
	}
	tags, err := service.Tags(ctx, path, src.content)
	if err != nil {
		v.w.opts.Logger.Debug("ctags", "path", path, "err", err)
	}
	return tags
}

// snippet is a source line as an answer quotes it.
func snippet(line string) string {
	line = strings.TrimSpace(line)
	if len(line) <= snippetLimit {
		return strings.ToValidUTF8(line, "\uFFFD")
	}
	runes := 0
	for i := range line {
		if runes == snippetLimit {
			return strings.ToValidUTF8(line[:i], "\uFFFD") + "…"
		}
		runes++
	}
	return strings.ToValidUTF8(line, "\uFFFD")
}

// column finds name as a whole word and returns where it begins, counted in
// characters from 1, or 0.
func column(line, name string) int {
	for from := 0; ; {
		i := strings.Index(line[from:], name)
		if i < 0 {
			return 0
		}
		i += from
		end := i + len(name)
		if (i == 0 || !isWord(line[i-1]) || !isWord(name[0])) &&
			(end == len(line) || !isWord(line[end]) || !isWord(name[len(name)-1])) {
			return utf8.RuneCountInString(line[:i]) + 1
		}
		from = i + 1
	}
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}
