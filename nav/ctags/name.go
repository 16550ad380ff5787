package ctags

import (
	"bytes"
	"path"
	"strings"
)

// maxName keeps a request far from the 1,023 bytes that ctags reads.
const maxName = 64

// madeUpName is a short ASCII name in which ctags sees the same language as in
// the path: the base name as it is, or what its extensions allow.
func madeUpName(p string, content []byte) string {
	base := path.Base(p)
	if !plain(base) {
		base = "x" + plainExtensions(base)
	}
	switch ext := path.Ext(base); {
	case ext == ".h" && !showsCxx(content):
		return strings.TrimSuffix(base, ext) + ".c"
	case ext == "" && bytes.HasPrefix(content, []byte("#!")):
		return base + interpreterExtension(content)
	}
	return base
}

// plain reports whether the name can go into a request as it is.
func plain(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c >= 0x80 || !isWord(c) && strings.IndexByte(".-+", c) < 0 {
			return false
		}
	}
	return true
}

// plainExtensions is the longest tail of the name that begins with a dot and is
// plain, "" when there is none.
func plainExtensions(name string) string {
	for i := range len(name) {
		if name[i] == '.' && plain("x"+name[i:]) {
			return name[i:]
		}
	}
	return ""
}

// interpreters are the scripts that carry no extension in practice.
var interpreters = []struct{ prefix, ext string }{
	{"python", ".py"}, {"perl", ".pl"}, {"ruby", ".rb"}, {"node", ".js"}, {"lua", ".lua"},
	{"tclsh", ".tcl"}, {"php", ".php"}, {"awk", ".awk"}, {"gawk", ".awk"},
	{"bash", ".sh"}, {"dash", ".sh"}, {"ksh", ".sh"}, {"zsh", ".zsh"}, {"sh", ".sh"},
}

// interpreterExtension reads "#!/usr/bin/env python3" as ".py".
func interpreterExtension(content []byte) string {
	line, _, _ := bytes.Cut(content, []byte("\n"))
	words := strings.Fields(string(line[2:min(len(line), 200)]))
	if len(words) > 0 && path.Base(words[0]) == "env" {
		words = words[1:]
		for len(words) > 0 && (words[0][0] == '-' || strings.Contains(words[0], "=")) {
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return ""
	}
	program := path.Base(words[0])
	for _, in := range interpreters {
		if strings.HasPrefix(program, in.prefix) {
			return in.ext
		}
	}
	return ""
}

// showsCxx reports whether a line of a header begins the way only C++ does. A
// name called class or template is not a sign, C has those; nor is prose of a
// comment that begins with such a word, so the line must look like code.
func showsCxx(content []byte) bool {
	for line := range bytes.Lines(content) {
		line = bytes.TrimSpace(line)
		n := 0
		for n < len(line) && isWord(line[n]) {
			n++
		}
		rest := bytes.TrimSpace(line[n:])
		if n == 0 || len(rest) == 0 {
			continue
		}
		switch string(line[:n]) {
		case "class", "namespace", "using", "virtual", "constexpr", "explicit", "friend":
			if (isWord(rest[0]) || rest[0] == '{' || rest[0] == '~') && looksLikeCode(rest) {
				return true
			}
		case "template":
			if rest[0] == '<' {
				return true
			}
		case "public", "private", "protected":
			if rest[0] == ':' {
				return true
			}
		}
	}
	return false
}

// looksLikeCode: a single word, or something that ends as code does.
func looksLikeCode(rest []byte) bool {
	return strings.IndexByte("{};:,)>", rest[len(rest)-1]) >= 0 || !bytes.ContainsAny(rest, " \t")
}

// isWord reports whether a byte belongs to an identifier; bytes of letters beyond
// ASCII do, in any encoding.
func isWord(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z' || b >= 0x80
}
