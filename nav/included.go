package nav

import (
	"bytes"
	"io/fs"
	"path"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/nav/csource"
)

// inclusion is one #include, by a header, of another one.
type inclusion struct {
	by     string
	guards []string
}

// inclusions are, for each header below some folders, the #include lines for it in
// other headers there. A header that others include under conditions only, as
// <linux/string.h> does with <linux/fortify-string.h>, stands under these.
type inclusions struct {
	of  map[string][]inclusion
	has map[string]bool // the headers there are
}

// readInclusions reads the headers below folders; generated ones are unknown.
func readInclusions(tree fs.FS, read func(string) ([]byte, error), dirs ...string) *inclusions {
	all := &inclusions{of: map[string][]inclusion{}, has: map[string]bool{}}
	for _, dir := range dirs {
		_ = fs.WalkDir(tree, dir, func(file string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && path.Ext(file) == ".h" {
				if content, err := read(file); err == nil {
					all.scan(file, content, dirs)
				}
			}
			return nil
		})
	}
	return all
}

func (all *inclusions) scan(file string, content []byte, dirs []string) {
	all.has[file] = true
	var names []string // by line
	var lines []int
	conditions := 0
	for rest, number := content, 1; len(rest) > 0; number++ {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		word, operand := directive(line)
		if bytes.HasPrefix(word, []byte("if")) && (conditions > 0 || !bytes.Equal(word, []byte("ifndef"))) {
			conditions += 2 // more than an include guard
		} else if bytes.HasPrefix(word, []byte("if")) {
			conditions++
		}
		if name := included(operand); bytes.Equal(word, []byte("include")) && name != "" {
			names, lines = append(names, name), append(lines, number)
		}
	}
	var scan *csource.File
	if len(names) > 0 && conditions > 1 {
		scan = csource.Scan(content, csource.C)
	}
	for i, name := range names {
		in := inclusion{by: file}
		if scan != nil {
			in.guards = scan.Guards(lines[i])
		}
		for _, target := range []string{path.Join(path.Dir(file), name), headerOf(name, dirs)} {
			all.of[target] = append(all.of[target], in)
		}
	}
}

// directive is the word of a preprocessor line and what follows it.
func directive(line []byte) (word, operand []byte) {
	line = bytes.TrimLeft(line, " \t")
	if len(line) == 0 || line[0] != '#' {
		return nil, nil
	}
	line = bytes.TrimLeft(line[1:], " \t")
	end := bytes.IndexFunc(line, func(r rune) bool { return r < 'a' || r > 'z' })
	if end < 0 {
		return line, nil
	}
	return line[:end], line[end:]
}

// included is the name in <name> or "name".
func included(operand []byte) string {
	operand = bytes.TrimLeft(operand, " \t")
	if len(operand) < 2 || operand[0] != '<' && operand[0] != '"' {
		return ""
	}
	name, _, ok := bytes.Cut(operand[1:], []byte{map[byte]byte{'<': '>', '"': '"'}[operand[0]]})
	if !ok {
		return ""
	}
	return string(name)
}

// headerOf is the header that <name> means when folders of the architecture are
// among dirs.
func headerOf(name string, dirs []string) string {
	if strings.HasPrefix(name, "asm/") {
		for _, dir := range dirs {
			if strings.HasPrefix(dir, "arch/") {
				return dir + "/" + name
			}
		}
	}
	return "include/" + name
}
