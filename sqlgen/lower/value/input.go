package value

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

var (
	Input   = pg.Var("input")
	Context = pg.Var("context")
)

// FilterPath is the path of an implicit input below where.
func FilterPath(in *model.Input) []string {
	if in.Union != nil {
		return []string{in.Union.Name}
	}
	path := make([]string, len(in.Path))
	for i, f := range in.Path {
		path[i] = f.Name
	}
	return path
}

// InputOperators returns the operators of a scalar input. The name of the source of a union's rows is filtered as an
// enum.
func InputOperators(in *model.Input) []expr.Filter {
	if IsSource(in) {
		return expr.Enum.Filters()
	}
	return in.Type.Kind.Filters()
}

// IsSource tells whether an input is the sourceModel or sourceArm of a union.
func IsSource(in *model.Input) bool {
	return in.Union != nil && in.Union.BuiltIn && in.Union.Name != "id"
}

// RequestPath is where an input is in the body of a request.
func RequestPath(a *model.Action, in *model.Input) []string {
	switch {
	case in.IsWrite && a.Kind == model.Update:
		return append([]string{"values"}, WritePath(in)...)
	case in.IsWrite:
		return WritePath(in)
	case a.Kind == model.List && !in.Explicit:
		return append([]string{"where"}, FilterPath(in)...)
	case a.Kind == model.List, a.Kind == model.Update:
		return []string{"where", in.Name}
	}
	return []string{in.Name}
}

// WritePath is where a write input is in the object of values: one level per relation that its path passes.
func WritePath(in *model.Input) []string {
	if in.Explicit {
		return []string{in.Name}
	}
	return FilterPath(in)
}
