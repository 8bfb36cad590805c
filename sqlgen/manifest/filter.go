package manifest

import (
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// maxOneOf bounds the values of oneOf.
const maxOneOf = 1000

// query publishes the query object of a filter input and returns its name. Its
// operands are nullable if the field is optional or behind an optional to-one.
func (p *publisher) query(in *model.Input) string {
	in = p.asPublished(in)
	nullable := in.PassesOptional()
	base := typeName(in)
	prefix := ""
	if nullable {
		prefix = "Nullable"
	}
	if in.Type.Array {
		return p.arrayQuery(p.derived.filter(prefix, base, "Array"), base, in, nullable)
	}
	return p.component(p.derived.filter(prefix, base, ""), func() *release.JSONSchema {
		return queryObject(in.Type.Kind.Filters(), in, nullable)
	})
}

// arrayQuery publishes the query object of an array field.
func (p *publisher) arrayQuery(name, base string, in *model.Input, nullable bool) string {
	return p.component(name, func() *release.JSONSchema {
		element := p.component(p.derived.filter("", base, "Element"), func() *release.JSONSchema {
			return queryObject(in.Type.Kind.ElementFilters(), in, false)
		})
		whole := func() *release.JSONSchema {
			return release.TypedOrNull("array", nullable).With("items", scalar(in.Type, in.Enum, false))
		}
		return queryShape(release.Properties{}.
			With("equals", whole()).
			With("notEquals", whole()).
			With("any", release.RefTo(element)).
			With("all", release.RefTo(element)))
	})
}

func queryObject(filters []expr.Filter, in *model.Input, nullable bool) *release.JSONSchema {
	properties := release.Properties{}
	one := expr.Type{Kind: in.Type.Kind, Name: in.Type.Name}
	for _, f := range filters {
		switch f.Operand {
		case expr.ManyValues:
			properties = properties.With(f.Name, release.ArrayOf(scalar(one, in.Enum, false)).With("maxItems", maxOneOf))
		case expr.RelativePeriod:
			properties = properties.With(f.Name, release.Typed("string").With("format", "relative-period"))
		default:
			properties = properties.With(f.Name, scalar(one, in.Enum, nullable && f.Nullable))
		}
	}
	return queryShape(properties)
}

func queryShape(properties release.Properties) *release.JSONSchema {
	return release.ObjectOf(properties).With("minProperties", 1).Closed()
}

// typeName is the name of a scalar type or enum in component names.
func typeName(in *model.Input) string {
	if in.Enum != nil {
		return in.Enum.Name
	}
	return in.Type.Kind.String()
}
