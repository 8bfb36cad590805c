package lower

import (
	"slices"
	"strconv"

	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// fewValues is the most values of a caller that are looked behind one by one, and knownValues the most that are part of
// a statement that is planned for them.
const (
	fewValues   = 100
	knownValues = 1000
)

// mostValues is the variable that holds the most values of a caller that are found, and one more.
var mostValues = pg.Var("v_most")

// findAtMost declares the most values of a caller that are found. If a request asks for no particular rows, those of a
// caller with many values are met soon in the order of the list; if it does, they may be rare.
func (b *builder) findAtMost(isParticular pg.Expr) {
	most := pg.Expr(&pg.Case{
		Whens: []pg.When{{Condition: isParticular, Result: pg.Lit(strconv.Itoa(knownValues))}},
		Else:  pg.Lit(strconv.Itoa(fewValues)),
	})
	if pg.IsTrue(isParticular) {
		most = pg.Lit(strconv.Itoa(knownValues))
	} else if pg.IsFalse(isParticular) {
		most = pg.Lit(strconv.Itoa(fewValues))
	}
	b.own("v_most", "constant integer", most)
}

// mayHaveMany tells whether a caller may have many values by which rows are found.
func (a admission) mayHaveMany() bool {
	return slices.ContainsFunc(a.ways, func(w way) bool { return w.oneOf != nil && !w.isShort && !isShortArray(w.values) })
}

// isFew tells whether the values that a way compares a column with are few.
func (w way) isFew() pg.Expr {
	return pg.Op(pg.Fn("cardinality", w.values), "<=", pg.Lit(strconv.Itoa(fewValues)))
}

// hasMany tells whether the caller is not allowed outright, and has many values by which rows
// are found.
func (a admission) hasMany() pg.Expr {
	isJudged := pg.Expr(pg.True())
	var isMany []pg.Expr
	for _, w := range a.ways {
		if allowed, ok := w.condition.(*pg.Variable); ok {
			isJudged = pg.Negate(allowed)
		}
		if w.oneOf != nil && !w.isShort {
			isMany = append(isMany, pg.Negate(&pg.Is{Value: w.isFew(), Test: "true"}))
		}
	}
	return pg.AllOf(isJudged, pg.AnyOf(isMany...))
}

// pickForMany picks the ids of the page of a caller with many values by a statement that is planned for them. Like the
// general list's, its text is put together from fragments that are fixed here.
func (f specializedList) pickForMany(sets []operatorSet) []pg.Statement {
	b := f.b
	sql := b.own("v_sql", "text", &pg.Fragment{Prefix: " ", Query: &pg.QueryTail{From: b.related()}, Suffix: " where true"})
	admitted := b.admission(valueInFilter)
	m := merge{b: b, knowsMany: true}
	admitted.takeValuesOf(f.admitted)
	m.take(admitted)
	fields := make([]*schema.Field, len(f.keys))
	for i, k := range f.keys {
		fields[i] = k.field
	}
	o := origin{model: b.model, sql: sql, columns: columnsText(fields, b.table), alias: b.table}
	var ways, ends []pg.Expr
	for _, w := range admitted.ways {
		way, end := m.text(o, w)
		ways, ends = append(ways, way), append(ends, end)
	}
	request := pg.Expr(input)
	if f.position != nil {
		request = pg.Op(input, "||", pg.Str(`{"fromPosition":true}`))
	}
	return []pg.Statement{
		extend(sql, f.conditionTexts(sets)),
		&pg.Assign{Variable: f.ids, Value: pg.Fn("platform.pick_page",
			request, keysArray(f.keys, b.table), pg.Str(b.table), pg.Str(sortKey{field: b.model.Field("id")}.columnText(b.table)),
			&pg.Array{Elements: ways}, &pg.Array{Elements: ends}, m.parameters())},
	}
}

// conditionTexts is the condition of each form on rows, as a fragment of a statement.
func (f specializedList) conditionTexts(sets []operatorSet) pg.Expr {
	row := rowOf(f.b.model)
	x := newExpression(whereLogic, inQuery, &row, valueInFilter)
	inFilter := func(equal filter) pg.Expr {
		return cast(memberText(theFilter, equal.at("equals")...), equal.input.Type)
	}
	texts := &pg.Case{Value: pg.Var("form")}
	for _, set := range sets {
		when := pg.When{Condition: pg.Str(set.operators()), Result: pg.Str("")}
		if condition := f.operatorSet(set, x, inFilter); !pg.IsTrue(condition) {
			when.Result = alsoHolds(condition)
		}
		texts.Whens = append(texts.Whens, when)
	}
	return texts
}

// takeValuesOf lets the ways of an admission take their values from another admission of the same rules, which may have
// other ways in front.
func (a *admission) takeValuesOf(known admission) {
	known.ways = known.ways[len(known.ways)-len(a.ways):]
	a.ways = slices.Clone(a.ways)
	for i := range a.ways {
		a.ways[i].values, a.ways[i].isShort = known.ways[i].values, known.ways[i].isShort
	}
}

// found selects the keys of the rows that a way finds: no more than a page for each value that it compares a column
// with. The rows that a list shows without a filter are met soon behind each value. So a few rows of each tell where
// the page ends at the latest, and no row beyond is read.
func (f specializedList) found(w way, where pg.Expr, isFiltered bool) *pg.Select {
	b := f.b
	columns, order := keyColumns(f.keys, b.table), orderBy(f.keys, b.table)
	if w.oneOf == nil || w.isShort || isFiltered || f.position == nil {
		return b.found(w, columns, where, order, f.size)
	}

	few := pg.Op(pg.Op(f.size, "/", pg.Fn("cardinality", w.values)), "+", pg.Lit("1"))
	last := b.found(w, columns, where, order, few)
	last.OrderBy, last.Limit, last.Offset = order, pg.Lit("1"), pg.Op(f.size, "-", pg.Lit("1"))
	lastOfAll := &pg.Select{Columns: columns, From: b.related(), OrderBy: orderBy(reverse(f.keys), b.table), Limit: pg.Lit("1")}

	alias := rowAlias("until", b.action)
	until := &pg.Select{Columns: columns, From: &pg.UnionRef{Queries: []*pg.Select{last, lastOfAll}, Alias: b.table}, OrderBy: order, Limit: pg.Lit("1")}
	position := make([]pg.Expr, len(f.keys))
	for i, k := range f.keys {
		position[i] = k.column(alias)
	}
	isBefore := f.compared(reverse(f.keys)[0].keysetOperator()+"=", position)
	rows := b.found(w, columns, pg.AllOf(where, isBefore), order, f.size)
	rows.Joins = append([]pg.Join{{Kind: "cross join", With: rows.From}}, rows.Joins...)
	rows.From = &pg.SubqueryRef{Alias: alias, Query: until}
	return rows
}
