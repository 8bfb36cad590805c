package call

import (
	"fmt"

	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// DecideFirst lowers the checks of an action that the server makes before it prepares anything: whether its rules hold
// or fail for every row, and its validation. For an upload the input is null: then a condition on inputs is as unknown
// as a condition on the row.
func (l *Lowering) DecideFirst(a *model.Action) *pg.Function {
	name := l.Functions.Take(rule.FunctionName(a) + "__early")
	l.Early[a] = name
	b := l.enter(a, name,
		"action "+a.Name+" before any row is read: true is allowed, false refused, null depends on rows or inputs", pg.Stable, nil)
	b.NoPolicies = true
	b.Fn.Comment = fmt.Sprintf("action %s of %s, decided early", a.Name, rule.OwnerOf(a))
	b.Fn.Returns = "boolean"
	isGiven := pg.IsNotNull(value.Input)
	decider := rule.Decider{Expression: value.NewExpression(value.RuleLogic, value.InFunction, nil, b.InputValue), InputsKnown: isGiven}
	decided := decider.DecideEarly(a.Rules)
	if pg.IsTrue(decided.Fails) {
		b.Step("No rule admits anyone.", &pg.Return{Value: pg.False()})
		return b.Finish()
	}
	if !pg.IsFalse(decided.Fails) {
		b.Step("", pg.IfThen(decided.Fails, append(b.askSession(decider), &pg.Return{Value: pg.False()})...))
	}
	if before := len(b.Fn.Body); len(a.Validations) > 0 {
		b.validate()
		p := &b.Fn.Body[before]
		p.Statements = []pg.Statement{pg.IfThen(isGiven, p.Statements...)}
	}
	b.findFirst(isGiven, decided.Holds)
	switch {
	case pg.IsTrue(decided.Holds):
		b.Step("", &pg.Return{Value: pg.True()})
		return b.Finish()
	case pg.IsFalse(decided.Holds):
		b.Step("", &pg.Return{Value: pg.Null()})
		return b.Finish()
	}
	b.Step("", &pg.Return{Value: &pg.Case{Whens: []pg.When{{Condition: decided.Holds, Result: pg.True()}}}})
	return b.Finish()
}

// findFirst looks for the row of an update, and asks the rules about it, before anything
// is stored for the call. The call does so again.
func (b *Builder) findFirst(isGiven, holds pg.Expr) {
	a := b.Action
	if a.Kind != model.Update || a.Custom && len(a.Pins) == 0 {
		return
	}
	where := b.lookUp()
	row := func(condition pg.Expr) pg.Expr {
		return &pg.Exists{Query: &pg.Select{From: pg.Ref(value.RelatedSchema, b.Table), Where: condition}}
	}
	isMissing, isThere := pg.Negate(row(where)), pg.Expr(pg.False())
	if value.NeedRow(a.Rules) && !pg.IsTrue(holds) {
		isMissing = pg.Negate(pg.AnyOf(pg.AllOf(holds, row(where)), row(pg.AllOf(where, b.RowRule()))))
		if !b.HidesRefused {
			isThere = row(where)
		}
	}
	b.Step("The row is looked for, and judged, before anything is stored.",
		pg.IfThen(pg.AllOf(isGiven, isMissing), b.End("platform.refuse_or_miss", isThere)))
}
