package ctags

import "strings"

// Tag is one symbol that ctags saw. Fields that ctags left out are zero.
type Tag struct {
	Name     string
	Kind     string // the long name, such as "function", "member", "externvar"
	Language string
	Line     int // of the name, from 1
	End      int // the last line, 0 when ctags does not know the extent

	Scope     string // the enclosing names, joined as the language does: "ns::Vec"
	ScopeKind string

	Typeref   string // "typename:int", "struct:page"
	Signature string // "(int a, char *b)"
	Access    string // "public", "private", …
	Inherits  string // base classes, separated by commas

	// Properties are words such as "static", "inline", "extern", separated by
	// commas; C and C++ only.
	Properties string

	// Roles is "def" for what the line brings into being. Anything else says how
	// the line uses the name: "undef", "imported", "system" (a header), ….
	Roles string

	// Anonymous marks a name that ctags made up, as for a struct without a tag.
	Anonymous bool
}

// Defines reports whether the line brings the name into being, as a definition
// or as a declaration; an #undef or an import does not.
func (t *Tag) Defines() bool { return t.Roles == "" || t.Roles == "def" }

// Declares reports whether the tag promises a name that is defined elsewhere: a
// prototype, an extern, a forward declaration.
func (t *Tag) Declares() bool {
	switch t.Kind {
	case "prototype", "externvar":
		return t.Defines()
	}
	return false
}

// HasProperty reports whether the declaration carries the word, such as "static".
func (t *Tag) HasProperty(word string) bool {
	for p := range strings.SplitSeq(t.Properties, ",") {
		if p == word {
			return true
		}
	}
	return false
}

// size is about what the tag costs in memory, for the cache's account.
func (t *Tag) size() int {
	return 200 + len(t.Name) + len(t.Scope) + len(t.Typeref) + len(t.Signature) + len(t.Inherits) + len(t.Properties)
}
