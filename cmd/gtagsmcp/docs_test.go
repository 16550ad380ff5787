package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gtagsmcp/gtagsmcp/nav/navtest"
	"github.com/gtagsmcp/gtagsmcp/server"
)

// page reads a page of docs.
func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(navtest.Root(), "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pages are all texts for users, by their path in the repository.
func pages(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(navtest.Root(), "docs", "*.md"))
	if err != nil || len(paths) < 7 {
		t.Fatalf("docs has the pages %v, %v", paths, err)
	}
	found := map[string]string{}
	for _, path := range append(paths, filepath.Join(navtest.Root(), "README.md"), filepath.Join(navtest.Root(), "ARCHITECTURE.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(navtest.Root(), path)
		if err != nil {
			t.Fatal(err)
		}
		found[name] = string(text)
	}
	return found
}

// sources calls do with every file of ours that ends in one of suffixes and is
// no test.
func sources(t *testing.T, suffixes []string, do func(path string, text []byte)) {
	t.Helper()
	count := 0
	err := filepath.WalkDir(navtest.Root(), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != navtest.Root() && strings.HasPrefix(d.Name(), "."), d.IsDir() && d.Name() == "navtest":
			return fs.SkipDir
		case d.IsDir() || strings.HasSuffix(path, "_test.go") || !slices.Contains(suffixes, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		count++
		do(path, text)
		return nil
	})
	if err != nil || count < 2 {
		t.Fatalf("%d source files, %v", count, err)
	}
}

// quotedError is a heading of the page on troubleshooting: an error's text, with
// … for what differs each time.
var quotedError = regexp.MustCompile("(?m)^### `(.+)`$")

// TestDocsQuoteErrorsThatExist: whoever searches the page for what he reads on
// the screen must find it, so each quoted text is one that the program has.
func TestDocsQuoteErrorsThatExist(t *testing.T) {
	quotes := quotedError.FindAllStringSubmatch(page(t, "troubleshooting.md"), -1)
	if len(quotes) < 20 {
		t.Fatalf("docs/troubleshooting.md quotes %d errors", len(quotes))
	}
	known := messages(t)
	for _, q := range quotes {
		quote := varying.ReplaceAllString(q[1], "…")
		if !slices.ContainsFunc(known, func(m string) bool { return strings.Contains(m, quote) }) {
			t.Errorf("no source file has the error %q", q[1])
		}
	}
}

var (
	verb     = regexp.MustCompile(`%[-+# 0]*[0-9]*(\.[0-9]+)?[a-zA-Z]`)
	expanded = regexp.MustCompile(`\$\([^)]*\)|\$\{[^}]*\}|\$[A-Za-z_0-9]+`)
	varying  = regexp.MustCompile(`…+`)
)

// messages are the texts in the sources, with … for what is filled in.
func messages(t *testing.T) []string {
	t.Helper()
	var found []string
	sources(t, []string{".go"}, func(path string, text []byte) {
		tree, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if text := literal(e); text != "" {
					found = append(found, varying.ReplaceAllString(verb.ReplaceAllString(text, "…"), "…"))
				}
			}
			return true
		})
	})
	script, err := os.ReadFile(filepath.Join(navtest.Root(), "bootstrap", "install.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(script)) {
		found = append(found, varying.ReplaceAllString(expanded.ReplaceAllString(line, "…"), "…"))
	}
	return found
}

// literal is the text of a string, or of strings that are joined by +.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			if err == nil {
				return text
			}
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return orVarying(e.X) + orVarying(e.Y)
		}
	}
	return ""
}

func orVarying(e ast.Expr) string {
	if text := literal(e); text != "" {
		return text
	}
	return "…"
}

var (
	settingKey  = regexp.MustCompile("(?m)^\\| `([a-z_]+|\\[\\[macro\\]\\])` \\|")
	variable    = regexp.MustCompile(`\bGTAGS_MCP_[A-Z_]+[A-Z]\b`)
	readSetting = regexp.MustCompile(`\b(?:text|truth)\("([A-Z_]+)", &s\.`)
	anyFlag     = regexp.MustCompile("`(--[a-z][a-z-]*)")
)

// TestDocsSettings holds the page on configuration against the code, both ways:
// keys of config files, environment variables, and flags.
func TestDocsSettings(t *testing.T) {
	text := page(t, "configuration.md")
	var keys []string
	for _, m := range settingKey.FindAllStringSubmatch(text, -1) {
		keys = append(keys, strings.Trim(m[1], "[]"))
	}
	var fields []string
	for f := range reflect.TypeFor[server.Settings]().Fields() {
		fields = append(fields, f.Tag.Get("toml"))
	}
	same(t, "keys of config files", keys, fields)

	var read []string
	sources(t, []string{".go", ".sh"}, func(path string, source []byte) {
		read = append(read, variable.FindAllString(string(source), -1)...)
		if filepath.Base(path) == "settings.go" {
			for _, m := range readSetting.FindAllStringSubmatch(string(source), -1) {
				read = append(read, "GTAGS_MCP_"+m[1])
			}
		}
	})
	// Set by tests, and by the program for the parser helper that it starts.
	forOurselves := []string{"GTAGS_MCP_BENCH_TREE", "GTAGS_MCP_TEST_TOOLCHAIN", "GTAGS_MCP_CTAGS", "GTAGS_MCP_FILES"}
	read = slices.DeleteFunc(read, func(v string) bool { return slices.Contains(forOurselves, v) })
	same(t, "environment variables", variable.FindAllString(text, -1), read)

	flags := allFlags(newRootCommand(os.Stdin, io.Discard, io.Discard))
	newRootCommand(os.Stdin, io.Discard, io.Discard).PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(text, "`--"+f.Name+"`") {
			t.Errorf("docs/configuration.md does not tell of --%s", f.Name)
		}
	})
	for _, m := range anyFlag.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(flags, m[1]) {
			t.Errorf("docs/configuration.md tells of %s, which no command takes", m[1])
		}
	}
}

// TestDocsExamplesOfConfigFiles: a reader copies them.
func TestDocsExamplesOfConfigFiles(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(page(t, "configuration.md"), -1)
	if len(blocks) == 0 {
		t.Fatal("docs/configuration.md has no example")
	}
	for _, b := range blocks {
		file := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(file, []byte(b[1]), 0o644); err != nil {
			t.Fatal(err)
		}
		if s, err := server.ReadSettingsFile(file); err != nil || len(s.SkipGlobs)+len(s.Macros) == 0 {
			t.Errorf("%v, %+v of\n%s", err, s, b[1])
		}
	}
}

// same compares two lists as sets.
func same(t *testing.T, what string, documented, real []string) {
	t.Helper()
	for _, list := range []*[]string{&documented, &real} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	for _, d := range documented {
		if !slices.Contains(real, d) {
			t.Errorf("%s: %s is documented and does not exist", what, d)
		}
	}
	for _, r := range real {
		if !slices.Contains(documented, r) {
			t.Errorf("%s: %s is not documented", what, r)
		}
	}
	if len(real) == 0 {
		t.Errorf("%s: none", what)
	}
}

func allFlags(cmd *cobra.Command) []string {
	var flags []string
	note := func(f *pflag.Flag) { flags = append(flags, "--"+f.Name) }
	cmd.Flags().VisitAll(note)
	cmd.PersistentFlags().VisitAll(note)
	for _, sub := range cmd.Commands() {
		flags = append(flags, allFlags(sub)...)
	}
	return flags
}

// documentedCommand is our program in a code span, or at the start of a line of
// a code block.
var documentedCommand = regexp.MustCompile("(?m)(?:`|^ *\\$? *|\t)(?:bin/)?gtagsmcp ([^`\n]*)")

// TestDocsNameRealCommands: every command line in the documentation is one that
// the program takes.
func TestDocsNameRealCommands(t *testing.T) {
	count := 0
	for name, text := range pages(t) {
		for _, m := range documentedCommand.FindAllStringSubmatch(text, -1) {
			words := strings.Fields(m[1])
			if len(words) == 0 || !regexp.MustCompile(`^(--)?[a-z]+[a-z-]*$`).MatchString(words[0]) {
				continue // prose, or an answer
			}
			count++
			checkCommand(t, name, words)
		}
	}
	if count < 20 {
		t.Errorf("the documentation has %d command lines", count)
	}
}

func checkCommand(t *testing.T, name string, words []string) {
	t.Helper()
	line := "gtagsmcp " + strings.Join(words, " ")
	root := newRootCommand(os.Stdin, io.Discard, io.Discard)
	cmd, rest, err := root.Find(words)
	if err != nil || cmd == root && !strings.HasPrefix(words[0], "-") {
		t.Errorf("%s: %s: there is no such command", name, line)
		return
	}
	for _, word := range rest {
		if word == "|" || word == "#" {
			return
		}
		flag, long := strings.CutPrefix(word, "--")
		flag, _, _ = strings.Cut(strings.Trim(flag, "[],.;:)"), "=")
		if long && flag != "" && cmd.Flags().Lookup(flag) == nil && cmd.InheritedFlags().Lookup(flag) == nil {
			t.Errorf("%s: %s: there is no flag --%s", name, line, flag)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#]*)(#[^)]*)?\)`)

// TestDocsLinks: what a page links to within the repository is there, heading
// and all.
func TestDocsLinks(t *testing.T) {
	all := pages(t)
	for name, text := range all {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], ":") {
				continue
			}
			target := name
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(name), m[1])
			}
			if _, err := os.Stat(filepath.Join(navtest.Root(), target)); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			}
			if m[2] != "" && !slices.Contains(anchors(all[target]), m[2][1:]) {
				t.Errorf("%s links to %s%s, which has no such heading", name, m[1], m[2])
			}
		}
	}
}

var (
	heading  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	unlinked = regexp.MustCompile(`[^\pL\pN _-]`)
)

// anchors are the names that GitHub gives to a page's headings.
func anchors(text string) []string {
	var found []string
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		found = append(found, strings.ReplaceAll(unlinked.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return found
}

// TestDocsInstallerOptions: the page on installing tells of each option of the
// installer, and of no other.
func TestDocsInstallerOptions(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(navtest.Root(), "bootstrap", "install.sh"))
	if err != nil {
		t.Fatal(err)
	}
	usage, _, _ := strings.Cut(string(script), "\nEOF\n")
	option := regexp.MustCompile(`(?m)^  (--[a-z-]+)`)
	var takes, told []string
	for _, m := range option.FindAllStringSubmatch(usage, -1) {
		takes = append(takes, m[1])
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `(--[a-z-]+)").FindAllStringSubmatch(page(t, "install.md"), -1) {
		told = append(told, m[1])
	}
	same(t, "options of install.sh", told, takes)
}
