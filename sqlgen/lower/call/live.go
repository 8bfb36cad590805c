package call

import (
	"github.com/sternpost/sternpost/sqlgen/lower/derive"
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// LiveValues lowers what the answer of a live action depends on of the caller, to a function that returns it. There is
// none if it depends on nothing, or on the caller's identity alone.
func (l *Lowering) LiveValues(a *model.Action) []*pg.Function {
	d := l.Live[a]
	if d == nil || len(d.CallerValues) == 0 {
		return nil
	}
	d.Function = l.Functions.Take(rule.FunctionName(a) + "__live")
	b := l.enter(a, d.Function, "what the live answer of action "+a.Name+" depends on of the caller", pg.Stable, nil)
	b.Fn.Comment = "action " + a.Name + " of " + rule.OwnerOf(a) + ", the caller of a live answer"
	b.Fn.Returns = "jsonb"
	b.Fn.Owner = "" // it reads views alone
	b.NoPolicies, b.tellsCaller = true, true
	values := make([]pg.Expr, len(d.CallerValues))
	for i, v := range d.CallerValues {
		values[i] = liveValue(v)
	}
	b.Step("", &pg.Return{Value: pg.Fn("jsonb_build_array", values...)})
	return []*pg.Function{b.Finish()}
}

// liveValue is a value of the caller, as JSON.
func liveValue(v derive.CallerValue) pg.Expr {
	x := value.NewExpression(value.RuleLogic, value.InQuery, nil, value.SettingOf)
	switch {
	case v.Roles != nil:
		return rule.HasRole(v.Roles)
	case v.Path != nil:
		return pg.Fn("platform.live_values", x.Ends(v.Path))
	case v.Rows == nil:
		return &pg.Is{Value: x.Holds(v.Condition), Test: "true"}
	}
	row := value.RowOf(v.Rows)
	x = value.NewExpression(value.RuleLogic, value.InQuery, &row, value.SettingOf)
	return pg.Fn("platform.live_values", &pg.ArrayOf{Query: &pg.Select{
		Columns: []pg.Output{{Value: pg.Col(v.Rows.Table, v.Column.Column)}},
		From:    pg.Ref(value.RelatedSchema, v.Rows.Table),
		Where:   x.Holds(v.Condition),
	}})
}
