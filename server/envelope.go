package server

import (
	"bytes"
	"encoding/json"

	"github.com/gtagsmcp/gtagsmcp/nav"
)

// envelope is one answer. Both renderings are made from it and from nothing
// else, so they cannot disagree. Keys are only ever added within a major
// version, never renamed or removed.
type envelope struct {
	Tool   string
	Root   string
	Symbol string

	Results   results
	Total     int
	Offset    int
	Truncated bool

	// Summary fields, for the tools that give one.
	Definitions   *int
	GuardVariants *int
	References    *int
	Files         *int
	TopFiles      []nav.FileCount
	Exported      string
	ResolvedVia   string
	Filtered      *int // results that active_config ruled out

	Suggestions []string
	Fallback    string
	Message     string
	NextTools   []string
	Warning     string
	Error       string
	Extra       []field // what only one tool answers, in order
	retry       bool    // the error passes by itself
	outcome     outcome // for the metrics
	early       bool    // the page ended before its limit, see fit
	rest        string  // the footer when there is more but no next page
}

// field is one more key of an answer.
type field struct {
	key   string
	value any
}

// results is the part of an answer that differs from tool to tool: it is
// marshalled as it is, and writes itself as lines of text.
type results interface {
	lines(e *envelope) []string
	count() int
}

// MarshalJSON writes the keys in the order of the contract. Keys that every
// answer has are always there; the others only where they apply.
func (e *envelope) MarshalJSON() ([]byte, error) {
	var w objectWriter
	w.field("tool", e.Tool)
	w.field("root", orNull(e.Root))
	w.optional("symbol", e.Symbol, e.Symbol != "")
	if e.Error != "" {
		w.field("error", e.Error)
	} else {
		w.field("results", e.Results)
		w.field("total", e.Total)
		w.field("offset", e.Offset)
		w.field("truncated", e.Truncated)
	}
	w.optional("definition_count", e.Definitions, e.Definitions != nil)
	w.optional("guard_variants", e.GuardVariants, e.GuardVariants != nil)
	w.optional("reference_count", e.References, e.References != nil)
	w.optional("file_count", e.Files, e.Files != nil)
	w.optional("top_files", e.TopFiles, e.TopFiles != nil)
	w.optional("exported", e.Exported, e.Exported != "")
	w.optional("resolved_via", e.ResolvedVia, e.ResolvedVia != "")
	w.optional("config_filtered", e.Filtered, e.Filtered != nil)
	for _, f := range e.Extra {
		w.field(f.key, f.value)
	}
	w.optional("suggestions", e.Suggestions, len(e.Suggestions) > 0)
	w.optional("fallback", e.Fallback, e.Fallback != "")
	w.optional("message", e.Message, e.Message != "")
	next := e.NextTools
	if next == nil {
		next = []string{}
	}
	w.field("next_tools", next)
	w.field("warning", orNull(e.Warning))
	return w.bytes()
}

// marshal is json.Marshal that leaves <, > and & alone: source code is full of
// them, and nobody puts an answer into a web page.
func marshal(value any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// objectWriter writes one JSON object with its keys in the order given.
type objectWriter struct {
	buf []byte
	err error
}

func (w *objectWriter) field(key string, value any) {
	text, err := marshal(value)
	if err != nil && w.err == nil {
		w.err = err
	}
	if w.buf == nil {
		w.buf = append(w.buf, '{')
	} else {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(append(append(w.buf, '"'), key...), '"', ':')
	w.buf = append(w.buf, text...)
}

func (w *objectWriter) optional(key string, value any, applies bool) {
	if applies {
		w.field(key, value)
	}
}

func (w *objectWriter) bytes() ([]byte, error) { return append(w.buf, '}'), w.err }
