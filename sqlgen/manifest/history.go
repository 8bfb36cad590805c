package manifest

import (
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// historyInput is the schema of the body of an action that reads a history.
func historyInput() *release.JSONSchema {
	return objectOf([]property{
		{"id", release.Typed("string"), true},
		{"first", release.Typed("integer").With("minimum", 1).With("maximum", maxPageSize), false},
		{"after", release.Typed("string"), false},
	})
}

// history publishes the schema of a page of a history.
func (p *publisher) history(a *model.Action) string {
	return p.component(p.derived.part(a, "Result"), func() *release.JSONSchema {
		text := func(nullable bool) *release.JSONSchema { return scalar(expr.Type{Kind: expr.Text}, nil, nullable) }
		row := p.component(p.derived.part(a, "Row"), func() *release.JSONSchema { return p.historyRow(a.Model) })
		side := release.OneOf(release.RefTo(row), release.Typed("null"))
		entry := resultObject([]property{
			{"at", scalar(expr.Type{Kind: expr.Timestamp}, nil, false), true},
			{"kind", release.Typed("string").With("enum", []string{"create", "update", "delete"}), true},
			{"identityId", text(true), true},
			{"action", text(true), true},
			{"requestId", text(true), true},
			{"fields", release.ArrayOf(text(false)).Described("The fields that changed."), true},
			{"before", side, true},
			{"after", side, true},
		})
		return resultObject([]property{
			{"results", release.ArrayOf(entry), true},
			{"pageInfo", release.RefTo(p.pageInfo()), true},
		})
	})
}

// historyRow is the schema of a row in a history: any field may be null, since the row may be older than the field. Files
// may be gone, and have no address.
func (p *publisher) historyRow(m *model.Model) *release.JSONSchema {
	var members []property
	for _, member := range m.Record() {
		f := *member.Field
		if f.Optional = true; f.Type.Kind == expr.Vector {
			continue
		}
		s := p.recordMember(&f)
		if f.Type.Kind == expr.File {
			s = release.OneOf(resultObject(fileMembers()), release.Typed("null"))
			if f.Type.Array {
				s = release.TypedOrNull("array", true).With("items", resultObject(fileMembers()))
			}
		}
		members = append(members, property{f.Name, s.Described(fieldDoc(&f)), true})
	}
	return resultObject(members)
}
