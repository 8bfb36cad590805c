package check

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// listField is a field of the model or union that a list belongs to.
type listField struct {
	field *model.Field      // nil means a field of a union
	union *model.UnionField // nil means a field of a model
}

func (f listField) typ() expr.Type {
	switch {
	case f.field != nil:
		return f.field.Type
	case f.union != nil:
		return f.union.Type
	}
	return expr.Type{}
}

// checkOrderBy reads an @orderBy.
func (c *checker) checkOrderBy(a *actionDecl, at *syntax.Attribute) {
	if len(at.Args) == 0 {
		c.badArguments(at, at.Name.Span())
	}
	seen := map[string]bool{}
	for _, arg := range at.Args {
		direction := bareName(arg.Value)
		if arg.Target != nil || arg.Label == nil || direction == nil || direction.Name != "asc" && direction.Name != "desc" {
			c.badArguments(at, arg.Span())
			continue
		}
		if f, ok := c.orderField(a, arg.Label, seen); ok {
			a.OrderBy = append(a.OrderBy, &model.OrderKey{Field: f.field, UnionField: f.union, Descending: direction.Name == "desc", Span: arg.Span()})
		}
	}
}

// checkSortable reads a @sortable.
func (c *checker) checkSortable(a *actionDecl, at *syntax.Attribute) {
	seen := map[string]bool{}
	for _, name := range c.ownFields(a, at) {
		f, ok := c.orderField(a, name, seen)
		switch {
		case ok && f.union != nil:
			a.UnionSortable = append(a.UnionSortable, f.union)
		case ok:
			a.Sortable = append(a.Sortable, f.field)
		}
	}
}

// ownFields returns the bare names that an attribute of a list lists. It reports the others.
func (c *checker) ownFields(a *actionDecl, at *syntax.Attribute) []*syntax.Ident {
	if len(at.Args) == 0 {
		c.badArguments(at, at.Name.Span())
	}
	var names []*syntax.Ident
	for _, arg := range at.Args {
		value := c.plainArgument(at, arg)
		if value == nil {
			continue
		}
		name := bareName(value)
		if name == nil {
			c.report(BadFieldList, value.Span(), notOwnField(a.owner()))
			continue
		}
		names = append(names, name)
	}
	return names
}

// orderField finds a field to order by. It reports a missing or repeated field, or a
// type without order, and returns false.
func (c *checker) orderField(a *actionDecl, name *syntax.Ident, seen map[string]bool) (listField, bool) {
	f, ok := c.fieldOfList(a, name, seen)
	if t := f.typ(); ok && (t.Array || t.Kind == expr.Model || t.Kind.IsOpaque()) {
		c.report(OrderNotAllowed, name.Span(), orderNotAllowed(name.Name, t))
		return f, false
	}
	return f, ok
}

// fieldOfList finds a field of the model or union that an action belongs to. It reports a
// missing, repeated or hidden field and returns false.
func (c *checker) fieldOfList(a *actionDecl, name *syntax.Ident, seen map[string]bool) (listField, bool) {
	var f listField
	if a.union != nil {
		f.union = a.union.Field(name.Name)
	} else {
		f.field = a.model.Field(name.Name)
	}
	if f.field == nil && f.union == nil {
		if !c.isBroken(a.owner(), name.Name) {
			near := syntax.Suggest(name.Name, (&scope{c: c}).FieldNames(a.owner()))
			c.report(BadFieldList, name.Span(), unknownField(a.owner(), name.Name, near))
		}
		return f, false
	}
	if seen[name.Name] {
		c.report(BadFieldList, name.Span(), fieldTwice(name.Name))
		return f, false
	}
	seen[name.Name] = true
	return f, f.field == nil || !c.isHidden(f.field, name.Span())
}
