package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

// shared are the arguments that every tool takes.
type shared struct {
	ProjectRoot string `json:"project_root,omitempty" jsonschema:"Source tree to ask; default: the open project"`
	Format      string `json:"format,omitempty" jsonschema:"text (default) or json"`
}

// filtered are the arguments of the tools whose answers can be narrowed down.
type filtered struct {
	PathPrefix   string `json:"path_prefix,omitempty" jsonschema:"Only below this folder or file"`
	ActiveConfig string `json:"active_config,omitempty" jsonschema:"Kernel .config path, or CONFIG_SMP,BITS=64,!CONFIG_X: drops what #if rules out"`
}

func (f filtered) filter() nav.Filter {
	return nav.Filter{PathPrefix: f.PathPrefix, ActiveConfig: f.ActiveConfig}
}

// paged are the arguments of the tools whose answers come in pages.
type paged struct {
	Limit  int `json:"limit,omitempty" jsonschema:"Results a page, default 100"`
	Offset int `json:"offset,omitempty" jsonschema:"Results to skip"`
}

func (p paged) page() nav.Page { return nav.Page{Limit: p.Limit, Offset: p.Offset} }

const (
	defaultLimit = 100
	maxLimit     = 10000
)

// bounds are the ranges and choices that the Go types cannot express. They
// belong to the argument's name: an argument means the same in every tool.
var bounds = map[string]func(*jsonschema.Schema){
	"format": oneOf("text", "json"),
	"limit":  between(1, maxLimit, defaultLimit),
	"offset": between(0, math.MaxInt32, 0),

	"max_definitions": between(1, 20, 3),
	"max_depth":       between(1, 12, 8),
	"depth":           between(0, 3, 1),
}

func oneOf(choices ...any) func(*jsonschema.Schema) {
	return func(s *jsonschema.Schema) { s.Enum = choices }
}

func between(low, high, preset int) func(*jsonschema.Schema) {
	return func(s *jsonschema.Schema) {
		s.Minimum, s.Maximum = jsonschema.Ptr(float64(low)), jsonschema.Ptr(float64(high))
		s.Default = fmt.Append(nil, preset)
	}
}

// schemaOf infers the schema of a tool's arguments from the type that receives
// them, so that what is announced and what is accepted cannot differ.
func schemaOf[In any](own map[string]func(*jsonschema.Schema)) *jsonschema.Schema {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic(fmt.Sprintf("argument type %T: %v", *new(In), err)) // a programming error, met by every test
	}
	for name, property := range schema.Properties {
		if bound, ok := own[name]; ok {
			bound(property)
		} else if bound, ok := bounds[name]; ok {
			bound(property)
		}
	}
	return schema
}

// ArgumentError says what is wrong with one argument of a call.
type ArgumentError struct{ Tool, Argument, Reason string }

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("%s: argument %s %s", e.Tool, e.Argument, e.Reason)
}

// parse checks the arguments of a call against the schema and decodes them.
// Absent and null arguments take their default.
func parse[In any](tool string, schema *jsonschema.Schema, raw json.RawMessage) (In, error) {
	var in In
	given := map[string]json.RawMessage{}
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && string(raw) != "null" {
		if err := json.Unmarshal(raw, &given); err != nil {
			return in, &ArgumentError{tool, "list", "must be a JSON object with argument names as keys"}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if err := check(tool, name, schema, given[name]); err != nil {
			return in, err
		}
		if string(given[name]) == "null" {
			delete(given, name)
		}
	}
	for name, property := range schema.Properties {
		if _, ok := given[name]; !ok && property.Default != nil {
			given[name] = property.Default
		}
	}
	for _, name := range schema.Required {
		if _, ok := given[name]; !ok {
			return in, &ArgumentError{tool, name, "is missing; it takes " + takes(schema.Properties[name])}
		}
	}
	complete, err := json.Marshal(given)
	if err != nil {
		return in, err
	}
	return in, json.Unmarshal(complete, &in)
}

func check(tool, name string, schema *jsonschema.Schema, raw json.RawMessage) error {
	property, known := schema.Properties[name]
	if !known {
		return &ArgumentError{tool, fmt.Sprintf("%q", name), "is unknown; this tool takes " + strings.Join(schema.PropertyOrder, ", ")}
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return &ArgumentError{tool, name, "is not valid JSON"}
	}
	if value != nil && !fits(property, value) {
		return &ArgumentError{tool, name, fmt.Sprintf("takes %s, got %s", takes(property), clip(string(raw), 60))}
	}
	return nil
}

// fits covers the part of JSON Schema that the tools use.
func fits(s *jsonschema.Schema, value any) bool {
	if s.Enum != nil && !slices.Contains(s.Enum, value) {
		return false
	}
	switch v := value.(type) {
	case string:
		return s.Type == "string"
	case bool:
		return s.Type == "boolean"
	case float64:
		return s.Type == "integer" && v == math.Trunc(v) &&
			(s.Minimum == nil || v >= *s.Minimum) && (s.Maximum == nil || v <= *s.Maximum)
	}
	return false
}

// takes says what a property accepts, in words.
func takes(s *jsonschema.Schema) string {
	switch {
	case s.Enum != nil:
		choices := make([]string, len(s.Enum))
		for i, choice := range s.Enum {
			choices[i] = fmt.Sprint(choice)
		}
		return strings.Join(choices, " or ")
	case s.Type == "integer" && s.Minimum != nil && s.Maximum != nil && *s.Maximum < math.MaxInt32:
		return fmt.Sprintf("a whole number from %.0f to %.0f", *s.Minimum, *s.Maximum)
	case s.Type == "integer" && s.Minimum != nil:
		return fmt.Sprintf("a whole number from %.0f up", *s.Minimum)
	case s.Type == "boolean":
		return "true or false"
	case s.Type == "string":
		return "a string"
	}
	return "a value of type " + s.Type
}

func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
