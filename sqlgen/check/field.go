package check

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// declareFields makes the fields of every model, with their types. FK fields
// follow when relations are known.
func (c *checker) declareFields() {
	for _, m := range c.models {
		c.schema.Models = append(c.schema.Models, m.Model)
		trees := syntax.FieldsOf(m.tree.Members)
		toOnes := c.toOneNames(trees)
		columns := clashes{}
		for _, f := range append([]*model.Field{idField(m.Model)}, timestampFields(m.Model)...) {
			columns.add(f.Column, f.Name, syntax.Span{})
		}
		seen := map[string]syntax.Span{}
		m.Fields = append(m.Fields, idField(m.Model))
		for _, tree := range trees {
			name := tree.Name.Name
			if earlier, found := seen[name]; found {
				c.report(DuplicateField, tree.Name.Span(), duplicateField(m.Name, name), note(earlier, declaredHere(name)))
				continue
			}
			seen[name] = tree.Name.Span()
			if !c.checkFieldName(m.Name, tree.Name, toOnes, &columns) {
				c.breakField(m.Name, name)
				continue
			}
			f := c.declareField(m, tree)
			if f == nil {
				c.breakField(m.Name, name)
				c.breakField(m.Name, name+"Id")
				c.allowedAttributes(onUntyped, tree.Attrs)
				continue
			}
			m.Fields = append(m.Fields, f.Field)
			m.fieldDecls = append(m.fieldDecls, f)
			c.fields[f.Field] = f
		}
		m.Fields = append(m.Fields, timestampFields(m.Model)...)
	}
}

// toOneNames returns those of the fields that are to-one, by name.
func (c *checker) toOneNames(trees []*syntax.Field) map[string]*syntax.Field {
	toOnes := map[string]*syntax.Field{}
	for _, tree := range trees {
		if tree.Array == nil && c.model(tree.Type.Name) != nil {
			toOnes[tree.Name.Name] = tree
		}
	}
	return toOnes
}

// checkFieldName checks a field's name against reserved names and clashes. It
// returns false if there must not be such a field.
func (c *checker) checkFieldName(owner string, name *syntax.Ident, toOnes map[string]*syntax.Field, columns *clashes) bool {
	if !isFieldName(name.Name) {
		return true // the parser has said so
	}
	if isReservedField(name.Name) {
		c.report(ReservedName, name.Span(), reservedField(owner, name.Name))
		return false
	}
	if stem, found := cutID(name.Name); found && toOnes[stem] != nil {
		c.report(ReservedName, name.Span(), reservedFK(name.Name, stem), note(toOnes[stem].Name.Span(), declaredHere(stem)))
		return false
	}
	snake := model.SnakeForm(name.Name)
	if len(snake) > model.MaxColumnName {
		c.report(NameTooLong, name.Span(), nameTooLong(name.Name, snake, model.MaxColumnName))
	}
	if earlier, found := columns.add(snake, name.Name, name.Span()); found {
		c.report(NameClash, name.Span(), nameClash(name.Name, earlier.name, snake), clashNotes(earlier)...)
	}
	return true
}

// cutID returns the name of the to-one that an FK field of that name belongs to.
func cutID(name string) (string, bool) {
	if len(name) > 2 && name[len(name)-2:] == "Id" {
		return name[:len(name)-2], true
	}
	return "", false
}

// declareField makes a field and finds its type. It is nil if that is in error.
func (c *checker) declareField(m *modelDecl, tree *syntax.Field) *fieldDecl {
	name := tree.Type.Name
	f := &model.Field{
		Model:    m.Model,
		Name:     tree.Name.Name,
		Doc:      text(tree.Doc),
		Optional: tree.Optional != nil,
		Span:     tree.Name.Span(),
	}
	t := c.types[name]
	kind, isScalar := expr.ScalarNamed(name)
	switch {
	case isScalar:
		f.Type = expr.Type{Kind: kind}
	case name == "Any":
		c.report(TypeNotAllowed, tree.Type.Span(), anyAsField())
		return nil
	case t == nil:
		c.unknownType(tree.Type)
		return nil
	case t.enum != nil:
		f.Type, f.Enum = expr.Type{Kind: expr.Enum, Name: name}, t.enum
	case t.model != nil:
		f.Type, f.Target = expr.Type{Kind: expr.Model, Name: name}, t.model
	case t.message != nil:
		c.report(TypeNotAllowed, tree.Type.Span(), messageAsField(name), note(t.span, declaredHere(name)))
		return nil
	default:
		c.report(TypeNotAllowed, tree.Type.Span(), unionAsType(name), note(t.span, declaredHere(name)))
		return nil
	}
	if tree.Array != nil {
		if !f.Type.Kind.HasArrays() {
			c.report(ArrayNotAllowed, tree.Array.Span(), arrayNotAllowed(name))
			return nil
		}
		f.Type.Array = true
	}
	if !f.IsRelation() {
		f.Column = model.SnakeForm(f.Name)
	}
	if f.IsToMany() && f.Optional {
		c.report(OptionalToMany, tree.Optional.Span(), optionalToMany(f.Name))
	}
	d := &fieldDecl{Field: f, tree: tree}
	for _, a := range tree.Attrs {
		d.mayDefault = d.mayDefault || a.Later || a.Incomplete() || slices.Contains([]string{"default", "computed", "sequence"}, a.Name.Name)
	}
	d.attrs = c.allowedAttributes(bearerOf(f), tree.Attrs)
	for _, a := range d.attrs {
		switch a.Name.Name {
		case "unique":
			d.uniq = true
			c.noArgument(a)
		case "relation":
			d.relation = c.relationArg(d, a)
		}
	}
	return d
}

// bearerOf tells which attributes a field takes.
func bearerOf(f *model.Field) bearer {
	switch {
	case f.IsToMany():
		return onToMany
	case f.IsToOne():
		return onToOne
	case f.Type.Kind == expr.File:
		return onFile
	}
	return onScalar
}
