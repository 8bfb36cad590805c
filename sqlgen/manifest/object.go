package manifest

import (
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
)

// withKeywords adds to a schema what the form of a type says and returns it.
func withKeywords(s *release.JSONSchema, keywords []expr.Keyword) *release.JSONSchema {
	for _, k := range keywords {
		if form, isForm := k.Value.(expr.JSON); isForm {
			s.With(k.Name, withKeywords(release.Typed(form.Type), form.Keywords))
			continue
		}
		s.With(k.Name, k.Value)
	}
	return s
}

// property is one member of an object that a request or an answer holds.
type property struct {
	name     string
	schema   *release.JSONSchema
	required bool
}

// objectOf is the schema of an object with these members and no others.
func objectOf(members []property) *release.JSONSchema { return resultObject(members).Closed() }

// resultObject is the schema of an object with these members, to which later releases
// may add others.
func resultObject(members []property) *release.JSONSchema {
	properties := release.Properties{}
	var required []string
	for _, m := range members {
		properties = properties.With(m.name, m.schema)
		if m.required {
			required = append(required, m.name)
		}
	}
	o := release.ObjectOf(properties)
	if len(required) > 0 {
		o.Requiring(required...)
	}
	return o
}
