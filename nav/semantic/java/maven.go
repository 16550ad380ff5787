package java

import (
	"cmp"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// model is a pom.xml with what it inherits, its properties filled in.
type model struct {
	id           coordinates
	dir          string // relative to the root; "" for one of the repository
	properties   map[string]string
	managed      map[string]dependency // by dependency.key
	dependencies []dependency
	main, test   string // source directories, relative to dir
	output       string
	release      string // language level, "" when not stated
	source       string
	modules      []string
	profiles     bool
}

type coordinates struct{ group, artifact, version string }

func (c coordinates) id() string { return c.group + ":" + c.artifact }

func (c coordinates) String() string { return c.id() + ":" + cmp.Or(c.version, "(no version)") }

// key is what Maven manages versions by.
func (d dependency) key() string {
	return d.GroupID + ":" + d.ArtifactID + ":" + cmp.Or(d.Type, "jar") + ":" + d.Classifier
}

// maven reads poms of one tree and of the local repository, each once.
type maven struct {
	tree       fs.FS
	repository string // absolute
	models     map[string]*model
	problems   []string
}

func newMaven(tree fs.FS, home string) *maven {
	m := &maven{tree: tree, models: map[string]*model{}}
	if home != "" {
		m.repository = filepath.Join(home, ".m2", "repository")
		var settings struct {
			LocalRepository string `xml:"localRepository"`
		}
		if content, err := os.ReadFile(filepath.Join(home, ".m2", "settings.xml")); err == nil && len(content) <= maxPom {
			if decodeXML(content, &settings) == nil && filepath.IsAbs(strings.TrimSpace(settings.LocalRepository)) {
				m.repository = strings.TrimSpace(settings.LocalRepository)
			}
		}
	}
	return m
}

// maxParents bounds the chain of parents of one pom.
const maxParents = 20

// ofTree is the model of the pom.xml in a folder of the tree; nil when there is none
// that can be read.
func (m *maven) ofTree(dir string) *model {
	return m.treePom(path.Join(dir, "pom.xml"), maxParents)
}

func (m *maven) treePom(name string, depth int) *model {
	if known, ok := m.models[name]; ok || depth == 0 || !fs.ValidPath(name) {
		return known
	}
	m.models[name] = nil // ends a circle of parents
	content, err := readLimited(m.tree, name, maxPom)
	if err != nil {
		return nil
	}
	p, err := parsePom(content)
	if err != nil {
		m.problems = append(m.problems, name+" cannot be read: "+err.Error())
		return nil
	}
	model := m.complete(p, path.Dir(name), true, depth)
	m.models[name] = model
	return model
}

// ofRepository is the model of an artifact's pom in the local repository.
func (m *maven) ofRepository(c coordinates, depth int) *model {
	name := m.artifact(c, "", "pom")
	if known, ok := m.models[name]; ok || depth == 0 || name == "" {
		return known
	}
	m.models[name] = nil
	content, err := os.ReadFile(name)
	if err != nil || len(content) > maxPom {
		return nil
	}
	p, err := parsePom(content)
	if err != nil {
		return nil
	}
	model := m.complete(p, "", false, depth)
	m.models[name] = model
	return model
}

// plainPart is what a part of coordinates may look like to become part of a path.
var plainPart = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)

// artifact is where the local repository keeps a file; "" when the coordinates are
// no file name.
func (m *maven) artifact(c coordinates, classifier, extension string) string {
	parts := []string{c.group, c.artifact, c.version, extension}
	if classifier != "" {
		parts = append(parts, classifier)
		classifier = "-" + classifier
	}
	for _, part := range parts {
		if !plainPart.MatchString(part) || strings.Contains(part, "..") {
			return ""
		}
	}
	if m.repository == "" {
		return ""
	}
	return filepath.Join(m.repository, filepath.FromSlash(strings.ReplaceAll(c.group, ".", "/")), c.artifact, c.version,
		c.artifact+"-"+c.version+classifier+"."+extension)
}

// complete adds what the parents say and fills in properties.
func (m *maven) complete(p *pom, dir string, inTree bool, depth int) *model {
	up := m.parentOf(p, dir, inTree, depth)
	own := &model{dir: dir, properties: map[string]string{}, managed: map[string]dependency{}, modules: p.Modules, profiles: len(p.Profiles) > 0}
	if !inTree {
		own.dir = ""
	}
	if up != nil {
		maps.Copy(own.properties, up.properties)
		maps.Copy(own.managed, up.managed)
		own.dependencies = slices.Clone(up.dependencies)
		own.main, own.test, own.output = up.main, up.test, up.output
		own.release, own.source = up.release, up.source
		own.profiles = own.profiles || up.profiles
	}
	maps.Copy(own.properties, p.Properties)
	own.id = coordinates{p.GroupID, p.ArtifactID, p.Version}
	if p.Parent != nil {
		own.id.group, own.id.version = cmp.Or(p.GroupID, p.Parent.GroupID), cmp.Or(p.Version, p.Parent.Version)
		own.properties["project.parent.version"], own.properties["project.parent.groupId"] = p.Parent.Version, p.Parent.GroupID
	}
	own.id.group, own.id.version = own.fill(own.id.group), own.fill(own.id.version)
	for prefix := range strings.SplitSeq("project. pom.", " ") {
		own.properties[prefix+"groupId"] = own.id.group
		own.properties[prefix+"artifactId"] = own.id.artifact
		own.properties[prefix+"version"] = own.id.version
	}
	own.properties["project.basedir"], own.properties["basedir"] = ".", "."
	own.properties["project.build.directory"] = "target"
	own.main = own.fill(cmp.Or(p.SourceDirectory, own.main))
	own.test = own.fill(cmp.Or(p.TestSourceDirectory, own.test))
	own.output = own.fill(cmp.Or(p.OutputDirectory, own.output))
	own.language(p)
	m.manage(own, p.Managed, depth)
	for _, d := range p.Dependencies {
		own.dependencies = append(own.dependencies, own.filled(d))
	}
	return own
}

// language finds the level that the compiler plugin is told.
func (own *model) language(p *pom) {
	own.release = cmp.Or(own.fill(own.properties["maven.compiler.release"]), own.release)
	own.source = cmp.Or(own.fill(own.properties["maven.compiler.source"]), own.source)
	for _, plugin := range slices.Concat(p.ManagedPlugins, p.Plugins) {
		if plugin.ArtifactID == "maven-compiler-plugin" {
			own.release = cmp.Or(own.fill(plugin.Release), own.release)
			own.source = cmp.Or(own.fill(plugin.Source), own.source)
		}
	}
}

func (m *maven) parentOf(p *pom, dir string, inTree bool, depth int) *model {
	if p.Parent == nil {
		return nil
	}
	wanted := coordinates{p.Parent.GroupID, p.Parent.ArtifactID, p.Parent.Version}
	relative := "../pom.xml"
	if p.Parent.RelativePath != nil {
		relative = *p.Parent.RelativePath
	}
	if inTree && relative != "" {
		name := path.Join(dir, relative)
		if !strings.HasSuffix(name, ".xml") {
			name = path.Join(name, "pom.xml")
		}
		if up := m.treePom(name, depth-1); up != nil && up.id.artifact == wanted.artifact {
			return up
		}
	}
	up := m.ofRepository(wanted, depth-1)
	if up == nil && inTree {
		m.problems = append(m.problems, path.Join(dir, "pom.xml")+": the parent "+wanted.String()+" is neither in the tree nor in the local Maven repository")
	}
	return up
}

// manage adds managed versions; nearer ones are there already only when a parent
// has them, which the child overrides.
func (m *maven) manage(own *model, managed []dependency, depth int) {
	imported := map[string]dependency{}
	for _, d := range managed {
		d = own.filled(d)
		if d.Scope == "import" {
			if bom := m.bom(coordinates{d.GroupID, d.ArtifactID, d.Version}, depth); bom != nil {
				for key, d := range bom.managed {
					if _, earlier := imported[key]; !earlier {
						imported[key] = d
					}
				}
			} else {
				m.problems = append(m.problems, "the versions of "+d.GroupID+":"+d.ArtifactID+":"+d.Version+" are not in the local Maven repository")
			}
			continue
		}
		own.managed[d.key()] = d
	}
	for key, d := range imported {
		if _, nearer := own.managed[key]; !nearer {
			own.managed[key] = d
		}
	}
}

// bom is a pom whose managed versions are imported: a module of the tree or an
// artifact.
func (m *maven) bom(c coordinates, depth int) *model {
	for _, known := range m.models {
		if known != nil && known.dir != "" && known.id.id() == c.id() {
			return known
		}
	}
	return m.ofRepository(c, depth-1)
}

func (own *model) filled(d dependency) dependency {
	for _, v := range []*string{&d.GroupID, &d.ArtifactID, &d.Version, &d.Type, &d.Classifier, &d.Scope, &d.Optional} {
		*v = own.fill(*v)
	}
	return d
}

var reference = regexp.MustCompile(`\$\{([^${}]+)\}`)

// fill replaces references to properties, also inside their values, as far as the
// properties are known.
func (own *model) fill(value string) string {
	for range maxParents {
		filled := reference.ReplaceAllStringFunc(value, func(ref string) string {
			if v, ok := own.properties[ref[2:len(ref)-1]]; ok && len(v) < 1<<10 {
				return v
			}
			return ref
		})
		if filled == value || len(filled) > 1<<12 {
			break
		}
		value = filled
	}
	return value
}
