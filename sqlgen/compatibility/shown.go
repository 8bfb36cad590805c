package compatibility

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/model"
)

// shown compares the fields that records show. An addition to a record is nothing new to
// clients, but a field that was stored before, and not shown, has values that callers did
// not see. The permissions report which rows relations add.
func (c *comparison) shown() {
	for _, p := range c.pairs() {
		if showsRows(p.old) && showsRows(p.new) && p.old.Model.Name == p.new.Model.Name {
			c.uncovered(p.name, "", p.old.Shape(), p.new.Shape())
		}
	}
}

// showsRows tells whether an action answers records of a model.
func showsRows(a *model.Action) bool {
	isKind := slices.Contains([]model.Kind{model.Get, model.List, model.Create, model.Update}, a.Kind)
	return a.Model != nil && isKind
}

// uncovered notes the fields that a record newly shows, though they existed before. This replaces the note that they
// are added to the result, whose subject begins at the record or at its component.
func (c *comparison) uncovered(action, at string, old, new model.Shape) {
	for _, m := range new {
		f := m.Field
		before := c.storedBefore(f)
		switch {
		case before == nil || isPartOf(old, before):
			if was := old.Member(before); was != nil {
				c.uncovered(action, join(at, f.Name), was.Shape, m.Shape)
			}
		case f.IsRelation() && (before.FK == nil || isPartOf(old, before.FK)): // its rows may be new, not which they are
		default:
			at := join(at, f.Name)
			c.found.dropAdded(action, at, join(f.Model.Name, f.Name))
			c.found.add(Change{Widening, OfResult, at, []string{action}, "shown, was not", "callers see values that were stored before"})
		}
	}
}

// isPartOf tells whether a record shows a field, or the row of which that is the key.
func isPartOf(shape model.Shape, f *model.Field) bool {
	return shape.Member(f) != nil || f.FKOf != nil && shape.Member(f.FKOf) != nil
}

// storedBefore returns the field of the old release that a field was, or nil.
func (c *comparison) storedBefore(f *model.Field) *model.Field {
	i := slices.IndexFunc(c.old.Schema.Models, func(m *model.Model) bool { return m.Name == f.Model.Name || m.Name == f.Model.RenamedFrom })
	if i < 0 {
		return nil
	}
	m := c.old.Schema.Models[i]
	switch {
	case f.FKOf != nil:
		if was := c.storedBefore(f.FKOf); was != nil {
			return was.FK
		}
		return nil
	case f.RenamedFrom != "" && m.Field(f.RenamedFrom) != nil:
		return m.Field(f.RenamedFrom)
	}
	return m.Field(f.Name)
}
