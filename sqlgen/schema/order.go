package schema

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// orderField is the field of a model or union that a list is ordered by.
type orderField struct {
	field *Field
	union *UnionField
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
			a.OrderBy = append(a.OrderBy, &OrderKey{Field: f.field, UnionField: f.union, Descending: direction.Name == "desc", Span: arg.Span()})
		}
	}
}

// checkSortable reads a @sortable.
func (c *checker) checkSortable(a *actionDecl, at *syntax.Attribute) {
	if len(at.Args) == 0 {
		c.badArguments(at, at.Name.Span())
	}
	seen := map[string]bool{}
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
		f, ok := c.orderField(a, name, seen)
		switch {
		case ok && f.union != nil:
			a.UnionSortable = append(a.UnionSortable, f.union)
		case ok:
			a.Sortable = append(a.Sortable, f.field)
		}
	}
}

// orderField finds a field to order by. It is false, and reported, if there is
// none, it stands twice, or its type has no order.
func (c *checker) orderField(a *actionDecl, name *syntax.Ident, seen map[string]bool) (orderField, bool) {
	var f orderField
	var typ expr.Type
	if a.union != nil {
		f.union = a.union.Field(name.Name)
		if f.union != nil {
			typ = f.union.Type
		}
	} else {
		f.field = a.model.Field(name.Name)
		if f.field != nil {
			typ = f.field.Type
		}
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
	if typ.Array || typ.Kind == expr.Model || typ.Kind.IsOpaque() {
		c.report(OrderNotAllowed, name.Span(), orderNotAllowed(name.Name, typ))
		return f, false
	}
	return f, true
}
