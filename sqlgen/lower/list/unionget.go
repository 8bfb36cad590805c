package list

import (
	"github.com/sternpost/sternpost/sqlgen/lower/call"
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// UnionGet lowers a get of a union: each arm in turn, in order of declaration.
func (l *Lowering) UnionGet(a *model.Action) *pg.Function {
	b := l.Begin(a, rule.FunctionName(a), "action "+a.Name, pg.Stable)
	rows := RowsOf(a)
	x := rows.Expression(value.WhereLogic, b.InputValue)
	var hidden []pg.Expr
	for _, arm := range value.ArmsOf(a.Union) {
		condition := x.Conjunction(lookedFor(b, rows, arm))
		if pg.IsFalse(condition) {
			continue
		}
		b.Step("arm "+arm.Name,
			&pg.ReturnQuery{Query: &pg.Select{
				Columns: unionColumns(a.Union),
				From:    pg.Ref(value.AppSchema, arm.Model.Table),
				Joins:   []pg.Join{underRowSecurity(arm)},
				Where:   condition,
				Limit:   pg.Lit("1"),
			}},
			pg.IfThen(pg.Var("found"), &pg.Return{}),
		)
		hidden = append(hidden, &pg.Exists{Query: &pg.Select{From: from(arm), Where: condition}})
	}
	if b.JudgesRows() && !b.HidesRefused && len(hidden) > 0 {
		b.Step("", pg.IfThen(pg.AnyOf(hidden...), b.End("platform.refuse")))
	}
	return b.Finish()
}

// lookedFor are the conditions of a get on the rows of an arm.
func lookedFor(b *call.Builder, rows ListRows, arm value.Arm) []value.Conjunct {
	var conjuncts []value.Conjunct
	for _, in := range b.Action.Reads {
		if in.Explicit {
			continue
		}
		equal := []value.Conjunct{b.EqualsInput(in, rows.valueIn(arm, in.Union))}
		if in.Optional {
			equal = value.UnlessAbsent(b.IsAbsent(in), equal)
		}
		conjuncts = append(conjuncts, equal...)
	}
	for _, w := range b.Action.Wheres {
		parts := value.PartsOf(rows.overArm(arm, w.Expression))
		if absent := b.LacksAny(call.OptionalInputs(w)); !pg.IsFalse(absent) {
			parts = value.UnlessAbsent(absent, parts)
		}
		conjuncts = append(conjuncts, parts...)
	}
	return conjuncts
}

// unionColumns are the columns of the views of a union's arms that are those of an answer.
func unionColumns(u *model.Union) []pg.Output {
	columns := make([]pg.Output, len(u.Fields))
	for i, f := range u.Fields {
		columns[i] = pg.Output{Value: pg.Col(u.Table, f.Column)}
	}
	return columns
}
