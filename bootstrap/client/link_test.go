package client

import (
	"encoding/base64"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLinks(t *testing.T) {
	e := Entry{Program: "/a b/g+", Args: []string{"serve"}}
	cursor, err := find(t, "cursor").Links(e)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(cursor.App)
	if err != nil {
		t.Fatal(err)
	}
	config, err := base64.StdEncoding.DecodeString(u.Query().Get("config"))
	if got, want := u.Query().Get("name")+" "+string(config), `gtags {"args":["serve"],"command":"/a b/g+"}`; err != nil || got != want {
		t.Errorf("Cursor's link says %s, %v; want %s", got, err, want)
	}
	vscode, err := find(t, "vscode").Links(e)
	if err != nil {
		t.Fatal(err)
	}
	config2, err := url.PathUnescape(strings.TrimPrefix(vscode.App, "vscode:mcp/install?"))
	if want := `{"args":["serve"],"command":"/a b/g+","name":"gtags","type":"stdio"}`; err != nil || config2 != want {
		t.Errorf("VS Code's link says %s, %v; want %s", config2, err, want)
	}
	u, err = url.Parse(vscode.Web)
	if err != nil || u.Query().Get("url") != vscode.App {
		t.Errorf("the page leads to %s, %v; want %s", u.Query().Get("url"), err, vscode.App)
	}
	if _, err := find(t, "zed").Links(e); err == nil {
		t.Error("Zed has links")
	}
}

// TestREADMEHasTheLinks keeps the links of the README those that Links makes.
func TestREADMEHasTheLinks(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cursor", "vscode"} {
		links, err := find(t, name).Links(Entry{Program: InstalledProgram, Args: []string{"serve"}})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(readme), "("+links.Web+")") {
			t.Errorf("README.md lacks the link for %s:\n%s", name, links.Web)
		}
	}
}
