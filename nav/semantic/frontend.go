package semantic

import (
	"context"
	"errors"
	"io/fs"
)

// ErrUnavailable is wrapped by what a Parser or a Resolver returns when the
// program that it needs is not on this machine, or does not start. Its text says
// which program. Another parser is then tried.
var ErrUnavailable = errors.New("not available")

// File is one source file to parse: exactly these bytes, whatever happens to the
// file on disk meanwhile.
type File struct {
	Path    string // relative to the root, with slashes
	Content []byte // nobody changes it
}

// Parsed is what one file declares.
type Parsed struct {
	Path string
	// Parser says who read the file, such as "jdk 17.0.9" or "universal-ctags".
	Parser string
	// Declarations are those at the top, in source order, with their members.
	Declarations []Declaration
	// Complete is false when a declaration may be missing: after a syntax error, or
	// when the parser gave up. Problems says why.
	Complete bool
	Problems []Problem
}

// Parser finds what files declare, each file by itself. It is safe for
// concurrent use.
type Parser interface {
	// Parse answers for every file, in the order given. Callers give a few hundred
	// files and some MiB at a time. A file that cannot be parsed has an incomplete
	// Parsed; the error means that there is no answer at all.
	Parse(ctx context.Context, files []File) ([]Parsed, error)
}

// Project is a source tree as a front end sees it. A front end writes nothing
// below Root, runs nothing that it finds there, and opens no connection.
type Project struct {
	Root string // absolute
	// FS is the tree at Root. No path and no symbolic link leads out of it.
	FS fs.FS
	// Generation changes whenever a source file does. What a front end keeps
	// between two questions is good for one generation.
	Generation string
	// Files are the paths of the source files that belong to the project, sorted,
	// relative to Root with slashes; those of all languages. Files that are
	// ignored or generated are not listed but may be in FS.
	Files []string
	// Content reads a source file as this generation has it.
	Content func(path string) ([]byte, error)
}

// Module is one module of a build, read from its description as data.
type Module struct {
	ID  string // "org.example:app", ":app", "example.com/mod"
	Dir string // relative to the root, "." for the root itself
	// File is the description that says so, "app/pom.xml". When it changes, the
	// modules are looked for again.
	File string
}

// Moduler finds the modules of the builds that it understands. A file belongs to
// the module with the deepest folder above it.
type Moduler interface {
	Modules(ctx context.Context, p Project) ([]Module, error)
}

// Query is a question to a Resolver. Empty filters keep everything.
type Query struct {
	Name   string // exact: simple, or qualified in whole or from the right: "Map.Entry"
	Kind   string // a declaration kind
	Module string // the ID of a Module
	Scope  string // "main" or "test"
}

// Coverage says of how much an answer speaks.
type Coverage struct {
	Complete bool     `json:"complete"`
	Reasons  []string `json:"reasons"` // why it is not complete; empty when it is
	Files    int      `json:"files"`
	Bytes    int64    `json:"bytes"`
}

// Diagnostics says what the front end complained about while it answered.
type Diagnostics struct {
	// Complete is false when the front end did not look at everything it read, or
	// stopped to complain.
	Complete bool      `json:"complete"`
	Errors   int       `json:"errors"`
	Problems []Problem `json:"problems"` // the first ten
}

// Resolution is what a front end knows about a name.
type Resolution struct {
	FrontEnd string // "javac 17.0.9", "go1.26.0"
	// Declarations have that name, each with Facts; always in the same order.
	Declarations []Declaration
	// InputCoverage is about the source files that the front end had to read.
	InputCoverage Coverage
	// BindingComplete is true when every type that the facts mention was found.
	BindingComplete    bool
	DiagnosticCoverage Diagnostics
	// Limitations are what the answer cannot tell, one sentence each.
	Limitations []string
}

// Resolver is a compiler front end. It is safe for concurrent use.
type Resolver interface {
	// Resolve may take as long as a compilation: it is called in the background,
	// under a deadline, and the same question is not asked twice at once. A name
	// that nothing has is no error: there are no declarations.
	Resolve(ctx context.Context, p Project, q Query) (Resolution, error)
}
