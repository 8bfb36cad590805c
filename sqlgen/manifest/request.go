package manifest

import (
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/call"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// input publishes the schema of an action's request body.
func (p *publisher) input(a *model.Action) string {
	if len(a.Reads) == 1 && a.Reads[0].Message != nil {
		return p.message(a.Reads[0].Message, true)
	}
	if a.Many {
		return p.component(p.derived.part(a, "Input"), func() *release.JSONSchema {
			rows := release.ArrayOf(release.RefTo(p.body(a, "Row"))).With("minItems", 1).With("maxItems", maxRows)
			return objectOf([]property{{"rows", rows, true}})
		})
	}
	return p.body(a, "Input")
}

// maxRows is the number of inputs that a call of an action with @many takes.
const maxRows = 1000

// body publishes the schema of one input of an action, under the name of a part of it.
func (p *publisher) body(a *model.Action, part string) string {
	name := upperFirst(a.Name)
	return p.component(p.derived.part(a, part), func() *release.JSONSchema {
		switch a.Kind {
		case model.List:
			return p.listInput(a)
		case model.Create:
			return p.values(name, a)
		case model.Update:
			return p.updateInput(a)
		case model.ReadHistory:
			return historyInput()
		case model.Read, model.Write:
			if len(a.Reads) == 1 && a.Reads[0].Type.Kind == expr.Any {
				return release.Anything()
			}
		}
		return p.lookUpInput(a)
	})
}

// lookUpInput is the schema of look-up inputs: one member each, by flat name. If only optional ones
// pin a row, it lists the sets of members, one of which is required.
func (p *publisher) lookUpInput(a *model.Action) *release.JSONSchema {
	var members []property
	for _, in := range a.Reads {
		members = append(members, property{in.Name, p.value(a, in).Described(inputDoc(in)), !in.Optional})
	}
	return withPins(objectOf(members), a, false)
}

// withPins says of the object of read or write inputs which sets of optional ones pin
// a row: one of them must be given.
func withPins(o *release.JSONSchema, a *model.Action, isWrite bool) *release.JSONSchema {
	var sets []*release.JSONSchema
	for _, set := range call.PinningInputs(a) {
		var names []string
		for _, in := range set {
			if in.IsWrite == isWrite {
				names = append(names, in.Name)
			}
		}
		if len(names) > 0 {
			sets = append(sets, release.Anything().Requiring(names...))
		}
	}
	if len(sets) > 0 {
		o.With("anyOf", sets)
	}
	return o
}

// nested returns the members for inputs that share their first depth steps. An
// object is required unless all inputs below it are optional.
func (p *publisher) nested(prefix string, a *model.Action, inputs []*model.Input, depth int, leaf func(*model.Input) *release.JSONSchema) []property {
	var members []property
	seen := map[*model.Field]bool{}
	for _, in := range inputs {
		if in.Explicit {
			members = append(members, property{in.Name, p.value(a, in), !in.Optional})
			continue
		}
		if in.Union != nil {
			members = append(members, property{in.Union.Name, leaf(in).Described(inputDoc(in)), !in.Optional})
			continue
		}
		step := in.Path[depth]
		if seen[step] {
			continue
		}
		seen[step] = true
		if len(in.Path) == depth+1 {
			members = append(members, property{step.Name, leaf(in).Described(inputDoc(in)), !in.Optional})
			continue
		}
		var below []*model.Input
		for _, other := range inputs {
			if !other.Explicit && other.Path[depth] == step {
				below = append(below, other)
			}
		}
		name := prefix + upperFirst(step.Name)
		component := p.derived.nested(name, a, in.Path[:depth+1])
		inner := objectOf(p.nested(name, a, below, depth+1, leaf))
		p.component(component, func() *release.JSONSchema { return inner })
		members = append(members, property{step.Name, release.RefTo(component), hasRequired(below)})
	}
	return members
}

// updateInput is the schema of an update's body.
func (p *publisher) updateInput(a *model.Action) *release.JSONSchema {
	where, values := p.derived.part(a, "Where"), p.derived.part(a, "Values")
	p.component(where, func() *release.JSONSchema { return p.lookUpInput(a) })
	p.component(values, func() *release.JSONSchema { return withPins(p.values(upperFirst(a.Name), a), a, true) })
	return objectOf([]property{
		{"where", release.RefTo(where), hasRequired(a.Reads) || call.PinsBy(a, false)},
		{"values", release.RefTo(values), hasRequired(a.Writes) || call.PinsBy(a, true)},
	})
}

func hasRequired(inputs []*model.Input) bool {
	for _, in := range inputs {
		if !in.Optional {
			return true
		}
	}
	return false
}
