package macro

import "strings"

// ParseCall reads a call from text that begins with the macro's name. The text may
// end inside the call, as a TRACE_EVENT goes on for a screen: then the arguments
// are those that are complete.
func ParseCall(text string) (macro string, args []string, ok bool) {
	n := 0
	for n < len(text) && isWord(text[n]) {
		n++
	}
	rest := strings.TrimLeft(text[n:], " \t\r\n\\")
	if n == 0 || !strings.HasPrefix(rest, "(") {
		return "", nil, false
	}
	return text[:n], arguments(rest[1:]), true
}

// arguments cuts the text behind a call's parenthesis at its commas. Comments
// become blanks.
func arguments(s string) (args []string) {
	var arg strings.Builder
	depth := 0
	for i := 0; i < len(s); {
		n := literalLength(s[i:])
		piece := s[i : i+n]
		i += n
		switch {
		case strings.HasPrefix(piece, "//"), strings.HasPrefix(piece, "/*"), piece == "\\":
			piece = " "
		case strings.Contains("([{", piece):
			depth++
		case strings.Contains(")]}", piece) && depth > 0:
			depth--
		case strings.Contains(")]}", piece):
			if last := strings.TrimSpace(arg.String()); last != "" || len(args) > 0 {
				args = append(args, last)
			}
			return args
		case piece == "," && depth == 0:
			args = append(args, strings.TrimSpace(arg.String()))
			arg.Reset()
			continue
		}
		arg.WriteString(piece)
	}
	return args
}

// literalLength is the length of a comment, a string or a character constant, else
// of one byte.
func literalLength(s string) int {
	switch {
	case strings.HasPrefix(s, "//"):
		if end := strings.IndexByte(s, '\n'); end >= 0 {
			return end
		}
		return len(s)
	case strings.HasPrefix(s, "/*"):
		if end := strings.Index(s[2:], "*/"); end >= 0 {
			return 2 + end + 2
		}
		return len(s)
	case s[0] == '"' || s[0] == '\'':
		for i := 1; i < len(s) && s[i] != '\n'; i++ {
			switch s[i] {
			case '\\':
				i++
			case s[0]:
				return i + 1
			}
		}
	}
	return 1
}

func isWord(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

func isName(s string) bool {
	for i := range len(s) {
		if !isWord(s[i]) {
			return false
		}
	}
	return s != ""
}
