package lower

import (
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// originOf is a model as the origin of objects.
func originOf(m *model.Model) pg.Origin {
	o := pg.Origin{Of: "model " + m.Name, Place: placeOf(m.Span), Line: "model " + m.Name}
	if m.IsIdentity {
		o.Of += " (built in)"
	}
	return o
}

// originOfField is a field as the origin of objects; the origin of a foreign key is its to-one.
func originOfField(f *model.Field) pg.Origin {
	if f.FKOf != nil {
		f = f.FKOf
	}
	o := originOf(f.Model)
	o.Field, o.Line = f.Name, declaration(f)
	if !f.BuiltIn {
		o.Place = placeOf(f.Span)
	}
	return o
}

// originAt is a part of a model that has no name.
func originAt(m *model.Model, span syntax.Span) pg.Origin {
	o := originOf(m)
	o.Place = placeOf(span)
	return o
}

// originOfIndex is a declared index as the origin of one: its field, if it has only one.
func originOfIndex(m *model.Model, i *model.Index) pg.Origin {
	if len(i.Fields) == 1 {
		return originOfField(i.Fields[0])
	}
	return originAt(m, i.Span)
}

// declaration writes a field as its model declares it, without attributes.
func declaration(f *model.Field) string {
	text := f.Name + " " + f.Type.String()
	if f.Optional {
		text += "?"
	}
	return text
}

// renamedFrom returns the column that a field had under its former name, and the place that declares it; none without
// @renamed.
func renamedFrom(f *model.Field) (column, place string) {
	switch {
	case f.FKOf != nil && f.FKOf.RenamedFrom != "":
		return model.SnakeForm(f.FKOf.RenamedFrom + "Id"), placeOf(f.FKOf.RenamedAt)
	case f.FKOf == nil && f.RenamedFrom != "":
		return model.SnakeForm(f.RenamedFrom), placeOf(f.RenamedAt)
	}
	return "", ""
}

// placeOf writes a place as diagnostics do; it is empty without a file.
func placeOf(s syntax.Span) string {
	if s.File == nil {
		return ""
	}
	return s.File.Name + ":" + s.Start.String()
}
