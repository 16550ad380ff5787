package release

import (
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// SumsLimit is the largest acceptable list of digests, in bytes.
const SumsLimit = 64 << 10

// Sums is a list of files and their SHA-256 in hexadecimal.
type Sums map[string]string

// Text is the list in the form of sha256sum, sorted by name.
func (s Sums) Text() []byte {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&b, "%s  %s\n", s[name], name)
	}
	return []byte(b.String())
}

// Parse reads what Text wrote. It is strict, because a list that two programs
// read differently is worth nothing: lower-case digests, two spaces, plain and
// distinct file names, a line end after each.
func Parse(text []byte) (Sums, error) {
	if len(text) > SumsLimit {
		return nil, fmt.Errorf("%s: %d bytes, at most %d are acceptable", SumsFile, len(text), SumsLimit)
	}
	s := Sums{}
	for n := 1; len(text) > 0; n++ {
		line, rest, ended := strings.Cut(string(text), "\n")
		sum, name, ok := strings.Cut(line, "  ")
		raw, err := hex.DecodeString(sum)
		switch {
		case !ended || !ok || err != nil || len(raw) != 32 || sum != strings.ToLower(sum):
			return nil, fmt.Errorf("%s:%d: %.80q is not a SHA-256, two spaces and a file name", SumsFile, n, line)
		case name == "" || name == "." || name == ".." || filepath.Base(name) != name || strings.ContainsAny(name, " \\\r\t\x00"):
			return nil, fmt.Errorf("%s:%d: %.80q is not a plain file name", SumsFile, n, name)
		case s[name] != "":
			return nil, fmt.Errorf("%s:%d: %s is listed twice", SumsFile, n, name)
		}
		s[name] = sum
		text = []byte(rest)
	}
	return s, nil
}
