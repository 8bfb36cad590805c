package manifest

import (
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// unionRecord publishes the schema of a union's record.
func (p *publisher) unionRecord(u *model.Union) string {
	return p.component(u.Name, func() *release.JSONSchema {
		var members []property
		for _, f := range u.Fields {
			as := &model.Field{Name: f.Name, Type: f.Type, Optional: f.Optional, Enum: f.Enum}
			if enum := p.sourceEnum(f); enum != nil {
				as.Type, as.Enum = expr.Type{Kind: expr.Enum, Name: enum.Name}, enum
			}
			members = append(members, property{f.Name, p.recordMember(as).Described(f.Doc), true})
		}
		return resultObject(members).Described(u.Doc)
	})
}

// sourceEnum is what a union's sourceModel or sourceArm can be; nil of other fields.
func (p *publisher) sourceEnum(f *model.UnionField) *model.Enum {
	if !f.BuiltIn || f.Name == "id" {
		return nil
	}
	name := f.Union.Name + upperFirst(f.Name)
	e := &model.Enum{Name: p.derived.take("source "+name, name)}
	seen := map[string]bool{}
	for _, arm := range f.Union.Arms {
		name := arm.Name
		if f.Name == "sourceModel" {
			name = arm.Model.Name
		}
		if !seen[name] {
			seen[name] = true
			e.Values = append(e.Values, &model.EnumValue{Name: name})
		}
	}
	return e
}

// asPublished is an input as callers see it: what names the source of a union's rows
// is an enum for them.
func (p *publisher) asPublished(in *model.Input) *model.Input {
	if in.Union == nil {
		return in
	}
	enum := p.sourceEnum(in.Union)
	if enum == nil {
		return in
	}
	copied := *in
	copied.Enum = enum
	copied.Type = expr.Type{Kind: expr.Enum, Name: enum.Name, Array: in.Type.Array}
	return &copied
}

// sortableNames are the fields that a request may order a list by.
func sortableNames(a *model.Action) []string {
	var names []string
	for _, f := range a.Sortable {
		names = append(names, f.Name)
	}
	for _, f := range a.UnionSortable {
		names = append(names, f.Name)
	}
	return names
}
