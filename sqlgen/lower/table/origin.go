package table

import (
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// OriginOf is a model as the origin of objects.
func OriginOf(m *model.Model) pg.Origin {
	o := pg.Origin{Of: "model " + m.Name, Place: PlaceOf(m.Span), Line: "model " + m.Name}
	if m.IsIdentity {
		o.Of += " (built in)"
	}
	return o
}

// OriginOfField is a field as the origin of objects; the origin of a foreign key is its to-one.
func OriginOfField(f *model.Field) pg.Origin {
	if f.FKOf != nil {
		f = f.FKOf
	}
	o := OriginOf(f.Model)
	o.Field, o.Line = f.Name, declaration(f)
	if !f.BuiltIn {
		o.Place = PlaceOf(f.Span)
	}
	return o
}

// originAt is a part of a model that has no name.
func originAt(m *model.Model, span syntax.Span) pg.Origin {
	o := OriginOf(m)
	o.Place = PlaceOf(span)
	return o
}

// OriginOfIndex is a declared index as the origin of one: its field, if it has only one.
func OriginOfIndex(m *model.Model, i *model.Index) pg.Origin {
	if len(i.Fields) == 1 {
		return OriginOfField(i.Fields[0])
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

// RenamedFrom returns the column that a field had under its former name, and the place that declares it; none without
// @renamed.
func RenamedFrom(f *model.Field) (column, place string) {
	switch {
	case f.FKOf != nil && f.FKOf.RenamedFrom != "":
		return model.SnakeForm(f.FKOf.RenamedFrom + "Id"), PlaceOf(f.FKOf.RenamedAt)
	case f.FKOf == nil && f.RenamedFrom != "":
		return model.SnakeForm(f.RenamedFrom), PlaceOf(f.RenamedAt)
	}
	return "", ""
}

// PlaceOf writes a place as diagnostics do; it is empty without a file.
func PlaceOf(s syntax.Span) string {
	if s.File == nil {
		return ""
	}
	return s.File.Name + ":" + s.Start.String()
}
