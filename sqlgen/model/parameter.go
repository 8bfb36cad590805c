package model

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
)

// Parameter is a parameter of a custom function.
type Parameter struct {
	Name   string
	Inputs []*Input // one; or, of a JSON parameter, all inputs that it holds
	JSON   bool     // a message, any JSON, or the array of all inputs below a to-many step
}

// Parameters returns the parameters that the function of an action with custom
// code is called with, in the order of the inputs.
func (a *Action) Parameters() []*Parameter {
	var parameters []*Parameter
	for _, in := range slices.Concat(a.Reads, a.Writes) {
		if a.Kind == List && !in.Explicit {
			continue // the service filters what the function returns
		}
		if prefix := toManyPrefix(in); a.Kind == Create && prefix != nil {
			same := func(p *Parameter) bool { return p.JSON && slices.Equal(toManyPrefix(p.Inputs[0]), prefix) }
			if i := slices.IndexFunc(parameters, same); i >= 0 {
				parameters[i].Inputs = append(parameters[i].Inputs, in)
				continue
			}
			name := parameterName(FlatName(strings.Split(PathName(prefix), ".")))
			parameters = append(parameters, &Parameter{Name: name, Inputs: []*Input{in}, JSON: true})
			continue
		}
		isJSON := in.Message != nil || in.Type.Kind == expr.Any
		name := parameterName(in.Name)
		isRead := func(r *Input) bool { return r.Name == in.Name }
		if in.IsWrite && slices.ContainsFunc(a.Reads, isRead) {
			name = parameterName("new_" + name)
		}
		parameters = append(parameters, &Parameter{Name: name, Inputs: []*Input{in}, JSON: isJSON})
	}
	return parameters
}

// parameterName is the snake form of a name, cut as Postgres cuts the names of
// parameters, so that code may write it in full.
func parameterName(name string) string {
	snake := SnakeForm(name)
	return snake[:min(len(snake), MaxColumnName)]
}

// toManyPrefix returns the path of an implicit input up to its first to-many
// step, nil if it has none.
func toManyPrefix(in *Input) []*Field {
	if i := slices.IndexFunc(in.Path, (*Field).IsToMany); i >= 0 {
		return in.Path[:i+1]
	}
	return nil
}
