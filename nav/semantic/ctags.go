package semantic

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/gtagsmcp/gtagsmcp/nav/ctags"
)

const ctagsParserName = "universal-ctags"

// ctagsParser reads every language that Universal Ctags knows.
type ctagsParser struct {
	service func(context.Context) *ctags.Service
}

func (p *ctagsParser) Parse(ctx context.Context, files []File) ([]Parsed, error) {
	var service *ctags.Service
	if p.service != nil {
		service = p.service(ctx)
	}
	if service == nil {
		return nil, fmt.Errorf("universal-ctags is %w; gtagsmcp doctor says why", ErrUnavailable)
	}
	out := make([]Parsed, len(files))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2 * runtime.GOMAXPROCS(0))
	for i, f := range files {
		group.Go(func() error {
			out[i] = Parsed{Path: f.Path, Parser: ctagsParserName}
			tags, err := service.Tags(ctx, f.Path, f.Content)
			if errors.Is(err, ctags.ErrUnavailable) || errors.Is(err, ctags.ErrClosed) {
				return fmt.Errorf("universal-ctags is %w: %w", ErrUnavailable, err)
			}
			if err != nil {
				out[i].Problems = []Problem{{Path: f.Path, Message: err.Error()}}
				return ctx.Err()
			}
			out[i].Declarations = fromTags(tags)
			return nil
		})
	}
	return out, group.Wait()
}

// notDeclared are the kinds of tags that declare nothing, or nothing that can be
// seen from outside a function.
var notDeclared = map[string]bool{
	"local": true, "parameter": true, "package": true, "label": true, "heredoc": true, "using": true, "unknown": true, "import": true,
}

// callableKinds are those whose inside is nobody else's business.
var callableKinds = map[string]bool{
	"function": true, "method": true, "func": true, "constructor": true, "subroutine": true, "singletonMethod": true,
	"procedure": true, "generator": true, "getter": true, "setter": true, "macro": true, "task": true,
}

// tagTree puts the tags of a file into the order of their scopes.
type tagTree struct {
	list   []node
	hidden map[string]bool // scopes of local and anonymous things
	open   map[string]int  // scope, written with dots, to the last declaration of that name
}

type node struct {
	d        Declaration
	children []int
}

// fromTags makes declarations of the tags of one file, which are sorted by line.
func fromTags(tags []ctags.Tag) []Declaration {
	t := tagTree{hidden: map[string]bool{}, open: map[string]int{}}
	var top []int
	for i := range tags {
		tag := &tags[i]
		scope := dotted(tag.Scope)
		own := dotted(qualifiedTag(tag))
		switch {
		case !tag.Defines() && !tag.Declares() || notDeclared[tag.Kind]:
			continue
		case tag.Anonymous || t.hides(scope) || inCallable(tag) || tag.Name == "":
			t.hidden[own] = true
			continue
		}
		delete(t.hidden, own)
		t.list = append(t.list, node{d: fromTag(tag)})
		at := len(t.list) - 1
		if outer, ok := t.open[scope]; ok && scope != "" && t.list[outer].holds(tag.Line) {
			t.list[outer].children = append(t.list[outer].children, at)
		} else {
			top = append(top, at)
		}
		t.open[own] = at
	}
	return t.build(top)
}

// inCallable reports whether a tag is local to a function. ctags calls the methods
// of Python members.
func inCallable(tag *ctags.Tag) bool {
	return callableKinds[tag.ScopeKind] || tag.Language == "Python" && tag.ScopeKind == "member"
}

// hides reports whether a scope is local or anonymous, or lies in one that is.
func (t *tagTree) hides(scope string) bool {
	for len(t.hidden) > 0 && scope != "" {
		if t.hidden[scope] {
			return true
		}
		scope = scope[:max(strings.LastIndexByte(scope, '.'), 0)]
	}
	return false
}

func (n *node) holds(line int) bool {
	return n.d.Line <= line && (n.d.EndLine == 0 || line <= n.d.EndLine)
}

func (t *tagTree) build(members []int) []Declaration {
	var out []Declaration
	for _, i := range members {
		d := t.list[i].d
		d.Children = t.build(t.list[i].children)
		out = append(out, d)
	}
	return out
}

// dotted makes scopes comparable: ctags joins them as the language does.
func dotted(scope string) string {
	return strings.NewReplacer("::", ".", `\`, ".").Replace(scope)
}

func qualifiedTag(tag *ctags.Tag) string {
	switch {
	case tag.Scope == "":
		return tag.Name
	case strings.Contains(tag.Scope, `\`) || tag.Language == "PHP" && tag.ScopeKind == "namespace":
		return tag.Scope + `\` + tag.Name
	case slices.Contains([]string{"C++", "C", "CUDA", "Rust", "Perl", "PHP", "D"}, tag.Language):
		return tag.Scope + "::" + tag.Name
	}
	return tag.Scope + "." + tag.Name
}

func fromTag(tag *ctags.Tag) Declaration {
	d := Declaration{
		Name: tag.Name, QualifiedName: qualifiedTag(tag), Kind: kindOfTag(tag),
		Line: tag.Line, EndLine: tag.End, Signature: tag.Signature, Container: tag.Scope,
	}
	for _, words := range []string{tag.Access, tag.Properties} {
		for word := range strings.SplitSeq(words, ",") {
			if word != "" && word != "default" {
				d.Modifiers = append(d.Modifiers, word)
			}
		}
	}
	_, typ, ok := strings.Cut(tag.Typeref, ":")
	switch {
	case !ok || typ == "":
	case tag.Signature != "":
		d.Signature += " -> " + typ
	default:
		d.Signature = typ
	}
	return d
}

// kindOfTag is what ctags calls it, but for what it does not tell apart.
func kindOfTag(tag *ctags.Tag) string {
	owner := tag.Scope[strings.LastIndexAny(tag.Scope, ".:")+1:]
	switch {
	case tag.Language == "Python" && tag.Kind == "member":
		return "method"
	case tag.Language == "Java" && tag.Kind == "method" && tag.Name == owner:
		return "constructor"
	}
	return tag.Kind
}
