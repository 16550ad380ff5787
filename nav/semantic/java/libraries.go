package java

import (
	"cmp"
	"os"
	"slices"
	"strings"
)

// library is a dependency on the way to the class path.
type library struct {
	dependency
	transitive bool
	excluded   []exclusion
}

// maxLibraries bounds how many dependencies of one module are followed.
const maxLibraries = 5000

// classPath is what a module is compiled with.
type classPath struct {
	jars    []string // absolute
	modules []string // IDs of modules of the same tree
	missing []string // coordinates of what is nowhere on this machine
}

// libraries follows the dependencies of a model, breadth first, so that of two
// versions the one declared nearer counts, as with Maven.
func (m *maven) libraries(of *model, test bool, inTree func(id string) *model, locate func(coordinates, string, string) string) classPath {
	var found classPath
	var queue []library
	for _, d := range of.dependencies {
		queue = append(queue, library{dependency: d})
	}
	seen := map[string]bool{}
	for i := 0; i < len(queue) && i < maxLibraries; i++ {
		lib := of.versioned(queue[i])
		if seen[lib.key()] || !lib.wanted(test) {
			continue
		}
		seen[lib.key()] = true
		c := coordinates{lib.GroupID, lib.ArtifactID, lib.Version}
		if sibling := inTree(c.id()); sibling != nil {
			found.modules = append(found.modules, c.id())
			queue = append(queue, sibling.follow(lib)...)
			continue
		}
		kind := cmp.Or(lib.Type, "jar")
		if kind == "test-jar" {
			kind, lib.Classifier = "jar", cmp.Or(lib.Classifier, "tests")
		}
		if kind == "jar" || kind == "bundle" || kind == "ejb" || kind == "maven-plugin" {
			if jar := locate(c, lib.Classifier, "jar"); jar != "" {
				found.jars = append(found.jars, jar)
			} else {
				found.missing = append(found.missing, c.String())
			}
		}
		if up := m.ofRepository(c, maxParents); up != nil {
			queue = append(queue, up.follow(lib)...)
		}
	}
	return found
}

// follow lists what a library needs itself, for the module that is compiled.
func (own *model) follow(lib library) []library {
	var next []library
	for _, d := range own.dependencies {
		n := own.versioned(library{dependency: d})
		n.transitive, n.excluded = true, slices.Concat(lib.excluded, lib.Exclusions)
		if !n.isExcluded() {
			next = append(next, n)
		}
	}
	return next
}

// versioned fills in what the model manages. A version that is managed wins over
// that of a library's library.
func (own *model) versioned(lib library) library {
	managed, ok := own.managed[lib.key()]
	if !ok {
		return lib
	}
	if lib.Version == "" || lib.transitive {
		lib.Version = cmp.Or(managed.Version, lib.Version)
	}
	lib.Scope = cmp.Or(lib.Scope, managed.Scope)
	lib.Exclusions = slices.Concat(lib.Exclusions, managed.Exclusions)
	return lib
}

// wanted reports whether the compiler sees the library.
func (l library) wanted(test bool) bool {
	if l.transitive {
		return l.Optional != "true" && (l.Scope == "" || l.Scope == "compile" || test && l.Scope == "runtime")
	}
	switch l.Scope {
	case "", "compile", "provided":
		return true
	case "test", "runtime":
		return test
	}
	return false
}

func (l library) isExcluded() bool {
	return slices.ContainsFunc(l.excluded, func(e exclusion) bool {
		return (e.GroupID == "*" || e.GroupID == l.GroupID) && (e.ArtifactID == "*" || e.ArtifactID == l.ArtifactID)
	})
}

// jar finds an artifact in the local repository; "" when it is not there.
func (m *maven) jar(c coordinates, classifier, extension string) string {
	name := m.artifact(c, classifier, extension)
	if info, err := os.Stat(name); name == "" || err != nil || !info.Mode().IsRegular() || strings.ContainsRune(name, os.PathListSeparator) {
		return ""
	}
	return name
}
