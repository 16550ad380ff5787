package client

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// InstalledProgram is where the installer puts the program, in the words of the
// clients that have install links.
const InstalledProgram = "${userHome}/.local/bin/gtagsmcp"

// Links are the addresses that add the entry to the client when one is opened.
// Web goes by way of a page of the client's maker: pages that show a README drop
// links of other kinds than https.
type Links struct{ App, Web string }

// Links makes the links of the clients that have such.
func (c Client) Links(e Entry) (Links, error) {
	set, _, err := c.members(e)
	if err != nil {
		return Links{}, err
	}
	entry := map[string]any{}
	for _, m := range set {
		entry[m.key] = m.value
	}
	switch c.Name {
	case "cursor":
		text, err := json.Marshal(entry)
		query := "?name=" + ServerName + "&config=" + component(base64.StdEncoding.EncodeToString(text))
		return Links{"cursor://anysphere.cursor-deeplink/mcp/install" + query, "https://cursor.com/en/install-mcp" + query}, err
	case "vscode":
		entry["name"] = ServerName
		text, err := json.Marshal(entry)
		app := "vscode:mcp/install?" + component(string(text))
		return Links{app, "https://insiders.vscode.dev/redirect?url=" + component(app)}, err
	}
	return Links{}, fmt.Errorf("%s has no install links; gtagsmcp config %s --write registers the server", c.Title, c.Name)
}

// component escapes as clients unescape, to whom + is no space.
func component(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}
