package lower

import (
	"fmt"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// rule lowers the rules of an action, joined by or, to one condition.
func rule(rules []*schema.Rule, at site) pg.Expr {
	x := newExpression(ruleLogic, at, nil, noInput)
	conditions := make([]pg.Expr, len(rules))
	for i, r := range rules {
		conditions[i] = x.holds(r.Expression)
	}
	return pg.AnyOf(conditions...)
}

// noInput is for expressions in which no input can be named.
func noInput(in expr.Input) pg.Expr {
	panic(fmt.Sprintf("lower: the input %s cannot be named here", in.InputName()))
}

// ruleText is how the schema words the rules of an action.
func ruleText(rules []*schema.Rule) string {
	texts := make([]string, len(rules))
	for i, r := range rules {
		texts[i] = r.Text
	}
	return strings.Join(texts, ", or ")
}

func boolean(b bool) pg.Expr {
	if b {
		return pg.True()
	}
	return pg.False()
}
