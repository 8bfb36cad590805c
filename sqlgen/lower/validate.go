package lower

import (
	"fmt"
	"slices"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// validate ends the call if rules of the action are false, with all their messages. A rule that is unknown, because a
// value is missing, has not failed.
func (b *builder) validate() {
	x := b.expressionWithoutRow(validateLogic)
	var messages []pg.Expr
	for _, v := range b.action.Validations {
		fails := &pg.Is{Value: x.holds(v.Expression), Test: "false"}
		messages = append(messages, &pg.Case{Whens: []pg.When{{Condition: fails, Result: pg.Str(v.Message)}}})
	}
	if len(messages) > 0 {
		b.step("", b.end("platform.require_valid", &pg.Array{Elements: messages}))
	}
}

// validations lowers the rules of a model to checks of its table. Postgres tests checks in the order of their names, so
// each name has its number in the order of declaration. Rules over fields that are computed from other rows are late: a
// new row has no such values yet.
func (l *lowering) validations(m *model.Model) (checks, late []*pg.Constraint) {
	row := rowOf(m)
	names := l.validationNames(m)
	for i, v := range m.Validations {
		condition := newExpression(validateLogic, inFunction, &row, nil).holds(v.Expression)
		mentioned := pg.Mentions(condition)
		var columns []string
		for _, f := range m.Stored() {
			if mentioned.Column(f.Column) {
				columns = append(columns, f.Column)
			}
		}
		check := newCheck(names[i], originAt(m, v.Span), columns, condition)
		check.Origin.Rule = "@validate, " + v.Message
		if isLate(v) {
			late = append(late, check)
		} else {
			checks = append(checks, check)
		}
		l.constraint(names[i], release.Constraint{Kind: release.Validate, Table: m.Table, Message: v.Message})
	}
	return checks, late
}

// isLate tells whether a rule of a model mentions a field that is computed from other rows.
func isLate(v *model.Validation) bool {
	return slices.ContainsFunc(expr.Paths(v.Expression), func(p *expr.Path) bool { return isComputedFromRows(field(p.Steps[0])) })
}

// testLate gives a table the trigger that tests late rules. It waits only for rows for which a rule is false when a
// statement leaves them: so all others cost nothing more.
func (l *lowering) testLate(t *pg.Table, m *model.Model, rules []*pg.Constraint) {
	if len(rules) == 0 {
		return
	}
	t.Tester = &pg.Tester{Name: pg.Shorten("tg_"+m.Table, pg.MaxIdent-20) + "__validate", Rules: rules}
	t.Tester.Function = tester(t)
	written := tableAlias{model: m, name: "new", id: pg.Col("new", "id")}
	var fails []pg.Expr
	for _, v := range m.Validations {
		if isLate(v) {
			fails = append(fails, &pg.Is{Value: newExpression(validateLogic, inFunction, &written, nil).holds(v.Expression), Test: "false"})
		}
	}
	t.Triggers = append(t.Triggers, &pg.Trigger{
		Name: pg.TestTrigger, Timing: "after insert or update", IsDeferred: true,
		When: pg.AnyOf(fails...), Function: pg.Qualified(t.Schema, t.Tester.Name),
	})
}

// tester tests a row as it is now: the last transaction to write it waited for the others, so that state stays.
func tester(t *pg.Table) *pg.Function {
	id := &pg.Variable{Name: "__id", Type: "text", Initial: pg.Col("new", "id")}
	broken := &pg.Variable{Name: "__broken", Type: "text"}
	first := &pg.Case{}
	for _, r := range t.Tester.Rules {
		first.Whens = append(first.Whens, pg.When{Condition: &pg.Is{Value: r.Layout, Test: "false"}, Result: pg.Str(r.Name)})
	}
	return &pg.Function{
		Schema: t.Schema, Name: t.Tester.Name, Title: "tests rules over what is computed from other rows, when all rows are written",
		Returns: "trigger", Volatility: pg.Volatile, UseColumn: true, Variables: []*pg.Variable{id, broken},
		Body: []pg.Paragraph{
			{Statements: []pg.Statement{&pg.Query{Select: &pg.Select{
				Columns: []pg.Output{{Value: first}}, Into: []pg.Target{broken}, From: pg.Ref(t.Schema, t.Name), Where: pg.Eq(pg.Col(t.Name, "id"), id),
			}}}},
			{Statements: []pg.Statement{pg.IfThen(pg.IsNotNull(broken), &pg.Perform{Value: pg.BreakRule(t, broken)})}},
			{Statements: []pg.Statement{&pg.Return{Value: pg.Null()}}},
		},
	}
}

// findLate finds the models whose rows late rules depend on.
func (l *lowering) findLate() {
	for _, m := range l.schema.Models {
		if slices.ContainsFunc(m.Validations, isLate) {
			l.feedsLate[m] = true
		}
	}
	for n := -1; n < len(l.feedsLate); { // until it finds no more
		n = len(l.feedsLate)
		for _, p := range l.parts {
			if l.feedsLate[p.owner] {
				l.feedsLate[p.other()] = true
			}
		}
	}
}

// testsNow ends a write to rows that late rules are about. It tests them before the rules judge the new row, and before
// the answer. Rows that other writes change, such as a delete that cascades or custom code, are tested as their
// transaction ends.
func (b *builder) testsNow(l *lowering) {
	if slices.ContainsFunc(levels(b.action).inserted(), func(at *level) bool { return l.feedsLate[at.model] }) {
		b.step("Rules over computed values are tested now that all rows are written.", &pg.TestNow{Schema: appSchema, Trigger: pg.TestTrigger})
	}
}

// validationNames returns a name for each rule of a model, in ascending order.
func (l *lowering) validationNames(m *model.Model) []string {
	digits := max(2, len(fmt.Sprint(len(m.Validations))))
	names := make([]string, len(m.Validations))
	for i := range names {
		suffix := fmt.Sprintf("_validate_%0*d", digits, i+1)
		names[i] = l.names.Take(pg.Shorten(m.Table, pg.MaxIdent-len(suffix)) + suffix)
	}
	return names
}
