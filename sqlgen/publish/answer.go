package publish

import (
	"slices"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// result publishes the schema of an action's answer; a delete answers a string. A
// record with embeds is the action's own.
func (p *publisher) result(a *schema.Action) string {
	switch {
	case a.Kind == schema.Delete:
		return ""
	case a.Returns != nil && a.Returns.Message == nil:
		return "" // any JSON
	case a.Returns != nil:
		return p.message(a.Returns.Message, false)
	case a.Kind == schema.List:
		return p.component(p.derived.part(a, "Result"), func() *release.JSONSchema {
			var item *release.JSONSchema
			if a.Union != nil {
				item = release.RefTo(p.unionRecord(a.Union))
			} else {
				item = p.embeddedRecord(a.Model, a.Embeds, recordFields(a.Model))
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
	case len(a.Embeds) > 0:
		return p.component(p.derived.part(a, "Result"), func() *release.JSONSchema { return p.embeddedRecord(a.Model, a.Embeds, recordFields(a.Model)) })
	}
	return p.record(a.Model)
}

// recordFields returns the fields that a record shows, in its order.
func recordFields(m *schema.Model) []*schema.Field {
	var fields []*schema.Field
	for _, f := range m.Stored() {
		if !f.StepWriteOnly() {
			fields = append(fields, f)
		}
	}
	return fields
}

// record publishes the schema of a model's record. Members may be added in later
// releases, so additional ones stay open.
func (p *publisher) record(m *schema.Model) string {
	return p.component(m.Name, func() *release.JSONSchema { return p.recordOf(m, nil, recordFields(m)).Described(m.Doc) })
}

// embeddedRecord is the schema of a record with embeds: the model's own without any.
func (p *publisher) embeddedRecord(m *schema.Model, embeds []*schema.Embed, shown []*schema.Field) *release.JSONSchema {
	if len(embeds) == 0 && !m.IsIdentity {
		return release.RefTo(p.record(m))
	}
	return p.recordOf(m, embeds, shown)
}

// recordOf is the schema of a record that shows these fields, in the order of
// recordMembers.
func (p *publisher) recordOf(m *schema.Model, embeds []*schema.Embed, shown []*schema.Field) *release.JSONSchema {
	var members []property
	for _, f := range m.Fields {
		switch e := schema.EmbedOf(f, embeds); {
		case e != nil:
			members = append(members, property{f.Name, p.embedMember(e).Described(f.Doc), true})
		case f.FKOf != nil && schema.EmbedOf(f.FKOf, embeds) != nil:
		case slices.Contains(shown, f):
			members = append(members, property{f.Name, p.recordMember(f).Described(fieldDoc(f)), true})
		}
	}
	return resultObject(members)
}

func (p *publisher) embedMember(e *schema.Embed) *release.JSONSchema {
	target := e.Field.Target
	shown := recordFields(target)
	if target.IsIdentity {
		shown = slices.DeleteFunc(shown, func(f *schema.Field) bool { return !slices.Contains(lower.ShownOfIdentity, f.Name) })
	}
	item := p.embeddedRecord(target, e.Embeds, shown)
	switch {
	case e.Field.IsToMany():
		return release.ArrayOf(item)
	case e.Field.Optional || e.Field.FK == nil:
		return release.OneOf(item, release.Typed("null"))
	}
	return item
}

func (p *publisher) recordMember(f *schema.Field) *release.JSONSchema {
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
func fieldDoc(f *schema.Field) string {
	if f.FKOf != nil {
		return f.FKOf.Doc
	}
	return f.Doc
}

func (p *publisher) file() string {
	return p.component("File", func() *release.JSONSchema {
		return resultObject([]property{
			{"key", release.Typed("string"), true},
			{"filename", release.Typed("string"), true},
			{"contentType", release.Typed("string"), true},
			{"size", release.Typed("integer"), true},
			{"url", release.Typed("string"), true},
		})
	})
}
