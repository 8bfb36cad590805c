package schema

import "slices"

// Shape is what a record shows of a row, in its order.
type Shape []*Member

// Member is one member of a record.
type Member struct {
	Field *Field // stored, or a relation
	Shape Shape  // of a relation: what is shown of the row, or of each row, that it leads to
}

// Shape returns what the records show that an action of a model answers.
func (a *Action) Shape() Shape {
	if a.Selected != nil {
		return a.Selected
	}
	return recordShape(a.Model, embeddedBy(a.Embeds))
}

// Record returns what the record of a model shows where nothing else is said.
func (m *Model) Record() Shape { return recordShape(m, embeddedBy(nil)) }

// recordShape is what a record shows where no fields are selected: all but those that no record
// shows, and in place of their foreign keys, or where they are declared, the relations for
// which related returns what they show. It returns nil for the others.
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

// shapeWithin is recordShape for a record within another.
func shapeWithin(m *Model, related func(*Field) Shape) Shape {
	return slices.DeleteFunc(recordShape(m, related), func(member *Member) bool { return member.Shape == nil && !member.Field.IsShownWithin() })
}

// embeddedBy returns what relations show that are embedded.
func embeddedBy(embeds []*Embed) func(*Field) Shape {
	return func(f *Field) Shape {
		if e := EmbedOf(f, embeds); e != nil {
			return shapeWithin(f.Target, embeddedBy(e.Embeds))
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

// IsShownWithin tells whether a record within another shows the field's own value. Of an
// Identity it shows who somebody is, and nothing by which they could be found elsewhere or
// signed in as.
func (f *Field) IsShownWithin() bool {
	return f.IsShown() && (!f.Model.IsIdentity || slices.Contains(shownOfIdentity(), f.Name))
}

func shownOfIdentity() []string {
	return []string{"id", "email", "emailVerified", "name", "givenName", "familyName", "middleName", "nickName", "picture"}
}

// Equal tells whether two records show the same in the same order.
func (s Shape) Equal(other Shape) bool {
	return slices.EqualFunc(s, other, func(a, b *Member) bool { return a.Field == b.Field && a.Shape.Equal(b.Shape) })
}
