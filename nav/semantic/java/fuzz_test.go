package java

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

// FuzzBuild reads any pom.xml, settings file and build file: nothing panics or takes
// long, and no source root or module leads out of the tree.
func FuzzBuild(f *testing.F) {
	f.Add([]byte("<project><parent><relativePath>..</relativePath></parent><artifactId>a</artifactId></project>"), []byte("include 'a', ':b:c'\nproject(':a').projectDir = file('../x')"), []byte("dependencies { api libs.x\n implementation 'g:a:$v@jar' }\nsubprojects { api 'a:b:1' "), []byte("[libraries]\nx = 'a:b:1'"))
	f.Add([]byte("<project><artifactId>${a}</artifactId><properties><a>${b}${b}</a><b>${a}</b></properties><build><sourceDirectory>/etc</sourceDirectory></build></project>"), []byte(""), []byte("def v = '1'"), []byte("x"))
	f.Add([]byte("<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><project><artifactId>&e;</artifactId></project>"), []byte("include("), []byte("subprojects {"), []byte(""))
	f.Add([]byte("<?xml version='1.0' encoding='ISO-8859-1'?><project><artifactId>\xe9</artifactId><modules><module>../..</module><module>m</module></modules></project>"), []byte{0}, []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, pom, settings, build, catalog []byte) {
		tree := fstest.MapFS{
			"pom.xml": {Data: pom}, "m/pom.xml": {Data: pom}, "g/settings.gradle": {Data: settings}, "g/build.gradle": {Data: build},
			"g/a/build.gradle.kts": {Data: build}, "g/gradle/libs.versions.toml": {Data: catalog}, "g/gradle.properties": {Data: build},
			"m/src/main/java/p/A.java": {Data: []byte("package p;")}, "g/a/B.java": {}, "g/C.java": {},
		}
		p := semantic.Project{Root: "/nowhere", FS: tree, Content: func(path string) ([]byte, error) { return fs.ReadFile(tree, path) },
			Files: []string{"g/C.java", "g/a/B.java", "m/src/main/java/p/A.java"}}
		start := time.Now()
		l := newLayout(p, "/nowhere/home")
		for _, file := range p.Files {
			u := l.unitOf(file)
			l.complete(u)
			for _, root := range u.path {
				if !fs.ValidPath(root) {
					t.Errorf("source root %q", root)
				}
			}
			for _, entry := range u.classPath {
				if clean := path.Clean(entry); !strings.HasPrefix(clean, "/nowhere/") {
					t.Errorf("class path %q", entry)
				}
			}
		}
		for _, m := range l.modules {
			if !fs.ValidPath(m.Dir) {
				t.Errorf("module %+v", m.Module)
			}
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// FuzzHeader reads the top of any file.
func FuzzHeader(f *testing.F) {
	for _, c := range structures {
		f.Add([]byte(c.source))
	}
	f.Add([]byte("@A(\"\\\") package x"))
	f.Add([]byte("/*"))
	f.Fuzz(func(t *testing.T, source []byte) {
		packageOf(source)
		moduleOf(source)
		mayDeclare("A.java", source, "A")
	})
}

func TestHeader(t *testing.T) {
	for source, want := range map[string]string{
		"package a.b;": "a.b",
		"\ufeff// package no;\n/* package no; */package a":  "a",
		"@A(x = \")\", y = @B('\\'')) @p.C package a . b ;": "a.b",
		"import a.b; class X {}":                            "",
		"":                                                  "",
		"class package {}":                                  "",
	} {
		if got := packageOf([]byte(source)); got != want {
			t.Errorf("packageOf(%q) = %q, want %q", source, got, want)
		}
	}
	for source, want := range map[string]string{
		"import a.B; @B(1) open module a.b.c {}": "a.b.c",
		"/** module x */ module m{}":             "m",
		"package x;":                             "",
		"module":                                 "",
	} {
		if got := moduleOf([]byte(source)); got != want {
			t.Errorf("moduleOf(%q) = %q, want %q", source, got, want)
		}
	}
}
