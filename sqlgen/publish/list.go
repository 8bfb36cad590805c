package publish

import (
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// The bounds of a page. They are part of the published schemas.
const (
	maxPageSize = 1000
	maxOffset   = 1_000_000
)

// listInput is the schema of a list's body.
func (p *publisher) listInput(a *schema.Action) *object {
	where := p.derived.part(a, "Where")
	p.component(where, func() *object {
		return objectOf(p.nested(upperFirst(a.Name), a, a.Reads, 0, func(in *schema.Input) *object { return ref(p.query(in)) }))
	})
	count := func(least, most int) *object {
		return typed("integer").with("minimum", least).with("maximum", most)
	}
	properties := []property{
		{"where", ref(where), hasRequired(a.Reads)},
		{"first", count(1, maxPageSize), false},
		{"after", typed("string"), false},
		{"last", count(1, maxPageSize), false},
		{"before", typed("string"), false},
		{"limit", count(1, maxPageSize), false},
		{"offset", count(0, maxOffset), false},
		{"totalCount", typed("boolean"), false},
	}
	if len(sortableNames(a)) > 0 {
		properties = append(properties, property{"orderBy", orderInput(a), false})
	}
	return objectOf(properties).with("dependentSchemas", pagingRules())
}

// orderInput is the schema of the order that a request names: objects with one key
// each, the direction. More of them than there are fields say nothing new.
func orderInput(a *schema.Action) *object {
	keys := &object{}
	names := sortableNames(a)
	for _, name := range names {
		keys.with(name, typed("string").with("enum", []string{"asc", "desc"}))
	}
	return typed("array").with("items", typed("object").
		with("properties", keys).with("minProperties", 1).with("maxProperties", 1).with("additionalProperties", false)).
		with("maxItems", len(names))
}

// pagingRules says which paging inputs exclude each other.
func pagingRules() *object {
	without := func(names ...string) *object {
		properties := &object{}
		for _, n := range names {
			properties.with(n, false)
		}
		return (&object{}).with("properties", properties)
	}
	return (&object{}).
		with("first", without("limit", "offset", "last", "before")).
		with("last", without("limit", "offset", "after")).
		with("after", without("limit", "offset", "before")).
		with("before", without("limit", "offset")).
		with("offset", (&object{}).with("required", []string{"limit"}))
}

func (p *publisher) pageInfo() string {
	return p.component("PageInfo", func() *object {
		return resultObject([]property{
			{"startCursor", typed("string"), true},
			{"endCursor", typed("string"), true},
			{"hasNextPage", typed("boolean"), true},
			{"hasPreviousPage", typed("boolean"), true},
			{"count", typed("integer"), true},
			{"totalCount", typed("integer"), false},
			{"pageNumber", typed("integer"), false},
		})
	})
}
