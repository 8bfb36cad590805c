package manifest

import (
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// result publishes the schema of an action's answer; a delete answers a string. A
// record with embeds or of what is selected is the action's own.
func (p *publisher) result(a *model.Action) string {
	switch {
	case a.Kind == model.Start:
		return p.component(p.derived.part(a, "Result"), func() *release.JSONSchema {
			return resultObject([]property{{"run", release.Typed("string").Described("The id of the run."), true}})
		})
	case a.Many:
		return p.component(p.derived.part(a, "Result"), func() *release.JSONSchema {
			item := scalar(expr.Type{Kind: expr.ID}, nil, false)
			if a.Kind != model.Delete {
				item = p.recordWith(a.Model, a.Shape())
			}
			return resultObject([]property{{"results", release.ArrayOf(item), true}})
		})
	case a.Kind == model.Delete:
		return ""
	case a.Returns != nil && a.Returns.Message == nil:
		return "" // any JSON
	case a.Returns != nil:
		return p.message(a.Returns.Message, false)
	case a.Kind == model.ReadHistory:
		return p.history(a)
	case a.Kind == model.List:
		return p.component(p.derived.part(a, "Result"), func() *release.JSONSchema {
			var item *release.JSONSchema
			if a.Union != nil {
				item = release.RefTo(p.unionRecord(a.Union))
			} else {
				item = p.recordWith(a.Model, a.Shape())
			}
			members := []property{
				{"results", release.ArrayOf(item), true},
				{"pageInfo", release.RefTo(p.pageInfo()), true},
			}
			if len(a.Facets) > 0 {
				members = append(members, property{"resultInfo", p.resultInfo(a), true})
			}
			return resultObject(members)
		})
	case a.Union != nil:
		return p.unionRecord(a.Union)
	case len(a.Embeds) > 0 || a.Selected != nil:
		return p.component(p.derived.part(a, "Result"), func() *release.JSONSchema { return p.recordOf(a.Shape()) })
	}
	return p.record(a.Model)
}

// record publishes the schema of a model's record. Members may be added in later
// releases, so additional ones stay open.
func (p *publisher) record(m *model.Model) string {
	return p.component(m.Name, func() *release.JSONSchema { return p.recordOf(m.Record()).Described(m.Doc) })
}

// recordWith is the schema of a record of a model: the model's own, if that shows the same.
func (p *publisher) recordWith(m *model.Model, shape model.Shape) *release.JSONSchema {
	if shape.Equal(m.Record()) {
		return release.RefTo(p.record(m))
	}
	return p.recordOf(shape)
}

// recordOf is the schema of a record that shows this.
func (p *publisher) recordOf(shape model.Shape) *release.JSONSchema {
	members := make([]property, len(shape))
	for i, m := range shape {
		if m.Field.IsRelation() {
			members[i] = property{m.Field.Name, p.relatedMember(m).Described(m.Field.Doc), true}
		} else {
			members[i] = property{m.Field.Name, p.recordMember(m.Field).Described(fieldDoc(m.Field)), true}
		}
	}
	return resultObject(members)
}

func (p *publisher) relatedMember(m *model.Member) *release.JSONSchema {
	item := p.recordWith(m.Field.Target, m.Shape)
	switch {
	case m.Field.IsToMany():
		return release.ArrayOf(item)
	case m.Field.Optional || m.Field.FK == nil:
		return release.OneOf(item, release.Typed("null"))
	}
	return item
}

func (p *publisher) recordMember(f *model.Field) *release.JSONSchema {
	one := func(nullable bool) *release.JSONSchema {
		if f.Type.Kind != expr.File {
			return scalar(expr.Type{Kind: f.Type.Kind, Name: f.Type.Name}, f.Enum, nullable)
		}
		file := release.RefTo(p.file())
		if nullable {
			return release.AnyOf(file, release.Typed("null"))
		}
		return file
	}
	if !f.Type.Array {
		return one(f.Optional)
	}
	return release.TypedOrNull("array", f.Optional).With("items", one(false))
}

// fieldDoc is the description of a field; of an FK field that of its to-one.
func fieldDoc(f *model.Field) string {
	if f.FKOf != nil {
		return f.FKOf.Doc
	}
	return f.Doc
}

func (p *publisher) file() string {
	return p.component("File", func() *release.JSONSchema {
		return resultObject(append(fileMembers(), property{"url", release.Typed("string"), true}))
	})
}

// fileMembers are the members of a file, but for its address.
func fileMembers() []property {
	return []property{
		{"key", release.Typed("string"), true},
		{"filename", release.Typed("string"), true},
		{"contentType", release.Typed("string"), true},
		{"size", release.Typed("integer"), true},
	}
}
