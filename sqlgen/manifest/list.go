package manifest

import (
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// The bounds of a page. They are part of the published schemas.
const (
	maxPageSize = 1000
	maxOffset   = 1_000_000
)

// listInput is the schema of a list's body.
func (p *publisher) listInput(a *model.Action) *release.JSONSchema {
	where := p.derived.part(a, "Where")
	p.component(where, func() *release.JSONSchema {
		return objectOf(p.nested(upperFirst(a.Name), a, a.Reads, 0, func(in *model.Input) *release.JSONSchema { return release.RefTo(p.query(in)) }))
	})
	count := func(least, most int) *release.JSONSchema {
		return release.Typed("integer").With("minimum", least).With("maximum", most)
	}
	properties := []property{
		{"where", release.RefTo(where), hasRequired(a.Reads)},
		{"first", count(1, maxPageSize), false},
		{"after", release.Typed("string"), false},
		{"last", count(1, maxPageSize), false},
		{"before", release.Typed("string"), false},
		{"limit", count(1, maxPageSize), false},
		{"offset", count(0, maxOffset), false},
		{"totalCount", release.Typed("boolean"), false},
	}
	if len(sortableNames(a)) > 0 {
		properties = append(properties, property{"orderBy", orderInput(a), false})
	}
	return objectOf(properties).With("dependentSchemas", pagingRules())
}

// orderInput is the schema of the order that a request names: objects with one key
// each, the direction. More of them than there are fields say nothing new.
func orderInput(a *model.Action) *release.JSONSchema {
	keys := release.Properties{}
	names := sortableNames(a)
	for _, name := range names {
		keys = keys.With(name, release.Typed("string").With("enum", []string{"asc", "desc"}))
	}
	key := release.ObjectOf(keys).With("minProperties", 1).With("maxProperties", 1).Closed()
	return release.ArrayOf(key).With("maxItems", len(names))
}

// pagingRules says which paging inputs exclude each other.
func pagingRules() release.Properties {
	without := func(names ...string) *release.JSONSchema {
		properties := release.Properties{}
		for _, n := range names {
			properties = properties.With(n, release.Never())
		}
		return release.Anything().With("properties", properties)
	}
	return release.Properties{}.
		With("first", without("limit", "offset", "last", "before")).
		With("last", without("limit", "offset", "after")).
		With("after", without("limit", "offset", "before")).
		With("before", without("limit", "offset")).
		With("offset", release.Anything().Requiring("limit"))
}

func (p *publisher) pageInfo() string {
	return p.component("PageInfo", func() *release.JSONSchema {
		return resultObject([]property{
			{"startCursor", release.Typed("string"), true},
			{"endCursor", release.Typed("string"), true},
			{"hasNextPage", release.Typed("boolean"), true},
			{"hasPreviousPage", release.Typed("boolean"), true},
			{"count", release.Typed("integer"), true},
			{"totalCount", release.Typed("integer"), false},
			{"pageNumber", release.Typed("integer"), false},
		})
	})
}
