package bundle

// manifest is manifest.json of version 0.3, the newest for compiled programs:
// 0.4 adds nothing but a way to run Python. Unknown keys are errors to hosts.
type manifest struct {
	ManifestVersion string           `json:"manifest_version"`
	Name            string           `json:"name"`
	DisplayName     string           `json:"display_name"`
	Version         string           `json:"version"`
	Description     string           `json:"description"`
	LongDescription string           `json:"long_description"`
	Author          author           `json:"author"`
	Repository      gitRepository    `json:"repository"`
	Homepage        string           `json:"homepage"`
	Support         string           `json:"support"`
	License         string           `json:"license"`
	Keywords        []string         `json:"keywords"`
	Server          serverEntry      `json:"server"`
	Tools           []Tool           `json:"tools"`
	UserConfig      map[string]field `json:"user_config"`
	Compatibility   compatibility    `json:"compatibility"`
}

type author struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

type gitRepository struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

type serverEntry struct {
	Type       string    `json:"type"`
	EntryPoint string    `json:"entry_point"`
	Config     mcpConfig `json:"mcp_config"`
}

// mcpConfig says what a host starts. An override replaces a field as a whole.
type mcpConfig struct {
	Command   string               `json:"command"`
	Args      []string             `json:"args"`
	Overrides map[string]overrides `json:"platform_overrides"`
}

type overrides struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

type field struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

type compatibility struct {
	Platforms []string `json:"platforms"`
}

// The source tree is asked for: the host starts servers in a folder of its own
// and names no workspace. It is required, because hosts pass the variable of an
// optional field that was left empty on as it stands.
const rootField = "root"

func (r Release) manifest() manifest {
	start := func(program string) overrides {
		return overrides{"/bin/sh", []string{
			"${__dirname}/" + launcherPath, program, "serve", "--root", "${user_config." + rootField + "}"}}
	}
	linux, darwin := start(name+"-linux"), start(name+"-darwin")
	return manifest{
		ManifestVersion: "0.3",
		Name:            name, DisplayName: title, Version: r.Version,
		Description: description,
		LongDescription: "Answers where a name is defined, used and called from an index of the whole source tree, Linux kernel included, " +
			"without compiling it. The first question installs GNU Global and Universal Ctags into ~/.gtags-mcp, without root, and builds the index. " +
			"Runs on macOS and Linux.",
		Author:     author{"The gtagsmcp authors", repository},
		Repository: gitRepository{"git", repository + ".git"},
		Homepage:   repository, Support: repository + "/issues", License: "MIT",
		Keywords: []string{"code navigation", "gtags", "ctags", "linux kernel"},
		Server: serverEntry{
			Type: "binary", EntryPoint: launcherPath,
			Config: mcpConfig{linux.Command, linux.Args, map[string]overrides{"linux": linux, "darwin": darwin}},
		},
		Tools: r.Tools,
		UserConfig: map[string]field{rootField: {
			Type: "directory", Title: "Source tree", Required: true,
			Description: "The tree that a question is about when it names no other (project_root). A git checkout is best.",
		}},
		Compatibility: compatibility{[]string{"darwin", "linux"}},
	}
}
