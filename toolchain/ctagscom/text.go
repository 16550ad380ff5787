package ctagscom

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Lexers read text, files hold bytes. A byte that is not UTF-8 becomes one of 256
// letters that nobody types, so that a name in another encoding stays one name,
// and asBytes turns it back. A file that does hold one of these letters gets each
// of its bytes treated in this way, which makes the way back unambiguous.
const escapes = 0x14400 // Anatolian hieroglyphs

// asText returns the content of a file as lexers want it, with as many lines: line
// ends are newlines, and there is no byte order mark.
func asText(content []byte) string {
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	if bytes.IndexByte(content, '\r') >= 0 {
		content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
		content = bytes.ReplaceAll(content, []byte("\r"), []byte(" "))
	}
	var b strings.Builder
	for len(content) > 0 {
		end, size := plainText(content)
		b.Write(content[:end])
		for _, c := range content[end : end+size] {
			b.WriteRune(escapes + rune(c))
		}
		content = content[end+size:]
	}
	return b.String()
}

// plainText returns how many bytes need no escape, and how many after them do.
func plainText(content []byte) (end, size int) {
	for end < len(content) {
		r, n := utf8.DecodeRune(content[end:])
		if r == utf8.RuneError && n == 1 || isEscape(r) {
			return end, n
		}
		end += n
	}
	return end, 0
}

func isEscape(r rune) bool { return escapes <= r && r < escapes+256 }

// asBytes is the inverse of asText for a piece of text.
func asBytes(text string) string {
	if strings.IndexFunc(text, isEscape) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if isEscape(r) {
			b.WriteByte(byte(r - escapes))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
