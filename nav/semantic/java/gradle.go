package java

import (
	"io/fs"
	"maps"
	"path"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
)

// gradleProject is what a build file says in plain declarations. Build files are
// programs; only what stands in them literally is read.
type gradleProject struct {
	path         string // ":app", ":" for the root
	dir          string
	dependencies []dependency
	projects     []gradleEdge
	unread       []string // declarations that take a program to understand
}

// gradleEdge is a dependency on another project of the build.
type gradleEdge struct {
	path string
	test bool
}

// gradle reads one build: the folder of a settings file and its projects.
type gradle struct {
	tree      fs.FS
	dir       string
	catalog   map[string]dependency // "commons.lang3" of libs.commons.lang3
	variables map[string]string
	projects  map[string]*gradleProject // by folder
}

const maxBuildFile = 1 << 20

// readGradle reads the build whose settings, or only project, lie in dir.
func readGradle(tree fs.FS, dir string) *gradle {
	g := &gradle{tree: tree, dir: dir, catalog: map[string]dependency{}, variables: map[string]string{}, projects: map[string]*gradleProject{}}
	g.readProperties()
	g.readCatalog()
	settings := g.script(dir, "settings")
	folders := map[string]string{":": dir}
	for _, include := range includes.FindAllStringSubmatch(settings, -1) {
		for _, name := range quoted.FindAllStringSubmatch(include[1], -1) {
			p := ":" + strings.TrimPrefix(name[1], ":")
			folders[p] = path.Join(dir, strings.ReplaceAll(p[1:], ":", "/"))
		}
	}
	for _, moved := range projectDir.FindAllStringSubmatch(settings, -1) {
		folders[moved[1]] = path.Join(dir, moved[2])
	}
	shared := g.script(dir, "build")
	for p, folder := range folders {
		if !fs.ValidPath(folder) {
			continue // outside the tree
		}
		project := &gradleProject{path: p, dir: folder}
		if p == ":" {
			g.declare(project, outside(shared, "subprojects"))
		} else {
			g.declare(project, inside(shared, "subprojects")+inside(shared, "allprojects"))
			g.declare(project, g.script(folder, "build"))
		}
		g.projects[folder] = project
	}
	return g
}

var (
	includes     = regexp.MustCompile(`(?m)^\s*include\b\s*\(?((?:\s*,?\s*['"][^'"\n]+['"])+)`)
	quoted       = regexp.MustCompile(`['"]([^'"\n]+)['"]`)
	projectDir   = regexp.MustCompile(`project\(\s*['"](:[^'"\n]*)['"]\s*\)\.projectDir\s*=\s*(?:new\s+)?[fF]ile\(\s*(?:(?:rootDir|settingsDir)\s*,\s*)?['"]([^'"\n]+)['"]`)
	assignment   = regexp.MustCompile(`(?m)^\s*(?:def|val|String|final\s+String|ext\.)?\s*([A-Za-z_]\w*)\s*=\s*['"]([^'"$\n]+)['"]\s*$`)
	variable     = regexp.MustCompile(`\$\{?([A-Za-z_][\w.]*)\}?`)
	lineComments = regexp.MustCompile(`(?m)(^|\s)//.*$`)
	comments     = regexp.MustCompile(`(?s)/\*.*?\*/`)
	// One declaration of a dependency: the configuration, then what it takes.
	declared = regexp.MustCompile(`(?m)^\s*(api|implementation|compileOnly|compileOnlyApi|compile|provided|testImplementation|testCompileOnly|testApi|testCompile)\b[ (]+(.*)$`)
	project  = regexp.MustCompile(`project\(\s*(?:path\s*[:=]\s*)?['"](:[^'"\n]+)['"]`)
	alias    = regexp.MustCompile(`^libs\.([A-Za-z0-9_.]+)`)
)

// script is the text of a build or settings file in either language, without comments.
func (g *gradle) script(dir, name string) string {
	for _, suffix := range []string{".gradle", ".gradle.kts"} {
		if content, err := readLimited(g.tree, path.Join(dir, name+suffix), maxBuildFile); err == nil {
			text := lineComments.ReplaceAllString(comments.ReplaceAllString(string(content), ""), "")
			for _, a := range assignment.FindAllStringSubmatch(text, -1) {
				g.variables[a[1]] = a[2]
			}
			return text
		}
	}
	return ""
}

// readProperties reads gradle.properties, whose values build files use by name.
func (g *gradle) readProperties() {
	content, _ := readLimited(g.tree, path.Join(g.dir, "gradle.properties"), maxBuildFile)
	for line := range strings.Lines(string(content)) {
		if key, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(key, "#") {
			g.variables[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
}

// readCatalog reads gradle/libs.versions.toml.
func (g *gradle) readCatalog() {
	content, err := readLimited(g.tree, path.Join(g.dir, "gradle", "libs.versions.toml"), maxBuildFile)
	if err != nil {
		return
	}
	var catalog struct {
		Versions  map[string]any `toml:"versions"`
		Libraries map[string]any `toml:"libraries"`
	}
	if toml.Unmarshal(content, &catalog) != nil {
		return
	}
	for name, value := range catalog.Libraries {
		var d dependency
		switch value := value.(type) {
		case string:
			d = g.coordinates(value)
		case map[string]any:
			d.GroupID, _ = value["group"].(string)
			d.ArtifactID, _ = value["name"].(string)
			if module, ok := value["module"].(string); ok {
				d.GroupID, d.ArtifactID, _ = strings.Cut(module, ":")
			}
			d.Version, _ = value["version"].(string)
			if ref, ok := value["version"].(map[string]any); ok {
				key, _ := ref["ref"].(string)
				d.Version, _ = catalog.Versions[key].(string)
			}
		}
		g.catalog[strings.NewReplacer("-", ".", "_", ".").Replace(name)] = d
	}
}

// coordinates reads "group:artifact:version:classifier@type".
func (g *gradle) coordinates(notation string) dependency {
	notation = variable.ReplaceAllStringFunc(notation, func(ref string) string {
		name := variable.FindStringSubmatch(ref)[1]
		name = name[strings.LastIndexByte(name, '.')+1:]
		if v, ok := g.variables[name]; ok {
			return v
		}
		return ref
	})
	notation, kind, _ := strings.Cut(notation, "@")
	parts := append(strings.Split(notation, ":"), "", "", "")
	return dependency{GroupID: parts[0], ArtifactID: parts[1], Version: parts[2], Classifier: parts[3], Type: kind}
}

// declare adds the dependencies that the text declares literally.
func (g *gradle) declare(p *gradleProject, text string) {
	for _, m := range declared.FindAllStringSubmatch(text, -1) {
		test := strings.HasPrefix(m[1], "test")
		what := strings.TrimSpace(m[2])
		if edge := project.FindStringSubmatch(what); edge != nil {
			p.projects = append(p.projects, gradleEdge{edge[1], test})
			continue
		}
		var d dependency
		if a := alias.FindStringSubmatch(what); a != nil {
			d = g.catalog[a[1]]
		} else if s := quoted.FindStringSubmatch(what); s != nil && strings.IndexAny(what, `'"`) == 0 {
			d = g.coordinates(s[1])
		}
		switch {
		case d.GroupID == "" || d.ArtifactID == "":
			p.unread = append(p.unread, m[1]+" "+what)
			continue
		case test:
			d.Scope = "test"
		}
		p.dependencies = append(p.dependencies, d)
	}
}

// inside is the text of all blocks of that name, outside the rest.
func inside(text, block string) string {
	in, _ := split(text, block)
	return in
}

func outside(text, block string) string {
	_, out := split(text, block)
	return out
}

func split(text, block string) (in, out string) {
	head := regexp.MustCompile(`(?m)^\s*` + block + `\s*(\([^)]*\)\s*)?\{`)
	for {
		at := head.FindStringIndex(text)
		if at == nil {
			return in, out + text
		}
		end, depth := at[1], 1
		for end < len(text) && depth > 0 {
			switch text[end] {
			case '{':
				depth++
			case '}':
				depth--
			}
			end++
		}
		in += text[at[1]:end] + "\n"
		out += text[:at[0]]
		text = text[end:]
	}
}

// model makes a project look like a Maven one, whose dependencies are then followed
// in the same way.
func (g *gradle) model(p *gradleProject) *model {
	m := &model{id: coordinates{artifact: p.path}, dir: p.dir, managed: map[string]dependency{}, dependencies: p.dependencies}
	m.properties = maps.Clone(g.variables)
	return m
}
