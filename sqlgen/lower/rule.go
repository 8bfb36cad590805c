package lower

import (
	"fmt"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// site is where a lowered expression stands. A policy reads the caller's
// settings through sub-selects, once per statement and not once per row; a
// function has them at hand.
type site int

const (
	inFunction site = iota
	inPolicy
)

// rule lowers the rules of an action, joined by or, to one condition.
func rule(rules []*schema.Rule, at site) pg.Expr {
	conditions := make([]pg.Expr, len(rules))
	for i, r := range rules {
		conditions[i] = condition(r.Expression, at)
	}
	return pg.AnyOf(conditions...)
}

// ruleText is how the schema words the rules of an action.
func ruleText(rules []*schema.Rule) string {
	texts := make([]string, len(rules))
	for i, r := range rules {
		texts[i] = r.Text
	}
	return strings.Join(texts, ", or ")
}

// condition lowers a Boolean expression in two-valued logic.
func condition(n expr.Node, at site) pg.Expr {
	switch n := n.(type) {
	case *expr.Logic:
		left, right := condition(n.Left, at), condition(n.Right, at)
		if n.Op == syntax.And {
			return pg.AllOf(left, right)
		}
		return pg.AnyOf(left, right)
	case *expr.Not:
		return pg.Negate(condition(n.Operand, at))
	case *expr.Compare:
		return comparison(n, at)
	}
	return operand(n, at)
}

// comparison lowers a comparison of literals and ctx.isAuthenticated. None of
// them is ever null but the literal null itself.
func comparison(n *expr.Compare, at site) pg.Expr {
	leftNull, rightNull := isNullLiteral(n.Left), isNullLiteral(n.Right)
	switch n.Op {
	case syntax.Equal, syntax.NotEqual:
		if leftNull || rightNull {
			return boolean((leftNull == rightNull) == (n.Op == syntax.Equal))
		}
		if n.Op == syntax.Equal {
			return pg.Eq(operand(n.Left, at), operand(n.Right, at))
		}
		return pg.Op(operand(n.Left, at), "<>", operand(n.Right, at))
	case syntax.In:
		return membership(n, at)
	}
	return pg.Op(operand(n.Left, at), string(n.Op), operand(n.Right, at))
}

func membership(n *expr.Compare, at site) pg.Expr {
	list := n.Right.(*expr.List)
	if len(list.Elements) == 0 || isNullLiteral(n.Left) {
		return pg.False()
	}
	elements := make([]pg.Expr, len(list.Elements))
	for i, e := range list.Elements {
		elements[i] = operand(e, at)
	}
	return &pg.In{Value: operand(n.Left, at), List: elements}
}

func operand(n expr.Node, at site) pg.Expr {
	switch n := n.(type) {
	case *expr.Literal:
		return literal(n)
	case *expr.List:
		elements := make([]pg.Expr, len(n.Elements))
		for i, e := range n.Elements {
			elements[i] = operand(e, at)
		}
		return &pg.Array{Elements: elements}
	case *expr.Path:
		if n.Root == expr.RootIsAuthenticated {
			return pg.IsNotNull(identityID(at))
		}
	}
	panic(fmt.Sprintf("lower: %T at %v was not refused", n, n.Span().Start))
}

func identityID(at site) pg.Expr {
	id := pg.Fn("platform.identity_id")
	if at == inPolicy {
		return &pg.Subquery{Query: &pg.Select{Columns: []pg.Output{{Value: id}}}}
	}
	return id
}

func isNullLiteral(n expr.Node) bool {
	l, ok := n.(*expr.Literal)
	return ok && l.Value == nil
}

func boolean(b bool) pg.Expr {
	if b {
		return pg.True()
	}
	return pg.False()
}
