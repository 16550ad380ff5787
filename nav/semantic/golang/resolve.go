package golang

import (
	"cmp"
	"go/types"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

// maxDeclarations is how many declarations one name may have in an answer.
const maxDeclarations = 10_000

// resolve answers one question about the loaded program.
func (p *program) resolve(q semantic.Query) semantic.Resolution {
	r := semantic.Resolution{
		FrontEnd:     "go/types of " + runtime.Version() + " with " + p.version,
		Declarations: []semantic.Declaration{}, InputCoverage: p.coverage, BindingComplete: true, DiagnosticCoverage: p.diagnostics,
		Limitations: []string{
			"erasedType is empty: Go erases nothing",
			"implements lists plain interfaces with methods of the packages that the project is made of or imports; generic ones are not tried",
		},
	}
	name := normal(q.Name)
	found := p.named(name)
	for _, d := range found {
		p.answer(&r, &q, d, "")
	}
	if len(found) == 0 {
		for _, d := range p.promoted(name) {
			p.answer(&r, &q, d.place, d.from)
		}
	}
	if len(r.Declarations) == 0 && len(found) == 0 {
		for _, d := range p.imported(name) {
			p.answer(&r, &q, d.place, d.from)
		}
	}
	return r
}

// normal drops what is written around a receiver: (*T).M is T.M.
func normal(name string) string {
	return strings.NewReplacer("(", "", ")", "", "*", "").Replace(strings.TrimSpace(name))
}

// answer adds a declaration to a resolution, if it passes the filters.
func (p *program) answer(r *semantic.Resolution, q *semantic.Query, d *place, from string) {
	if q.Kind != "" && d.Kind != q.Kind || q.Module != "" && d.module != q.Module || q.Scope != "" && d.scope != q.Scope {
		return
	}
	if len(r.Declarations) == maxDeclarations {
		r.Limitations = append(r.Limitations, "more declarations have this name; qualify it")
		return
	}
	out := d.Declaration
	out.Module = d.module
	out.Facts = p.facts(d)
	out.Facts.PromotedFrom = from
	if d.object == nil || strings.Contains(out.Facts.GenericType, "invalid type") || slices.ContainsFunc(out.Facts.Supertypes, invalid) {
		r.BindingComplete = false
	}
	r.Declarations = append(r.Declarations, out)
}

func invalid(typ string) bool { return strings.Contains(typ, "invalid type") }

// named are the declarations of the project with a simple or qualified name.
func (p *program) named(name string) (list []*place) {
	for _, d := range p.byName[name[strings.LastIndexByte(name, '.')+1:]] {
		if d.is(name) {
			list = append(list, d)
		}
	}
	return list
}

// is reports whether a declaration goes by this name: qualified in whole, from
// the right at a dot, or with the last elements or the name of its package.
func (d *place) is(name string) bool {
	full := d.QualifiedName
	inner := strings.TrimPrefix(full, d.pkg.Path()+".")
	if name == full || name == inner || strings.HasSuffix(inner, "."+name) || name == d.pkg.Name()+"."+inner {
		return true
	}
	return strings.HasSuffix(full, "/"+name)
}

// member is a declaration that was reached through another type.
type member struct {
	*place
	from string
}

// promoted finds T.m where an embedded type of T declares m.
func (p *program) promoted(name string) (list []member) {
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 {
		return nil
	}
	for _, owner := range p.named(name[:dot]) {
		if obj, ok := owner.object.(*types.TypeName); ok {
			if m, ok := p.memberOf(obj, name[dot+1:]); ok {
				list = append(list, m)
			}
		}
	}
	return list
}

// memberOf looks a field or method up in a type and in what it embeds.
func (p *program) memberOf(owner *types.TypeName, name string) (member, bool) {
	obj, _, _ := types.LookupFieldOrMethod(owner.Type(), true, owner.Pkg(), name)
	if obj == nil {
		return member{}, false
	}
	m := member{place: p.placeOf(obj, containerOf(obj, owner))}
	if named := namedOf(owner.Type()); named != nil && m.Container != qualified(named.Obj()) {
		m.from = m.Container
	}
	return m, true
}

// placeOf is the declaration of an object; what lies outside the project has no
// path.
func (p *program) placeOf(obj types.Object, container string) *place {
	if d := p.byPos[p.fset.Position(obj.Pos()).String()]; d != nil {
		return d
	}
	d := &place{object: obj, pkg: obj.Pkg(), scope: "main"}
	d.Declaration = semantic.Declaration{
		Name: obj.Name(), QualifiedName: container + "." + obj.Name(), Container: container, Kind: kindOf(obj), Signature: signatureOf(obj),
	}
	if obj.Pkg() != nil {
		d.module = p.modules[obj.Pkg().Path()]
	}
	return d
}

// containerOf is the qualified name of the type or package that declares an
// object which was found in owner.
func containerOf(obj types.Object, owner *types.TypeName) string {
	if fn, ok := obj.(*types.Func); ok {
		if recv := fn.Signature().Recv(); recv != nil {
			if named := namedOf(recv.Type()); named != nil {
				return qualified(named.Obj())
			}
		}
	}
	if v, ok := obj.(*types.Var); ok && v.IsField() {
		return fieldOwner(v, owner)
	}
	if obj.Pkg() == nil {
		return "builtin"
	}
	return obj.Pkg().Path()
}

// fieldOwner finds the struct type that declares a field, in a type or in what
// it embeds.
func fieldOwner(field *types.Var, owner *types.TypeName) string {
	seen := map[*types.Named]bool{}
	var find func(t types.Type) string
	find = func(t types.Type) string {
		named := namedOf(t)
		if named == nil || seen[named] {
			return ""
		}
		seen[named] = true
		s, ok := named.Underlying().(*types.Struct)
		for i := 0; ok && i < s.NumFields(); i++ {
			f := s.Field(i)
			if f.Origin() == field.Origin() {
				return qualified(named.Obj())
			}
			if f.Embedded() {
				if found := find(f.Type()); found != "" {
					return found
				}
			}
		}
		return ""
	}
	return cmp.Or(find(owner.Type()), qualified(owner))
}

// imported finds qualified names outside the project: "fmt.Stringer",
// "net/http.Client.Do". A whole import path goes before the last element of one or
// the name of a package.
func (p *program) imported(name string) (list []member) {
	list = p.importedAs(name, func(pkg *types.Package) []string { return []string{pkg.Path()} })
	if len(list) == 0 && !strings.Contains(name, "/") {
		list = p.importedAs(name, func(pkg *types.Package) []string { return []string{path.Base(pkg.Path()), pkg.Name()} })
	}
	return list
}

func (p *program) importedAs(name string, spellings func(*types.Package) []string) (list []member) {
	seen := map[string]bool{}
	for _, pkg := range p.packages {
		inner := ""
		for _, s := range spellings(pkg) {
			if rest, ok := strings.CutPrefix(name, s+"."); ok {
				inner = rest
			}
		}
		typ, m, several := strings.Cut(inner, ".")
		obj := pkg.Scope().Lookup(typ)
		if obj == nil || seen[pkg.Path()] {
			continue
		}
		seen[pkg.Path()] = true
		if !several {
			list = append(list, member{place: p.placeOf(obj, pkg.Path())})
		} else if owner, ok := obj.(*types.TypeName); ok {
			if found, ok := p.memberOf(owner, m); ok {
				list = append(list, found)
			}
		}
	}
	return list
}

// collectInterfaces keeps the interfaces that a type of the project can
// implement.
func (p *program) collectInterfaces(roots []*packages.Package) {
	own := map[string]bool{}
	for _, r := range roots {
		own[r.PkgPath] = true
	}
	for _, pkg := range p.packages {
		private := strings.Contains("/"+pkg.Path()+"/", "/internal/") || strings.HasPrefix(pkg.Path(), "vendor/")
		if private && !own[pkg.Path()] {
			continue
		}
		for _, name := range pkg.Scope().Names() {
			obj, ok := pkg.Scope().Lookup(name).(*types.TypeName)
			if ok && (obj.Exported() || own[pkg.Path()]) && implementable(obj.Type()) {
				p.interfaces = append(p.interfaces, obj)
			}
		}
	}
	p.interfaces = append(p.interfaces, types.Universe.Lookup("error").(*types.TypeName))
}

func implementable(t types.Type) bool {
	if named, ok := t.(*types.Named); !ok || named.TypeParams().Len() > 0 {
		return false
	}
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.IsMethodSet() && i.NumMethods() > 0
}
