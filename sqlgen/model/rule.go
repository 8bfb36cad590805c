package model

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// MentionsRow tells whether a rule names the row.
func (r *Rule) MentionsRow() bool {
	return r.Expression != nil && expr.Mentions(r.Expression).Row
}

// Demands tells whether each rule of an action is true only if some part of it is that holds
// returns true for.
func (a *Action) Demands(holds func(expr.Node) bool) bool {
	return len(a.Rules) > 0 && !slices.ContainsFunc(a.Rules, func(r *Rule) bool { return r.Expression == nil || !Demands(r.Expression, holds) })
}

// Demands tells whether an expression is true only if some part of it is that holds returns
// true for: a comparison or a path by itself.
func Demands(n expr.Node, holds func(expr.Node) bool) bool {
	l, ok := n.(*expr.Logic)
	switch {
	case !ok:
		return holds(n)
	case l.Op == syntax.And:
		return Demands(l.Left, holds) || Demands(l.Right, holds)
	}
	return Demands(l.Left, holds) && Demands(l.Right, holds)
}

// AdmitsEverybody tells whether the rule is expression: true, for any role.
func (r *Rule) AdmitsEverybody() bool {
	l, ok := r.Expression.(*expr.Literal)
	return ok && l.Value == true && len(r.Roles) == 0
}
