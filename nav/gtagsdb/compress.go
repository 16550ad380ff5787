package gtagsdb

import "bytes"

// abbreviations are the words that text in a database is compressed with, by
// letter. Escapes begin with @:
//
//	@@           @
//	@n           the key of the record
//	@a .. @z     a word of the table, but for n
//	@4 .. @9     that many blanks
//	@{12}        12 blanks
//
// All else stands for itself. The encoder replaces the key and the words wherever
// they occur, also within longer ones.
type abbreviations [26]string

// maxText bounds what a record may unfold to: a few bytes can ask for gigabytes
// of blanks. gtags itself stores lines of any length.
const maxText = 1 << 26

// parseAbbreviations reads `ddefine ttypedef`: a letter and its word, each.
func parseAbbreviations(s []byte) (a abbreviations, ok bool) {
	for word := range bytes.FieldsSeq(s) {
		if len(word) < 2 || word[0] < 'a' || word[0] > 'z' {
			return a, false
		}
		a[word[0]-'a'] = string(word[1:])
	}
	return a, true
}

// appendText adds s, decoded, to dst. It reports false for an escape that the
// encoder never writes.
func (a *abbreviations) appendText(dst, s []byte, key string) ([]byte, bool) {
	for {
		i := bytes.IndexByte(s, '@')
		if i < 0 {
			return append(dst, s...), true
		}
		dst = append(dst, s[:i]...)
		s = s[i+1:]
		if len(s) == 0 || len(dst) > maxText {
			return dst, false
		}
		c := s[0]
		s = s[1:]
		switch {
		case c == '@':
			dst = append(dst, '@')
		case c == 'n':
			dst = append(dst, key...)
		case c >= 'a' && c <= 'z' && a[c-'a'] != "":
			dst = append(dst, a[c-'a']...)
		case c >= '4' && c <= '9':
			dst = appendBlanks(dst, int(c-'0'))
		case c == '{':
			n, rest, ok := number(s)
			if !ok || len(rest) == 0 || rest[0] != '}' || n > maxText {
				return dst, false
			}
			dst = appendBlanks(dst, n)
			s = rest[1:]
		default:
			return dst, false
		}
	}
}

func appendBlanks(dst []byte, n int) []byte {
	const blanks = "                                "
	for ; n > len(blanks); n -= len(blanks) {
		dst = append(dst, blanks...)
	}
	return append(dst, blanks[:n]...)
}
