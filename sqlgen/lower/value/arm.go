package value

import (
	"fmt"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// OwnField is the field of the arm's model that a field of the union is, nil if it is anything else.
func (a Arm) OwnField(f *model.UnionField) *model.Field {
	if p, ok := a.Value(f).(*expr.Path); ok && p.Root == expr.RootRow && len(p.Steps) == 1 {
		if own := StoredAs(Field(p.Steps[0])); own.Column != "" {
			return own
		}
	}
	return nil
}

// Arm is an arm of a union. Expressions over the union become expressions over the rows of its model: the arm's value
// for a field replaces the field. The code that lowers them then need not know of unions.
type Arm struct {
	*model.Arm
	Union  *model.Union
	Number int    // from 1, in order of declaration
	View   string // the name of its view
}

// ArmsOf returns the arms of a union, in the order of their declaration.
func ArmsOf(u *model.Union) []Arm {
	views := pg.NewNames()
	views.Take(CallerRoles)
	arms := make([]Arm, len(u.Arms))
	for i, a := range u.Arms {
		arms[i] = Arm{a, u, i + 1, views.Take(u.Table + "__" + model.SnakeForm(a.Name))} // no table has such a name
	}
	return arms
}

// Value is the arm's value for a field of the union.
func (a Arm) Value(f *model.UnionField) expr.Node {
	switch {
	case !f.BuiltIn:
	case f.Name == "id":
		return expr.RowPath(a.Model.Name, []expr.Step{a.Model.Field("id")}, a.Span)
	case f.Name == "sourceModel":
		return expr.TextLiteral(a.Model.Name, a.Span)
	default:
		return expr.TextLiteral(a.Name, a.Span)
	}
	for _, v := range a.Values {
		if v.Field != f || v.Value == nil {
			continue
		}
		switch n := v.Value.(type) {
		case *expr.Literal:
			if n.Value == nil {
				return expr.Unset(f.Type, a.Span)
			}
		case *expr.List:
			return n.As(f.Type)
		}
		return v.Value
	}
	return expr.Unset(f.Type, a.Span)
}

// Over returns an expression over the union as one over the rows of the arm.
func (a Arm) Over(n expr.Node) expr.Node {
	return expr.Substitute(n, func(p *expr.Path) expr.Node { return a.Value(UnionField(p)) })
}

// Rules returns rules of the union, or of its actions, as rules over the rows of the
// arm.
func (a Arm) Rules(rules []*model.Rule) []*model.Rule {
	list := make([]*model.Rule, len(rules))
	for i, r := range rules {
		copied := *r
		if r.Expression != nil {
			copied.Expression = a.Over(r.Expression)
		}
		list[i] = &copied
	}
	return list
}

// Conditions returns the conditions that make a row of the model one of the arm: its own, and that no earlier arm of the
// model has taken it.
func (a Arm) Conditions() []expr.Node {
	var nodes []expr.Node
	for _, w := range a.Wheres {
		nodes = append(nodes, w.Expression)
	}
	for _, earlier := range a.Union.Arms[:a.Number-1] {
		if earlier.Model == a.Model {
			var taken []expr.Node
			for _, w := range earlier.Wheres {
				taken = append(taken, w.Expression)
			}
			nodes = append(nodes, expr.Negation(taken, a.Span))
		}
	}
	return nodes
}

// Column is the value of a field in the union's type, which may be wider than that of its source.
func (a Arm) Column(x Expression, f *model.UnionField) pg.Expr {
	n := a.Value(f)
	value := x.Operand(n).Scalar()
	if IsMade(n) {
		return Stored(value, n.Type(), f.Type)
	}
	if l, ok := n.(*expr.Literal); ok && l.Value == nil {
		return value // has its type
	} else if ok || n.Type().Kind != f.Type.Kind && f.Type.Kind == expr.Decimal {
		return pg.As(value, VariableType(f.Type))
	}
	return value
}

// Row prepares to lower expressions over the rows of the arm.
func (a Arm) Row(l Logic, at Site, value func(expr.Input) pg.Expr) Expression {
	row := RowOf(a.Model)
	return NewExpression(l, at, &row, value)
}

// NoInput is for expressions that cannot name an input.
func NoInput(in expr.Input) pg.Expr {
	panic(fmt.Sprintf("lower: the input %s cannot be named here", in.InputName()))
}

// UnionField is the field of a union that a path over it leads to.
func UnionField(p *expr.Path) *model.UnionField {
	f, ok := p.Steps[0].(*model.UnionField)
	if !ok || len(p.Steps) > 1 {
		panic("lower: a path of a union is not a field of it")
	}
	return f
}
