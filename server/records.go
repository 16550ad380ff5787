package server

import (
	"fmt"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

// records are symbol locations, each a line of text or the one record shape.
type records []nav.Symbol

func (r records) count() int { return len(r) }

func (r records) MarshalJSON() ([]byte, error) {
	list := make([]record, len(r))
	for i, s := range r {
		list[i] = record(s)
	}
	return marshal(list)
}

// record is a symbol location as JSON.
type record nav.Symbol

func (r record) MarshalJSON() ([]byte, error) {
	var w objectWriter
	w.field("symbol", r.Name)
	w.field("path", r.Path)
	w.field("line", r.Line)
	w.field("col", r.Col)
	w.field("kind", orNull(r.Kind))
	w.field("typeref", orNull(r.Typeref))
	w.field("scope", orNull(r.Scope))
	w.field("signature", orNull(r.Signature))
	w.field("guard", (*nav.Symbol)(&r).Conditions())
	w.field("snippet", r.Snippet)
	return w.bytes()
}

func (r records) lines(*envelope) []string {
	out := make([]string, len(r))
	for i, s := range r {
		out[i] = fmt.Sprintf("%s:%d: %s%s", s.Path, s.Line, s.Snippet, tags(s))
	}
	return out
}

// tags are the bracketed facts behind a source line.
func tags(s nav.Symbol) string {
	var facts []string
	if s.Kind != "" {
		facts = append(facts, s.Kind)
	}
	if conditions := s.Conditions(); len(conditions) > 0 {
		facts = append(facts, "#if "+strings.Join(conditions, " && "))
	}
	if len(facts) == 0 {
		return ""
	}
	return "  [" + strings.Join(facts, "; ") + "]"
}

// referenceRecords are records whose text names a file once when several lines
// of it follow each other.
type referenceRecords []nav.Symbol

func (r referenceRecords) count() int                   { return len(r) }
func (r referenceRecords) MarshalJSON() ([]byte, error) { return records(r).MarshalJSON() }

// groupFrom is the number of lines from which a page is grouped by file: below
// it, lines that stand alone read better and cost hardly more.
const groupFrom = 12

func (r referenceRecords) lines(e *envelope) []string {
	if len(r) < groupFrom {
		return records(r).lines(e)
	}
	var out []string
	for i, s := range r {
		if i == 0 || s.Path != r[i-1].Path {
			out = append(out, s.Path)
		}
		out = append(out, fmt.Sprintf(" %d: %s%s", s.Line, s.Snippet, tags(s)))
	}
	return out
}

// outlineRecords are the symbols of one file, whose name every line would
// repeat.
type outlineRecords []nav.Symbol

func (r outlineRecords) count() int                   { return len(r) }
func (r outlineRecords) MarshalJSON() ([]byte, error) { return records(r).MarshalJSON() }

// From longOutline symbols on, an outline is for finding one's way: each line is
// cut at outlineWidth bytes, but never within the name.
const (
	longOutline  = 40
	outlineWidth = 40
)

func (r outlineRecords) lines(*envelope) []string {
	var out []string
	if len(r) > 0 {
		out = append(out, r[0].Path)
	}
	for _, s := range r {
		text := s.Snippet
		if i := strings.Index(text, s.Name); i >= 0 && len(r) >= longOutline {
			text = clip(text, max(outlineWidth, i+len(s.Name)))
		}
		out = append(out, fmt.Sprintf(" %d: %s%s", s.Line, text, tags(s)))
	}
	return out
}
