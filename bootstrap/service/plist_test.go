package service

import (
	"encoding/xml"
	"io"
	"strconv"
	"strings"
	"testing"
)

// parsePlist reads an XML property list of strings, integers, booleans, arrays
// and dictionaries.
func parsePlist(t *testing.T, text string) map[string]any {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(text))
	for {
		tok, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := tok.(xml.StartElement); ok && start.Name.Local != "plist" {
			return plistValue(t, dec, start).(map[string]any)
		}
	}
}

func plistValue(t *testing.T, dec *xml.Decoder, start xml.StartElement) any {
	t.Helper()
	switch start.Name.Local {
	case "true", "false":
		if err := dec.Skip(); err != nil {
			t.Fatal(err)
		}
		return start.Name.Local == "true"
	case "array":
		var list []any
		plistChildren(t, dec, func(child xml.StartElement) { list = append(list, plistValue(t, dec, child)) })
		return list
	case "dict":
		dict, key := map[string]any{}, ""
		plistChildren(t, dec, func(child xml.StartElement) {
			value := plistValue(t, dec, child)
			if child.Name.Local == "key" {
				key = value.(string)
			} else {
				dict[key] = value
			}
		})
		return dict
	}
	var text string
	if err := dec.DecodeElement(&text, &start); err != nil {
		t.Fatal(err)
	}
	if start.Name.Local == "integer" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return text
}

func plistChildren(t *testing.T, dec *xml.Decoder, child func(xml.StartElement)) {
	t.Helper()
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			t.Fatal("the list ends too early")
		}
		if err != nil {
			t.Fatal(err)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			child(tok)
		case xml.EndElement:
			return
		}
	}
}
