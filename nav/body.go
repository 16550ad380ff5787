package nav

import (
	"context"
	"strings"
)

// maxBody is the number of lines of one body that an answer holds.
const maxBody = 300

// BodyQuery asks for the source of a symbol's definitions.
type BodyQuery struct {
	Symbol         string
	MaxDefinitions int
	Filter
}

// Body is the source of one definition.
type Body struct {
	Symbol
	// First and Last are the lines of Text; LastOfAll is the last line of the
	// definition, which is greater when the text was cut.
	First, Last, LastOfAll int
	Text                   string
}

// Bodies is the answer: the best definitions with their source.
type Bodies struct {
	Bodies []Body
	// Total counts the definitions, with those that are not shown.
	Total       int
	Via         string
	Filtered    int
	Suggestions []string
}

// Bodies finds the source of a symbol's definitions, best first.
func (v *View) Bodies(ctx context.Context, q BodyQuery) (Bodies, error) {
	var a Bodies
	sites, via, filtered, err := v.kept(ctx, q.Symbol, false, q.Filter)
	if err != nil {
		return a, err
	}
	a.Via, a.Filtered, a.Total = via, filtered, len(sites)
	if a.Total == 0 {
		a.Suggestions, err = v.suggest(q.Symbol)
		return a, err
	}
	for _, s := range sites[:min(q.MaxDefinitions, len(sites))] {
		body, err := v.body(ctx, s)
		if err != nil {
			return a, err
		}
		a.Bodies = append(a.Bodies, body)
	}
	return a, nil
}

// body reads the source of one definition. What has no body of its own, a
// member or an enumerator, is shown within its type.
func (v *View) body(ctx context.Context, s Symbol) (Body, error) {
	src, err := v.w.file(s.Path)
	if err != nil {
		return Body{}, err
	}
	first, last := s.Start, s.End
	switch s.Kind {
	case "member", "enumerator", "field", "enumConstant":
		if holder, ok := v.holder(ctx, src, s); ok && holder.End-holder.Start < maxBody {
			first, last = holder.Start, holder.End
		}
	}
	if first < 1 || last < first {
		first, last = s.Line, s.Line
	}
	last = min(last, len(src.starts))
	first = withDecorators(src, first)
	b := Body{Symbol: s, First: first, Last: min(last, first+maxBody-1), LastOfAll: last}
	var text strings.Builder
	for n := b.First; n <= b.Last; n++ {
		text.WriteString(src.line(n))
		text.WriteByte('\n')
	}
	b.Text = strings.ToValidUTF8(text.String(), "\uFFFD")
	return b, nil
}

// holder is the innermost type that holds a member.
func (v *View) holder(ctx context.Context, src *source, member Symbol) (best Symbol, ok bool) {
	all, _, err := v.symbols(ctx, src)
	if err != nil {
		return best, false
	}
	for _, s := range all {
		switch s.Kind {
		case "struct", "union", "enum", "class", "interface":
			if s.contains(member.Line) && (!ok || s.Start >= best.Start) {
				best, ok = s, true
			}
		}
	}
	return best, ok
}

// withDecorators moves the first line of a definition up over the decorators
// and attributes that stand on lines of their own above it.
func withDecorators(src *source, first int) int {
	for first > 1 {
		above := strings.TrimSpace(src.line(first - 1))
		if !strings.HasPrefix(above, "@") && !strings.HasPrefix(above, "#[") {
			break
		}
		first--
	}
	return first
}
