package guard

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Config is what is known about macros. It does not change and may be used by
// many goroutines. A nil Config knows nothing.
type Config struct {
	macros map[string]macro
	// closed: a CONFIG_ name that is not in macros is not defined.
	closed bool
	// ask tells of the names that are not in macros; nil knows of none.
	ask func(name string) (text string, defined Value)
}

// Asking is a Config that asks about every name that it meets, and what it is
// defined as. The answers must not change.
func Asking(ask func(name string) (text string, defined Value)) *Config {
	return &Config{ask: ask}
}

// macro is what is known about one name.
type macro struct {
	name      string
	undefined bool
	tokens    []token // what it is defined as
	num       number  // their value
	derived   bool    // it follows from what was said about another name
	said      string  // in which words
}

// defined reports whether the name is a macro.
func (c *Config) defined(name string) Value {
	if c == nil {
		return Unknown
	}
	m, listed := c.macros[name]
	switch {
	case listed && m.undefined, !listed && c.closed && isOption(name):
		return False
	case listed:
		return True
	case c.ask != nil:
		_, defined := c.ask(name)
		return defined
	}
	return Unknown
}

// macro is what is known about a name that is defined.
func (c *Config) macro(name string) macro {
	m, listed := c.macros[name]
	if !listed && c.ask != nil {
		text, _ := c.ask(name)
		m.tokens = tokenize(text)
		if len(m.tokens) == 1 && m.tokens[0].kind == valueToken {
			m.num = m.tokens[0].num
		}
	}
	return m
}

// ParseConfig reads an active_config: the path of a kernel .config, which readFile
// reads, or a list of macros. An empty one is a nil Config.
func ParseConfig(activeConfig string, readFile func(path string) ([]byte, error)) (*Config, error) {
	activeConfig = strings.TrimSpace(activeConfig)
	switch {
	case activeConfig == "":
		return nil, nil
	case !isPath(activeConfig):
		return parseList(activeConfig)
	}
	content, err := readFile(activeConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("active_config file not found: %s", activeConfig)
	}
	if err != nil {
		return nil, fmt.Errorf("active_config file %s: %w", activeConfig, err)
	}
	return parseFile(activeConfig, string(content))
}

// isPath tells a path from a list. Names of macros hold no dots and slashes, and
// nobody calls a macro defconfig.
func isPath(s string) bool {
	end := strings.IndexAny(s, ",=")
	if end < 0 {
		return strings.ContainsAny(s, "./\\") || strings.HasSuffix(s, "config")
	}
	return strings.ContainsAny(s[:end], "./\\")
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

const elementForms = "want NAME, NAME=VALUE or !NAME"

func parseList(list string) (*Config, error) {
	c := &Config{macros: map[string]macro{}}
	for element := range strings.SplitSeq(list, ",") {
		element = strings.TrimSpace(element)
		if element == "" {
			continue
		}
		name, text, given := strings.Cut(element, "=")
		name, text = strings.TrimSpace(name), strings.TrimSpace(text)
		if !given {
			text = "y"
			if rest, negated := strings.CutPrefix(name, "!"); negated {
				name, text = strings.TrimSpace(rest), "n"
			}
		}
		if !identifier.MatchString(name) {
			return nil, fmt.Errorf("active_config: bad element %q: %s", element, elementForms)
		}
		if err := c.say(name, text, element); err != nil {
			return nil, fmt.Errorf("active_config: %w", err)
		}
	}
	return c.settle(), nil
}

// say takes in one element, and refuses what contradicts an earlier one.
func (c *Config) say(name, text, said string) error {
	facts := consequences(name, text)
	if !isUnit(facts[0].tokens) {
		return fmt.Errorf("bad element %q: put the value in parentheses", said)
	}
	for _, m := range facts {
		old, known := c.macros[m.name]
		if known && !sameMacro(old, m) {
			return fmt.Errorf("%q contradicts %q", said, old.said)
		}
		if !known || !m.derived {
			m.said = said
			c.macros[m.name] = m
		}
	}
	return nil
}

func sameMacro(a, b macro) bool {
	if a.undefined != b.undefined || len(a.tokens) != len(b.tokens) {
		return false
	}
	for i := range a.tokens {
		if a.tokens[i].text != b.tokens[i].text {
			return false
		}
	}
	return true
}

// consequences is what NAME=TEXT says about macros, about NAME first.
func consequences(name, text string) []macro {
	own, module := macro{name: name}, macro{name: name + moduleSuffix, undefined: true, derived: true}
	switch {
	case text == "y":
		own.tokens = tokenize("1")
	case text == "n":
		own.undefined = true
	case text == "m" && isOption(name):
		own.undefined = true
		module.undefined, module.tokens = false, tokenize("1")
	default:
		own.tokens = tokenize(text)
	}
	if !isOption(name) {
		return []macro{own}
	}
	return []macro{own, module}
}

// settle computes the values. They may name each other, in a circle too: starting
// with all of them unknown, each pass knows what follows from the one before.
func (c *Config) settle() *Config {
	const passes = 50 // far more than anybody's macros need
	for range passes {
		changed := false
		for _, name := range slices.Sorted(maps.Keys(c.macros)) {
			m := c.macros[name]
			if m.undefined || m.num.known || !isUnit(m.tokens) {
				continue
			}
			if m.num = c.evaluate(m.tokens, 0); m.num.known {
				c.macros[name] = m
				changed = true
			}
		}
		if !changed {
			break
		}
	}
	return c
}

// isUnit reports whether a value means the same wherever it is put: nothing, one
// token, a signed one, or one pair of parentheses. A value such as 1+1 would take
// its meaning from the operators around it; a list may not have it, and in a file,
// which nobody wrote by hand, it is unknown.
func isUnit(tokens []token) bool {
	if len(tokens) == 2 && tokens[0].kind == signToken && strings.Contains("+-~!", tokens[0].text) {
		tokens = tokens[1:]
	}
	if len(tokens) == 0 {
		return true
	}
	if len(tokens) == 1 {
		return tokens[0].kind == nameToken || tokens[0].kind == valueToken
	}
	if !isSign(tokens[0], "(") {
		return false
	}
	depth := 0
	for i, t := range tokens {
		switch {
		case isSign(t, "("):
			depth++
		case isSign(t, ")"):
			depth--
		}
		if depth == 0 {
			return i == len(tokens)-1
		}
	}
	return false
}

func isSign(t token, text string) bool { return t.kind == signToken && t.text == text }

var (
	notSet  = regexp.MustCompile(`^# (\w+) is not set$`)
	heading = regexp.MustCompile(`^# Linux/\S+ (\d+)\.(\d+)(?:\.(\d+))?\S* Kernel Configuration$`)
)

// parseFile reads a .config: CONFIG_X=y, =m, =n, a number or a string, or
// "# CONFIG_X is not set". Where a name comes twice the last line counts, as it
// does for the kernel's own reader.
func parseFile(file, content string) (*Config, error) {
	c := &Config{macros: map[string]macro{}, closed: !strings.HasSuffix(path.Base(file), "defconfig")}
	options, number := map[string]string{}, 0
	for line := range strings.Lines(content) {
		number++
		line = strings.TrimSpace(line)
		name, text, assigned := strings.Cut(line, "=")
		switch {
		case line == "":
		case line[0] == '#':
			if m := notSet.FindStringSubmatch(line); m != nil {
				options[m[1]] = "n"
			} else if m := heading.FindStringSubmatch(line); m != nil {
				c.setVersion(m[1], m[2], m[3])
			}
		case !assigned || !identifier.MatchString(name):
			return nil, fmt.Errorf("active_config file %s:%d: %q is not of a .config, which has NAME=VALUE", file, number, line)
		default:
			options[name] = text
		}
	}
	if len(options) == 0 {
		return nil, fmt.Errorf("active_config file %s sets no option: is it a kernel .config?", file)
	}
	for name, text := range options {
		for _, m := range consequences(name, text) {
			if _, own := options[m.name]; !m.derived || !own {
				c.macros[m.name] = m
			}
		}
	}
	if c.macros["CONFIG_CC_IS_GCC"].tokens != nil {
		if version, ok := c.macros["CONFIG_GCC_VERSION"]; ok {
			c.macros["GCC_VERSION"] = version
		}
	}
	return c.settle(), nil
}

// setVersion sets LINUX_VERSION_CODE as the kernel's Makefile does.
func (c *Config) setVersion(version, patch, sub string) {
	code := tokenize("(KERNEL_VERSION(" + version + "," + patch + "," + cmp.Or(sub, "0") + "))")
	c.macros["LINUX_VERSION_CODE"] = macro{name: "LINUX_VERSION_CODE", tokens: code}
}
