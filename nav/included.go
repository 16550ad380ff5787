package nav

import (
	"bytes"
	"io/fs"
	"path"
	"regexp"
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

var includeLine = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]`)

var ifLine = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(?:ifndef|if)`)

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
	matches := includeLine.FindAllSubmatchIndex(content, -1)
	if matches == nil {
		return
	}
	var scan *csource.File
	if conditions := ifLine.FindAll(content, 2); len(conditions) > 1 || len(conditions) == 1 && !bytes.HasSuffix(conditions[0], []byte("ifndef")) {
		// It has more than its include guard.
		scan = csource.Scan(content, csource.C)
	}
	line, from := 1, 0
	for _, m := range matches {
		line += bytes.Count(content[from:m[2]], []byte("\n"))
		from = m[2]
		in := inclusion{by: file}
		if scan != nil {
			in.guards = scan.Guards(line)
		}
		name := string(content[m[2]:m[3]])
		for _, target := range []string{path.Join(path.Dir(file), name), headerOf(name, dirs)} {
			all.of[target] = append(all.of[target], in)
		}
	}
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
