package bundle

import (
	"fmt"
	"regexp"
)

// SchemaVersion is the revision of the registry's schema that ServerJSON follows.
const SchemaVersion = "2025-12-11"

type registryEntry struct {
	Schema      string            `json:"$schema"`
	Name        string            `json:"name"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	WebsiteURL  string            `json:"websiteUrl"`
	Repository  sourceRepository  `json:"repository"`
	Version     string            `json:"version"`
	Packages    []registryPackage `json:"packages"`
}

type sourceRepository struct {
	URL    string `json:"url"`
	Source string `json:"source"`
}

type registryPackage struct {
	RegistryType     string     `json:"registryType"`
	Identifier       string     `json:"identifier"`
	FileSHA256       string     `json:"fileSha256,omitempty"`
	Transport        transport  `json:"transport"`
	RuntimeHint      string     `json:"runtimeHint,omitempty"`
	RuntimeArguments []argument `json:"runtimeArguments,omitempty"`
}

type transport struct {
	Type string `json:"type"`
}

// argument is one argument of a command line; Variables describes what its value
// leaves open in braces.
type argument struct {
	Type        string              `json:"type"`
	Name        string              `json:"name,omitempty"`
	Value       string              `json:"value,omitempty"`
	Description string              `json:"description"`
	Required    bool                `json:"isRequired"`
	Variables   map[string]variable `json:"variables,omitempty"`
}

type variable struct {
	Description string `json:"description"`
	Format      string `json:"format"`
	Required    bool   `json:"isRequired"`
}

var digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// ServerJSON is the registry's entry of the release. bundleSHA256 is the digest
// of the bundle in lower-case hexadecimal: clients refuse a bundle that differs.
func (r Release) ServerJSON(bundleSHA256 string) ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if !digestForm.MatchString(bundleSHA256) {
		return nil, fmt.Errorf("%q is no SHA-256 in lower-case hexadecimal", bundleSHA256)
	}
	entry := registryEntry{
		Schema: "https://static.modelcontextprotocol.io/schemas/" + SchemaVersion + "/server.schema.json",
		Name:   RegistryName, Title: title, Description: description,
		WebsiteURL: repository,
		Repository: sourceRepository{repository, "github"},
		Version:    r.Version,
		Packages: []registryPackage{{
			RegistryType: "mcpb",
			Identifier:   fmt.Sprintf("%s/releases/download/v%s/%s", repository, r.Version, File),
			FileSHA256:   bundleSHA256,
			Transport:    transport{"stdio"},
		}},
	}
	if r.Image != "" {
		entry.Packages = append(entry.Packages, imagePackage(r.Image))
	}
	return indented(entry)
}

// imagePackage describes the container image. It serves the tree that is mounted
// at /src; the index lives in a volume, because the image is read-only.
func imagePackage(image string) registryPackage {
	return registryPackage{
		RegistryType: "oci", Identifier: image, RuntimeHint: "docker", Transport: transport{"stdio"},
		RuntimeArguments: []argument{
			{Type: "named", Name: "--mount", Value: "type=bind,src={tree},dst=/src,readonly", Required: true,
				Description: "The source tree, mounted read-only.",
				Variables:   map[string]variable{"tree": {"Absolute path of the source tree", "filepath", true}}},
			{Type: "named", Name: "--mount", Value: "type=volume,src=gtagsmcp,dst=/data", Required: true,
				Description: "Keeps the index between runs."},
		},
	}
}
