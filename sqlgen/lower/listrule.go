package lower

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// related is the model's view, which rows are picked from without row security. Who
// reads it adds the rules.
func (b *builder) related() *pg.TableRef { return pg.Ref(relatedSchema, b.table) }

// admission is what admits rows to a caller whom no rule admits whatever the row: of the
// rules, the alternatives that ask for the row. The others are known to be false there,
// and in the way of an index. value returns the value of an input.
func (b *builder) admission(value func(expr.Input) pg.Expr) admission {
	row := rowOf(b.model)
	x := newExpression(ruleLogic, inQuery, &row, value)
	return admissionOf(b.model, b.action.Rules, x, b.inputValue, asItIs)
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
