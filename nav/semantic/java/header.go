package java

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// packageOf is the package that the file declares, "" when it declares none.
func packageOf(source []byte) string {
	h := header{rest: source}
	for word := h.next(); ; word = h.next() {
		switch word {
		case "@":
			h.skipAnnotation()
		case "package":
			return h.name(h.next())
		default:
			return ""
		}
	}
}

// moduleOf is the module that a module-info.java declares, "" when it declares none.
func moduleOf(source []byte) string {
	h := header{rest: source}
	for word := h.next(); word != ""; word = h.next() {
		switch word {
		case "@":
			h.skipAnnotation()
		case "module":
			return h.name(h.next())
		case "import":
			for word != ";" && word != "" {
				word = h.next()
			}
		case "open", ";":
		default:
			return ""
		}
	}
	return ""
}

// header walks over the tokens at the top of a Java file.
type header struct{ rest []byte }

// next is a word, a literal's quote for the whole literal, or another character;
// "" at the end.
func (h *header) next() string {
	h.skipBlank()
	if len(h.rest) == 0 {
		return ""
	}
	if c := h.rest[0]; c == '"' || c == '\'' {
		h.skipLiteral(c)
		return string(c)
	}
	n := 0
	for n < len(h.rest) {
		r, size := utf8.DecodeRune(h.rest[n:])
		if r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		n += size
	}
	n = max(n, 1)
	word := string(h.rest[:n])
	h.rest = h.rest[n:]
	return word
}

// name reads on from the first word of a name with dots.
func (h *header) name(first string) string {
	name := first
	for {
		saved := h.rest
		if h.next() != "." {
			h.rest = saved
			return name
		}
		name += "." + h.next()
	}
}

// skipAnnotation reads on behind the annotation whose at sign was read.
func (h *header) skipAnnotation() {
	h.name(h.next())
	saved := h.rest
	if h.next() != "(" {
		h.rest = saved
		return
	}
	for depth := 1; depth > 0; {
		switch h.next() {
		case "(":
			depth++
		case ")":
			depth--
		case "":
			return
		}
	}
}

func (h *header) skipBlank() {
	for len(h.rest) > 0 {
		switch text := string(h.rest[:min(3, len(h.rest))]); {
		case strings.HasPrefix(text, "//"):
			h.skipPast("\n")
		case strings.HasPrefix(text, "/*"):
			h.rest = h.rest[2:]
			h.skipPast("*/")
		case text == "\ufeff":
			h.rest = h.rest[3:]
		case strings.ContainsAny(text[:1], " \t\r\n\f"):
			h.rest = h.rest[1:]
		default:
			return
		}
	}
}

func (h *header) skipPast(end string) {
	_, h.rest, _ = bytes.Cut(h.rest, []byte(end))
}

func (h *header) skipLiteral(quote byte) {
	for i := 1; i < len(h.rest); i++ {
		switch h.rest[i] {
		case '\\':
			i++
		case quote, '\n':
			h.rest = h.rest[i+1:]
			return
		}
	}
	h.rest = nil
}
