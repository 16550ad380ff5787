package server

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
)

// TestScenarios plays every scenario below testdata/scenarios: a source tree,
// the questions asked about it, and what the answers must and must not hold.
//
// A scenario is a txtar archive. Its files are the tree, which is committed to
// a new git repository. The comment before them is played line by line:
//
//	# text            explains; ignored, as are empty lines
//	no git            the tree is a plain folder; must come first
//	do command        runs a shell command in the tree
//	tool name=value   asks; values may be in Go quotes, and a project_root is
//	                  a folder of the tree
//	= text            a line of the last answer's text holds this
//	! text            no line of it does
//	json path=value   the JSON of the same answer has this value at path
//	error text        the last call failed, and its message holds this
//
// A path is keys and indices joined by dots; * stands for every element of a
// list and joins their values by blanks, # for its length. Strings are compared
// as they are, other values as compact JSON; what is not there is "none".
//
// Every question is asked in both renderings, and the text has to hold the
// source lines that the JSON has.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "scenarios", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d scenarios, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			play(t, filepath.Base(file), archive)
		})
	}
}

// play runs one scenario to its end.
func play(t *testing.T, name string, archive []byte) {
	script := string(txtar.Parse(archive).Comment)
	s := &scenario{
		t: t, root: navtest.Folder(t, string(archive)),
		server: newTestServer(t, nil),
	}
	if !strings.Contains("\n"+script, "\nno git\n") {
		s.shell("git init -q && git add -A && git commit -qm tree --allow-empty")
	}
	for i, line := range strings.Split(script, "\n") {
		s.where = fmt.Sprintf("%s:%d", name, i+1)
		if word, rest, _ := strings.Cut(strings.TrimSpace(line), " "); word != "" && word[0] != '#' {
			s.step(word, rest)
		}
	}
	s.finish()
}

// scenario is one that is being played: the tree and the last answer about it.
type scenario struct {
	t      *testing.T
	root   string
	server *Server
	where  string

	question string // "" before the first
	text     string
	json     any
	failed   bool
	excused  bool // the failure was asked for
	checks   int
}

func (s *scenario) step(word, rest string) {
	holds := strings.Contains(s.text, rest)
	switch word {
	case "no":
		if rest != "git" {
			s.t.Fatalf("%s: no %s", s.where, rest)
		}
		return
	case "do":
		s.shell(rest)
		return
	case "=":
		if s.checks++; !s.lineHolds(rest) {
			s.complain("want a line that holds\n%s", rest)
		}
	case "!":
		if s.checks++; holds {
			s.complain("want it without\n%s", rest)
		}
	case "error":
		s.excused = true
		if s.checks++; !s.failed || !holds {
			s.complain("want an error that says\n%s", rest)
		}
	case "json":
		path, want, ok := strings.Cut(rest, "=")
		if !ok {
			s.t.Fatalf("%s: json takes path=value", s.where)
		}
		if s.checks++; at(s.json, strings.Split(path, ".")) != want {
			s.complain("want %s to be\n%s\ngot\n%s", path, want, at(s.json, strings.Split(path, ".")))
		}
	default:
		s.finish()
		s.ask(word, rest)
	}
}

func (s *scenario) lineHolds(text string) bool {
	return slices.ContainsFunc(strings.Split(s.text, "\n"), func(line string) bool { return strings.Contains(line, text) })
}

func (s *scenario) complain(format string, args ...any) {
	s.t.Helper()
	s.t.Errorf("%s: %s\n%s\n%s", s.where, s.question, s.text, fmt.Sprintf(format, args...))
}

// finish ends the checks of the last question.
func (s *scenario) finish() {
	if s.question == "" {
		return
	}
	if s.failed && !s.excused {
		s.complain("want an answer, not an error")
	}
	if s.checks == 0 {
		s.t.Errorf("%s: the question before has no check: %s", s.where, s.question)
	}
}

// ask calls a tool in both renderings.
func (s *scenario) ask(tool, arguments string) {
	s.question, s.checks, s.excused = tool+" "+arguments, 0, false
	in, err := fields(arguments)
	if err != nil {
		s.t.Fatalf("%s: %v", s.where, err)
	}
	below, _ := in["project_root"].(string)
	in["project_root"] = filepath.Join(s.root, below)
	in["format"] = "json"
	answer := s.call(tool, in)
	s.json = nil
	if err := json.Unmarshal([]byte(answer.Text), &s.json); err != nil {
		s.t.Fatalf("%s: %v in %s", s.where, err, answer.Text)
	}
	delete(in, "format")
	answer = s.call(tool, in)
	s.text, s.failed = answer.Text, answer.Failed
	list, _ := lookup(s.json, []string{"results"}).([]any)
	for _, r := range list {
		if snippet, ok := lookup(r, []string{"snippet"}).(string); ok && !s.lineHolds(snippet) {
			s.complain("the JSON has a line that the text lacks:\n%s", snippet)
		}
	}
}

func (s *scenario) call(tool string, in map[string]any) Answer {
	raw, err := json.Marshal(in)
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := s.server.Call(s.t.Context(), tool, raw, func(string, float64, float64) {})
	if err != nil {
		s.t.Fatalf("%s: %v", s.where, err)
	}
	return answer
}

// shell runs a command in the tree.
func (s *scenario) shell(command string) {
	cmd := exec.CommandContext(s.t.Context(), "sh", "-ec", command)
	cmd.Dir = s.root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "LC_ALL=C.UTF-8")
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %s: %v\n%s", s.where, command, err, out)
	}
}

// fields reads name=value pairs. Numbers and truth values are what they look
// like; quotes make them strings.
func fields(text string) (map[string]any, error) {
	in := map[string]any{}
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		name, rest, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("%q is no name=value", text)
		}
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			in[name], _ = strconv.Unquote(quoted)
			text = rest[len(quoted):]
			continue
		}
		rest, text, _ = strings.Cut(rest, " ")
		in[name] = rest
		if n, err := strconv.Atoi(rest); err == nil {
			in[name] = n
		} else if b, err := strconv.ParseBool(rest); err == nil && len(rest) > 1 {
			in[name] = b
		}
	}
	return in, nil
}

// at writes the value at a path as a scenario does.
func at(value any, path []string) string {
	i := slices.Index(path, "*")
	if i < 0 {
		return written(lookup(value, path))
	}
	list, _ := lookup(value, path[:i]).([]any)
	parts := make([]string, len(list))
	for n, element := range list {
		parts[n] = at(element, path[i+1:])
	}
	return strings.Join(parts, " ")
}

// missing is the value of a path that leads nowhere.
type missing struct{}

func lookup(value any, path []string) any {
	for _, key := range path {
		switch v := value.(type) {
		case map[string]any:
			next, ok := v[key]
			if !ok {
				return missing{}
			}
			value = next
		case []any:
			if key == "#" {
				value = float64(len(v))
				continue
			}
			n, err := strconv.Atoi(key)
			if err != nil || n < 0 || n >= len(v) {
				return missing{}
			}
			value = v[n]
		default:
			return missing{}
		}
	}
	return value
}

func written(value any) string {
	switch v := value.(type) {
	case missing:
		return "none"
	case string:
		return v
	}
	out, err := marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(out)
}
