package lower

import (
	"fmt"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// arm is an arm of a union. Expressions over the union become expressions over the rows of its model: the arm's value
// for a field replaces the field. The code that lowers them then need not know of unions.
type arm struct {
	*model.Arm
	union  *model.Union
	number int    // from 1, in order of declaration
	view   string // the name of its view
}

func armsOf(u *model.Union) []arm {
	views := pg.NewNames()
	views.Take(callerRoles)
	arms := make([]arm, len(u.Arms))
	for i, a := range u.Arms {
		arms[i] = arm{a, u, i + 1, views.Take(u.Table + "__" + model.SnakeForm(a.Name))} // no table has such a name
	}
	return arms
}

// value is the arm's value for a field of the union.
func (a arm) value(f *model.UnionField) expr.Node {
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

// over returns an expression over the union as one over the rows of the arm.
func (a arm) over(n expr.Node) expr.Node {
	return expr.Substitute(n, func(p *expr.Path) expr.Node { return a.value(unionField(p)) })
}

// rules returns rules of the union, or of its actions, as rules over the rows of the
// arm.
func (a arm) rules(rules []*model.Rule) []*model.Rule {
	list := make([]*model.Rule, len(rules))
	for i, r := range rules {
		copied := *r
		if r.Expression != nil {
			copied.Expression = a.over(r.Expression)
		}
		list[i] = &copied
	}
	return list
}

// wheres returns the conditions that make a row of the model one of the arm: its own, and that no earlier arm of the
// model has taken it.
func (a arm) wheres() []expr.Node {
	var nodes []expr.Node
	for _, w := range a.Wheres {
		nodes = append(nodes, w.Expression)
	}
	for _, earlier := range a.union.Arms[:a.number-1] {
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

// column is the value of a field in the union's type, which may be wider than that of its source.
func (a arm) column(x expression, f *model.UnionField) pg.Expr {
	n := a.value(f)
	value := x.operand(n).scalar()
	if isArithmetic(n) {
		return stored(value, n.Type(), f.Type)
	}
	if l, ok := n.(*expr.Literal); ok && l.Value == nil {
		return value // has its type
	} else if ok || n.Type().Kind != f.Type.Kind && f.Type.Kind == expr.Decimal {
		return pg.As(value, variableType(f.Type))
	}
	return value
}

// row prepares to lower expressions over the rows of the arm.
func (a arm) row(l logic, at site, value func(expr.Input) pg.Expr) expression {
	row := rowOf(a.Model)
	return newExpression(l, at, &row, value)
}

// admitUnions lets the actions of unions read their rows of a model: each rule is applied per arm.
func (l *lowering) admitUnions(p policies, m *model.Model) {
	for _, a := range l.schema.Actions {
		if a.Union == nil {
			continue
		}
		var names []string
		var conditions []pg.Expr
		arms := armsOf(a.Union)
		shared := 0
		for _, arm := range arms {
			if arm.Model == m {
				shared++
			}
		}
		for _, arm := range arms {
			if arm.Model != m {
				continue
			}
			condition := policyRule(m, arm.rules(a.Rules))
			if shared > 1 { // the arm of a row decides which form of the rules applies
				condition = pg.AllOf(arm.row(whereLogic, inQuery, noInput).allHold(arm.wheres()), condition)
			}
			names = append(names, arm.Name)
			conditions = append(conditions, condition)
		}
		condition := pg.AnyOf(conditions...)
		if len(names) == 0 || isClosed(a) {
			continue
		}
		what := "arm "
		if len(names) > 1 {
			what = "arms "
		}
		reason := fmt.Sprintf("%s, %s%s: %s", a.Union.Name, what, strings.Join(names, ", "), ruleText(a.Rules))
		if len(ruleInputs(a.Rules)) > 0 {
			reason += " of " + a.Name
		}
		p.add(pg.ForSelect, demander{name: a.Name}, reason, condition)
	}
}

// noInput is for expressions that cannot name an input.
func noInput(in expr.Input) pg.Expr {
	panic(fmt.Sprintf("lower: the input %s cannot be named here", in.InputName()))
}
