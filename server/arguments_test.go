package server

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParseArguments(t *testing.T) {
	schema := schemaOf[findDefinitionArgs](nil)
	got, err := parse[findDefinitionArgs]("find_definition", schema, json.RawMessage(`{"symbol":"kmap","case_insensitive":null,"offset":3}`))
	if err != nil {
		t.Fatal(err)
	}
	want := findDefinitionArgs{Symbol: "kmap", paged: paged{Limit: 100, Offset: 3}}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestParseRefusesBadArguments(t *testing.T) {
	schema := schemaOf[findDefinitionArgs](nil)
	for _, test := range []struct{ arguments, want string }{
		{`{}`, `argument symbol is missing; it takes a string`},
		{``, `argument symbol is missing; it takes a string`},
		{`null`, `argument symbol is missing; it takes a string`},
		{`{"symbol":null}`, `argument symbol is missing; it takes a string`},
		{`{"symbol":7}`, `argument symbol takes a string, got 7`},
		{`{"symbol":["a"]}`, `argument symbol takes a string, got ["a"]`},
		{`{"symbol":"a","limit":-1}`, `argument limit takes a whole number from 1 to 10000, got -1`},
		{`{"symbol":"a","limit":0}`, `argument limit takes a whole number from 1 to 10000, got 0`},
		{`{"symbol":"a","limit":1.5}`, `argument limit takes a whole number from 1 to 10000, got 1.5`},
		{`{"symbol":"a","limit":1e300}`, `argument limit takes a whole number from 1 to 10000, got 1e300`},
		{`{"symbol":"a","limit":"x"}`, `argument limit takes a whole number from 1 to 10000, got "x"`},
		{`{"symbol":"a","offset":-1}`, `argument offset takes a whole number from 0 up, got -1`},
		{`{"symbol":"a","case_insensitive":"yes"}`, `argument case_insensitive takes true or false, got "yes"`},
		{`{"symbol":"a","format":"xml"}`, `argument format takes text or json, got "xml"`},
		{`{"symbol":"a","symbl":"b"}`, `argument "symbl" is unknown; this tool takes symbol, case_insensitive, path_prefix, active_config, limit, offset, project_root, format`},
		{`[1]`, `argument list must be a JSON object`},
		{`"x"`, `argument list must be a JSON object`},
	} {
		_, err := parse[findDefinitionArgs]("find_definition", schema, json.RawMessage(test.arguments))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("arguments %s: got error %v, want it to say %q", test.arguments, err, test.want)
		}
	}
}

// TestSchemasAreWhatEveryClientTakes keeps out the schema forms that make
// clients drop a tool or a whole list: union types, boolean schemas, and
// combinators at the top.
func TestSchemasAreWhatEveryClientTakes(t *testing.T) {
	for _, tool := range tools() {
		text, err := json.Marshal(tool.schema)
		if err != nil {
			t.Fatal(err)
		}
		var schema struct {
			Type       string
			AnyOf      []any
			OneOf      []any
			AllOf      []any
			Properties map[string]struct {
				Type        any
				Items       any
				Description string
			}
		}
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatalf("%s: %v in %s", tool.name, err, text)
		}
		if schema.Type != "object" || schema.AnyOf != nil || schema.OneOf != nil || schema.AllOf != nil {
			t.Errorf("%s: the schema is not a plain object: %s", tool.name, text)
		}
		for name, property := range schema.Properties {
			kind, plain := property.Type.(string)
			if !plain || kind == "array" && property.Items == nil {
				t.Errorf("%s: argument %s has type %v", tool.name, name, property.Type)
			}
			if property.Description == "" {
				t.Errorf("%s: argument %s has no description", tool.name, name)
			}
		}
	}
}
