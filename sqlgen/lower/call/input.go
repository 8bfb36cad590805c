package call

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Value returns the value of an input, null if it is absent. A variable holds it, declared at its first use. In a list
// only explicit inputs have one. With @many it is read in a query over the rows of the request.
func (b *Builder) Value(in *model.Input) pg.Expr {
	if v, ok := b.Values[in]; ok {
		return v
	}
	read := value.FromJSON(in.Type, in.Nullable || in.Optional, b.sent(), value.RequestPath(b.Action, in)...)
	if b.rows != "" {
		return read
	}
	name := "v_" + model.SnakeForm(in.Name)
	if in.IsWrite && slices.ContainsFunc(b.Action.Reads, func(r *model.Input) bool { return r.Name == in.Name }) {
		name = "v_new_" + model.SnakeForm(in.Name)
	}
	if slices.Contains(ownVariables, name) {
		name = "v_given_" + model.SnakeForm(in.Name)
	}
	held := &pg.Variable{
		Name:    b.names.Take(name),
		Type:    value.VariableType(in.Type),
		Initial: read,
	}
	b.inputs = append(b.inputs, held)
	b.Values[in] = held
	return held
}

// IsGivenInput tells whether a request gives an optional input, null included.
func (b *Builder) IsGivenInput(in *model.Input) pg.Expr {
	if b.Given != nil {
		return b.Given[in]
	}
	path := value.RequestPath(b.Action, in)
	if b.Action.Kind == model.Update || b.Action.Kind == model.List {
		return isGiven(value.Member(b.sent(), path[0]), path[1:]) // below where or values
	}
	return isGiven(b.sent(), path)
}

// Expression prepares to lower expressions over the action's row and its inputs. The row is in the query under the
// table's own name.
func (b *Builder) Expression(l value.Logic, at value.Site) value.Expression {
	row := value.RowOf(b.Model)
	x := value.NewExpression(l, at, &row, b.InputValue)
	x.Caller = b.callerAtHand()
	return x
}

// expressionWithoutRow prepares to lower expressions that cannot name the row, or are evaluated before there is one.
func (b *Builder) expressionWithoutRow(l value.Logic) value.Expression {
	at := value.InFunction
	if b.rows != "" {
		at = value.InQuery
	}
	x := value.NewExpression(l, at, nil, b.InputValue)
	x.Caller = b.callerAtHand()
	return x
}

// InputValue is value for expressions.
func (b *Builder) InputValue(in expr.Input) pg.Expr { return b.Value(in.(*model.Input)) }

// bindInputs hands the inputs that policies read to them.
func (b *Builder) bindInputs() {
	if b.Action.Custom {
		return // the policies of custom code hold the rules of models, which have no inputs
	}
	b.bound = value.RuleInputs(b.Action.Rules)
	for _, in := range b.bound {
		b.Value(in)
	}
}
