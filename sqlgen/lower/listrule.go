package lower

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// related is the model's view, which rows are picked from without row security. Who
// reads it adds the rules.
func (b *builder) related() *pg.TableRef { return pg.Ref(relatedSchema, b.table) }

// ruleOverRows is what admits rows to a caller whom no rule admits whatever the row:
// of the rules, the alternatives that ask for the row. The others are known to be
// false there, and in the way of an index. value returns the value of an input.
func (b *builder) ruleOverRows(value func(expr.Input) pg.Expr) pg.Expr {
	row := rowOf(b.model)
	x := newExpression(ruleLogic, inQuery, &row, value)
	var conditions []pg.Expr
	for _, r := range b.action.Rules {
		if r.Expression == nil {
			continue
		}
		var alternatives []pg.Expr
		for _, n := range alternativesOf(r.Expression) {
			if expr.Mentions(n).Row {
				alternatives = append(alternatives, x.allHold([]expr.Node{n}))
			}
		}
		condition := pg.AnyOf(alternatives...)
		if len(r.Roles) > 0 {
			condition = pg.AllOf(condition, hasRole(r.Roles, inQuery))
		}
		conditions = append(conditions, condition)
	}
	return pg.AnyOf(conditions...)
}

// alternativesOf returns the operands of a chain of ||.
func alternativesOf(n expr.Node) []expr.Node {
	if l, ok := n.(*expr.Logic); ok && l.Op == syntax.Or {
		return append(alternativesOf(l.Left), alternativesOf(l.Right)...)
	}
	return []expr.Node{n}
}

// isLeakproof tells whether Postgres' comparisons of a kind's values are leakproof, so
// that a condition beside those of row security may use an index.
func isLeakproof(k expr.Kind) bool {
	switch k {
	case expr.ID, expr.Text, expr.Markdown, expr.Enum, expr.Number, expr.Boolean, expr.Timestamp, expr.Date, expr.Duration:
		return true
	}
	return false
}
