//go:build javatree

package java

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

// picked is a declaration and the class whose file holds it, by its binary name.
type picked struct {
	candidate
	class string
	inner bool // the class holds a reference to an outer one
	enum  bool
	name  string
}

// collect lists the types and members of parsed files.
func collect(files []semantic.File, parsed []semantic.Parsed) (all []picked) {
	for i, p := range parsed {
		ordinal := 0
		var visit func(ds []semantic.Declaration, outer *picked, kind string)
		visit = func(ds []semantic.Declaration, outer *picked, outerKind string) {
			for _, d := range ds {
				one := picked{candidate: candidate{file: files[i], ordinal: ordinal}, name: d.QualifiedName}
				ordinal++
				switch d.Kind {
				case "package", "module":
					continue
				case "class", "interface", "enum", "record", "annotation":
					one.class, one.enum = d.QualifiedName, d.Kind == "enum"
					if outer != nil {
						one.class = outer.class + "$" + d.Name
						one.inner = d.Kind == "class" && !slices.Contains(d.Modifiers, "static") && outerKind != "interface" && outerKind != "annotation"
					}
				default:
					one.class, one.inner, one.enum = outer.class, outer.inner, outer.enum
				}
				all = append(all, one)
				visit(d.Children, &one, d.Kind)
			}
		}
		visit(p.Declarations, nil, "")
	}
	return all
}

// TestTreeResolve compares what the compiler says about 200 types and members with
// what javap reads from the JDK's own class files.
func TestTreeResolve(t *testing.T) {
	root, paths := javaTree(t)
	project := projectAt(t, root)
	f := ownFrontEnd(t, Options{ResolveTime: 10 * time.Minute})
	files := readFiles(t, root, sample(t, paths, 400))
	parsed, err := f.Parse(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	// The sources of one system have classes that are compiled for another only.
	listed, err := exec.Command(filepath.Join(f.Status().Home, "bin", "jmod"), "list", filepath.Join(f.Status().Home, "jmods", "java.base.jmod")).Output()
	if err != nil {
		t.Fatal(err)
	}
	compiled := map[string]bool{}
	for line := range strings.Lines(string(listed)) {
		compiled[strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "classes/"), ".class"), "/", ".")] = true
	}
	all := slices.DeleteFunc(collect(files, parsed), func(c picked) bool { return !compiled[c.class] })
	chosen := sample(t, all, 200)
	slices.SortFunc(chosen, func(a, b picked) int { return strings.Compare(a.file.Path, b.file.Path) })
	r := &resolution{frontEnd: f, layout: f.layout(project), project: project, read: map[string]bool{}}
	classes := map[string]picked{}
	var candidates []candidate
	for _, c := range chosen {
		c.unit = r.layout.unitOf(c.file.Path)
		candidates = append(candidates, c.candidate)
	}
	start := time.Now()
	if err := r.compileAll(t.Context(), candidates, ""); err != nil {
		t.Fatal(err)
	}
	got := slices.Clone(r.declarations)
	a := r.finish()
	t.Logf("%d declarations resolved in %v, %d files read, helper %d MiB resident; complete %v, bound %v, %d errors; limitations %q",
		len(got), time.Since(start).Round(time.Millisecond), a.InputCoverage.Files, f.Status().RSS>>20, a.InputCoverage.Complete, a.BindingComplete, a.DiagnosticCoverage.Errors, a.Limitations)
	if len(got) != len(chosen) {
		t.Fatalf("%d declarations for %d candidates", len(got), len(chosen))
	}
	if !a.BindingComplete || !a.InputCoverage.Complete {
		t.Errorf("%+v", a.InputCoverage)
	}
	for _, c := range chosen {
		classes[c.class] = c
	}
	read := javap(t, f.Status().Home, classes)
	kinds := map[string]int{}
	differences := 0
	for i, d := range got {
		kinds[d.Kind]++
		if d.QualifiedName != chosen[i].name {
			t.Fatalf("answer %d is about %s, asked about %s", i, d.QualifiedName, chosen[i].name)
		}
		if why := compare(d, chosen[i], read[chosen[i].class]); why != "" {
			differences++
			t.Errorf("%s %s %+v: %s\n%s", d.Kind, d.QualifiedName, *d.Facts, why, strings.Join(read[chosen[i].class], "\n"))
		}
	}
	t.Logf("%d compared, %d differ: %v", len(got), differences, kinds)
}

// javap prints classes of java.base, each as its header, then two lines a member.
func javap(t *testing.T, home string, classes map[string]picked) map[string][]string {
	t.Helper()
	read := map[string][]string{}
	for class := range classes {
		out, err := exec.Command(filepath.Join(home, "bin", "javap"), "-p", "-s", "--module", "java.base", class).Output()
		if err != nil {
			t.Fatalf("javap %s: %v", class, err)
		}
		for line := range strings.Lines(string(out)) {
			line = strings.TrimSpace(line)
			if line != "" && line != "}" && !strings.HasPrefix(line, "Compiled from") {
				read[class] = append(read[class], strings.ReplaceAll(strings.TrimRight(line, ";{ "), "$", "."))
			}
		}
		if len(read[class]) == 0 {
			t.Fatalf("javap %s printed nothing", class)
		}
	}
	return read
}

var modifierWords = regexp.MustCompile(`^((?:public|protected|private|static|final|abstract|native|synchronized|transient|volatile|default|strictfp|sealed|non-sealed) )*`)

// only keeps the modifiers that a class file has.
func only(modifiers []string, drop ...string) []string {
	kept := slices.DeleteFunc(slices.Clone(modifiers), func(m string) bool {
		return slices.Contains(append(drop, "sealed", "non-sealed", "strictfp", "default"), m)
	})
	slices.Sort(kept)
	return kept
}

func compare(d semantic.Declaration, c picked, lines []string) string {
	switch d.Kind {
	case "class", "interface", "enum", "record", "annotation":
		return compareType(d, lines[0])
	}
	for i := 1; i+1 < len(lines); i += 2 {
		if why, same := compareMember(d, c, lines[i], strings.TrimPrefix(lines[i+1], "descriptor: ")); same {
			return why
		}
	}
	return "javap has no such member"
}

// compareType compares with "public final class p.C<T> extends p.D<T> implements p.I".
func compareType(d semantic.Declaration, header string) string {
	modifiers := strings.Fields(modifierWords.FindString(header))
	rest := header[len(modifierWords.FindString(header)):]
	keyword, rest, _ := strings.Cut(rest, " ")
	wantKeyword := map[string]string{"interface": "interface", "annotation": "interface"}[d.Kind]
	if wantKeyword == "" {
		wantKeyword = "class"
	}
	if keyword != wantKeyword {
		return "it is a " + keyword
	}
	// Whether a member type is static or private is not in its own flags.
	drop := []string{"public", "protected", "private", "static"}
	if keyword == "interface" {
		drop = append(drop, "abstract")
	}
	if g, w := only(d.Modifiers, drop...), only(modifiers, drop...); !slices.Equal(g, w) {
		return "its modifiers are " + strings.Join(w, " ")
	}
	supertypes := slices.Clone(d.Facts.Supertypes)
	// A class file names an inner class without the arguments of the outer one.
	got := withoutBounds(outerArguments.ReplaceAllString(d.Facts.GenericType, "."))
	if wantKeyword == "class" {
		if len(supertypes) > 0 {
			if supertypes[0] != "java.lang.Object" {
				got += " extends " + supertypes[0]
			}
			supertypes = supertypes[1:]
		}
		if len(supertypes) > 0 {
			got += " implements "
		}
	} else if len(supertypes) > 0 {
		got += " extends "
	}
	got += strings.Join(supertypes, ", ")
	if normal(got) != normal(headerWithoutBounds(rest)) {
		return "javap says " + normal(headerWithoutBounds(rest)) + ", not " + normal(got)
	}
	return ""
}

var outerArguments = regexp.MustCompile(`<[^<>]*>\.`)

// headerWithoutBounds takes the bounds out of the type parameters behind the name.
func headerWithoutBounds(header string) string {
	i := strings.IndexAny(header, "< ")
	if i < 0 || header[i] == ' ' {
		return header
	}
	end := closing(header, i)
	return header[:i] + withoutBounds(header[i:end]) + header[end:]
}

// withoutBounds is "<A, B>" for "<A extends X<A>, B>".
func withoutBounds(parameters string) string {
	out, depth, skip := "", 0, false
	for i := 0; i < len(parameters); i++ {
		switch parameters[i] {
		case '<':
			depth++
		case '>':
			depth--
		case ',':
			if depth == 1 {
				skip = false
			}
		}
		if depth == 1 && strings.HasPrefix(parameters[i:], " extends ") && !strings.HasSuffix(out, "?") {
			skip = true
		}
		if !skip || depth == 0 {
			out += string(parameters[i])
		}
	}
	return out
}

func closing(text string, open int) int {
	depth := 0
	for i := open; i < len(text); i++ {
		switch text[i] {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

func normal(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, ", ", ","), "...", "[]")
}

// compareMember reports whether the line is about the member, by name and
// descriptor, and what else differs.
func compareMember(d semantic.Declaration, c picked, line, descriptor string) (string, bool) {
	modifiers := strings.Fields(modifierWords.FindString(line))
	rest := line[len(modifierWords.FindString(line)):]
	if throws := strings.Index(rest, " throws "); throws >= 0 {
		rest = rest[:throws]
	}
	parameters := ""
	if strings.HasPrefix(rest, "<") {
		end := closing(rest, 0)
		parameters, rest = rest[:end], strings.TrimSpace(rest[end:])
	}
	arguments, callable := "", false
	if open := strings.IndexByte(rest, '('); open >= 0 {
		arguments, rest, callable = rest[open:], rest[:open], true
	}
	space := strings.LastIndexByte(rest, ' ')
	result, name := "void", rest
	if space >= 0 {
		result, name = rest[:space], rest[space+1:]
	} else {
		name = d.Name // a constructor, which javap names by its class
	}
	if (d.Kind == "constructor") != (space < 0) || name != d.Name || callable != strings.HasPrefix(d.Facts.ErasedType, "(") {
		return "", false
	}
	erased := undescribed(descriptor)
	if d.Kind == "constructor" {
		synthetic := 0
		if c.enum {
			synthetic = 2
		} else if c.inner {
			synthetic = 1
		}
		shorter := dropArguments(erased, synthetic)
		if strings.Count(arguments, ",") == strings.Count(erased, ",") && arguments != "()" && normal(arguments) == normal(erased[:strings.IndexByte(erased, ')')+1]) {
			arguments = dropArguments(arguments, synthetic) // there is no generic signature
		}
		erased = shorter
	}
	if normal(erased) != normal(d.Facts.ErasedType) {
		return "", false
	}
	if g, w := only(d.Modifiers), only(modifiers); !slices.Equal(g, w) {
		return "its modifiers are " + strings.Join(w, " "), true
	}
	generic := result
	if callable {
		generic = parameters + arguments + result
	}
	if normal(generic) != normal(d.Facts.GenericType) {
		return "its generic type is " + generic, true
	}
	return "", true
}

// dropArguments takes the first n away from "(a, b)c".
func dropArguments(signature string, n int) string {
	for range n {
		end := strings.IndexAny(signature, ",)")
		if end < 0 || signature[1:end] == "" {
			return signature
		}
		signature = "(" + strings.TrimLeft(strings.TrimPrefix(signature[end:], ","), " ")
	}
	return signature
}

var primitives = map[byte]string{'V': "void", 'Z': "boolean", 'B': "byte", 'C': "char", 'S': "short", 'I': "int", 'J': "long", 'F': "float", 'D': "double"}

// undescribed is "(int,java.lang.String[])void" for "(I[Ljava/lang/String;)V".
func undescribed(descriptor string) string {
	out, separator := "", ""
	for i := 0; i < len(descriptor); {
		switch descriptor[i] {
		case '(':
			out, separator = out+"(", ""
			i++
			continue
		case ')':
			out, separator = out+")", ""
			i++
			continue
		}
		dimensions := 0
		for descriptor[i] == '[' {
			dimensions++
			i++
		}
		name := primitives[descriptor[i]]
		if descriptor[i] == 'L' {
			end := i + strings.IndexAny(descriptor[i:]+";", ";")
			name = strings.ReplaceAll(descriptor[i+1:end], "/", ".")
			i = end
		}
		i++
		out += separator + name + strings.Repeat("[]", dimensions)
		separator = ","
	}
	return out
}
