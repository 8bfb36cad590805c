package lsp

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/check"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// index holds the declarations in the files of a project, as far as they parse. The
// first of several with one name counts.
type index struct {
	project  *sqlgen.Project
	files    []*syntax.File
	config   *model.Config
	types    []syntax.Decl // models, unions, enums and messages
	roles    []*syntax.Role
	identity []*field

	known      map[string][]*field // the fields of models that were asked for
	referenced []reference         // nil until they are asked for
}

// field is something that a path can name in a row or message.
type field struct {
	owner    string
	name     string
	typeName string
	array    bool
	optional bool
	unseen   bool // no record shows it
	doc      string
	note     string      // how it came to be, if it is not declared
	column   string      // "" means none
	span     syntax.Span // where it is declared; the zero Span means built in
	spelling spelling
	tree     *syntax.Field // nil if it is not declared
}

// typeText returns the field's type as a schema writes it.
func (f *field) typeText() string { return typeText(f.typeName, f.array, f.optional) }

func typeText(name string, array, optional bool) string {
	if array {
		name += "[]"
	}
	if optional {
		name += "?"
	}
	return name
}

func newIndex(p *sqlgen.Project) *index {
	var errs syntax.Errors // said by check
	x := &index{project: p, config: check.ReadConfig(p.Config, &errs), known: map[string][]*field{}}
	for _, f := range p.Files {
		tree := syntax.Parse(f, &errs)
		x.files = append(x.files, tree)
		for _, d := range tree.Decls {
			switch d := d.(type) {
			case *syntax.Role:
				x.roles = append(x.roles, d)
			case *syntax.Model, *syntax.Union, *syntax.Enum, *syntax.Message:
				x.types = append(x.types, d)
			}
		}
	}
	x.identity = x.identityFields()
	return x
}

// file returns the tree of a file.
func (x *index) file(name string) *syntax.File {
	i := slices.IndexFunc(x.files, func(f *syntax.File) bool { return f.Source.Name == name })
	if i < 0 {
		return nil
	}
	return x.files[i]
}

// declaration returns the declaration of a type, or nil.
func (x *index) declaration(name string) syntax.Decl {
	i := slices.IndexFunc(x.types, func(d syntax.Decl) bool { return declaredName(d).Name == name })
	if i < 0 {
		return nil
	}
	return x.types[i]
}

// declaredName returns the name of a declaration, nil for one of a later stage.
func declaredName(d syntax.Decl) *syntax.Ident {
	switch d := d.(type) {
	case *syntax.Model:
		return d.Name
	case *syntax.Union:
		return d.Name
	case *syntax.Enum:
		return d.Name
	case *syntax.Message:
		return d.Name
	case *syntax.Role:
		return d.Name
	case *syntax.API:
		return d.Name
	}
	return nil
}

// members returns the members of a model or union.
func members(d syntax.Decl) []syntax.Member {
	switch d := d.(type) {
	case *syntax.Model:
		return d.Members
	case *syntax.Union:
		return d.Members
	}
	return nil
}

// isModel tells whether a name is that of a model.
func (x *index) isModel(name string) bool {
	_, declared := x.declaration(name).(*syntax.Model)
	return declared || name == "Identity"
}

// fields returns the fields of a model, union or message, built-in ones included.
func (x *index) fields(owner string) []*field {
	switch d := x.declaration(owner).(type) {
	case *syntax.Model:
		if x.known[owner] == nil {
			x.known[owner] = x.modelFields(d)
		}
		return x.known[owner]
	case *syntax.Union:
		fields := declaredFields(owner, syntax.FieldsOf(d.Members))
		for _, b := range []field{{name: "id", typeName: "ID"}, {name: "sourceModel", typeName: "Text"}, {name: "sourceArm", typeName: "Text"}} {
			b.owner, b.note, b.span = owner, "Every union has it.", d.Name.Span()
			fields = append(fields, &b)
		}
		return fields
	case *syntax.Message:
		return declaredFields(owner, d.Fields)
	}
	if owner == "Identity" {
		return x.identity
	}
	return nil
}

// declaredFields returns fields as they are written.
func declaredFields(owner string, trees []*syntax.Field) []*field {
	var fields []*field
	for _, f := range trees {
		fields = append(fields, &field{
			owner:    owner,
			name:     f.Name.Name,
			typeName: f.Type.Name,
			array:    f.Array != nil,
			optional: f.Optional != nil,
			unseen:   isUnseen(f),
			doc:      docText(f.Doc),
			span:     f.Name.Span(),
			spelling: plainly(f.Name),
			tree:     f,
		})
	}
	return fields
}

// isUnseen tells whether no record shows a declared field.
func isUnseen(f *syntax.Field) bool {
	kind, _ := expr.ScalarNamed(f.Type.Name)
	return kind.IsWriteOnly() || attribute(f.Attrs, "hidden") != nil
}

// modelFields returns the fields of a declared model, with their columns.
func (x *index) modelFields(m *syntax.Model) []*field {
	owner := m.Name.Name
	fields := []*field{{owner: owner, name: "id", typeName: "ID", column: "id", note: "Every row has one.", span: m.Name.Span()}}
	trees := syntax.FieldsOf(m.Members)
	for i, f := range declaredFields(owner, trees) {
		fields = append(fields, f)
		switch {
		case !x.isModel(f.typeName):
			f.column = model.SnakeForm(f.name)
		case !f.array && x.hasKey(owner, trees[i]):
			f.column = model.SnakeForm(f.name + "Id")
			fields = append(fields, &field{owner: owner, name: f.name + "Id", typeName: "ID", optional: f.optional, unseen: f.unseen, column: f.column,
				note: "The id of `" + f.name + "`.", span: f.span, spelling: asKey(trees[i].Name)})
		}
	}
	for _, name := range []string{"createdAt", "updatedAt"} {
		fields = append(fields, &field{owner: owner, name: name, typeName: "Timestamp", column: model.SnakeForm(name),
			note: "Set by the database.", span: m.Name.Span()})
	}
	return fields
}

// hasKey tells whether a to-one has the foreign key of its relation: it has,
// unless a unique to-one of the other model leads back to it.
func (x *index) hasKey(owner string, f *syntax.Field) bool {
	other, ok := x.declaration(f.Type.Name).(*syntax.Model)
	if !ok || attribute(f.Attrs, "unique") != nil || attribute(f.Attrs, "relation") != nil {
		return true
	}
	for _, back := range syntax.FieldsOf(other.Members) {
		named := relationName(back)
		if back != f && back.Type.Name == owner && back.Array == nil && attribute(back.Attrs, "unique") != nil &&
			(named == "" || named == f.Name.Name) {
			return false
		}
	}
	return true
}

// attribute returns the first attribute of that name, or nil.
func attribute(attrs []*syntax.Attribute, name string) *syntax.Attribute {
	i := slices.IndexFunc(attrs, func(a *syntax.Attribute) bool { return a.Name.Name == name })
	if i < 0 {
		return nil
	}
	return attrs[i]
}

// relationName returns the name in the @relation of a field, "" if there is none.
func relationName(f *syntax.Field) string {
	if name := relationIdent(f); name != nil {
		return name.Name
	}
	return ""
}

// relationIdent returns the name in the @relation of a field, or nil.
func relationIdent(f *syntax.Field) *syntax.Ident {
	if a := attribute(f.Attrs, "relation"); a != nil && len(a.Args) == 1 {
		if path, ok := a.Args[0].Value.(*syntax.Path); ok {
			return path.Steps[0]
		}
	}
	return nil
}

// identityFields returns the fields of Identity: those in a schema without models, and
// the backlinks of this schema's models.
func (x *index) identityFields() []*field {
	var errs syntax.Errors
	bare := syntax.Parse(&syntax.Source{Text: []byte("enum Bare { Value }")}, &errs)
	checked := check.Check([]*syntax.File{bare}, check.Options{Config: x.config}, &errs)
	if checked == nil {
		return nil // the configuration takes its names from Identity itself
	}
	var fields []*field
	for _, f := range checked.Models[0].Fields {
		fields = append(fields, &field{owner: "Identity", name: f.Name, typeName: f.Type.String(), optional: f.Optional, unseen: !f.IsShownWithin(), column: f.Column,
			note: "Every identity has it."})
	}
	for _, d := range x.types {
		for _, f := range syntax.FieldsOf(members(d)) {
			_, isModel := d.(*syntax.Model)
			if !isModel || f.Type.Name != "Identity" || f.Array != nil || attribute(f.Attrs, "unique") == nil {
				continue
			}
			owner := declaredName(d).Name
			name, spelt := model.Variable(owner), asVariable(declaredName(d))
			if given := relationIdent(f); given != nil {
				name, spelt = given.Name, plainly(given)
			}
			if !slices.ContainsFunc(fields, func(f *field) bool { return f.name == name }) {
				fields = append(fields, &field{owner: "Identity", name: name, typeName: owner, optional: true,
					note: "Leads back from `" + owner + "." + f.Name.Name + "`.", span: f.Name.Span(), spelling: spelt})
			}
		}
	}
	return fields
}

func docText(d *syntax.Doc) string {
	if d == nil {
		return ""
	}
	return d.Text
}

// action returns the action whose name is at the place given, or nil.
func (x *index) action(file *syntax.File, name *syntax.Token) (action *syntax.Action, owner string) {
	for _, d := range file.Decls {
		for _, a := range syntax.ActionsOf(members(d)) {
			if a.Name.Span().Start.Offset == name.Span.Start.Offset {
				return a, declaredName(d).Name
			}
		}
	}
	return nil, ""
}
