package publish

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// maxOneOf bounds the values of oneOf.
const maxOneOf = 1000

// query publishes the query object of a filter input and returns its name. Its
// operands are nullable if the field is optional or behind an optional to-one.
func (p *publisher) query(in *schema.Input) string {
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
	return p.component(p.derived.filter(prefix, base, ""), func() *object {
		return queryObject(in.Type.Kind.Filters(), in, nullable)
	})
}

// arrayQuery publishes the query object of an array field.
func (p *publisher) arrayQuery(name, base string, in *schema.Input, nullable bool) string {
	return p.component(name, func() *object {
		element := p.component(p.derived.filter("", base, "Element"), func() *object {
			return queryObject(in.Type.Kind.ElementFilters(), in, false)
		})
		var kind any = "array"
		if nullable {
			kind = []string{"array", "null"}
		}
		whole := func() *object {
			return (&object{}).with("type", kind).with("items", scalar(in.Type, in.Enum, false))
		}
		properties := (&object{}).
			with("equals", whole()).
			with("notEquals", whole()).
			with("any", ref(element)).
			with("all", ref(element))
		return queryShape(properties)
	})
}

func queryObject(filters []expr.Filter, in *schema.Input, nullable bool) *object {
	properties := &object{}
	one := expr.Type{Kind: in.Type.Kind, Name: in.Type.Name}
	for _, f := range filters {
		switch f.Operand {
		case expr.ManyValues:
			properties.with(f.Name, typed("array").with("items", scalar(one, in.Enum, false)).with("maxItems", maxOneOf))
		case expr.RelativePeriod:
			properties.with(f.Name, typed("string").with("format", "relative-period"))
		default:
			properties.with(f.Name, scalar(one, in.Enum, nullable && f.Nullable))
		}
	}
	return queryShape(properties)
}

func queryShape(properties *object) *object {
	return typed("object").with("properties", properties).with("minProperties", 1).with("additionalProperties", false)
}

// typeName is the name of a scalar type or enum in component names.
func typeName(in *schema.Input) string {
	if in.Enum != nil {
		return in.Enum.Name
	}
	return in.Type.Kind.String()
}
