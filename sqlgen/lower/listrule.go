package lower

import "github.com/sternpost/sternpost/sqlgen/pg"

// related is the model's view, which rows are picked from without row security. Its readers add the rules.
func (b builder) related() *pg.TableRef { return pg.Ref(relatedSchema, b.table) }

// admission is the condition under which rows are admitted to a caller whom no rule admits for every row: the
// alternatives of the rules that ask for the row. The others are known to be false there, and would keep Postgres from
// an index.
func (b *builder) admission() admission {
	row := rowOf(b.model)
	return rules{
		model: b.model, list: b.action.Rules, x: newExpression(ruleLogic, inQuery, &row, b.inputValue), known: b.known, over: asItIs,
	}.admission()
}
