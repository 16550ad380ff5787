package evals

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// Golden is a golden file: TOML, one [[case]] a question.
type Golden struct {
	// Tree says what tree the cases are about, for people.
	Tree  string `toml:"tree"`
	Cases []Case `toml:"case"`
}

// Case is one question and what is known of its answer.
type Case struct {
	ID string `toml:"id"`
	// Category is the mechanism that the case is about, such as "tracepoint".
	Category  string         `toml:"category"`
	Tool      string         `toml:"tool"`
	Arguments map[string]any `toml:"arguments"`

	// Expect holds places that must be among the results, or among the first
	// Within of them when that is set.
	Expect []Place `toml:"expect"`
	Within int     `toml:"within"`
	// First is the place that result 1 must be.
	First Place `toml:"first"`
	// Absent holds places that no result may be.
	Absent []Place `toml:"absent"`
	// None says that there is nothing to find.
	None bool `toml:"none"`
	// Fields holds keys of the envelope and their values. A list in the answer
	// has to hold the value, anything else to equal it.
	Fields map[string]any `toml:"fields"`

	// Edits are made in the tree before the question and undone after it.
	Edits []Edit `toml:"edit"`

	// Verified says how a person can see that the expectation is true.
	Verified string `toml:"verified"`
	// KnownMiss is the reason why the program is wrong here. It is shown with
	// the miss and changes no score.
	KnownMiss string `toml:"known_miss"`
}

// Edit replaces the only occurrence of a text in a file.
type Edit struct {
	Path    string `toml:"path"`
	Replace string `toml:"replace"`
	With    string `toml:"with"`
}

// Place describes a result. It is written in a golden file as
//
//	PATH              any result in this file
//	PATH:LINE         the result at this line; for summarize_references, with
//	                  this count
//	PATH:FIRST-LAST   the body of exactly these lines
//	PATH:SYMBOL       the result for this symbol: a caller, a callee, a hop
//	PATH~TEXT         the result whose source, kind or #if conditions hold TEXT
//
// Callees without a place have the path "external" or "indirect", and what
// update_index did to a file is its SYMBOL: added, changed or removed. Prefer
// ~TEXT: it survives the next point release of the tree.
type Place struct {
	Path        string
	Symbol      string
	First, Last int
	Text        string
}

var (
	lineForm   = regexp.MustCompile(`^(.+):(\d+)(?:-(\d+))?$`)
	symbolForm = regexp.MustCompile(`^([^:]+):(.+)$`)
)

// UnmarshalText reads the notation above.
func (p *Place) UnmarshalText(text []byte) error {
	s := string(text)
	if path, quoted, ok := strings.Cut(s, "~"); ok {
		*p = Place{Path: path, Text: quoted}
	} else if m := lineForm.FindStringSubmatch(s); m != nil {
		*p = Place{Path: m[1]}
		p.First, _ = strconv.Atoi(m[2])
		p.Last, _ = strconv.Atoi(m[3])
	} else if m := symbolForm.FindStringSubmatch(s); m != nil {
		*p = Place{Path: m[1], Symbol: m[2]}
	} else {
		*p = Place{Path: s}
	}
	if p.Path == "" || strings.HasSuffix(s, "~") {
		return fmt.Errorf("place %q names no path or no text", s)
	}
	return nil
}

// MarshalText writes the notation above.
func (p Place) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

func (p Place) String() string {
	switch {
	case p.Text != "":
		return p.Path + "~" + p.Text
	case p.Symbol != "":
		return p.Path + ":" + p.Symbol
	case p.Last != 0:
		return fmt.Sprintf("%s:%d-%d", p.Path, p.First, p.Last)
	case p.First != 0:
		return fmt.Sprintf("%s:%d", p.Path, p.First)
	}
	return p.Path
}

func (p Place) isZero() bool { return p == Place{} }

// Load reads a golden file and refuses one that could not fail: unknown keys,
// a case without an expectation, or one that does not say how it was verified.
func Load(file string) (*Golden, error) {
	var g Golden
	meta, err := toml.DecodeFile(file, &g)
	if err != nil {
		return nil, fmt.Errorf("golden file %s: %w", file, err)
	}
	var problems []error
	for _, key := range meta.Undecoded() {
		if !strings.Contains(key.String(), "arguments.") && !strings.Contains(key.String(), "fields.") {
			problems = append(problems, fmt.Errorf("unknown key %s", key))
		}
	}
	if len(g.Cases) == 0 {
		problems = append(problems, errors.New("no [[case]]"))
	}
	seen := map[string]bool{}
	for _, c := range g.Cases {
		if seen[c.ID] {
			problems = append(problems, fmt.Errorf("case %q is there twice", c.ID))
		}
		seen[c.ID] = true
		if err := c.check(); err != nil {
			problems = append(problems, fmt.Errorf("case %q: %w", c.ID, err))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("golden file %s: %w", file, err)
	}
	return &g, nil
}

func (c *Case) check() error {
	positive := len(c.Expect) > 0 || !c.First.isZero()
	switch {
	case c.ID == "" || c.Tool == "" || c.Category == "":
		return errors.New("id, category and tool are required")
	case c.None && positive:
		return errors.New("none contradicts expect and first")
	case !c.None && !positive && len(c.Absent) == 0 && len(c.Fields) == 0:
		return errors.New("it expects nothing")
	case c.Verified == "":
		return errors.New("verified has to say how the expectation was checked")
	}
	return nil
}

// stale says which place of a case the tree does not have. Such a case is about
// another version of the tree and proves nothing.
func (c *Case) stale(root string) error {
	for _, p := range append(append([]Place{c.First}, c.Expect...), c.Absent...) {
		if p.isZero() || p.Path == external || p.Path == indirect || c.edits(p.Path) {
			continue
		}
		src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.Path)))
		if err != nil {
			return fmt.Errorf("the tree has no file %s", p.Path)
		}
		if p.Text != "" && !strings.Contains(string(src), p.Text) {
			return fmt.Errorf("%s does not hold the text %q", p.Path, p.Text)
		}
	}
	return nil
}

func (c *Case) edits(path string) bool {
	for _, e := range c.Edits {
		if e.Path == path {
			return true
		}
	}
	return false
}
