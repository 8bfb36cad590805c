package call

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// askOfCaller evaluates, before custom code runs, the parts of the rules that are about the caller and not the row.
// Parts that share a witness with other parts wait until the row is judged.
func (b *Builder) askOfCaller() {
	if !rule.JudgesAfterCode(b.Action) || !b.JudgesRows() {
		return
	}
	b.asked = map[expr.Node]pg.Expr{}
	var statements []pg.Statement
	x := value.NewExpression(value.RuleLogic, value.InFunction, nil, b.InputValue)
	for _, r := range value.ExpressionsOfRules(b.Action.Rules) {
		expr.Inspect(r, func(n expr.Node) bool {
			if l, ok := n.(*expr.Logic); ok && l.Op == syntax.And {
				return true
			}
			if rule.AsksCaller(n) && !expr.Mentions(n).Row && len(expr.Prefixes(n)) == 0 {
				asked := b.Variable("v_asked", "boolean", nil)
				b.asked[n] = asked
				statements = append(statements, &pg.Assign{Variable: asked, Value: x.Holds(n)})
				return false
			}
			_, isCompare := n.(*expr.Compare)
			return !isCompare
		})
	}
	if len(statements) > 0 {
		b.Step("So is what the rules ask of the caller beside the row.", statements...)
	}
}

// RowRule is the rules of the action as a condition in a query of its function, where the row's table is under its own
// name.
func (b *Builder) RowRule() pg.Expr {
	x := b.Expression(value.RuleLogic, value.InQuery)
	x.Written, x.Asked = value.WrittenBy(b.Action), b.asked
	return rule.AnyRule(x, b.Action.Rules)
}
