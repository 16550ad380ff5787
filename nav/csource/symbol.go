package csource

// Kind is what a symbol is. Its names are those of Universal Ctags where it
// has the kind.
type Kind uint8

const (
	Function Kind = iota + 1
	Variable
	Macro
	Struct
	Union
	Enum
	Enumerator
	Typedef
	Member
	Class
	Namespace
	// Label is an entry point of an assembly file.
	Label
	// Prototype and Extern declare a function and a variable.
	Prototype
	Extern
	// Invocation is a macro that stands where a declaration would:
	// DEFINE_MUTEX(m);, or SYSCALL_DEFINE1(close, …) { … }. What it defines is
	// for its readers to say.
	Invocation
)

var kindNames = [...]string{
	Function: "function", Variable: "variable", Macro: "macro", Struct: "struct", Union: "union",
	Enum: "enum", Enumerator: "enumerator", Typedef: "typedef", Member: "member", Class: "class",
	Namespace: "namespace", Label: "label", Prototype: "prototype", Extern: "externvar", Invocation: "invocation",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return "unknown"
}

// Definition reports whether symbols of this kind define their name.
func (k Kind) Definition() bool {
	return k >= Function && k <= Label
}

// A Symbol is one definition, declaration or macro invocation. Lines and
// columns count from 1, columns in bytes.
type Symbol struct {
	Name string
	Kind Kind
	// Local marks a type that is defined inside a function, its members too.
	Local bool
	// Dead marks text under #if 0.
	Dead bool
	// Scope is the qualified name of the type or namespace around the symbol,
	// joined by ::. Members of an anonymous type have the scope of the type
	// around it, or of what the type is used to declare.
	Scope string
	// Signature is the parameter list of a function, prototype or macro, and
	// the argument list of an invocation, in parentheses and single spaces.
	Signature string
	// Type is the declared type without storage class, "const struct r *".
	Type string
	// Line and Col are the place of the name.
	Line, Col int
	// Start and End are the first and last line: from the return type, storage
	// class or attributes to the closing brace or semicolon.
	Start, End int
	// Body is the line of the opening brace of a function's or type's body or
	// of an initializer, 0 without one.
	Body int

	from, to uint32 // the extent as places in the text
	name     uint32
	body     uint32 // the place of the opening brace, 0 without one
}
