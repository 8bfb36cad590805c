package lower

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// unionGet lowers a get of a union: each arm in turn, in order of declaration.
func (l *lowering) unionGet(a *model.Action) *pg.Function {
	b := l.begin(a, functionName(a), "action "+a.Name, pg.Stable)
	rows := rowsOf(a)
	x := rows.expression(whereLogic, b.inputValue)
	var hidden []pg.Expr
	for _, arm := range armsOf(a.Union) {
		condition := x.conjunction(b.lookedFor(rows, arm))
		if pg.IsFalse(condition) {
			continue
		}
		b.step("arm "+arm.Name,
			&pg.ReturnQuery{Query: &pg.Select{
				Columns: unionColumns(a.Union),
				From:    pg.Ref(appSchema, arm.Model.Table),
				Joins:   []pg.Join{arm.underRowSecurity()},
				Where:   condition,
				Limit:   pg.Lit("1"),
			}},
			pg.IfThen(pg.Var("found"), &pg.Return{}),
		)
		hidden = append(hidden, &pg.Exists{Query: &pg.Select{From: arm.from(), Where: condition}})
	}
	if b.judgesRows() && !b.hidesRefused && len(hidden) > 0 {
		b.step("", pg.IfThen(pg.AnyOf(hidden...), b.end("platform.refuse")))
	}
	return b.finish()
}

// lookedFor are the conditions of a get on the rows of an arm.
func (b *builder) lookedFor(rows listRows, arm arm) []conjunct {
	var conjuncts []conjunct
	for _, in := range b.action.Reads {
		if in.Explicit {
			continue
		}
		equal := []conjunct{b.equalsInput(in, rows.valueIn(arm, in.Union))}
		if in.Optional {
			equal = unlessAbsent(b.isAbsent(in), equal)
		}
		conjuncts = append(conjuncts, equal...)
	}
	for _, w := range b.action.Wheres {
		parts := partsOf(rows.overArm(arm, w.Expression))
		if absent := b.lacksAny(optionalInputs(w)); !pg.IsFalse(absent) {
			parts = unlessAbsent(absent, parts)
		}
		conjuncts = append(conjuncts, parts...)
	}
	return conjuncts
}

// unionField is the field of a union that a path over it leads to.
func unionField(p *expr.Path) *model.UnionField {
	f, ok := p.Steps[0].(*model.UnionField)
	if !ok || len(p.Steps) > 1 {
		panic("lower: a path of a union is not a field of it")
	}
	return f
}

// unionColumns are the columns of the views of a union's arms that are those of an answer.
func unionColumns(u *model.Union) []pg.Output {
	columns := make([]pg.Output, len(u.Fields))
	for i, f := range u.Fields {
		columns[i] = pg.Output{Value: pg.Col(u.Table, f.Column)}
	}
	return columns
}
