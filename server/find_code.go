package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

type findCodeArgs struct {
	Route  string `json:"route" jsonschema:"structure: path. symbols: query, kind, file, module. resolve: query, kind, module, scope"`
	Path   string `json:"path,omitempty" jsonschema:"File to outline"`
	Query  string `json:"query,omitempty" jsonschema:"symbols: part of a name, case-sensitive. resolve: exact name, simple or qualified"`
	Kind   string `json:"kind,omitempty" jsonschema:"Exact declaration kind"`
	File   string `json:"file,omitempty" jsonschema:"Only this file"`
	Module string `json:"module,omitempty" jsonschema:"Exact module: Go module path, Maven or Gradle id"`
	Scope  string `json:"scope,omitempty" jsonschema:"Compiler scope"`
	Limit  int    `json:"limit,omitempty" jsonschema:"Results a page"`
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before, same arguments"`
	shared
}

func findCode() tool {
	return define(tool{
		name:  "find_code",
		title: "Find code",
		description: "Declarations from language parsers. structure: one file, nested. symbols: the whole tree by part of a name. " +
			"resolve: what the compiler knows of an exact name (Go, Java): types, supertypes, overrides, annotations. meta says whether an absence can be trusted.",
		onError: []string{"find_definition", "list_file_symbols"},
		bounds: map[string]func(*jsonschema.Schema){
			"limit": between(1, 500, 100),
			"route": oneOf("structure", "symbols", "resolve"),
			"scope": oneOf("main", "test"),
		},
	}, answerCode)
}

func answerCode(ctx context.Context, c *call, in findCodeArgs) (*envelope, error) {
	q := nav.CodeQuery{
		Route: in.Route, Path: in.Path, Query: in.Query, Kind: in.Kind, File: in.File, Module: in.Module, Scope: in.Scope,
		Limit: in.Limit, Cursor: in.Cursor,
	}
	return c.look(ctx, c.workspace.CodeView, func(view *nav.View) (*envelope, error) {
		var found nav.CodeAnswer
		err := c.await(ctx, func() (err error) {
			found, err = view.FindCode(ctx, q)
			return err
		})
		var bad *nav.CodeQueryError
		if errors.As(err, &bad) {
			return nil, &ArgumentError{"find_code", bad.Argument, bad.Reason}
		}
		if err != nil {
			return nil, err
		}
		return codeEnvelope(&q, found), nil
	})
}

func codeEnvelope(q *nav.CodeQuery, found nav.CodeAnswer) *envelope {
	e := &envelope{
		Results: &code{q.Route, found}, Total: found.Total, Offset: found.Offset, Truncated: found.NextCursor != "",
		Message: found.Message, Extra: []field{{"meta", found.Meta}},
		NextTools: []string{"get_symbol_body", "find_references"},
	}
	if found.Total == 0 {
		e.NextTools = []string{"find_definition"}
	}
	if e.Truncated {
		e.rest = pageLine(&found)
	}
	return e
}

func pageLine(a *nav.CodeAnswer) string {
	why := ""
	if a.OutputLimited {
		why = ", cut by its size"
	}
	return fmt.Sprintf("[%d-%d of %d%s · cursor=%s for more]", a.Offset+1, a.Offset+a.Returned(), a.Total, why, a.NextCursor)
}

// code are the results of find_code.
type code struct {
	route string
	nav.CodeAnswer
}

func (c *code) count() int { return c.Returned() }

func (c *code) cut(n int) (results, string) {
	part := &code{c.route, c.First(n)}
	return part, pageLine(&part.CodeAnswer)
}

func (c *code) MarshalJSON() ([]byte, error) {
	var pagination objectWriter
	pagination.field("nextCursor", orNull(c.NextCursor))
	pagination.field("truncated", c.NextCursor != "")
	pagination.field("outputLimited", c.OutputLimited)
	pagination.field("returned", c.count())
	page, err := pagination.bytes()
	if err != nil {
		return nil, err
	}
	var w objectWriter
	w.field("declarations", c.Declarations)
	w.field("route", c.route)
	w.field("pagination", rawJSON(page))
	return w.bytes()
}

// rawJSON is a value that has been written already.
type rawJSON []byte

func (r rawJSON) MarshalJSON() ([]byte, error) { return r, nil }

func (c *code) lines(*envelope) (out []string) {
	if c.route == "structure" {
		if len(c.Declarations) > 0 {
			out = append(out, c.Declarations[0].Path)
		}
		out = nested(out, c.Declarations, " ")
	} else {
		for i := range c.Declarations {
			out = append(out, declarationLines(&c.Declarations[i])...)
		}
	}
	return append(out, trustLines(&c.Meta)...)
}

func nested(out []string, list []nav.Declaration, indent string) []string {
	for i := range list {
		d := &list[i]
		lines := fmt.Sprint(d.Line)
		if d.EndLine > d.Line {
			lines += fmt.Sprintf("-%d", d.EndLine)
		}
		out = append(out, fmt.Sprintf("%s%s: %s  [%s]", indent, lines, spelled(d, d.Name), d.Kind))
		out = nested(out, d.Children, indent+"  ")
	}
	return out
}

// callable kinds have a signature that is written right behind the name.
var callable = map[string]bool{"function": true, "method": true, "constructor": true, "prototype": true, "macro": true, "struct": true, "interface": true}

// spelled is a declaration about as its source spells it.
func spelled(d *nav.Declaration, name string) string {
	text := strings.Join(append(d.Modifiers[:len(d.Modifiers):len(d.Modifiers)], name), " ")
	if !callable[d.Kind] && d.Signature != "" && !strings.HasPrefix(d.Signature, "<") {
		text += " "
	}
	return text + clip(d.Signature, 200)
}

func declarationLines(d *nav.Declaration) []string {
	where := "outside the tree"
	if d.Path != "" {
		where = fmt.Sprintf("%s:%d", d.Path, d.Line)
	}
	out := []string{fmt.Sprintf("%s: %s  [%s]", where, spelled(d, d.QualifiedName), d.Kind)}
	if d.Facts == nil {
		return out
	}
	for _, fact := range []struct {
		name   string
		values []string
	}{
		{"type", nonEmpty(d.Facts.GenericType)},
		{"erased", nonEmpty(d.Facts.ErasedType)},
		{"promoted from", nonEmpty(d.Facts.PromotedFrom)},
		{"supertypes", d.Facts.Supertypes},
		{"overrides", d.Facts.Overrides},
		{"implements", d.Facts.Implements},
		{"annotations", d.Facts.Annotations},
	} {
		if len(fact.values) > 0 {
			out = append(out, "  "+fact.name+": "+strings.Join(fact.values, ", "))
		}
	}
	return out
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// trustLines say how far the answer can be trusted.
func trustLines(m *nav.CodeMeta) (out []string) {
	state := func(complete bool) string {
		if complete {
			return "complete"
		}
		return "incomplete"
	}
	if c := m.Inventory; c != nil {
		line := fmt.Sprintf("inventory %s, %s", state(c.Complete), plural(c.Files, "file"))
		for _, p := range m.Parsers {
			line += fmt.Sprintf("; %s %d", p.Parser, p.Files)
		}
		out = append(out, line+"; parsers "+state(*m.ParserComplete))
		out = append(out, indented(c.Reasons)...)
	}
	if c := m.InputCoverage; c != nil {
		out = append(out, fmt.Sprintf("resolved by %s; input %s, %s; binding %s; diagnostics %s, %s", strings.Join(m.FrontEnds, " and "),
			state(c.Complete), plural(c.Files, "file"), state(*m.BindingComplete), state(m.DiagnosticCoverage.Complete), plural(m.DiagnosticCoverage.Errors, "error")))
		out = append(out, indented(c.Reasons)...)
		for _, p := range m.DiagnosticCoverage.Problems {
			out = append(out, fmt.Sprintf("  %s:%d: %s", p.Path, p.Line, p.Message))
		}
	}
	for _, p := range m.Problems {
		out = append(out, fmt.Sprintf("  %s:%d: %s", p.Path, p.Line, p.Message))
	}
	return append(out, indented(m.Limitations)...)
}

func indented(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = "  " + line
	}
	return out
}
