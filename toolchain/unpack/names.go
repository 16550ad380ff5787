package unpack

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleanName returns an entry's name as a relative path without "." elements and
// a trailing slash, or refuses it.
func cleanName(raw string, depth int) (string, error) {
	if raw == "" || path.IsAbs(raw) || len(raw) > 1024 {
		return "", refuse("%.64q: empty, absolute or overlong name", raw)
	}
	if !utf8.ValidString(raw) || strings.ContainsFunc(raw, unsafeRune) {
		return "", refuse("%q: characters that no file name of ours has", raw)
	}
	name := path.Clean(raw)
	elements := strings.Split(name, "/")
	if len(elements) > depth {
		return "", refuse("%q: deeper than %d folders", raw, depth)
	}
	for element := range strings.SplitSeq(raw, "/") {
		if element == ".." {
			return "", refuse("%q: climbs out", raw)
		}
		if element != "" && element != "." && reserved(element) {
			return "", refuse("%q: %q is a reserved name", raw, element)
		}
	}
	return name, nil
}

// unsafeRune reports characters that change what a terminal shows or that some
// system takes for a separator or a stream.
func unsafeRune(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || strings.ContainsRune(`\:*?"<>|`, r)
}

// reserved reports names that Windows can not store or takes for a device. No
// archive of ours is for Windows, but a folder may be shared with it.
func reserved(element string) bool {
	if len(element) > 255 || strings.HasSuffix(element, ".") || strings.HasSuffix(element, " ") {
		return true
	}
	base, _, _ := strings.Cut(strings.ToLower(element), ".")
	switch base {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(base) == 4 && (strings.HasPrefix(base, "com") || strings.HasPrefix(base, "lpt")) && base[3] >= '0' && base[3] <= '9'
}
