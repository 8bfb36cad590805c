package lower

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// related is the model's view, which rows are picked from without row security. Its readers add the rules.
func (b builder) related() *pg.TableRef { return pg.Ref(relatedSchema, b.table) }

// admission is the condition under which rows are admitted to a caller whom no rule admits for every row: the
// alternatives of the rules that ask for the row. The others are known to be false there, and would keep Postgres from
// an index. value returns the value of an input.
func (b *builder) admission(value func(expr.Input) pg.Expr) admission {
	row := rowOf(b.model)
	x := newExpression(ruleLogic, inQuery, &row, value)
	return admissionOf(b.model, b.action.Rules, x, b.inputValue, asItIs, nil)
}
