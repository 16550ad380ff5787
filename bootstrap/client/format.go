package client

import (
	"fmt"
	"reflect"
)

// format is a way to write configuration files.
type format interface {
	// edit returns text with the change made and all else as it was.
	edit(text []byte, c change) ([]byte, error)
	// decode returns the values of a document; an empty text has none.
	decode(text []byte) (map[string]any, error)
}

// change is what is to become of our entry.
type change struct {
	container string
	set       []member
	drop      []string
	remove    bool // the entry as a whole
}

// SyntaxError is a file that is not written as its client needs it. Line and
// Column count from 1; Column counts bytes.
type SyntaxError struct {
	Line, Column int
	Reason       string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// apply makes a change and makes sure that it was made, and no other.
func apply(f format, text []byte, c change) ([]byte, error) {
	before, err := f.decode(text)
	if err != nil {
		return nil, err
	}
	after, err := f.edit(text, c)
	if err != nil {
		return nil, err
	}
	result, err := f.decode(after)
	if err != nil {
		return nil, fmt.Errorf("%s is written in a form that cannot be extended (%w); add the entry by hand", c.container, err)
	}
	entry := takeEntry(result, c.container)
	takeEntry(before, c.container)
	if !reflect.DeepEqual(before, result) || !c.made(entry) {
		return nil, fmt.Errorf("%s is written in a form that this program cannot change safely; change the entry by hand", c.container)
	}
	return after, nil
}

// takeEntry removes our entry from a document and returns it.
func takeEntry(doc map[string]any, container string) map[string]any {
	list, _ := doc[container].(map[string]any)
	entry, _ := list[ServerName].(map[string]any)
	delete(list, ServerName)
	if list != nil && len(list) == 0 {
		delete(doc, container)
	}
	return entry
}

// made reports whether the entry is what the change says.
func (c change) made(entry map[string]any) bool {
	if c.remove {
		return entry == nil
	}
	for _, m := range c.set {
		if !reflect.DeepEqual(entry[m.key], plain(m.value)) {
			return false
		}
	}
	for _, key := range c.drop {
		if _, there := entry[key]; there {
			return false
		}
	}
	return true
}

// plain is a member's value as a decoder would return it.
func plain(value any) any {
	switch v := value.(type) {
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return list
	case map[string]string:
		table := map[string]any{}
		for key, s := range v {
			table[key] = s
		}
		return table
	}
	return value
}
