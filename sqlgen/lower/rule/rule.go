package rule

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// FunctionName is the name of an action's function. PL/pgSQL lets parameters, the columns of its answer and FOUND be
// qualified by the name of the function. If a function had the name of a table that it reads, of a second alias of one,
// or of the rows of its union, PL/pgSQL would take a column there for them.
func FunctionName(a *model.Action) string {
	isRead := func(m *model.Model) bool { return IsAliasOf(m.Table, a.Function) }
	if slices.ContainsFunc(value.ModelsRead(a), isRead) || IsAliasOf(value.TableOf(a), a.Function) {
		return a.Function + "__action"
	}
	return a.Function
}

// IsAliasOf tells whether a name is a table's, or an alias that joins would give it.
func IsAliasOf(table, name string) bool {
	number, isNumbered := strings.CutPrefix(name, table+"_")
	return name == table || isNumbered && strings.Trim(number, "0123456789") == ""
}

// OwnerOf names what an action belongs to, for comments.
func OwnerOf(a *model.Action) string {
	if a.Union != nil {
		return "union " + a.Union.Name
	}
	if a.Kind == model.Start {
		return "job " + a.Model.Name
	}
	return "model " + a.Model.Name
}

// JudgesAfterCode tells whether an action with custom code is judged by the row that the code returns. By then the code
// may have written anything.
func JudgesAfterCode(a *model.Action) bool {
	return a.Custom && value.NeedRow(a.Rules) && (a.Kind == model.Create || a.Kind == model.Update && len(a.Pins) == 0)
}

// AnyRule lowers rules, joined by or, to one condition over the row and the call.
func AnyRule(x value.Expression, rules []*model.Rule) pg.Expr {
	conditions := make([]pg.Expr, len(rules))
	for i, r := range rules {
		conditions[i] = rule(x, r)
	}
	return pg.AnyOf(conditions...)
}

// rule lowers one rule: its expression and its roles are both required.
func rule(x value.Expression, r *model.Rule) pg.Expr {
	holds := pg.Expr(pg.True())
	if r.Expression != nil {
		holds = x.AllHold([]expr.Node{r.Expression})
	}
	if len(r.Roles) == 0 {
		return holds
	}
	return pg.AllOf(holds, HasRole(r.Roles))
}

// ruleText is the text of an action's rules in the schema.
func ruleText(rules []*model.Rule) string {
	texts := make([]string, len(rules))
	for i, r := range rules {
		texts[i] = r.Text
	}
	return strings.Join(texts, ", or ")
}

// PolicyRule lowers rules to the condition of a policy of a model's table. It reads inputs, like the caller, from
// settings.
func PolicyRule(m *model.Model, rules []*model.Rule) pg.Expr {
	return policyRuleBefore(m, rules, nil)
}

// policyRuleBefore is policyRule, but asks about the caller as it was before rows were written.
func policyRuleBefore(m *model.Model, rules []*model.Rule, written *value.Level) pg.Expr {
	return AnyRule(policyExpression(m, written), rules)
}

func policyExpression(m *model.Model, written *value.Level) value.Expression {
	row := value.RowOf(m)
	x := value.NewExpression(value.RuleLogic, value.InQuery, &row, value.SettingOf)
	x.Written = written
	return x
}

// MaxWays is the most ways in which rows are found. Rules with more alternatives are one condition.
const MaxWays = expr.MaxAlternatives
