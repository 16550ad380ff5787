package client

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var (
	program = Entry{Program: "/opt/g", Args: []string{"serve"}}
	served  = Entry{URL: "http://127.0.0.1:8383/mcp", Token: "s3cret"}
)

func edited(t *testing.T, c Client, text string, e *Entry) string {
	t.Helper()
	ch := change{container: c.container, remove: e == nil}
	if e != nil {
		var err error
		if ch.set, ch.drop, err = c.members(*e); err != nil {
			t.Fatal(err)
		}
	}
	out, err := apply(c.format, []byte(text), ch)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestEdits runs the cases of testdata/edits: the name of a file begins with the
// client's. Sections: before, after (program registered), http (then the address
// registered, where it is there), removed (then removed; without it: as before).
func TestEdits(t *testing.T) {
	files, err := filepath.Glob("testdata/edits/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c, ok := Find(strings.Split(filepath.Base(file), "-")[0])
			if !ok {
				t.Fatal("no such client")
			}
			part := map[string]string{}
			for _, f := range archive.Files {
				part[f.Name] = string(f.Data)
			}
			// A document may end without a newline, a section cannot.
			check := func(step, got, want string) {
				t.Helper()
				if got != want {
					t.Errorf("%s:\n--- got\n%s\n--- want\n%s", step, got, want)
				}
			}
			after := edited(t, c, part["before"], &program)
			check("after", after, part["after"])
			check("written twice", edited(t, c, after, &program), after)
			if want, ok := part["http"]; ok {
				http := edited(t, c, after, &served)
				check("http", http, want)
				after = edited(t, c, http, &program)
			}
			want, ok := part["removed"]
			if !ok {
				want = part["before"]
			}
			check("removed", edited(t, c, after, nil), want)
		})
	}
}

// TestLineEndsAndMarks holds what text files of other systems have.
func TestLineEndsAndMarks(t *testing.T) {
	cursor, _ := Find("cursor")
	codex, _ := Find("codex")
	for _, c := range []struct {
		client       Client
		before, want string
	}{
		{cursor, "\xef\xbb\xbf{\r\n\t\"a\": 1\r\n}", "\xef\xbb\xbf{\r\n\t\"a\": 1,\r\n\t\"mcpServers\": {\r\n\t\t\"gtags\": {\r\n\t\t\t\"command\": \"/opt/g\",\r\n\t\t\t\"args\": [\"serve\"]\r\n\t\t}\r\n\t}\r\n}"},
		{cursor, "", "{\n  \"mcpServers\": {\n    \"gtags\": {\n      \"command\": \"/opt/g\",\n      \"args\": [\"serve\"]\n    }\n  }\n}\n"},
		{codex, "a = 1\r\n", "a = 1\r\n\r\n[mcp_servers.gtags]\r\ncommand = \"/opt/g\"\r\nargs = [\"serve\"]\r\n"},
		{codex, "a = 1", "a = 1\n\n[mcp_servers.gtags]\ncommand = \"/opt/g\"\nargs = [\"serve\"]\n"},
	} {
		if got := edited(t, c.client, c.before, &program); got != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.before, got, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	deep := strings.Repeat("[", maxDepth+1)
	for _, c := range []struct {
		client, text string
		line, column int
		reason       string
	}{
		{"cursor", "{\n  \"a\": 1,\n  \"b\" 2\n}", 3, 7, "after object name"},
		{"cursor", "[]", 1, 1, "must hold an object"},
		{"cursor", "{\"mcpServers\": []}", 1, 16, "\"mcpServers\" must be an object"},
		{"cursor", "{\"mcpServers\": {\"gtags\": 1}}", 1, 26, "\"gtags\" must be an object"},
		{"cursor", "{\"mcpServers\": {},\n \"mcpServers\": {}}", 2, 2, "twice"},
		{"cursor", deep, 1, maxDepth + 1, "nested deeper"},
		{"claude-desktop", "{\n  // mine\n}", 2, 3, "no comments"},
		{"claude-desktop", "{\"a\": [1,]}", 1, 10, "no comments"},
		{"codex", "a = 1\nb = \n", 2, 5, ""},
		{"codex", "a = 1\n[mcp_servers.gtags]\na = 1\na = 2\n", 4, 7, "already been defined"},
	} {
		client, _ := Find(c.client)
		_, err := apply(client.format, []byte(c.text), change{container: client.container, set: plainProgram(program)})
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Line != c.line || syntax.Column != c.column || !strings.Contains(syntax.Reason, c.reason) {
			t.Errorf("%s %.40q: got %v, want line %d, column %d: …%s…", c.client, c.text, err, c.line, c.column, c.reason)
		}
	}
}

// TestFormsOfTOMLThatAreLeftAlone: an entry may be written in ways that cannot be
// changed line by line. Then nothing is changed.
func TestFormsOfTOMLThatAreLeftAlone(t *testing.T) {
	codex, _ := Find("codex")
	set, drop, err := codex.members(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"mcp_servers = { gtags = { command = \"x\" } }\n",
		"mcp_servers = {}\n",
		"mcp_servers.gtags.command = \"x\"\n",
		"[mcp_servers]\ngtags = { command = \"x\" }\n",
		"[[mcp_servers]]\na = 1\n",
	} {
		if out, err := apply(codex.format, []byte(text), change{container: codex.container, set: set, drop: drop}); err == nil {
			t.Errorf("%q became %q; want an error", text, out)
		} else if !strings.Contains(err.Error(), "by hand") {
			t.Errorf("%q: %v does not say what to do", text, err)
		}
	}
}

func FuzzEdit(f *testing.F) {
	files, _ := filepath.Glob("testdata/edits/*.txtar")
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range archive.Files {
			f.Add(string(part.Data))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range All() {
			set, drop, err := c.members(program)
			if err != nil {
				t.Fatal(err)
			}
			once, err := apply(c.format, []byte(text), change{container: c.container, set: set, drop: drop})
			if err != nil {
				continue
			}
			twice, err := apply(c.format, once, change{container: c.container, set: set, drop: drop})
			if err != nil || string(twice) != string(once) {
				t.Errorf("%s: a second time %q becomes %q, %v", c.Name, once, twice, err)
			}
			if _, err := apply(c.format, once, change{container: c.container, remove: true}); err != nil {
				t.Errorf("%s: cannot be removed from %q: %v", c.Name, once, err)
			}
		}
	})
}
