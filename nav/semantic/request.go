package semantic

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The routes of find_code.
const (
	Structure = "structure" // the declarations of one file
	Symbols   = "symbols"   // declarations of the whole tree by part of their name
	Resolve   = "resolve"   // what a compiler says about a name
)

// Request is one question to find_code. Paths are relative to the root.
type Request struct {
	Route  string
	Path   string // structure
	Query  string // symbols, resolve
	Kind   string // symbols, resolve
	File   string // symbols
	Module string // symbols, resolve
	Scope  string // resolve
	Limit  int    // declarations of a page; 0 means 100
	Cursor string
}

// argument is what one argument of a request is for.
type argument struct {
	name   string
	value  func(*Request) string
	routes []string
	needed bool // by all of these routes
}

// arguments is the matrix of find_code. Limit and cursor belong to every route.
var arguments = []argument{
	{"path", func(r *Request) string { return r.Path }, []string{Structure}, true},
	{"query", func(r *Request) string { return r.Query }, []string{Symbols, Resolve}, true},
	{"kind", func(r *Request) string { return r.Kind }, []string{Symbols, Resolve}, false},
	{"file", func(r *Request) string { return r.File }, []string{Symbols}, false},
	{"module", func(r *Request) string { return r.Module }, []string{Symbols, Resolve}, false},
	{"scope", func(r *Request) string { return r.Scope }, []string{Resolve}, false},
}

// RequestError says what is wrong with one argument.
type RequestError struct{ Argument, Reason string }

func (e *RequestError) Error() string { return "argument " + e.Argument + " " + e.Reason }

// maxQuery is far above every name in earnest, in bytes.
const maxQuery = 1024

// check holds a request against the matrix.
func (r *Request) check() error {
	if !slices.Contains([]string{Structure, Symbols, Resolve}, r.Route) {
		return &RequestError{"route", fmt.Sprintf("takes structure, symbols or resolve, got %q", r.Route)}
	}
	for _, a := range arguments {
		belongs, given := slices.Contains(a.routes, r.Route), a.value(r) != ""
		switch {
		case given && !belongs:
			return &RequestError{a.name, fmt.Sprintf("does not go with the route %s; it goes with %s", r.Route, strings.Join(a.routes, " and "))}
		case !given && belongs && a.needed:
			return &RequestError{a.name, "is missing; the route " + r.Route + " needs it"}
		}
	}
	if len(r.Query) > maxQuery {
		return &RequestError{"query", fmt.Sprintf("has %d bytes; the limit is %d", len(r.Query), maxQuery)}
	}
	if strings.ContainsAny(r.Query, "\x00\n\r") {
		return &RequestError{"query", "contains a control character"}
	}
	if r.Scope != "" && r.Scope != "main" && r.Scope != "test" {
		return &RequestError{"scope", fmt.Sprintf("takes main or test, got %q", r.Scope)}
	}
	return nil
}

// hash names everything that a cursor is bound to beside the generation.
func (r *Request) hash() uint64 {
	return digest(r.Route, r.Path, r.Query, r.Kind, r.File, r.Module, r.Scope, strconv.Itoa(r.limit()))
}

func (r *Request) limit() int {
	if r.Limit <= 0 {
		return 100
	}
	return r.Limit
}

// inWords lists a few names for a message.
func inWords(names map[string]bool) string {
	const shown = 12
	list := slices.Sorted(maps.Keys(names))
	if len(list) > shown {
		return strings.Join(list[:shown], ", ") + fmt.Sprintf(" and %d more", len(list)-shown)
	}
	return strings.Join(list, ", ")
}
