package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonFormat is JSON, with comments and trailing commas where the client takes
// them.
type jsonFormat struct{ comments bool }

var (
	strictJSON    = jsonFormat{}
	commentedJSON = jsonFormat{comments: true}
)

// maxDepth is the deepest nesting that encoding/json takes. The parser that
// keeps comments has no limit of its own, and would end the program.
const maxDepth = 10_000

var hujsonPosition = regexp.MustCompile(`^hujson: line (\d+), column (\d+): `)

var byteOrderMark = []byte("\xef\xbb\xbf")

func (f jsonFormat) parse(text []byte) (hujson.Value, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	if at := tooDeep(text); at >= 0 {
		return hujson.Value{}, syntaxError(text, at, "nested deeper than "+strconv.Itoa(maxDepth))
	}
	v, err := hujson.Parse(text)
	if err != nil {
		message := err.Error()
		if m := hujsonPosition.FindStringSubmatch(message); m != nil {
			line, _ := strconv.Atoi(m[1])
			column, _ := strconv.Atoi(m[2])
			return v, &SyntaxError{line, column, strings.TrimPrefix(message, m[0])}
		}
		return v, err
	}
	if !f.comments && !v.IsStandard() {
		var syntax *json.SyntaxError
		if err := json.Unmarshal(text, new(any)); errors.As(err, &syntax) {
			return v, syntaxError(text, max(0, int(syntax.Offset)-1), syntax.Error()+"; this client takes no comments or trailing commas")
		}
	}
	if v.Value.Kind() != '{' {
		return v, syntaxError(text, v.StartOffset, "the file must hold an object, {…}")
	}
	return v, nil
}

func syntaxError(text []byte, offset int, reason string) *SyntaxError {
	before := text[:offset]
	return &SyntaxError{1 + bytes.Count(before, []byte("\n")), offset - bytes.LastIndexByte(before, '\n'), reason}
}

// tooDeep returns the offset of the bracket that goes too deep, or -1. Quotes in
// comments may mislead it, by far less than its limit.
func tooDeep(text []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			if depth++; depth > maxDepth {
				return i
			}
		case b == '}' || b == ']':
			depth--
		}
	}
	return -1
}

func (f jsonFormat) decode(text []byte) (map[string]any, error) {
	v, err := f.parse(bytes.TrimPrefix(text, byteOrderMark))
	if err != nil {
		return nil, err
	}
	v = v.Clone()
	v.Standardize()
	doc := map[string]any{}
	dec := json.NewDecoder(bytes.NewReader(v.Pack()))
	dec.UseNumber()
	return doc, dec.Decode(&doc)
}

func (f jsonFormat) edit(text []byte, c change) ([]byte, error) {
	body, marked := bytes.CutPrefix(text, byteOrderMark)
	v, err := f.parse(body)
	if err != nil {
		return nil, err
	}
	e := jsonEditor{text: body, unit: indentation(body), newline: "\n"}
	if bytes.Contains(body, []byte("\r\n")) {
		e.newline = "\r\n"
	}
	if err := e.change(v.Value.(*hujson.Object), c); err != nil {
		return nil, err
	}
	result := v.Pack()
	if marked {
		result = append(slices.Clone(byteOrderMark), result...)
	}
	return result, nil
}

// indentation is the white space before the first key of a document.
func indentation(text []byte) string {
	if m := regexp.MustCompile(`\{\s*?\n([ \t]+)"`).FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return "  "
}

// jsonEditor changes objects and keeps to the style of their document.
type jsonEditor struct {
	text          []byte
	unit, newline string
}

func (e jsonEditor) change(root *hujson.Object, c change) error {
	list, err := e.object(root, c.container, 1, !c.remove)
	if err != nil || list == nil {
		return err
	}
	if c.remove {
		return e.remove(list, ServerName)
	}
	entry, err := e.object(list, ServerName, 2, true)
	if err != nil {
		return err
	}
	for _, m := range c.set {
		if err := e.set(entry, m, 3); err != nil {
			return err
		}
	}
	for _, key := range c.drop {
		if err := e.remove(entry, key); err != nil {
			return err
		}
	}
	return nil
}

// index finds a key. A key that is there twice is refused: programs differ in
// which of the two they obey.
func (e jsonEditor) index(obj *hujson.Object, key string) (int, error) {
	found := -1
	for i, m := range obj.Members {
		if m.Name.Value.(hujson.Literal).String() != key {
			continue
		}
		if found >= 0 {
			return 0, syntaxError(e.text, m.Name.StartOffset, fmt.Sprintf("%q is there twice", key))
		}
		found = i
	}
	return found, nil
}

// object returns the object under a key, made if it is missing and wanted.
func (e jsonEditor) object(parent *hujson.Object, key string, depth int, wanted bool) (*hujson.Object, error) {
	i, err := e.index(parent, key)
	if err != nil {
		return nil, err
	}
	if i < 0 {
		if !wanted {
			return nil, nil
		}
		made := &hujson.Object{}
		e.append(parent, key, made, depth)
		return made, nil
	}
	value := &parent.Members[i].Value
	if obj, ok := value.Value.(*hujson.Object); ok {
		return obj, nil
	}
	return nil, syntaxError(e.text, value.StartOffset, fmt.Sprintf("%q must be an object, {…}", key))
}

func (e jsonEditor) set(entry *hujson.Object, m member, depth int) error {
	i, err := e.index(entry, m.key)
	if err != nil {
		return err
	}
	value, err := oneLine(m.value)
	if err != nil {
		return err
	}
	if i < 0 {
		e.append(entry, m.key, value.Value, depth)
		return nil
	}
	old := &entry.Members[i].Value
	standard := old.Clone()
	standard.Minimize()
	minimal := value.Clone()
	minimal.Minimize()
	if !bytes.Equal(standard.Pack(), minimal.Pack()) {
		old.Value = value.Value
	}
	return nil
}

// oneLine writes a value with a space after every comma and colon.
func oneLine(value any) (hujson.Value, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return hujson.Value{}, err
	}
	v, err := hujson.Parse(bytes.TrimSpace(text.Bytes()))
	if err != nil {
		return v, err
	}
	for part := range v.All() {
		switch part := part.Value.(type) {
		case *hujson.Object:
			for i := range part.Members {
				part.Members[i].Value.BeforeExtra = hujson.Extra(" ")
				if i > 0 {
					part.Members[i].Name.BeforeExtra = hujson.Extra(" ")
				}
			}
		case *hujson.Array:
			for i := 1; i < len(part.Elements); i++ {
				part.Elements[i].BeforeExtra = hujson.Extra(" ")
			}
		}
	}
	return v, nil
}

// append adds a member at the end of an object, on a line of its own unless the
// object stands on one line.
func (e jsonEditor) append(obj *hujson.Object, key string, value hujson.ValueTrimmed, depth int) {
	m := hujson.ObjectMember{
		Name:  hujson.Value{Value: hujson.String(key)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: value},
	}
	outer, inner := e.newline+strings.Repeat(e.unit, depth-1), e.newline+strings.Repeat(e.unit, depth)
	last := len(obj.Members) - 1
	switch {
	case last < 0:
		comments := bytes.TrimRight(obj.AfterExtra, " \t\r\n")
		m.Name.BeforeExtra = hujson.Extra(string(comments) + inner)
		obj.AfterExtra = hujson.Extra(outer)
	case bytes.Contains(obj.Members[last].Name.BeforeExtra, []byte("\n")):
		before := obj.Members[last].Name.BeforeExtra
		indent := before[bytes.LastIndexByte(before, '\n')+1:]
		// A comment behind the last member is about that member.
		comment, rest := splitLine(obj.AfterExtra)
		m.Name.BeforeExtra = hujson.Extra(string(comment) + e.newline + string(indent))
		obj.AfterExtra = rest
	default:
		m.Name.BeforeExtra = hujson.Extra(" ")
	}
	if last >= 0 && obj.Members[last].Value.AfterExtra != nil { // a trailing comma
		m.Value.AfterExtra = hujson.Extra{}
	}
	obj.Members = append(obj.Members, m)
}

// splitLine cuts comments and white space at the end of the first line, when
// that line has a comment that ends there.
func splitLine(extra hujson.Extra) (comment, rest hujson.Extra) {
	i := bytes.IndexByte(extra, '\n')
	if i < 0 {
		return nil, extra
	}
	line := bytes.TrimSuffix(extra[:i], []byte("\r"))
	if len(bytes.TrimSpace(line)) == 0 || !hujson.Extra(extra[:i+1]).IsValid() {
		return nil, extra
	}
	return slices.Clone(line), slices.Clone(extra[len(line):])
}

// join puts a comment in front of others; one that runs to the end of its line
// gets that end.
func (e jsonEditor) join(comment, rest hujson.Extra) hujson.Extra {
	if !comment.IsValid() && !bytes.HasPrefix(bytes.TrimPrefix(rest, []byte("\r")), []byte("\n")) {
		return slices.Concat(comment, hujson.Extra(e.newline), rest)
	}
	return slices.Concat(comment, rest)
}

// remove takes a member out, with the comments above it.
func (e jsonEditor) remove(obj *hujson.Object, key string) error {
	i, err := e.index(obj, key)
	if i < 0 || err != nil {
		return err
	}
	gone := obj.Members[i]
	obj.Members = slices.Delete(obj.Members, i, i+1)
	// A comment on the line before is about the member before.
	comment, _ := splitLine(gone.Name.BeforeExtra)
	if i < len(obj.Members) {
		next := &obj.Members[i].Name.BeforeExtra
		*next = e.join(comment, *next)
		return nil
	}
	obj.AfterExtra = e.join(comment, obj.AfterExtra)
	if i == 0 && len(bytes.TrimSpace(obj.AfterExtra)) == 0 {
		obj.AfterExtra = nil
	}
	if i > 0 && gone.Value.AfterExtra != nil && obj.Members[i-1].Value.AfterExtra == nil {
		obj.Members[i-1].Value.AfterExtra = hujson.Extra{}
	}
	if i > 0 && gone.Value.AfterExtra == nil {
		if previous := &obj.Members[i-1].Value; previous.AfterExtra != nil {
			obj.AfterExtra = e.join(previous.AfterExtra, obj.AfterExtra)
			previous.AfterExtra = nil
		}
	}
	return nil
}
