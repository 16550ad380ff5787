package kconfig

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// State is what the usual configuration makes of an option.
type State int8

const (
	Never State = iota // not to be had on this architecture, or declared nowhere
	Off                // certainly not on
	Open               // not on by default, but a feature that many builds have
	On
)

// Config is the usual configuration of one architecture.
type Config struct{ options map[string]setting }

type setting struct {
	state State
	text  string   // of an option that is on: y, m, or its value
	needs []string // what has to be on for it to be on, and what it switches on
	// missing are the options in its dependencies that other architectures have.
	missing []string
}

// Load computes the usual configuration of an architecture, named as its folder
// below arch/. read reads a file of the tree by its slash-separated path. The
// error is that of the top-level Kconfig file: a tree without one has none.
func Load(read func(path string) ([]byte, error), arch string) (*Config, error) {
	p := &parser{read: read, arch: arch, symbols: map[string]*symbol{}, macros: map[string]string{}}
	p.include("Kconfig", fileFacts{}, 0)
	if p.err != nil {
		return nil, p.err
	}
	v := newSolver(p.symbols, defconfig(read, arch))
	for name := range p.symbols {
		v.tristate(name)
	}
	may, modest := newPossible(v, false), newPossible(v, true)
	c := &Config{options: make(map[string]setting, len(p.symbols))}
	for name, s := range p.symbols {
		if s.blocks > 0 {
			c.options[name] = v.setting(s, may, modest)
		}
	}
	return c, nil
}

func (v *solver) setting(s *symbol, may, modest *possible) setting {
	if s.kind == other {
		if text := v.text(s.name); text != "" && s.depends.eval(v) > no {
			return setting{state: On, text: text}
		}
		return setting{}
	}
	out := setting{state: Off}
	s.depends.conjuncts(func(name string) { out.needs = append(out.needs, name) })
	s.depends.options(func(name string) {
		if other := v.symbols[name]; other == nil || other.blocks == 0 {
			out.missing = append(out.missing, name)
		}
	})
	for _, t := range s.selects {
		if t.when.eval(v) > no {
			out.needs = append(out.needs, t.name)
		}
	}
	switch value := v.tristate(s.name); {
	case value == yes:
		out.state, out.text = On, "y"
	case value == module:
		out.state, out.text = On, "m"
	case may.tristate(s.name) == no:
		out.state = Never
	case v.without(s), modest.tristate(s.name) == no:
	default:
		out.state = Open
	}
	return out
}

// State says what the configuration makes of an option, which is named without
// CONFIG_, and the value of one that is on: "y", "m", a number, or a text in
// double quotes.
func (c *Config) State(name string) (State, string) {
	s := c.options[name]
	return s.state, s.text
}

// Missing are options that can never be on here, and without which those named
// cannot: other architectures may declare or select them.
func (c *Config) Missing(names []string) (missing []string) {
	seen := map[string]bool{}
	names = slices.Clone(names)
	for len(names) > 0 {
		name := names[len(names)-1]
		names = names[:len(names)-1]
		if seen[name] {
			continue
		}
		seen[name] = true
		if s := c.options[name]; s.state == Never {
			missing = append(append(missing, name), s.missing...)
			names = append(names, s.needs...)
		}
	}
	return missing
}

// Assuming is the configuration in which some options are on as well, and with
// them what they depend on and select.
func (c *Config) Assuming(names []string) *Config {
	var assumed map[string]setting
	for len(names) > 0 {
		name := names[len(names)-1]
		names = names[:len(names)-1]
		s, declared := c.options[name]
		if _, seen := assumed[name]; seen || !declared || s.state == On || s.state == Never {
			continue
		}
		if assumed == nil {
			assumed = map[string]setting{}
		}
		assumed[name] = setting{state: On, text: "y", needs: s.needs}
		names = append(names, s.needs...)
	}
	if assumed == nil {
		return c
	}
	for name, s := range c.options {
		if _, ok := assumed[name]; !ok {
			assumed[name] = s
		}
	}
	return &Config{assumed}
}

var (
	defaultConfig = regexp.MustCompile(`(?m)^\s*KBUILD_DEFCONFIG\s*[:?]?=\s*(.*)$`)
	configName    = regexp.MustCompile(`[\w-]+_defconfig`)
	notSet        = regexp.MustCompile(`^# CONFIG_(\w+) is not set`)
)

// defconfig reads what the default configuration of an architecture sets. Where
// its Makefile names several, one with 64 in its name comes first.
func defconfig(read func(string) ([]byte, error), arch string) map[string]string {
	dir := "arch/" + arch
	var names []string
	makefile, _ := read(dir + "/Makefile")
	for _, m := range defaultConfig.FindAllSubmatch(makefile, -1) {
		names = append(names, configName.FindAllString(string(m[1]), -1)...)
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return strings.Count(b, "64") - strings.Count(a, "64")
	})
	for _, name := range append(names, "defconfig", "../defconfig") {
		if content, err := read(path.Join(dir, "configs", name)); err == nil {
			return parseDefconfig(string(content))
		}
	}
	return nil
}

func parseDefconfig(content string) map[string]string {
	set := map[string]string{}
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		if m := notSet.FindStringSubmatch(line); m != nil {
			set[m[1]] = "n"
		} else if name, text, ok := strings.Cut(strings.TrimPrefix(line, "CONFIG_"), "="); ok && line[0] == 'C' {
			set[name] = strings.Trim(text, `"`)
		}
	}
	return set
}
