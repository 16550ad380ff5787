package java

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

// unit is what the compiler sees as one: a module's main or test sources.
type unit struct {
	module    *module
	scope     string   // "main" or "test"
	roots     []string // source roots, relative to the project's
	path      []string // source roots in the compiler's order: own, main for test, those of other modules
	classPath []string // absolute
	missing   []string // libraries that are not on this machine
}

// module is one module of a build.
type module struct {
	semantic.Module
	model    *model
	edges    []gradleEdge
	gradle   *gradle
	jpms     string // the module that its module-info.java declares
	release  string
	source   string
	problems []string
	units    map[string]*unit // by scope
}

// layout says which sources are compiled together.
type layout struct {
	project   semantic.Project
	modules   []*module // sorted by folder
	byID      map[string]*module
	maven     *maven
	home      string            // the user's, with the local repositories
	rootOf    map[string]string // source root of each folder that holds Java files
	unclaimed *module           // of the files that no build claims
	problems  []string
}

// newLayout reads the builds of the project, as data, and finds where its sources are.
func newLayout(p semantic.Project, home string) *layout {
	l := readBuilds(p, home)
	l.findRoots()
	return l
}

// readBuilds finds the modules alone.
func readBuilds(p semantic.Project, home string) *layout {
	l := &layout{project: p, byID: map[string]*module{}, maven: newMaven(p.FS, home), home: home, rootOf: map[string]string{},
		unclaimed: &module{Module: semantic.Module{Dir: "."}, units: map[string]*unit{}}}
	dirs := l.folders()
	builds := l.gradleBuilds(dirs)
	for _, dir := range dirs {
		switch {
		case l.addMaven(dir):
		case l.addGradle(dir, builds):
		}
	}
	for i := 0; i < len(l.modules); i++ {
		if m := l.modules[i]; m.model != nil && m.gradle == nil {
			for _, name := range m.model.modules {
				l.addMaven(path.Join(m.Dir, strings.TrimSuffix(name, "/pom.xml")))
			}
		}
	}
	l.addJPMS()
	slices.SortFunc(l.modules, func(a, b *module) int { return strings.Compare(a.Dir, b.Dir) })
	l.problems = append(l.problems, l.maven.problems...)
	return l
}

// folders lists those that hold Java files and all above them, outer ones first.
func (l *layout) folders() []string {
	seen := map[string]bool{".": true}
	for _, file := range l.project.Files {
		if strings.HasSuffix(file, ".java") {
			for dir := path.Dir(file); !seen[dir]; dir = path.Dir(dir) {
				seen[dir] = true
			}
		}
	}
	dirs := make([]string, 0, len(seen))
	for dir := range seen {
		dirs = append(dirs, dir)
	}
	slices.SortFunc(dirs, func(a, b string) int {
		return cmp.Or(strings.Count(a, "/")-strings.Count(b, "/"), strings.Compare(a, b))
	})
	return dirs
}

func (l *layout) add(m *module) {
	if l.byID[m.ID] != nil {
		m.ID += "@" + m.Dir // two builds that call a module alike
	}
	m.units = map[string]*unit{}
	l.byID[m.ID] = m
	l.modules = append(l.modules, m)
}

func (l *layout) addMaven(dir string) bool {
	if slices.ContainsFunc(l.modules, func(m *module) bool { return m.Dir == dir }) {
		return true
	}
	model := l.maven.ofTree(dir)
	if model == nil || model.id.artifact == "" {
		return false
	}
	l.add(&module{Module: semantic.Module{ID: model.id.id(), Dir: dir, File: path.Join(dir, "pom.xml")}, model: model, release: model.release, source: model.source})
	m := l.modules[len(l.modules)-1]
	if model.profiles {
		m.problems = append(m.problems, "the profiles of "+path.Join(dir, "pom.xml")+" are not applied")
	}
	for _, source := range []string{model.main, model.test} {
		if source != "" && (path.IsAbs(source) || !fs.ValidPath(path.Join(dir, source))) {
			m.problems = append(m.problems, fmt.Sprintf("the source directory %s of %s leads out of the tree and is not read", source, m.ID))
		}
	}
	return true
}

// gradleBuilds reads the builds of all folders with a settings file.
func (l *layout) gradleBuilds(dirs []string) []*gradle {
	var builds []*gradle
	for _, dir := range dirs {
		if l.exists(dir, "settings.gradle") || l.exists(dir, "settings.gradle.kts") {
			builds = append(builds, readGradle(l.project.FS, dir))
		}
	}
	return builds
}

func (l *layout) addGradle(dir string, builds []*gradle) bool {
	built := l.exists(dir, "build.gradle") || l.exists(dir, "build.gradle.kts")
	for _, g := range slices.Backward(builds) {
		if p := g.projects[dir]; p != nil && (built || p.path != ":" || len(g.projects) == 1) {
			l.addGradleProject(g, p)
			return true
		}
	}
	if !built {
		return false
	}
	g := readGradle(l.project.FS, dir)
	l.addGradleProject(g, g.projects[dir])
	return true
}

func (l *layout) addGradleProject(g *gradle, p *gradleProject) {
	file := path.Join(p.dir, "build.gradle")
	if !l.exists(p.dir, "build.gradle") {
		file += ".kts"
	}
	m := &module{Module: semantic.Module{ID: p.path, Dir: p.dir, File: file}, model: g.model(p), edges: p.projects, gradle: g}
	for _, d := range p.unread {
		m.problems = append(m.problems, fmt.Sprintf("%s: the dependency %q takes a program to understand", p.dir, d))
	}
	l.add(m)
}

func (l *layout) exists(dir, name string) bool {
	info, err := fs.Stat(l.project.FS, path.Join(dir, name))
	return err == nil && info.Mode().IsRegular()
}

// addJPMS makes modules of the folders with a module-info.java that no build claims,
// and notes the name in those that one does.
func (l *layout) addJPMS() {
	for _, file := range l.project.Files {
		if path.Base(file) != "module-info.java" {
			continue
		}
		content, err := l.project.Content(file)
		if err != nil {
			continue
		}
		name := moduleOf(content)
		if m := l.moduleOf(file); m != nil {
			m.jpms = cmp.Or(m.jpms, name)
		} else if name != "" {
			l.add(&module{Module: semantic.Module{ID: name, Dir: path.Dir(file), File: file}, jpms: name})
		}
	}
}

// moduleOf is the module with the deepest folder above the file, nil when none has it.
func (l *layout) moduleOf(file string) *module {
	var best *module
	for _, m := range l.modules {
		if m.Dir == "." || strings.HasPrefix(file, m.Dir+"/") {
			if best == nil || best.Dir == "." || len(m.Dir) > len(best.Dir) && m.Dir != "." {
				best = m
			}
		}
	}
	return best
}

// owner is the module of the file, or what stands for one.
func (l *layout) owner(file string) *module { return cmp.Or(l.moduleOf(file), l.unclaimed) }

// otherRelease matches the source root of a later release than the module's.
var otherRelease = regexp.MustCompile(`(^|/)(java-?[0-9]+|META-INF/versions/[0-9]+)$`)

// findRoots derives the source root of every folder from the package that its first
// file declares, and gives it to the unit of its module and scope.
func (l *layout) findRoots() {
	for _, file := range l.project.Files {
		dir := path.Dir(file)
		if _, known := l.rootOf[dir]; known || !strings.HasSuffix(file, ".java") || path.Base(file) == "module-info.java" {
			continue
		}
		content, err := l.project.Content(file)
		if err != nil {
			continue
		}
		root, ok := rootOf(dir, packageOf(content))
		l.rootOf[dir] = root
		m := l.owner(file)
		u := m.unit(l.scopeOf(m, root, dir))
		if ok && !slices.Contains(u.roots, root) && !otherRelease.MatchString(root) {
			u.roots = append(u.roots, root)
		}
	}
}

// rootOf takes the folders of the package from the end of the file's folder. It is
// the folder itself, and not ok, when they are not there.
func rootOf(dir, pkg string) (root string, ok bool) {
	folders := strings.ReplaceAll(pkg, ".", "/")
	switch {
	case pkg == "":
		return dir, true
	case dir == folders:
		return ".", true
	case strings.HasSuffix(dir, "/"+folders):
		return strings.TrimSuffix(dir, "/"+folders), true
	}
	return dir, false
}

var testFolder = regexp.MustCompile(`(?i)(^|/)(tests?|it|src/[a-z]*test[a-z]*|[a-z]*-tests?)(/|$)`)

// scopeOf says what a source root is for: as the build declares it, else by the
// names of the folders below the module's.
func (l *layout) scopeOf(m *module, root, dir string) string {
	if m.model != nil {
		switch root {
		case path.Join(m.Dir, cmp.Or(m.model.test, "src/test/java")):
			return "test"
		case path.Join(m.Dir, cmp.Or(m.model.main, "src/main/java")):
			return "main"
		}
	}
	below := strings.TrimPrefix(strings.TrimPrefix(root, m.Dir), "/")
	if m.Dir == "." {
		below = root
	}
	if testFolder.MatchString(below) {
		return "test"
	}
	return "main"
}

func (m *module) unit(scope string) *unit {
	if m.units[scope] == nil {
		m.units[scope] = &unit{module: m, scope: scope}
	}
	return m.units[scope]
}

// unitOf is the unit that a Java file belongs to.
func (l *layout) unitOf(file string) *unit {
	dir := path.Dir(file)
	m := l.owner(file)
	root, known := l.rootOf[dir]
	if !known {
		root = dir
	}
	return m.unit(l.scopeOf(m, root, dir))
}

// complete works out what the unit is compiled with. It is done only for units that
// a question is about.
func (l *layout) complete(u *unit) {
	if u.path != nil {
		return
	}
	u.path = slices.Clone(u.roots)
	l.addModule(u, u.module, true)
	if u.module.model != nil {
		l.addLibraries(u)
	}
	l.addJars(u, ".")
	l.addJars(u, u.module.Dir)
	slices.Sort(u.missing)
	u.missing = slices.Compact(u.missing)
}

// addModule puts the main sources and the compiled classes of a module on the unit's
// paths.
func (l *layout) addModule(u *unit, m *module, own bool) {
	if main := m.units["main"]; main != nil && (!own || u.scope == "test") {
		u.addSources(main.roots...)
	}
	output := "target/classes"
	if m.model != nil {
		output = cmp.Or(m.model.output, output)
	}
	for _, generated := range []string{"target/generated-sources", "build/generated/sources/annotationProcessor/java"} {
		entries, _ := fs.ReadDir(l.project.FS, path.Join(m.Dir, generated))
		for _, e := range entries {
			if e.IsDir() {
				u.addSources(path.Join(m.Dir, generated, e.Name()))
			}
		}
	}
	for _, classes := range []string{output, "build/classes/java/main", "build/classes/kotlin/main", "out/production/classes"} {
		dir := path.Join(m.Dir, classes)
		if info, err := fs.Stat(l.project.FS, dir); fs.ValidPath(dir) && err == nil && info.IsDir() {
			u.classPath = append(u.classPath, filepath.Join(l.project.Root, dir))
		}
	}
}

func (u *unit) addSources(roots ...string) {
	for _, root := range roots {
		if !slices.Contains(u.path, root) {
			u.path = append(u.path, root)
		}
	}
}

func (l *layout) addLibraries(u *unit) {
	locate := l.maven.jar
	inTree := func(id string) *model {
		if m := l.byID[id]; m != nil && m != u.module {
			return m.model
		}
		return nil
	}
	if u.module.gradle != nil {
		locate = l.gradleJar
		l.addEdges(u, u.module, map[*module]bool{u.module: true})
	}
	found := l.maven.libraries(u.module.model, u.scope == "test", inTree, locate)
	for _, id := range found.modules {
		l.addModule(u, l.byID[id], false)
	}
	u.classPath = append(u.classPath, found.jars...)
	u.missing = append(u.missing, found.missing...)
}

// addEdges follows the dependencies between the projects of a Gradle build.
func (l *layout) addEdges(u *unit, m *module, seen map[*module]bool) {
	for _, edge := range m.edges {
		for _, other := range l.modules {
			if other.gradle != m.gradle || other.gradle == nil || other.model.id.artifact != edge.path || seen[other] || edge.test && u.scope != "test" {
				continue
			}
			seen[other] = true
			l.addModule(u, other, false)
			found := l.maven.libraries(other.model, false, func(string) *model { return nil }, l.gradleJar)
			u.classPath = append(u.classPath, found.jars...)
			u.missing = append(u.missing, found.missing...)
			l.addEdges(u, other, seen)
		}
	}
}

// gradleJar finds an artifact in Gradle's cache, else in Maven's repository.
func (l *layout) gradleJar(c coordinates, classifier, extension string) string {
	name := filepath.Base(l.maven.artifact(c, classifier, extension))
	if l.home != "" && l.maven.artifact(c, classifier, extension) != "" {
		pattern := filepath.Join(l.home, ".gradle", "caches", "modules-2", "files-2.1", c.group, c.artifact, c.version, "*", name)
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[0]
		}
	}
	return l.maven.jar(c, classifier, extension)
}

// addJars takes the libraries that lie in the tree, where builds without a
// repository keep them.
func (l *layout) addJars(u *unit, dir string) {
	for _, lib := range []string{"lib", "libs"} {
		jars, _ := fs.Glob(l.project.FS, path.Join(dir, lib, "*.jar"))
		for _, jar := range jars {
			// Stat refuses a link that leads out of the tree.
			info, err := fs.Stat(l.project.FS, jar)
			if full := filepath.Join(l.project.Root, jar); err == nil && info.Mode().IsRegular() && !slices.Contains(u.classPath, full) {
				u.classPath = append(u.classPath, full)
			}
		}
	}
}

// readLimited reads a file of the tree that is not larger than the limit.
func readLimited(tree fs.FS, name string, limit int64) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	file, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return nil, cmp.Or(err, fmt.Errorf("%s is not a file of at most %d bytes", name, limit))
	}
	return io.ReadAll(io.LimitReader(file, limit))
}
