package nav

import (
	"path"
	"regexp"
	"strings"
)

// An import names what it imports, and calls or uses nothing.

var (
	pythonImport = regexp.MustCompile(`^\s*(?:from\s+\S+\s+)?import\b`)
	scriptImport = regexp.MustCompile(`^\s*(?:import\b[^(]*$|(?:import|export)\b.*\bfrom\b|export\s*\{|(?:const|let|var)\b.*=\s*require\()`)
	javaImport   = regexp.MustCompile(`^\s*import\b`)
	rustImport   = regexp.MustCompile(`^\s*(?:pub(?:\([^)]*\))?\s+)?(?:use|extern\s+crate)\b`)
)

func isScript(file string) bool { return importing(file) == scriptImport }

// importing is how a statement that imports begins in a file, or nil.
func importing(file string) *regexp.Regexp {
	switch path.Ext(file) {
	case ".py":
		return pythonImport
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx":
		return scriptImport
	case ".java", ".kt", ".scala":
		return javaImport
	case ".rs":
		return rustImport
	}
	return nil
}

// listed is a line in the middle of a list of names.
var listed = regexp.MustCompile(`^[\s\w,.*:{}]*(?://.*|#.*)?$`)

// maxImportList is how many lines of such a list are looked at.
const maxImportList = 50

// imports reports whether a line belongs to a statement that imports.
func imports(src *source, line int) bool {
	begins := importing(src.path)
	if begins == nil {
		return false
	}
	if begins.MatchString(src.line(line)) {
		return true
	}
	for n := line - 1; n > max(line-maxImportList, 0); n-- {
		above := src.line(n)
		if begins.MatchString(above) {
			return strings.ContainsAny(above, "({") && !strings.ContainsAny(above, ")}")
		}
		if !listed.MatchString(above) {
			return false
		}
	}
	return false
}
