package golang

import (
	"go/types"
	"slices"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

// facts are what the type checker knows of a declaration.
func (p *program) facts(d *place) *semantic.Facts {
	f := &semantic.Facts{Scope: d.scope, Annotations: d.annotations}
	if d.object == nil {
		return f
	}
	f.GenericType = types.TypeString(d.object.Type(), byPath)
	switch obj := d.object.(type) {
	case *types.TypeName:
		f.Supertypes = embedded(obj.Type())
		f.Implements = p.implemented(obj)
	case *types.Func:
		if recv := obj.Signature().Recv(); recv != nil {
			f.Overrides, f.Implements = p.methodOf(obj, recv.Type())
		}
	}
	return f
}

func byPath(pkg *types.Package) string { return pkg.Path() }

func qualified(obj types.Object) string {
	if obj.Pkg() == nil {
		return obj.Name()
	}
	return obj.Pkg().Path() + "." + obj.Name()
}

// namedOf is the named type behind pointers and aliases, its generic form; nil
// when there is none.
func namedOf(t types.Type) *types.Named {
	t = types.Unalias(t)
	if ptr, ok := t.(*types.Pointer); ok {
		t = types.Unalias(ptr.Elem())
	}
	if named, ok := t.(*types.Named); ok {
		return named.Origin()
	}
	return nil
}

// embedded are the types that a struct or an interface embeds.
func embedded(t types.Type) (list []string) {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			if f := u.Field(i); f.Embedded() {
				list = append(list, types.TypeString(f.Type(), byPath))
			}
		}
	case *types.Interface:
		for i := range u.NumEmbeddeds() {
			list = append(list, types.TypeString(u.EmbeddedType(i), byPath))
		}
	}
	return list
}

// usable is a type whose methods can be compared: a generic one with its own
// parameters as arguments.
func usable(t types.Type) types.Type {
	named, ok := t.(*types.Named)
	if !ok || named.TypeParams().Len() == 0 {
		return t
	}
	var own []types.Type
	for i := range named.TypeParams().Len() {
		own = append(own, named.TypeParams().At(i))
	}
	if inst, err := types.Instantiate(nil, named, own, false); err == nil {
		return inst
	}
	return t
}

// implemented are the interfaces that a type satisfies; those that only the
// pointer to it does are marked.
func (p *program) implemented(obj *types.TypeName) (list []string) {
	t := usable(types.Unalias(obj.Type()))
	_, isInterface := t.Underlying().(*types.Interface)
	for _, i := range p.interfaces {
		if qualified(i) == qualified(obj) { // its twin for tests, too
			continue
		}
		target := i.Type().Underlying().(*types.Interface)
		switch {
		case types.Implements(t, target):
			list = append(list, qualified(i))
		case !isInterface && types.Implements(types.NewPointer(t), target):
			list = append(list, qualified(i)+" (by pointer)")
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// methodOf says which methods of embedded types a method hides, and of which
// interfaces it is part.
func (p *program) methodOf(m *types.Func, recv types.Type) (overrides, implements []string) {
	named := namedOf(recv)
	if named == nil {
		return nil, nil
	}
	if s, ok := named.Underlying().(*types.Struct); ok {
		for i := range s.NumFields() {
			if f := s.Field(i); f.Embedded() {
				if hidden, _, _ := types.LookupFieldOrMethod(f.Type(), true, m.Pkg(), m.Name()); hidden != nil {
					overrides = append(overrides, containerOf(hidden, named.Obj())+"."+m.Name())
				}
			}
		}
	}
	if _, ok := named.Underlying().(*types.Interface); ok {
		return overrides, nil
	}
	t := types.NewPointer(usable(named))
	for _, i := range p.interfaces {
		target := i.Type().Underlying().(*types.Interface)
		if hasMethod(target, m) && types.Implements(t, target) {
			implements = append(implements, qualified(i)+"."+m.Name())
		}
	}
	slices.Sort(implements)
	return overrides, slices.Compact(implements)
}

func hasMethod(i *types.Interface, m *types.Func) bool {
	for n := range i.NumMethods() {
		if i.Method(n).Id() == m.Id() {
			return true
		}
	}
	return false
}

// kindOf is the declaration kind of an object outside the project.
func kindOf(obj types.Object) string {
	switch obj := obj.(type) {
	case *types.Func:
		if obj.Signature().Recv() != nil {
			return "method"
		}
		return "function"
	case *types.Const:
		return "constant"
	case *types.Var:
		if obj.IsField() {
			return "field"
		}
		return "variable"
	case *types.TypeName:
		if obj.IsAlias() {
			return "alias"
		}
		switch obj.Type().Underlying().(type) {
		case *types.Struct:
			return "struct"
		case *types.Interface:
			return "interface"
		}
		return "type"
	}
	return "builtin"
}

// signatureOf is what the source would show behind the name.
func signatureOf(obj types.Object) string {
	text := types.TypeString(obj.Type(), func(pkg *types.Package) string { return pkg.Name() })
	switch obj.(type) {
	case *types.Func:
		return text[len("func"):]
	case *types.TypeName:
		return ""
	}
	return text
}
