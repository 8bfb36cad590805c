package lsp

import (
	"fmt"
	"slices"
	"strings"

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
	types    []syntax.Decl // models, unions, enums, messages and jobs
	identity []*symbol

	known      map[string][]*symbol // the fields of models that were asked for
	referenced []reference          // nil until they are asked for
}

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
	x := &index{project: p, config: check.ReadConfig(p.Config, &errs), known: map[string][]*symbol{}}
	for _, f := range p.Files {
		tree := syntax.Parse(f, &errs)
		x.files = append(x.files, tree)
		for _, d := range tree.Decls {
			switch d.(type) {
			case *syntax.Model, *syntax.Union, *syntax.Enum, *syntax.Message, *syntax.Job:
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
	name, _, _ := declared(d)
	return name
}

// declared returns the name, the keyword and the comment of a declaration.
func declared(d syntax.Decl) (name *syntax.Ident, keyword string, doc *syntax.Doc) {
	switch d := d.(type) {
	case *syntax.Model:
		return d.Name, "model", d.Doc
	case *syntax.Union:
		return d.Name, "union", d.Doc
	case *syntax.Enum:
		return d.Name, "enum", d.Doc
	case *syntax.Message:
		return d.Name, "message", d.Doc
	case *syntax.Role:
		return d.Name, "role", d.Doc
	case *syntax.API:
		return d.Name, "api", d.Doc
	case *syntax.Job:
		return d.Name, "job", d.Doc
	}
	return nil, "", nil
}

// members returns the members of a model, union or job.
func members(d syntax.Decl) []syntax.Member {
	switch d := d.(type) {
	case *syntax.Model:
		return d.Members
	case *syntax.Union:
		return d.Members
	case *syntax.Job:
		return d.Members
	}
	return nil
}

// isModel tells whether a name is that of a model.
func (x *index) isModel(name string) bool {
	_, declared := x.declaration(name).(*syntax.Model)
	return declared || name == "Identity"
}

// fields returns the fields of a model, union or message, built-in ones included, or the inputs of a job.
func (x *index) fields(owner string) []*symbol {
	var fields []*symbol
	switch d := x.declaration(owner).(type) {
	case *syntax.Model:
		if x.known[owner] == nil {
			x.known[owner] = x.modelFields(d)
		}
		return x.known[owner]
	case *syntax.Union:
		for _, f := range syntax.FieldsOf(d.Members) {
			fields = append(fields, x.field(owner, declaredField(f), ""))
		}
		for _, b := range []symbol{{name: "id", typeName: "ID"}, {name: "sourceModel", typeName: "Text"}, {name: "sourceArm", typeName: "Text"}} {
			b.span = d.Name.Span()
			fields = append(fields, x.field(owner, b, "Every union has it."))
		}
	case *syntax.Message:
		for _, f := range d.Fields {
			fields = append(fields, x.field(owner, declaredField(f), ""))
		}
	case *syntax.Job:
		for _, f := range syntax.FieldsOf(d.Members) {
			fields = append(fields, x.field(owner, declaredField(f), ""))
		}
	case nil:
		if owner == "Identity" {
			return x.identity
		}
	}
	return fields
}

// declaredField is a field as it is written.
func declaredField(f *syntax.Field) symbol {
	return symbol{name: f.Name.Name, typeName: f.Type.Name, array: f.Array != nil, optional: f.Optional != nil, unseen: isUnseen(f),
		doc: docText(f.Doc), span: f.Name.Span(), spelling: plainly(f.Name)}
}

// field completes the symbol of a field. A note says how it came to be, if it is not declared.
func (x *index) field(owner string, y symbol, note string) *symbol {
	y.class, y.detail = classField, y.name+" "+y.typeText()
	switch {
	case y.column != "":
		note += fmt.Sprintf(" Column `%s` of table `app.%s`.", y.column, model.SnakeForm(owner))
	case x.isModel(owner) && x.isModel(y.typeName):
		note += fmt.Sprintf(" No column: the key is in table `app.%s`.", model.SnakeForm(y.typeName))
	}
	y.doc = paragraphs(y.doc, strings.TrimSpace(note))
	if y.unseen && owner != "Identity" {
		y.doc = paragraphs(y.doc, "No record shows it.")
	}
	if x.isModel(y.typeName) {
		y.next = func() []*symbol { return x.fields(y.typeName) }
	}
	return &y
}

// isUnseen tells whether no record shows a declared field.
func isUnseen(f *syntax.Field) bool {
	kind, _ := expr.ScalarNamed(f.Type.Name)
	return kind.IsWriteOnly() || attribute(f.Attrs, "hidden") != nil
}

// modelFields returns the fields of a declared model, with their columns, and its conditions.
func (x *index) modelFields(m *syntax.Model) []*symbol {
	owner, span := m.Name.Name, m.Name.Span()
	fields := []*symbol{x.field(owner, symbol{name: "id", typeName: "ID", column: "id", span: span}, "Every row has one.")}
	for _, f := range syntax.FieldsOf(m.Members) {
		y := declaredField(f)
		hasKey := x.isModel(y.typeName) && !y.array && x.hasKey(owner, f)
		if hasKey {
			y.column = model.SnakeForm(y.name + "Id")
		} else if !x.isModel(y.typeName) {
			y.column = model.SnakeForm(y.name)
		}
		fields = append(fields, x.field(owner, y, ""))
		if hasKey {
			key := symbol{name: y.name + "Id", typeName: "ID", optional: y.optional, unseen: y.unseen, column: y.column, span: y.span, spelling: asKey(f.Name)}
			fields = append(fields, x.field(owner, key, "The id of `"+y.name+"`."))
		}
	}
	for _, name := range []string{"createdAt", "updatedAt"} {
		y := symbol{name: name, typeName: "Timestamp", column: model.SnakeForm(name), span: span}
		fields = append(fields, x.field(owner, y, "Set by the database."))
	}
	for _, d := range syntax.ConditionsOf(m.Members) {
		y := declaredSymbol(d.Name, classField, d.Name.Name+" = "+syntax.FormatExpr(d.Expression), d.Doc)
		y.doc = paragraphs(y.doc, "Condition of `"+owner+"`.")
		y.unseen, y.isCondition = true, true
		fields = append(fields, y)
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
func (x *index) identityFields() []*symbol {
	var errs syntax.Errors
	bare := syntax.Parse(&syntax.Source{Text: []byte("enum Bare { Value }")}, &errs)
	checked := check.Check([]*syntax.File{bare}, check.Options{Config: x.config}, &errs)
	if checked == nil {
		return nil // the configuration takes its names from Identity itself
	}
	var fields []*symbol
	for _, f := range checked.Models[0].Fields {
		y := symbol{name: f.Name, typeName: f.Type.String(), optional: f.Optional, unseen: !f.IsShownWithin(), column: f.Column}
		fields = append(fields, x.field("Identity", y, "Every identity has it."))
	}
	for _, d := range x.types {
		for _, f := range syntax.FieldsOf(members(d)) {
			_, isModel := d.(*syntax.Model)
			if !isModel || f.Type.Name != "Identity" || f.Array != nil || attribute(f.Attrs, "unique") == nil {
				continue
			}
			owner := declaredName(d).Name
			y := symbol{name: model.Variable(owner), typeName: owner, optional: true, span: f.Name.Span(), spelling: asVariable(declaredName(d))}
			if given := relationIdent(f); given != nil {
				y.name, y.spelling = given.Name, plainly(given)
			}
			if named(fields, y.name) == nil {
				fields = append(fields, x.field("Identity", y, "Leads back from `"+owner+"."+f.Name.Name+"`."))
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
