package semantic

// Declaration is one thing that a file declares. Local and anonymous
// declarations are none.
type Declaration struct {
	// Key names the declaration within one generation of the workspace. Parsers
	// and resolvers leave it empty.
	Key string `json:"key"`
	// Name is the simple name; a constructor has that of its type, a package or
	// module its whole name.
	Name string `json:"name"`
	// QualifiedName is the name as the language spells it from the top:
	// "java.util.Map.Entry.getKey", "net/http.Client.Do", "ns::Vec::push".
	QualifiedName string `json:"qualifiedName"`
	// Kind is in the words of the language, in lower camel case: for Java class,
	// interface, enum, record, annotation, method, constructor, field,
	// enumConstant, recordComponent, annotationElement, package, module; for Go
	// function, method, struct, interface, type, alias, field, constant, variable.
	Kind string `json:"kind"`
	// Path is relative to the root, with slashes; "" for what is outside the tree.
	Path string `json:"path"`
	// Line is that of the name and EndLine the last of the declaration, counted
	// from 1. EndLine is 0 when the parser knows no extents.
	Line    int `json:"line"`
	EndLine int `json:"endLine"`
	// Modifiers are in the order of the source; nil when there are none.
	Modifiers []string `json:"modifiers"`
	// Signature is what follows the name: parameters and result of a callable,
	// the type of a variable, on one line. "" when there is nothing to say.
	Signature string `json:"signature"`
	// Container is the qualified name of what the declaration is a member of: a
	// type, else the package or namespace. "" at the very top.
	Container string `json:"container"`
	// Module is the identifier of the build module that the file belongs to, such
	// as "org.example:app" or a Go module path; "" when none claims it. Parsers
	// leave it empty.
	Module string `json:"module"`
	// Children are the members, in source order.
	Children []Declaration `json:"children,omitempty"`

	// Facts is what a compiler front end found out beyond that; nil from a parser.
	Facts *Facts `json:"facts,omitempty"`
}

// Facts are what only a compiler front end knows about a declaration. Types and
// members are written with qualified names.
type Facts struct {
	// ErasedType is the type without generics: of a callable its erased
	// parameters and result, of a type the type itself.
	ErasedType string `json:"erasedType"`
	// GenericType is the same as declared: "java.util.List<? extends T>".
	GenericType string `json:"genericType"`
	// Supertypes of a type, the superclass first.
	Supertypes []string `json:"supertypes"`
	// Overrides are the members of classes, and Implements those of interfaces
	// (for a Go type: the interfaces), that this one overrides or implements.
	Overrides  []string `json:"overrides"`
	Implements []string `json:"implements"`
	// Annotations are as written, with qualified names: "@java.lang.Deprecated".
	Annotations []string `json:"annotations"`
	// PromotedFrom is the embedded type that a member comes from when it was
	// asked for through the embedding one.
	PromotedFrom string `json:"promotedFrom,omitempty"`
	// Scope is the compiler's: "main" or "test".
	Scope string `json:"scope"`
}

// Problem is something that a parser or a front end complains about.
type Problem struct {
	Path    string `json:"path"`
	Line    int    `json:"line"` // 0 when it is about the whole file
	Message string `json:"message"`
}
