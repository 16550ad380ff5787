package semantic

import (
	"path"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
)

// Language is a programming language with a front end of its own.
type Language struct {
	Name       string   // "Go"
	Extensions []string // ".go"
	// Parsers are tried in order: the next one answers when the one before is not
	// available. After the last come the parsers that all languages share.
	Parsers  []Parser
	Resolver Resolver // nil when there is none
	Moduler  Moduler  // nil when the language has no modules
	// Qualify puts the module into a qualified name that a parser, which sees one
	// file, could not write in full. Nil: nothing to do.
	Qualify func(name, file string, m Module) string
}

// extensions names the language of a file by its extension. It only has those of
// which several belong to one language: the language of another is its extension.
var extensions = map[string]string{
	".c": "C", ".h": "C",
	".cc": "C++", ".cpp": "C++", ".cxx": "C++", ".hh": "C++", ".hpp": "C++", ".hxx": "C++", ".C": "C++", ".H": "C++", ".c++": "C++", ".h++": "C++", ".inl": "C++",
	".s": "assembly", ".S": "assembly",
	".js": "JavaScript", ".jsx": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript",
	".ts": "TypeScript", ".tsx": "TypeScript", ".mts": "TypeScript", ".cts": "TypeScript",
	".py": "Python", ".pyx": "Python", ".pxd": "Python", ".pyi": "Python",
	".rb": "Ruby", ".rs": "Rust", ".go": "Go", ".java": "Java", ".kt": "Kotlin", ".kts": "Kotlin", ".cs": "C#", ".php": "PHP",
	".sh": "shell", ".bash": "shell", ".ksh": "shell", ".zsh": "shell",
	".pl": "Perl", ".pm": "Perl", ".ml": "OCaml", ".mli": "OCaml", ".hs": "Haskell", ".lua": "Lua",
}

func extension(file string) string { return path.Ext(file) }

// languageOf names the language of a file, for counting and for people.
func (e *Engine) languageOf(file string) string {
	ext := path.Ext(file)
	if l := e.front[ext]; l != nil {
		return l.Name
	}
	if name, ok := extensions[ext]; ok {
		return name
	}
	if ext == "" {
		return path.Base(file)
	}
	return strings.TrimPrefix(ext, ".")
}

// parsers are those to try for a file, in order.
func (e *Engine) parsers(file string) []Parser {
	var list []Parser
	if l := e.front[path.Ext(file)]; l != nil {
		list = append(list, l.Parsers...)
	}
	if _, ok := csource.LangOf(file); ok {
		list = append(list, cParser{})
	}
	return append(list, &ctagsParser{e.opts.Ctags})
}
