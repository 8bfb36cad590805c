package publish

import (
	"slices"

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
		return p.component(p.derived.part(a, "Result"), func() *object {
			var item *object
			if a.Union != nil {
				item = ref(p.unionRecord(a.Union))
			} else {
				item = p.embeddedRecord(a.Model, a.Embeds, recordFields(a.Model))
			}
			return resultObject([]property{
				{"results", typed("array").with("items", item), true},
				{"pageInfo", ref(p.pageInfo()), true},
			})
		})
	case a.Union != nil:
		return p.unionRecord(a.Union)
	case len(a.Embeds) > 0:
		return p.component(p.derived.part(a, "Result"), func() *object { return p.embeddedRecord(a.Model, a.Embeds, recordFields(a.Model)) })
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
	return p.component(m.Name, func() *object { return p.recordOf(m, nil, recordFields(m)).described(m.Doc) })
}

// embeddedRecord is the schema of a record with embeds: the model's own without any.
func (p *publisher) embeddedRecord(m *schema.Model, embeds []*schema.Embed, shown []*schema.Field) *object {
	if len(embeds) == 0 && !m.IsIdentity {
		return ref(p.record(m))
	}
	return p.recordOf(m, embeds, shown)
}

// recordOf is the schema of a record that shows these fields, in the order of
// recordMembers.
func (p *publisher) recordOf(m *schema.Model, embeds []*schema.Embed, shown []*schema.Field) *object {
	var members []property
	for _, f := range m.Fields {
		switch e := schema.EmbedOf(f, embeds); {
		case e != nil:
			members = append(members, property{f.Name, p.embedMember(e).described(f.Doc), true})
		case f.FKOf != nil && schema.EmbedOf(f.FKOf, embeds) != nil:
		case slices.Contains(shown, f):
			members = append(members, property{f.Name, p.recordMember(f).described(fieldDoc(f)), true})
		}
	}
	return resultObject(members)
}

func (p *publisher) embedMember(e *schema.Embed) *object {
	target := e.Field.Target
	shown := recordFields(target)
	if target.IsIdentity {
		shown = slices.DeleteFunc(shown, func(f *schema.Field) bool { return !slices.Contains(lower.ShownOfIdentity, f.Name) })
	}
	item := p.embeddedRecord(target, e.Embeds, shown)
	switch {
	case e.Field.IsToMany():
		return typed("array").with("items", item)
	case e.Field.Optional || e.Field.FK == nil:
		return (&object{}).with("oneOf", []*object{item, typed("null")})
	}
	return item
}

func (p *publisher) recordMember(f *schema.Field) *object {
	one := func(nullable bool) *object {
		if f.Type.Kind != expr.File {
			return scalar(expr.Type{Kind: f.Type.Kind, Name: f.Type.Name}, f.Enum, nullable)
		}
		file := ref(p.file())
		if nullable {
			return (&object{}).with("anyOf", []*object{file, typed("null")})
		}
		return file
	}
	if !f.Type.Array {
		return one(f.Optional)
	}
	var kind any = "array"
	if f.Optional {
		kind = []string{"array", "null"}
	}
	return (&object{}).with("type", kind).with("items", one(false))
}

// fieldDoc is the description of a field; of an FK field that of its to-one.
func fieldDoc(f *schema.Field) string {
	if f.FKOf != nil {
		return f.FKOf.Doc
	}
	return f.Doc
}

func (p *publisher) file() string {
	return p.component("File", func() *object {
		return resultObject([]property{
			{"key", typed("string"), true},
			{"filename", typed("string"), true},
			{"contentType", typed("string"), true},
			{"size", typed("integer"), true},
			{"url", typed("string"), true},
		})
	})
}
