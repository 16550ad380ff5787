package kconfig

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Makefiles tells from the Makefiles of a tree under which condition each source
// file is built. It reads each of them at most once and is safe for concurrent use.
type Makefiles struct {
	read func(path string) ([]byte, error)

	mu    sync.Mutex
	dirs  map[string][]list
	steps int // left for the file that is being looked for
}

// NewMakefiles reads files of the tree through read, by slash-separated paths.
func NewMakefiles(read func(path string) ([]byte, error)) *Makefiles {
	return &Makefiles{read: read, dirs: map[string][]list{}}
}

// list is one assignment to a list of objects: `obj-$(CONFIG_EXT4_FS) += ext4.o`.
type list struct {
	name  string   // obj, or that of a composite object
	when  []string // options that have to be on, or with a ! before them off
	items []string
}

const (
	// maxLists bounds how far the lists that hold one another are followed.
	maxLists = 8
	// maxSteps bounds the lists that are looked at for one file; Linux needs some
	// dozens.
	maxSteps = 1000
	// maxSets bounds the ways to build an object that are told apart.
	maxSets = 16
)

// Built returns sets of options, named without CONFIG_, one of which has to be on
// for a file to be built; those with a ! before them have to be off. ok is false when the Makefiles do not say: for headers,
// generated lists and files that belong to another program. An empty set means
// that the file is always built.
func (m *Makefiles) Built(file string) (sets [][]string, ok bool) {
	ext := path.Ext(file)
	if ext != ".c" && ext != ".S" || path.IsAbs(file) || path.Clean(file) != file {
		return nil, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps = maxSteps
	object := strings.TrimSuffix(file, ext) + ".o"
	for dir := path.Dir(file); len(sets) == 0 && dir != "."; dir = path.Dir(dir) {
		// A Makefile may name objects in folders below its own.
		sets = m.holding(dir, object[len(dir)+1:], 0)
	}
	return sets, len(sets) > 0
}

// holding finds the sets for an object of a folder.
func (m *Makefiles) holding(dir, item string, depth int) (sets [][]string) {
	if m.steps--; depth > maxLists || m.steps < 0 {
		return nil
	}
	for _, l := range m.lists(dir) {
		if !slices.Contains(l.items, item) {
			continue
		}
		var outer [][]string
		if l.name == "obj" || l.name == "lib" || l.name == "core" || l.name == "drivers" || l.name == "libs" {
			outer = m.entering(dir, depth+1)
		} else {
			outer = m.holding(dir, l.name+".o", depth+1)
			for _, suffix := range []string{"-y)", "-objs)", "-m)"} {
				outer = append(outer, m.holding(dir, "$("+l.name+suffix, depth+1)...)
			}
		}
		for _, set := range outer[:min(len(outer), maxSets)] {
			sets = append(sets, append(slices.Clone(l.when), set...))
		}
	}
	return sets
}

// entering finds the sets for a folder: from the nearest one above that names it.
func (m *Makefiles) entering(dir string, depth int) [][]string {
	if dir == "." || strings.HasPrefix(dir, "arch/") && strings.Count(dir, "/") == 1 {
		return [][]string{nil}
	}
	for above := path.Dir(dir); ; above = path.Dir(above) {
		below := strings.TrimPrefix(dir+"/", above+"/")
		if sets := m.holding(above, below, depth); len(sets) > 0 {
			return sets
		}
		if sets := m.holding(above, dir+"/", depth); len(sets) > 0 { // named from the top
			return sets
		}
		if above == "." || above == dir {
			return nil
		}
	}
}

func (m *Makefiles) lists(dir string) []list {
	lists, known := m.dirs[dir]
	if !known {
		for _, name := range []string{"Kbuild", "Makefile"} {
			if content, err := m.read(path.Join(dir, name)); err == nil {
				lists = append(lists, parseMakefile(string(content))...)
			}
		}
		m.dirs[dir] = lists
	}
	return lists
}

var (
	assignment  = regexp.MustCompile(`^([\w.-]+)-(y|m|objs|\$\([^=]*CONFIG_\w+(?::m=y)?\)+)\s*[:+?]?=\s*(.*)$`)
	optionName  = regexp.MustCompile(`CONFIG_(\w+)`)
	ifOption    = regexp.MustCompile(`^if(?:def\s+|eq\s*\(\$\(|neq\s*\(\$\()CONFIG_(\w+)(?:\)\s*,\s*(\w*)\))?\s*$`)
	conditional = regexp.MustCompile(`^(ifdef|ifndef|ifeq|ifneq|else|endif)\b`)
)

// parseMakefile reads the lists of a Makefile. Of its conditions it understands
// those about one option; lists under any other are taken to be built.
func parseMakefile(text string) (lists []list) {
	var open []string // the option of each open condition, "" if it says nothing
	for text != "" {
		var line string
		line, text = logicalLine(text)
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if m := conditional.FindString(line); m != "" {
			open = condition(open, m, line)
			continue
		}
		m := assignment.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		l := list{name: m[1], items: strings.Fields(m[3])}
		for _, option := range open {
			if option != "" {
				l.when = append(l.when, option)
			}
		}
		if option := optionName.FindStringSubmatch(m[2]); option != nil {
			l.when = append(l.when, option[1])
			if strings.TrimSpace(line[len(m[1])+1+len(m[2]):])[0] == ':' {
				replaced(lists, l.name, option[1])
			}
		}
		lists = append(lists, l.wide()...)
	}
	return lists
}

// wide splits a list with names like memcpy_$(BITS).o into one for each width.
func (l list) wide() []list {
	if !slices.ContainsFunc(l.items, func(item string) bool { return strings.Contains(item, "$(BITS)") }) {
		return []list{l}
	}
	var out []list
	for bits, option := range map[string]string{"64": "64BIT", "32": "!64BIT"} {
		w := list{name: l.name, when: append(slices.Clone(l.when), option)}
		for _, item := range l.items {
			w.items = append(w.items, strings.ReplaceAll(item, "$(BITS)", bits))
		}
		out = append(out, w)
	}
	return out
}

// replaced notes that a list has another content when an option is on:
// `mmu-y := nommu.o` before `mmu-$(CONFIG_MMU) := memory.o`.
func replaced(lists []list, name, option string) {
	for i := range lists {
		if lists[i].name == name && len(lists[i].when) == 0 {
			lists[i].when = append(lists[i].when, "!"+option)
		}
	}
}

// condition follows one conditional line of a Makefile.
func condition(open []string, word, line string) []string {
	switch word {
	case "else":
		if n := len(open); n > 0 && open[n-1] != "" && !strings.HasPrefix(open[n-1], "!") && line == "else" {
			open[n-1] = "!" + open[n-1]
		} else if n > 0 {
			open[n-1] = ""
		}
	case "endif":
		open = open[:max(len(open)-1, 0)]
	default:
		option := ""
		if m := ifOption.FindStringSubmatch(line); m != nil && (word == "ifdef" || word == "ifeq" && (m[2] == "y" || m[2] == "m") || word == "ifneq" && m[2] == "") {
			option = m[1]
		}
		open = append(open, option)
	}
	return open
}
