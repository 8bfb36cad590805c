package lower

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// requestPath is where an input is in the body of a request.
func requestPath(a *model.Action, in *model.Input) []string {
	switch {
	case in.IsWrite && a.Kind == model.Update:
		return append([]string{"values"}, writePath(in)...)
	case in.IsWrite:
		return writePath(in)
	case a.Kind == model.List && !in.Explicit:
		return append([]string{"where"}, filterPath(in)...)
	case a.Kind == model.List, a.Kind == model.Update:
		return []string{"where", in.Name}
	}
	return []string{in.Name}
}

// writePath is where a write input is in the object of values: one level per relation that its path passes.
func writePath(in *model.Input) []string {
	if in.Explicit {
		return []string{in.Name}
	}
	return filterPath(in)
}

// value returns the value of an input, null if it is absent. A variable holds it, declared at its first use. In a list
// only explicit inputs have one.
func (b *builder) value(in *model.Input) pg.Expr {
	if v, ok := b.values[in]; ok {
		return v
	}
	name := "v_" + model.SnakeForm(in.Name)
	if in.IsWrite && slices.ContainsFunc(b.action.Reads, func(r *model.Input) bool { return r.Name == in.Name }) {
		name = "v_new_" + model.SnakeForm(in.Name)
	}
	if slices.Contains(ownVariables, name) {
		name = "v_given_" + model.SnakeForm(in.Name)
	}
	held := &pg.Variable{
		Name:    b.names.Take(name),
		Type:    variableType(in.Type),
		Initial: fromJSON(in.Type, in.Nullable || in.Optional, input, requestPath(b.action, in)...),
	}
	b.inputs = append(b.inputs, held)
	b.values[in] = held
	return held
}

// isGivenInput tells whether a request gives an optional input, null included.
func (b builder) isGivenInput(in *model.Input) pg.Expr {
	if b.given != nil {
		return b.given[in]
	}
	path := requestPath(b.action, in)
	if b.action.Kind == model.Update || b.action.Kind == model.List {
		return isGiven(member(input, path[0]), path[1:]) // below where or values
	}
	return isGiven(input, path)
}

// expression prepares to lower expressions over the action's row and its inputs. The row is in the query under the
// table's own name.
func (b *builder) expression(l logic, at site) expression {
	row := rowOf(b.model)
	x := newExpression(l, at, &row, b.inputValue)
	x.caller = b.callerAtHand()
	return x
}

// expressionWithoutRow prepares to lower expressions that cannot name the row, or are evaluated before there is one.
func (b *builder) expressionWithoutRow(l logic) expression {
	x := newExpression(l, inFunction, nil, b.inputValue)
	x.caller = b.callerAtHand()
	return x
}

// inputValue is value for expressions.
func (b *builder) inputValue(in expr.Input) pg.Expr { return b.value(in.(*model.Input)) }
