package manifest

import (
	"slices"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// maxNested bounds the rows that one array of a request may make.
const maxNested = 1000

// values is the schema of the write inputs of an action: nested objects, one level
// per relation, and explicit inputs beside them.
func (p *publisher) values(prefix string, a *model.Action) *release.JSONSchema {
	return objectOf(p.valuesBelow(prefix, a, a.Writes, 0, value.Demanded(a)))
}

// valuesBelow returns the members for inputs that share their first depth steps. An
// object or array is required unless all inputs below it are optional; the object of
// an optional to-one may be null.
func (p *publisher) valuesBelow(prefix string, a *model.Action, inputs []*model.Input, depth int, demanded map[*model.Input]bool) []property {
	var members []property
	below := map[*model.Field][]*model.Input{}
	for _, in := range inputs {
		if !in.Explicit {
			below[in.Path[depth]] = append(below[in.Path[depth]], in)
		}
	}
	for _, in := range inputs {
		if in.Explicit || len(in.Path) == depth+1 {
			members = append(members, property{stepName(in, depth), p.value(a, in).Described(inputDoc(in)), !in.Optional || demanded[in]})
			continue
		}
		step := in.Path[depth]
		list := below[step]
		if list[0] != in {
			continue // it is with the first of them
		}
		name := prefix + upperFirst(step.Name)
		component := p.derived.nested(name, a, in.Path[:depth+1])
		inner := objectOf(p.valuesBelow(name, a, list, depth+1, demanded))
		isRequired := slices.ContainsFunc(list, func(in *model.Input) bool { return !in.Optional })
		nested := release.RefTo(component)
		switch {
		case step.IsToMany():
			nested = release.ArrayOf(nested).AtLeast("minItems", step.MinItems).With("maxItems", maxNested)
			isRequired = isRequired || step.MinItems > 0
		case step.Optional:
			inner.With("type", []string{"object", "null"})
		default:
			isRequired = isRequired || slices.ContainsFunc(list, func(in *model.Input) bool { return demanded[in] })
		}
		p.component(component, func() *release.JSONSchema { return inner })
		members = append(members, property{step.Name, nested, isRequired})
	}
	return members
}

// stepName is the name of a member for an input.
func stepName(in *model.Input, depth int) string {
	if in.Explicit {
		return in.Name
	}
	return in.Path[depth].Name
}
