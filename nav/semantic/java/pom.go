package java

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// maxPom is the size above which a pom.xml is not read, in bytes.
const maxPom = 1 << 20

// pom is a Maven project description as written, as far as it says where sources
// and libraries are.
type pom struct {
	Parent              *parent      `xml:"parent"`
	GroupID             string       `xml:"groupId"`
	ArtifactID          string       `xml:"artifactId"`
	Version             string       `xml:"version"`
	Modules             []string     `xml:"modules>module"`
	Properties          properties   `xml:"properties"`
	Managed             []dependency `xml:"dependencyManagement>dependencies>dependency"`
	Dependencies        []dependency `xml:"dependencies>dependency"`
	SourceDirectory     string       `xml:"build>sourceDirectory"`
	TestSourceDirectory string       `xml:"build>testSourceDirectory"`
	OutputDirectory     string       `xml:"build>outputDirectory"`
	Plugins             []plugin     `xml:"build>plugins>plugin"`
	ManagedPlugins      []plugin     `xml:"build>pluginManagement>plugins>plugin"`
	Profiles            []struct{}   `xml:"profiles>profile"`
}

type parent struct {
	GroupID      string  `xml:"groupId"`
	ArtifactID   string  `xml:"artifactId"`
	Version      string  `xml:"version"`
	RelativePath *string `xml:"relativePath"`
}

type dependency struct {
	GroupID    string      `xml:"groupId"`
	ArtifactID string      `xml:"artifactId"`
	Version    string      `xml:"version"`
	Type       string      `xml:"type"`
	Classifier string      `xml:"classifier"`
	Scope      string      `xml:"scope"`
	Optional   string      `xml:"optional"`
	Exclusions []exclusion `xml:"exclusions>exclusion"`
}

type exclusion struct {
	GroupID    string `xml:"groupId"`
	ArtifactID string `xml:"artifactId"`
}

type plugin struct {
	ArtifactID string `xml:"artifactId"`
	Release    string `xml:"configuration>release"`
	Source     string `xml:"configuration>source"`
}

// properties are elements whose names are the user's.
type properties map[string]string

// UnmarshalXML implements [xml.Unmarshaler].
func (p *properties) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	*p = properties{}
	for {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			var value string
			if err := d.DecodeElement(&value, &token); err != nil {
				return err
			}
			(*p)[token.Name.Local] = strings.TrimSpace(value)
		case xml.EndElement:
			return nil
		}
	}
}

// parsePom reads a pom.xml. Entities beyond those of XML itself are errors, so that
// nothing is fetched and nothing grows.
func parsePom(content []byte) (*pom, error) {
	if len(content) > maxPom {
		return nil, fmt.Errorf("%d bytes; the limit is %d", len(content), maxPom)
	}
	p := &pom{}
	if err := decodeXML(content, p); err != nil {
		return nil, err
	}
	p.trim()
	return p, nil
}

// decodeXML reads XML of which nothing is fetched.
func decodeXML(content []byte, into any) error {
	d := xml.NewDecoder(bytes.NewReader(content))
	d.CharsetReader = func(charset string, in io.Reader) (io.Reader, error) {
		switch strings.ToLower(charset) {
		case "us-ascii", "ascii", "utf8":
			return in, nil
		case "iso-8859-1", "latin1", "windows-1252":
			return latin1(in)
		}
		return nil, fmt.Errorf("the encoding %q is not known", charset)
	}
	return d.Decode(into)
}

// trim takes away the white space that may stand around every value.
func (p *pom) trim() {
	values := []*string{&p.GroupID, &p.ArtifactID, &p.Version, &p.SourceDirectory, &p.TestSourceDirectory, &p.OutputDirectory}
	if p.Parent != nil {
		values = append(values, &p.Parent.GroupID, &p.Parent.ArtifactID, &p.Parent.Version)
		if p.Parent.RelativePath != nil {
			values = append(values, p.Parent.RelativePath)
		}
	}
	for i := range p.Modules {
		values = append(values, &p.Modules[i])
	}
	for _, some := range [][]dependency{p.Managed, p.Dependencies} {
		for i := range some {
			d := &some[i]
			values = append(values, &d.GroupID, &d.ArtifactID, &d.Version, &d.Type, &d.Classifier, &d.Scope, &d.Optional)
			for j := range d.Exclusions {
				values = append(values, &d.Exclusions[j].GroupID, &d.Exclusions[j].ArtifactID)
			}
		}
	}
	for _, some := range [][]plugin{p.Plugins, p.ManagedPlugins} {
		for i := range some {
			values = append(values, &some[i].ArtifactID, &some[i].Release, &some[i].Source)
		}
	}
	for _, v := range values {
		*v = strings.TrimSpace(*v)
	}
}

// latin1 decodes ISO-8859-1, in which every byte is its own code point.
func latin1(in io.Reader) (io.Reader, error) {
	content, err := io.ReadAll(io.LimitReader(in, maxPom))
	if err != nil {
		return nil, err
	}
	out := make([]rune, len(content))
	for i, b := range content {
		out[i] = rune(b)
	}
	return strings.NewReader(string(out)), nil
}
