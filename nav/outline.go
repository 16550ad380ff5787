package nav

import (
	"context"
	"errors"
	"slices"

	"github.com/gtagsmcp/gtagsmcp/nav/ctags"
)

// OutlineQuery asks what a file defines.
type OutlineQuery struct {
	Path string
	Page
}

// Outline is the answer: every symbol of the page in line order.
type Outline struct {
	Path    string
	Symbols []Symbol
	Total   int
}

// ErrNoParser says that a file cannot be outlined because the parser for its
// language is not on this machine.
var ErrNoParser = errors.New("no parser: outlines of this file need universal-ctags")

// Outline lists the symbols that the file defines, as it is now.
func (v *View) Outline(ctx context.Context, q OutlineQuery) (Outline, error) {
	src, err := v.w.file(q.Path)
	if err != nil {
		return Outline{}, err
	}
	service := v.w.tagger(ctx)
	if service == nil {
		return Outline{}, ErrNoParser
	}
	tags, err := service.Tags(ctx, src.path, src.content)
	if err != nil {
		return Outline{}, &PathError{src.path, err.Error()}
	}
	tags = slices.DeleteFunc(slices.Clone(tags), func(t ctags.Tag) bool { return !t.Defines() && !t.Declares() })
	from, to, err := q.window(len(tags))
	if err != nil {
		return Outline{}, err
	}
	a := Outline{Path: src.path, Total: len(tags)}
	for _, tag := range tags[from:to] {
		a.Symbols = append(a.Symbols, fromTag(src, tag))
	}
	return a, nil
}

func fromTag(src *source, tag ctags.Tag) Symbol {
	text := src.line(tag.Line)
	return Symbol{
		Name: tag.Name, Path: src.path, Line: tag.Line, Col: column(text, tag.Name),
		Kind: tag.Kind, Typeref: tag.Typeref, Scope: tag.Scope, Signature: tag.Signature,
		Snippet: snippet(text),
	}
}
