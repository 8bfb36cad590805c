package lower

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// related is the model's view, which rows are picked from without row security. Who
// reads it adds the rules.
func (b builder) related() *pg.TableRef { return pg.Ref(relatedSchema, b.table) }

// admission is what admits rows to a caller whom no rule admits whatever the row: of the
// rules, the alternatives that ask for the row. The others are known to be false there,
// and in the way of an index. value returns the value of an input.
func (b *builder) admission(value func(expr.Input) pg.Expr) admission {
	row := rowOf(b.model)
	x := newExpression(ruleLogic, inQuery, &row, value)
	return admissionOf(b.model, b.action.Rules, x, b.inputValue, asItIs)
}
