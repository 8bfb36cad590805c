package lower

import (
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// needRow tells whether rules mention the row, so that some callers can only be judged after it is read.
func needRow(rules []*model.Rule) bool {
	for _, r := range rules {
		if r.Expression != nil && expr.Mentions(r.Expression).Row {
			return true
		}
	}
	return false
}

// anyRule lowers rules, joined by or, to one condition over the row and the call.
func (x expression) anyRule(rules []*model.Rule) pg.Expr {
	conditions := make([]pg.Expr, len(rules))
	for i, r := range rules {
		conditions[i] = x.rule(r)
	}
	return pg.AnyOf(conditions...)
}

// rule lowers one rule: its expression and its roles are both required.
func (x expression) rule(r *model.Rule) pg.Expr {
	holds := pg.Expr(pg.True())
	if r.Expression != nil {
		holds = x.allHold([]expr.Node{r.Expression})
	}
	if len(r.Roles) == 0 {
		return holds
	}
	return pg.AllOf(holds, hasRole(r.Roles))
}

// ruleText is the text of an action's rules in the schema.
func ruleText(rules []*model.Rule) string {
	texts := make([]string, len(rules))
	for i, r := range rules {
		texts[i] = r.Text
	}
	return strings.Join(texts, ", or ")
}

// expressionsOfRules returns the expressions of rules that have one.
func expressionsOfRules(rules []*model.Rule) []expr.Node {
	var nodes []expr.Node
	for _, r := range rules {
		if r.Expression != nil {
			nodes = append(nodes, r.Expression)
		}
	}
	return nodes
}

// ruleInputs returns the inputs that rules mention, each once.
func ruleInputs(rules []*model.Rule) []*model.Input {
	var inputs []*model.Input
	for _, in := range expr.Mentions(expressionsOfRules(rules)...).Inputs {
		inputs = append(inputs, in.(*model.Input))
	}
	return inputs
}

// policyRule lowers rules to the condition of a policy of a model's table. It reads inputs, like the caller, from
// settings.
func policyRule(m *model.Model, rules []*model.Rule) pg.Expr {
	return policyRuleBefore(m, rules, nil)
}

// policyRuleBefore is policyRule, but asks about the caller as it was before rows were written.
func policyRuleBefore(m *model.Model, rules []*model.Rule, written *level) pg.Expr {
	row := rowOf(m)
	x := newExpression(ruleLogic, inQuery, &row, settingOf)
	x.written = written
	return x.anyRule(rules)
}

// settingOf reads an input of the call from its setting.
func settingOf(in expr.Input) pg.Expr {
	i := in.(*model.Input)
	return pg.As(settled(pg.Fn("platform.input", pg.Str(model.SnakeForm(i.Name))), inQuery), variableType(i.Type))
}

// rowRule is the rules of the action as a condition in a query of its function, where the row's table is under its own
// name.
func (b *builder) rowRule() pg.Expr {
	x := b.expression(ruleLogic, inQuery)
	x.written, x.asked = writtenBy(b.action), b.asked
	return x.anyRule(b.action.Rules)
}

// bindInputs hands the inputs that policies read to them.
func (b *builder) bindInputs() {
	if b.action.Custom {
		return // the policies of custom code hold the rules of models, which have no inputs
	}
	b.bound = ruleInputs(b.action.Rules)
	for _, in := range b.bound {
		b.value(in)
	}
}

func boolean(b bool) pg.Expr {
	if b {
		return pg.True()
	}
	return pg.False()
}
