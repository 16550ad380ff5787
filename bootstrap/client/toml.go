package client

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlFiles is TOML. One parser says what a document means, another where each
// line of it stands.
type tomlFiles struct{}

var tomlFormat = tomlFiles{}

func (tomlFiles) decode(text []byte) (map[string]any, error) {
	doc := map[string]any{}
	_, err := toml.Decode(string(text), &doc)
	var syntax toml.ParseError
	if errors.As(err, &syntax) {
		return nil, &SyntaxError{syntax.Position.Line, max(1, syntax.Position.Col), syntax.Message}
	}
	return doc, err
}

// line is a header or a key of a document: the text from start to end, which is
// behind the end of its last line.
type line struct {
	start, end       int
	valueFrom, valTo int // the key and value alone; of a header nothing
	header           bool
	key              []string // within its table
	table            []string // the table it stands in, or opens
}

// lines lists the headers and keys of a document in order.
func lines(text []byte) ([]line, error) {
	var p unstable.Parser
	p.Reset(text)
	var all []line
	var table []string
	for p.NextExpression() {
		node := p.Expression()
		var key []string
		from, to := -1, 0
		for it := node.Key(); it.Next(); {
			part := it.Node()
			key = append(key, string(part.Data))
			if from < 0 {
				from = int(part.Raw.Offset)
			}
			to = int(part.Raw.Offset + part.Raw.Length)
		}
		l := line{key: key, header: node.Kind != unstable.KeyValue}
		if l.header {
			table, l.key = key, nil
		} else {
			from, to = int(node.Raw.Offset), int(node.Raw.Offset+node.Raw.Length)
			l.valueFrom, l.valTo = from, to
		}
		l.table = table
		l.start = bytes.LastIndexByte(text[:from], '\n') + 1
		l.end = len(text)
		if i := bytes.IndexByte(text[to:], '\n'); i >= 0 {
			l.end = to + i + 1
		}
		all = append(all, l)
	}
	return all, p.Error()
}

func (f tomlFiles) edit(text []byte, c change) ([]byte, error) {
	all, err := lines(text)
	if err != nil {
		return nil, err
	}
	doc, err := f.decode(text)
	if err != nil {
		return nil, err
	}
	e := tomlEditor{text: text, all: all, table: []string{c.container, ServerName}, newline: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		e.newline = "\r\n"
	}
	entry := takeEntry(doc, c.container)
	inline := slices.ContainsFunc(all, func(l line) bool {
		return !l.header && slices.Equal(append(slices.Clone(l.table), l.key...), e.table[:1])
	})
	header := slices.IndexFunc(all, func(l line) bool { return l.header && slices.Equal(l.table, e.table) })
	switch {
	case c.remove:
		e.remove(e.table)
	case header >= 0:
		err = e.update(header, entry, c)
	case entry != nil || inline:
		return nil, fmt.Errorf("%s.%s is written without a [%[1]s.%[2]s] of its own; change it by hand", c.container, ServerName)
	default:
		err = e.add(c.set)
	}
	return e.result(), err
}

// tomlEditor collects replacements of parts of a text.
type tomlEditor struct {
	text    []byte
	all     []line
	table   []string
	newline string
	edits   []replacement
}

type replacement struct {
	from, to int
	text     string
}

func (e *tomlEditor) result() []byte {
	slices.SortStableFunc(e.edits, func(a, b replacement) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, r := range e.edits {
		if r.from < at {
			continue // inside a part that is gone already
		}
		out = append(append(out, e.text[at:r.from]...), r.text...)
		at = r.to
	}
	return append(out, e.text[at:]...)
}

// add writes a new table at the end of the document.
func (e *tomlEditor) add(set []member) error {
	var b strings.Builder
	if n := len(e.text); n > 0 {
		if e.text[n-1] != '\n' {
			b.WriteString(e.newline)
		}
		b.WriteString(e.newline)
	}
	fmt.Fprintf(&b, "[%s]%s", strings.Join(e.table, "."), e.newline)
	for _, m := range set {
		text, err := assignment(m)
		if err != nil {
			return err
		}
		b.WriteString(text + e.newline)
	}
	e.edits = append(e.edits, replacement{len(e.text), len(e.text), b.String()})
	return nil
}

// update changes the keys of the table whose header is given.
func (e *tomlEditor) update(header int, entry map[string]any, c change) error {
	last := header
	for last+1 < len(e.all) && !e.all[last+1].header {
		last++
	}
	body := e.all[header+1 : last+1]
	for _, m := range c.set {
		text, err := assignment(m)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(body, func(l line) bool { return slices.Equal(l.key, []string{m.key}) })
		switch old, there := entry[m.key]; {
		case there && equal(old, m.value):
		case i >= 0:
			e.edits = append(e.edits, replacement{body[i].valueFrom, body[i].valTo, text})
		default:
			at := e.all[last].end
			if at > 0 && e.text[at-1] != '\n' {
				text = e.newline + text
			} else {
				text += e.newline
			}
			e.edits = append(e.edits, replacement{at, at, text})
		}
	}
	for _, key := range c.drop {
		for _, l := range body {
			if l.key[0] == key {
				e.edits = append(e.edits, replacement{l.start, l.end, ""})
			}
		}
		e.remove(append(slices.Clone(e.table), key))
	}
	return nil
}

// remove takes out a table and the tables within it, with what stands between
// their lines. What stands behind belongs to what follows.
func (e *tomlEditor) remove(table []string) {
	within := func(l line) bool { return len(l.table) >= len(table) && slices.Equal(l.table[:len(table)], table) }
	for i := 0; i < len(e.all); i++ {
		if !e.all[i].header || !within(e.all[i]) {
			continue
		}
		from := e.all[i].start
		for i+1 < len(e.all) && within(e.all[i+1]) {
			i++
		}
		to := e.all[i].end
		// One of the empty lines around goes too.
		emptyBefore := bytes.HasSuffix(e.text[:from], []byte(e.newline+e.newline))
		emptyAfter := bytes.HasPrefix(e.text[to:], []byte(e.newline))
		switch {
		case emptyBefore && (emptyAfter || to == len(e.text)):
			from -= len(e.newline)
		case from == 0 && emptyAfter:
			to += len(e.newline)
		}
		e.edits = append(e.edits, replacement{from, to, ""})
	}
}

// equal reports whether a value of the document is the one of a member.
func equal(old, value any) bool {
	text, err := assignment(member{"k", value})
	if err != nil {
		return false
	}
	var now map[string]any
	if _, err := toml.Decode(text, &now); err != nil {
		return false
	}
	return reflect.DeepEqual(now["k"], old)
}

// assignment writes a member on one line.
func assignment(m member) (string, error) {
	if table, ok := m.value.(map[string]string); ok {
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(table)) {
			part, err := assignment(member{key, table[key]})
			if err != nil {
				return "", err
			}
			parts = append(parts, part)
		}
		return fmt.Sprintf("%s = { %s }", m.key, strings.Join(parts, ", ")), nil
	}
	text, err := toml.Marshal(map[string]any{m.key: m.value})
	return strings.TrimSpace(string(text)), err
}
