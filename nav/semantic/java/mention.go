package java

import (
	"bytes"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mayDeclare reports whether the file may declare the simple name. It only looks at
// what stands around the name, and says yes when in doubt: the parser decides.
func mayDeclare(file string, content []byte, name string) bool {
	switch path.Base(file) {
	case "module-info.java", "package-info.java":
		return bytes.Contains(content, []byte(name))
	}
	if bytes.Contains(content, []byte(`\u`)) {
		content = unescape(content)
	}
	for at := 0; ; {
		i := bytes.Index(content[at:], []byte(name))
		if i < 0 {
			return false
		}
		before, after := content[:at+i], content[at+i+len(name):]
		if declares(before, after) {
			return true
		}
		at += i + len(name)
	}
}

// declares reports whether a name between the two may be that of a declaration. A
// use is preceded by an operator or a dot, or followed by one or by another name.
func declares(before, after []byte) bool {
	if r, _ := utf8.DecodeLastRune(before); wordRune(r) {
		return false
	}
	if r, _ := utf8.DecodeRune(after); wordRune(r) {
		return false
	}
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	before, after = bytes.TrimRight(before, " \t\r\n\f"), bytes.TrimLeft(after, " \t\r\n\f")
	if last := before[bytes.LastIndexByte(before, '\n')+1:]; len(bytes.TrimSpace(line)) == 0 && bytes.Contains(last, []byte("//")) || bytes.HasSuffix(before, []byte("...")) {
		return true // behind a comment, or the last component of a record
	}
	if r, _ := utf8.DecodeLastRune(before); len(before) > 0 && !wordRune(r) && !strings.ContainsRune(">],{;}/)", r) {
		return false
	}
	r, _ := utf8.DecodeRune(after)
	if !wordRune(r) {
		return len(after) > 0 && strings.ContainsRune("(=;,[{<)@}/", r)
	}
	word := header{rest: after}
	switch word.next() {
	case "extends", "implements", "permits", "throws", "default":
		return true
	}
	return false
}

func wordRune(r rune) bool {
	return r == '_' || r == '$' || r > utf8.RuneSelf && r != utf8.RuneError || unicode.IsLetter(r) || unicode.IsDigit(r)
}

var escape = regexp.MustCompile(`\\u+[0-9A-Fa-f]{4}`)

// unescape spells Unicode escapes out, one by one.
func unescape(content []byte) []byte {
	return escape.ReplaceAllFunc(content, func(e []byte) []byte {
		n, err := strconv.ParseUint(string(e[len(e)-4:]), 16, 16)
		if err != nil {
			return e
		}
		return utf8.AppendRune(nil, rune(n))
	})
}
