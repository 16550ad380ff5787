package golang

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/gtagsmcp/gtagsmcp/nav/semantic"
)

// declared is a declaration with what the type checker needs to know it by.
type declared struct {
	semantic.Declaration
	ident       *ast.Ident
	annotations []string
	members     []declared
}

// declarer reads the declarations of one file.
type declarer struct {
	fset *token.FileSet
	pkg  string // the name in the package clause, or the import path
}

// file returns what a file declares outside its functions, in source order.
func (d *declarer) file(f *ast.File) (list []declared) {
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			list = append(list, d.function(decl)...)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				list = append(list, d.spec(decl, spec)...)
			}
		}
	}
	return list
}

// one makes a declaration; a blank name declares nothing.
func (d *declarer) one(name *ast.Ident, container, kind string, end token.Pos) []declared {
	if name == nil || name.Name == "_" || name.Name == "" {
		return nil
	}
	return []declared{{
		ident: name,
		Declaration: semantic.Declaration{
			Name: name.Name, QualifiedName: container + "." + name.Name, Kind: kind, Container: container,
			Line: d.fset.Position(name.Pos()).Line, EndLine: d.fset.Position(end).Line,
		},
	}}
}

func (d *declarer) function(f *ast.FuncDecl) []declared {
	container, kind := d.pkg, "function"
	if f.Recv != nil {
		kind = "method"
		if len(f.Recv.List) > 0 {
			if base := baseName(f.Recv.List[0].Type); base != "" {
				container += "." + base
			}
		}
	}
	list := d.one(f.Name, container, kind, f.End())
	for i := range list {
		list[i].Signature = typeParams(f.Type.TypeParams) + signature(f.Type)
		list[i].annotations = directives(f.Doc)
	}
	return list
}

func (d *declarer) spec(decl *ast.GenDecl, spec ast.Spec) (list []declared) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		list = d.typeSpec(spec)
		for i := range list {
			list[i].annotations = append(directives(decl.Doc), directives(spec.Doc)...)
		}
	case *ast.ValueSpec:
		kind := "variable"
		if decl.Tok == token.CONST {
			kind = "constant"
		}
		for n, name := range spec.Names {
			for _, v := range d.one(name, d.pkg, kind, spec.End()) {
				switch {
				case spec.Type != nil:
					v.Signature = types.ExprString(spec.Type)
				case kind == "constant" && n < len(spec.Values):
					v.Signature = "= " + types.ExprString(spec.Values[n])
				}
				v.annotations = append(directives(decl.Doc), directives(spec.Doc)...)
				list = append(list, v)
			}
		}
	}
	return list
}

func (d *declarer) typeSpec(spec *ast.TypeSpec) []declared {
	kind := "type"
	switch spec.Type.(type) {
	case *ast.StructType:
		kind = "struct"
	case *ast.InterfaceType:
		kind = "interface"
	}
	if spec.Assign.IsValid() {
		kind = "alias"
	}
	list := d.one(spec.Name, d.pkg, kind, spec.End())
	for i := range list {
		list[i].Signature = typeParams(spec.TypeParams)
		if kind == "type" || kind == "alias" {
			list[i].Signature += types.ExprString(spec.Type)
		}
		list[i].members = d.members(spec.Type, list[i].QualifiedName)
	}
	return list
}

// members are the fields of a struct and the methods of an interface.
func (d *declarer) members(typ ast.Expr, container string) (list []declared) {
	switch typ := typ.(type) {
	case *ast.StructType:
		for _, field := range typ.Fields.List {
			list = append(list, d.field(field, container)...)
		}
	case *ast.InterfaceType:
		for _, method := range typ.Methods.List {
			f, ok := method.Type.(*ast.FuncType)
			for _, name := range method.Names {
				for _, m := range d.one(name, container, "method", method.End()) {
					if ok {
						m.Signature = signature(f)
					}
					list = append(list, m)
				}
			}
		}
	}
	return list
}

func (d *declarer) field(field *ast.Field, container string) (list []declared) {
	names, modifiers := field.Names, []string(nil)
	if len(names) == 0 {
		names, modifiers = []*ast.Ident{baseIdent(field.Type)}, []string{"embedded"}
	}
	for _, name := range names {
		for _, f := range d.one(name, container, "field", field.End()) {
			f.Signature, f.Modifiers = types.ExprString(field.Type), modifiers
			if field.Tag != nil {
				f.annotations = []string{field.Tag.Value}
			}
			f.members = d.members(field.Type, f.QualifiedName)
			list = append(list, f)
		}
	}
	return list
}

func baseName(typ ast.Expr) string {
	if id := baseIdent(typ); id != nil {
		return id.Name
	}
	return ""
}

// baseIdent is the name of a type without pointers, package and arguments.
func baseIdent(typ ast.Expr) *ast.Ident {
	switch t := typ.(type) {
	case *ast.Ident:
		return t
	case *ast.StarExpr:
		return baseIdent(t.X)
	case *ast.ParenExpr:
		return baseIdent(t.X)
	case *ast.SelectorExpr:
		return t.Sel
	case *ast.IndexExpr:
		return baseIdent(t.X)
	case *ast.IndexListExpr:
		return baseIdent(t.X)
	}
	return nil
}

func signature(f *ast.FuncType) string {
	return strings.TrimPrefix(types.ExprString(&ast.FuncType{Params: f.Params, Results: f.Results}), "func")
}

func typeParams(list *ast.FieldList) string {
	if list == nil || len(list.List) == 0 {
		return ""
	}
	var groups []string
	for _, field := range list.List {
		var names []string
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
		groups = append(groups, strings.Join(names, ", ")+" "+types.ExprString(field.Type))
	}
	return "[" + strings.Join(groups, ", ") + "]"
}

// directives are the lines of a comment that speak to tools: //go:embed x.txt.
func directives(doc *ast.CommentGroup) (list []string) {
	if doc == nil {
		return nil
	}
	for _, c := range doc.List {
		if strings.HasPrefix(c.Text, "//go:") {
			list = append(list, c.Text)
		}
	}
	return list
}

// plain drops what only the type checker needs.
func plain(list []declared) []semantic.Declaration {
	var out []semantic.Declaration
	for _, d := range list {
		d.Children = plain(d.members)
		out = append(out, d.Declaration)
	}
	return slices.Clip(out)
}
