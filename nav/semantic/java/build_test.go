package java

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

// facts is one declaration of an answer on a few lines.
func facts(d semantic.Declaration) string {
	var out strings.Builder
	line := func(name, value string) {
		if value != "" {
			out.WriteString(name + ": " + value + "\n")
		}
	}
	line(d.Kind, d.QualifiedName)
	line("at", d.Path+":"+strings.Repeat("I", d.Line))
	line("in", d.Module)
	line("modifiers", strings.Join(d.Modifiers, " "))
	if f := d.Facts; f != nil {
		line("scope", f.Scope)
		line("erased", f.ErasedType)
		line("generic", f.GenericType)
		line("supertypes", strings.Join(f.Supertypes, " | "))
		line("overrides", strings.Join(f.Overrides, " | "))
		line("implements", strings.Join(f.Implements, " | "))
		line("annotations", strings.Join(f.Annotations, " | "))
		line("promoted from", f.PromotedFrom)
	}
	return out.String()
}

// one asks for what must have exactly one declaration.
func one(t *testing.T, f *FrontEnd, p semantic.Project, q semantic.Query) (semantic.Declaration, semantic.Resolution) {
	t.Helper()
	r := resolve(t, f, p, q)
	if len(r.Declarations) != 1 {
		t.Fatalf("Resolve(%+v) has %d declarations: %+v", q, len(r.Declarations), r)
	}
	return r.Declarations[0], r
}

// putLibrary packs the classes of a package into a jar of the local repository.
func putLibrary(t *testing.T, repository, artifact, version, dependencies, classes string) {
	t.Helper()
	dir := filepath.Join(repository, "com", "acme", artifact, version)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var jar bytes.Buffer
	w := zip.NewWriter(&jar)
	pkg := "com/acme/" + artifact
	entries, err := os.ReadDir(filepath.Join(classes, pkg))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(classes, pkg, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		entry, err := w.Create(pkg + "/" + e.Name())
		if err == nil {
			_, err = entry.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	pom := "<project><groupId>com.acme</groupId><artifactId>" + artifact + "</artifactId><version>" + version + "</version>" + dependencies + "</project>"
	for suffix, content := range map[string][]byte{".jar": jar.Bytes(), ".pom": []byte(pom)} {
		if err := os.WriteFile(filepath.Join(dir, artifact+"-"+version+suffix), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// withHome is a front end for a user whose home holds a local repository; it shares
// the helper.
func withHome(t *testing.T, home string) *FrontEnd {
	t.Helper()
	f := frontEnd(t)
	saved := f.options.Getenv
	f.options.Getenv = func(name string) string {
		if name == "HOME" {
			return home
		}
		return saved(name)
	}
	t.Cleanup(func() { f.options.Getenv = saved })
	return f
}

const mavenTree = `
-- pom.xml --
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <groupId>org.example</groupId><artifactId>parent</artifactId><version>1</version><packaging>pom</packaging>
  <modules><module>api</module><module>app</module></modules>
  <properties><kit.version>2.0</kit.version><maven.compiler.source>11</maven.compiler.source></properties>
  <dependencyManagement><dependencies>
    <dependency><groupId>com.acme</groupId><artifactId>kit</artifactId><version>${kit.version}</version></dependency>
  </dependencies></dependencyManagement>
</project>
-- api/pom.xml --
<project>
  <parent><groupId>org.example</groupId><artifactId>parent</artifactId><version>1</version></parent>
  <artifactId>api</artifactId>
</project>
-- api/src/main/java/org/example/api/Store.java --
package org.example.api;
public interface Store<K, V> {
  V find(K key);
  default int size() { return 0; }
}
-- app/pom.xml --
<project>
  <parent><groupId>org.example</groupId><artifactId>parent</artifactId><version>1</version></parent>
  <artifactId>app</artifactId>
  <build><sourceDirectory>source</sourceDirectory></build>
  <dependencies>
    <dependency><groupId>org.example</groupId><artifactId>api</artifactId><version>${project.version}</version></dependency>
    <dependency><groupId>com.acme</groupId><artifactId>kit</artifactId></dependency>
    <dependency><groupId>com.gone</groupId><artifactId>gone</artifactId><version>9</version></dependency>
  </dependencies>
</project>
-- app/source/org/example/app/Memory.java --
package org.example.app;
import com.acme.kit.Base;
import com.acme.core.Mark;
import java.util.List;
import org.example.api.Store;
public class Memory extends Base<String> implements Store<String, List<Long>> {
  @Mark(7) @Override public List<Long> find(String key) { return null; }
  @Override protected void close(String what) { int wrong = "text"; }
  static final int LIMIT = 3;
}
-- app/source/org/example/app/Partial.java --
package org.example.app;
import com.gone.Missing;
class Partial extends Missing {
  Missing lost(int kept) { return null; }
  int whole() { return 1; }
}
-- app/source/org/example/app/Unsure.java --
package org.example.app;
class Unsure implements org.example.api.Store<String, Long> { public Long find(com.gone.Missing key) { return null; } }
-- app/source/org/example/app/Broken.java --
package org.example.app;
class Broken {
  void before() {}
  void during( { }
  void after(Memory m) {}
}
-- app/src/test/java/org/example/app/MemoryTest.java --
package org.example.app;
class MemoryTest { Memory subject; }
`

// mavenHome is a home whose local repository holds kit 2.0, which needs core 1. The
// tests share it, since it takes a compiler to make.
func mavenHome(t *testing.T) string {
	t.Helper()
	frontEnd(t)
	home := filepath.Join(shared.dir, "home")
	if _, err := os.Stat(home); err == nil {
		return home
	}
	sources := write(t, `
-- Mark.java --
package com.acme.core;
public @interface Mark { int value(); }
-- Base.java --
package com.acme.kit;
public class Base<T> { protected void close(T what) {} public T inherited(int times) { return null; } }
`)
	classes := t.TempDir()
	javac := filepath.Join(shared.options.Getenv("JAVA_HOME"), "bin", "javac")
	cmd := exec.Command(javac, "-proc:none", "-d", classes, filepath.Join(sources, "Mark.java"), filepath.Join(sources, "Base.java"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	repository := filepath.Join(home, ".m2", "repository")
	putLibrary(t, repository, "core", "1", "", classes)
	putLibrary(t, repository, "kit", "2.0", `<dependencies><dependency><groupId>com.acme</groupId><artifactId>core</artifactId><version>1</version></dependency></dependencies>`, classes)
	return home
}

func TestMaven(t *testing.T) {
	f := withHome(t, mavenHome(t))
	p := projectAt(t, write(t, mavenTree))
	modules, err := f.Modules(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if want := []semantic.Module{{ID: "org.example:parent", Dir: ".", File: "pom.xml"}, {ID: "org.example:api", Dir: "api", File: "api/pom.xml"}, {ID: "org.example:app", Dir: "app", File: "app/pom.xml"}}; !slices.Equal(modules, want) {
		t.Errorf("modules %v, want %v", modules, want)
	}
	cases := []struct {
		query semantic.Query
		want  string
	}{
		{semantic.Query{Name: "org.example.app.Memory"}, `class: org.example.app.Memory
at: app/source/org/example/app/Memory.java:IIIIII
in: org.example:app
modifiers: public
scope: main
erased: org.example.app.Memory
generic: org.example.app.Memory
supertypes: com.acme.kit.Base<java.lang.String> | org.example.api.Store<java.lang.String, java.util.List<java.lang.Long>>
`},
		{semantic.Query{Name: "Memory#find"}, `method: org.example.app.Memory.find
at: app/source/org/example/app/Memory.java:IIIIIII
in: org.example:app
modifiers: public
scope: main
erased: (java.lang.String)java.util.List
generic: (java.lang.String)java.util.List<java.lang.Long>
implements: org.example.api.Store.find(java.lang.Object)
annotations: @com.acme.core.Mark(7) | @java.lang.Override
`},
		{semantic.Query{Name: "Memory.close", Kind: "method", Module: "org.example:app", Scope: "main"}, `method: org.example.app.Memory.close
at: app/source/org/example/app/Memory.java:IIIIIIII
in: org.example:app
modifiers: protected
scope: main
erased: (java.lang.String)void
generic: (java.lang.String)void
overrides: com.acme.kit.Base.close(java.lang.Object)
annotations: @java.lang.Override
`},
		{semantic.Query{Name: "Memory.size"}, `method: org.example.api.Store.size
at: api/src/main/java/org/example/api/Store.java:IIII
in: org.example:api
modifiers: default public
scope: main
erased: ()int
generic: ()int
promoted from: org.example.api.Store
`},
		{semantic.Query{Name: "Memory.inherited"}, `method: com.acme.kit.Base.inherited
at: :
modifiers: public
erased: (int)java.lang.Object
generic: (int)T
promoted from: com.acme.kit.Base
`},
		{semantic.Query{Name: "subject", Scope: "test"}, `field: org.example.app.MemoryTest.subject
at: app/src/test/java/org/example/app/MemoryTest.java:II
in: org.example:app
scope: test
erased: org.example.app.Memory
generic: org.example.app.Memory
`},
	}
	for _, c := range cases {
		d, r := one(t, f, p, c.query)
		if got := facts(d); got != c.want {
			t.Errorf("%+v: got\n%swant\n%s", c.query, got, c.want)
		}
		if !r.BindingComplete || !r.InputCoverage.Complete {
			t.Errorf("%+v: %+v", c.query, r)
		}
		if c.query.Name == "Memory#find" {
			if want := []string{"the library com.gone:gone:9 of the main sources of org.example:app is not on this machine"}; !slices.Equal(r.Limitations, want) {
				t.Errorf("limitations %q, want %q", r.Limitations, want)
			}
		}
	}
	for _, q := range []semantic.Query{{Name: "Memory", Module: "org.example:api"}, {Name: "Memory", Scope: "test"}, {Name: "Memory", Kind: "interface"}, {Name: "mory"}, {Name: "Memory.nothing"}} {
		if r := resolve(t, f, p, q); len(r.Declarations) != 0 {
			t.Errorf("%+v: %+v", q, r.Declarations)
		}
	}
}

// TestMavenPartly asks about what a missing library and a syntax error leave.
func TestMavenPartly(t *testing.T) {
	f := withHome(t, mavenHome(t))
	p := projectAt(t, write(t, mavenTree))

	d, r := one(t, f, p, semantic.Query{Name: "Memory.close"})
	if r.DiagnosticCoverage.Errors == 0 || !r.DiagnosticCoverage.Complete || !strings.Contains(r.DiagnosticCoverage.Problems[0].Message, "incompatible types") ||
		r.DiagnosticCoverage.Problems[0].Path != d.Path || r.DiagnosticCoverage.Problems[0].Line != d.Line {
		t.Errorf("the error in a body: %+v", r.DiagnosticCoverage)
	}

	d, r = one(t, f, p, semantic.Query{Name: "Partial.lost"})
	if d.Facts.ErasedType != "(int)Missing" || r.BindingComplete || r.DiagnosticCoverage.Errors == 0 {
		t.Errorf("%s%+v", facts(d), r)
	}
	if !slices.Contains(r.Limitations, "the type Missing could not be bound") {
		t.Errorf("limitations %q", r.Limitations)
	}

	d, r = one(t, f, p, semantic.Query{Name: "Partial"})
	if !slices.Equal(d.Facts.Supertypes, []string{"Missing"}) || r.BindingComplete {
		t.Errorf("%s%+v", facts(d), r)
	}

	// To the compiler, an unbound parameter would fit every method of an interface.
	d, r = one(t, f, p, semantic.Query{Name: "Unsure.find"})
	if len(d.Facts.Implements) != 0 || r.BindingComplete {
		t.Errorf("%s%+v", facts(d), r)
	}

	d, r = one(t, f, p, semantic.Query{Name: "Broken.after"})
	if d.Facts.ErasedType != "(org.example.app.Memory)void" || d.Line != 5 || !r.BindingComplete {
		t.Errorf("%s%+v", facts(d), r)
	}
	if reasons := []string{"app/source/org/example/app/Broken.java has errors of syntax"}; r.InputCoverage.Complete || !slices.Equal(r.InputCoverage.Reasons, reasons) {
		t.Errorf("coverage %+v, want %q", r.InputCoverage, reasons)
	}
	if r.InputCoverage.Files == 0 || r.InputCoverage.Bytes == 0 {
		t.Errorf("coverage %+v", r.InputCoverage)
	}
}

// TestNothingOfTheProjectRuns offers the compiler a plugin that starts itself and an
// annotation processor, in the classes of a build and as a library.
func TestNothingOfTheProjectRuns(t *testing.T) {
	f := withHome(t, mavenHome(t))
	mark := filepath.Join(t.TempDir(), "ran")
	root := write(t, `
-- pom.xml --
<project><groupId>g</groupId><artifactId>a</artifactId><version>1</version></project>
-- src/main/java/p/A.java --
package p;
public class A { int field; }
-- evil/Evil.java --
import com.sun.source.util.*;
import javax.annotation.processing.*;
import javax.lang.model.element.TypeElement;
import java.util.Set;
public class Evil extends AbstractProcessor implements Plugin {
  public String getName() { return "Evil"; }
  public boolean autoStart() { return true; }
  public void init(JavacTask task, String... args) { run(); }
  public boolean process(Set<? extends TypeElement> a, RoundEnvironment e) { return false; }
  public Set<String> getSupportedAnnotationTypes() { run(); return Set.of("*"); }
  static void run() { try { new java.io.File("`+mark+`").createNewFile(); } catch (java.io.IOException e) {} }
}
-- target/classes/META-INF/services/com.sun.source.util.Plugin --
Evil
-- target/classes/META-INF/services/javax.annotation.processing.Processor --
Evil
`)
	javac := filepath.Join(shared.options.Getenv("JAVA_HOME"), "bin", "javac")
	classes := filepath.Join(root, "target", "classes")
	if out, err := exec.Command(javac, "-proc:none", "-d", classes, filepath.Join(root, "evil", "Evil.java")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.RemoveAll(filepath.Join(root, "evil")); err != nil {
		t.Fatal(err)
	}
	// The trap works: the compiler itself walks into it.
	exec.Command(javac, "-cp", classes, "-d", t.TempDir(), filepath.Join(root, "src/main/java/p/A.java")).Run()
	if err := os.Remove(mark); err != nil {
		t.Fatalf("the trap does not work: %v", err)
	}
	p := projectAt(t, root)
	d, _ := one(t, f, p, semantic.Query{Name: "p.A.field"})
	if d.Facts.ErasedType != "int" {
		t.Error(facts(d))
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("code of the project ran")
	}
	if after := projectAt(t, root); !slices.Equal(after.Files, p.Files) {
		t.Errorf("files of the project: %q, before %q", after.Files, p.Files)
	}
}

func TestGradle(t *testing.T) {
	f := withHome(t, mavenHome(t))
	p := projectAt(t, write(t, `
-- settings.gradle.kts --
rootProject.name = "build" // include(":not")
include(":core", ":apps:web")
project(":apps:web").projectDir = file("web")
-- gradle/libs.versions.toml --
[versions]
kit = "2.0"
[libraries]
acme-kit = { module = "com.acme:kit", version.ref = "kit" }
-- core/build.gradle --
dependencies {
  /* implementation 'com.not:there:1' */
  implementation libs.acme.kit
}
-- core/src/main/java/c/Core.java --
package c;
public class Core extends com.acme.kit.Base<Integer> { public record Pair(int left) {} }
-- web/build.gradle.kts --
dependencies {
  implementation(project(":core"))
  implementation("com.gone:gone:$goneVersion")
  implementation(platformOf("x"))
}
-- gradle.properties --
goneVersion=7
-- web/src/main/java/w/Web.java --
package w;
class Web { c.Core core; }
-- web/src/integrationTest/java/w/WebIT.java --
package w;
class WebIT { Web web; }
`))
	d, r := one(t, f, p, semantic.Query{Name: "Web.core"})
	if d.Facts.ErasedType != "c.Core" || d.Module != ":apps:web" || !r.BindingComplete {
		t.Errorf("%s%+v", facts(d), r)
	}
	want := []string{"the library com.gone:gone:7 of the main sources of :apps:web is not on this machine",
		`web: the dependency "implementation platformOf(\"x\"))" takes a program to understand`}
	if !slices.Equal(r.Limitations, want) {
		t.Errorf("limitations %q, want %q", r.Limitations, want)
	}
	if d, _ := one(t, f, p, semantic.Query{Name: "Core"}); !slices.Equal(d.Facts.Supertypes, []string{"com.acme.kit.Base<java.lang.Integer>"}) || d.Module != ":core" {
		t.Error(facts(d))
	}
	if d, _ := one(t, f, p, semantic.Query{Name: "WebIT.web"}); d.Facts.ErasedType != "w.Web" || d.Facts.Scope != "test" {
		t.Error(facts(d))
	}
}

func TestWithoutABuild(t *testing.T) {
	root := write(t, `
-- code/a/b/One.java --
package a.b;
class One<T> { Two two; class Inner { T held; } void m(Two.Deep d) {} void m(int i) {} }
-- code/a/b/Two.java --
// package no;
/** @see package */
package
  a . b;
enum Two { X { void in() {} }; static class Deep {} }
-- tests/a/b/OneTest.java --
package a.b;
class OneTest { One<String> one; }
-- odd/Lonely.java --
package not.here;
class Lonely { int x; }
-- mod/module-info.java --
@Deprecated module the.mod { requires java.logging; }
-- mod/q/package-info.java --
@Deprecated
package q;
-- mod/q/Q.java --
package q;
class Q { java.util.logging.Logger log; }
`)
	if err := os.Symlink("..", filepath.Join(root, "code", "loop")); err != nil {
		t.Fatal(err)
	}
	p := projectAt(t, root)
	f := frontEnd(t)
	for name, want := range map[string]string{
		"One.two":           "a.b.Two",
		"held":              "java.lang.Object",
		"a.b.One.Inner":     "a.b.One.Inner",
		"OneTest.one":       "a.b.One",
		"Two.X":             "a.b.Two",
		"not.here.Lonely#x": "int",
		"Q.log":             "java.util.logging.Logger",
		"the.mod":           "",
		"q":                 "",
	} {
		d, r := one(t, f, p, semantic.Query{Name: name})
		if d.Facts == nil || d.Facts.ErasedType != want || !r.BindingComplete || !r.InputCoverage.Complete {
			t.Errorf("%s: %s%+v", name, facts(d), r)
		}
	}
	if r := resolve(t, f, p, semantic.Query{Name: "One#m"}); len(r.Declarations) != 2 || r.Declarations[0].Facts.ErasedType != "(a.b.Two.Deep)void" {
		t.Errorf("overloads: %+v", r.Declarations)
	}
	modules, _ := f.Modules(t.Context(), p)
	if want := []semantic.Module{{ID: "the.mod", Dir: "mod", File: "mod/module-info.java"}}; !slices.Equal(modules, want) {
		t.Errorf("modules %v, want %v", modules, want)
	}
}

func TestASourceDirectoryOutsideIsRefused(t *testing.T) {
	p := projectAt(t, write(t, `
-- a/pom.xml --
<project><groupId>g</groupId><artifactId>a</artifactId><build><sourceDirectory>../../out</sourceDirectory></build>
<profiles><profile><id>x</id></profile></profiles></project>
-- a/src/A.java --
class A { Outside o; }
`))
	if err := os.Symlink(write(t, "\n-- Outside.java --\nclass Outside {}"), filepath.Join(p.Root, "a", "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(p.Root, "a", "link", "Outside.java"), filepath.Join(p.Root, "a", "src", "Outside.java")); err != nil {
		t.Fatal(err)
	}
	d, r := one(t, frontEnd(t), p, semantic.Query{Name: "A.o"})
	if d.Facts.ErasedType != "Outside" || r.BindingComplete {
		t.Errorf("%s%+v", facts(d), r)
	}
	for _, want := range []string{"the source directory ../../out of g:a leads out of the tree and is not read", "the profiles of a/pom.xml are not applied"} {
		if !slices.Contains(r.Limitations, want) {
			t.Errorf("%q is not in %q", want, r.Limitations)
		}
	}
	if want := []string{"a/src/Outside.java was not read: it is too large or leads out of the tree"}; !slices.Equal(r.InputCoverage.Reasons, want) {
		t.Errorf("reasons %q, want %q", r.InputCoverage.Reasons, want)
	}
}

func TestARootThatIsALink(t *testing.T) {
	p := projectAt(t, write(t, "\n-- a/A.java --\npackage a;\nclass A { B b; }\n-- a/B.java --\npackage a;\nclass B {}"))
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(p.Root, link); err != nil {
		t.Fatal(err)
	}
	p.Root = link
	d, r := one(t, frontEnd(t), p, semantic.Query{Name: "b"})
	if d.Facts.ErasedType != "a.B" || !r.BindingComplete || !r.InputCoverage.Complete || r.InputCoverage.Files != 2 {
		t.Errorf("%s%+v", facts(d), r)
	}
}
