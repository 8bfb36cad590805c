package model

import "slices"

// Shape is what a record shows of a row, in its order.
type Shape []*Member

// Member is one member of a record.
type Member struct {
	Field *Field // stored, or a relation
	Shape Shape  // of a relation: what is shown of the row, or of each row, that it leads to
}

// Shape returns the shape of the records that an action of a model answers.
func (a *Action) Shape() Shape {
	if a.Selected != nil {
		return a.Selected
	}
	return recordShape(a.Model, embeddedBy(a.Embeds))
}

// Record returns the shape of the record of a model by default.
func (m *Model) Record() Shape { return recordShape(m, embeddedBy(nil)) }

// recordShape is the shape of a record without selected fields. It has all fields but those that
// no record shows. A relation for which related returns a shape, not nil, replaces its foreign
// key, or is where it is declared.
func recordShape(m *Model, related func(*Field) Shape) Shape {
	shape := Shape{}
	for _, f := range m.Fields {
		if f.IsRelation() {
			if below := related(f); below != nil {
				shape = append(shape, &Member{f, below})
			}
		} else if f.IsShown() && (f.FKOf == nil || related(f.FKOf) == nil) {
			shape = append(shape, &Member{Field: f})
		}
	}
	return shape
}

// ShapeWithin is recordShape for a record within another.
func ShapeWithin(m *Model, related func(*Field) Shape) Shape {
	return slices.DeleteFunc(recordShape(m, related), func(member *Member) bool { return member.Shape == nil && !member.Field.IsShownWithin() })
}

// embeddedBy returns the shapes of embedded relations.
func embeddedBy(embeds []*Embed) func(*Field) Shape {
	return func(f *Field) Shape {
		if e := EmbedOf(f, embeds); e != nil {
			return ShapeWithin(f.Target, embeddedBy(e.Embeds))
		}
		return nil
	}
}

// Member returns the member for a field, or nil.
func (s Shape) Member(f *Field) *Member {
	i := slices.IndexFunc(s, func(m *Member) bool { return m.Field == f })
	if i < 0 {
		return nil
	}
	return s[i]
}

// IsShown tells whether records show the field's own value.
func (f *Field) IsShown() bool { return f.HasColumn() && !f.Hidden && !f.StepWriteOnly() }

// HidesFields tells whether a field of the model is hidden.
func (m *Model) HidesFields() bool {
	return slices.ContainsFunc(m.Fields, func(f *Field) bool { return f.Hidden })
}

// IsShownWithin tells whether a record within another shows the field's own value. A record
// of an Identity within another shows who the person is, and no value to find them elsewhere
// or to log in as them.
func (f *Field) IsShownWithin() bool {
	return f.IsShown() && (!f.Model.IsIdentity || slices.Contains(ShownOfIdentity(), f.Name))
}

// ShownOfIdentity lists the fields that a record shows of an Identity within it.
func ShownOfIdentity() []string {
	return []string{"id", "email", "emailVerified", "name", "givenName", "familyName", "middleName", "nickName", "picture"}
}

// Equal tells whether two records show the same in the same order.
func (s Shape) Equal(other Shape) bool {
	return slices.EqualFunc(s, other, func(a, b *Member) bool { return a.Field == b.Field && a.Shape.Equal(b.Shape) })
}

// Visit calls see with the path to each stored field that a record shows.
func (s Shape) Visit(before []*Field, see func(path []*Field)) {
	for _, m := range s {
		path := append(before[:len(before):len(before)], m.Field)
		if m.Shape == nil {
			see(path)
		} else {
			m.Shape.Visit(path, see)
		}
	}
}
