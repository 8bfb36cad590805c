package manifest

import (
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// resultInfo is the schema of what a list tells of all its rows.
func (p *publisher) resultInfo(a *model.Action) *release.JSONSchema {
	var members []property
	for _, f := range a.Facets {
		members = append(members, property{f.Name(), p.facet(f), true})
	}
	return resultObject(members)
}

// facet is the schema of what a list tells of a field.
func (p *publisher) facet(f *model.Facet) *release.JSONSchema {
	bound := func() *release.JSONSchema { return scalar(f.Type(), nil, true) }
	switch f.Type().Kind.Facet() {
	case expr.FacetValues:
		t, enum := f.Type(), f.Enum()
		if f.UnionField != nil {
			if source := p.sourceEnum(f.UnionField); source != nil {
				t, enum = expr.Type{Kind: expr.Enum, Name: source.Name}, source
			}
		}
		entry := resultObject([]property{
			{"value", scalar(t, enum, f.Optional()), true},
			{"count", release.Typed("integer"), true},
		})
		return release.ArrayOf(entry)
	case expr.FacetRange:
		return resultObject([]property{{"min", bound(), true}, {"max", bound(), true}})
	case expr.FacetMean:
		mean := bound()
		if f.Type().Kind == expr.Number {
			mean = scalar(expr.Type{Kind: expr.Decimal}, nil, true)
		}
		return resultObject([]property{{"min", bound(), true}, {"max", bound(), true}, {"avg", mean, true}})
	}
	panic("publish: a list tells nothing of the field " + f.Name())
}
