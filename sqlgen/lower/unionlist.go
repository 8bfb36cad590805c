package lower

import (
	"fmt"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// armColumn is the column that tells rows of one id apart: the number of their arm. No field's name makes such a
// column.
const armColumn = "arm__number"

// unionOrder returns the order of a union's list whose request names none: the declared one, then by id as in any list,
// then by arm, since two arms may have rows of one id.
func unionOrder(a *schema.Action) []sortKey {
	var keys []sortKey
	hasID := false
	for _, k := range a.OrderBy {
		keys = append(keys, sortKey{field: unionKey(k.UnionField), descending: k.Descending})
		hasID = hasID || k.UnionField.Name == "id"
	}
	if !hasID {
		keys = followedBy(keys, unionKey(a.Union.Field("id")))
	}
	return append(keys, sortKey{field: armKey()})
}

// unionSortable returns every field that a union's list may be ordered by.
func unionSortable(a *schema.Action) []*schema.Field {
	var fields []*schema.Field
	seen := map[string]bool{}
	add := func(f *schema.Field) {
		if !seen[f.Name] {
			seen[f.Name] = true
			fields = append(fields, f)
		}
	}
	for _, f := range a.UnionSortable {
		add(unionKey(f))
	}
	for _, k := range unionOrder(a) {
		add(k.field)
	}
	return fields
}

// unionKey is a field of a union as the field type that orders use.
func unionKey(f *schema.UnionField) *schema.Field {
	return &schema.Field{Name: f.Name, Column: f.Column, Type: f.Type, Optional: f.Optional}
}

func armKey() *schema.Field {
	return &schema.Field{Name: armColumn, Column: armColumn, Type: expr.Type{Kind: expr.Number}}
}

// unionList lowers a list of a union. Each arm gives at most a page, in order, so that an index of its table ends the
// search. The first of all of them are the page, whose rows are then read under row security.
func (l *lowering) unionList(a *schema.Action) *pg.Function {
	b := l.begin(a, functionName(a), "action "+a.Name+", any filter and page", pg.Stable)
	b.readsZone = filtersByPeriod(a)
	where := member(input, "where")

	keys := b.keysFor(unionOrder(a), unionSortable(a), len(a.UnionSortable) > 0)

	// The rows of each arm, without row security, so that every condition may use an
	// index.
	var lists []*generalList
	for _, arm := range armsOf(a.Union) {
		text := b.variable("v_"+schema.SnakeForm(arm.Name), "text", arm.source(a))
		lists = append(lists, &generalList{
			b: b, where: where, sql: text, label: schema.SnakeForm(arm.Name) + "_",
		})
	}
	picked := b.own("v_picked", "text[]", nil) // the number of each row's arm, a colon and its id
	ids := b.own("v_ids", "text[]", nil)
	numbers := b.own("v_arms", "bigint[]", nil)

	m := b.newMerge()
	isAllowed := b.isAllowed()
	for i, arm := range armsOf(a.Union) {
		lists[i].ofArm(arm, m, isAllowed)
	}
	alias := pg.Ident(b.table)
	b.step("Each arm gives at most a page, and the first of all their rows are the page. It is then read under row security.",
		&pg.Assign{Variable: picked, Value: pg.Fn("platform.pick_page", append([]pg.Expr{
			input, keys, pg.Str(b.table), pg.Str(alias + "." + armColumn + " || ':' || " + alias + ".id"),
		}, m.arguments()...)...)},
		&pg.Assign{Variable: numbers, Value: ofPicked(picked, pg.As(pg.Fn("split_part", pg.Col("page", "picked"), pg.Str(":"), pg.Lit("1")), "bigint"))},
		&pg.Assign{Variable: ids, Value: ofPicked(picked, pg.Fn("substr", pg.Col("page", "picked"),
			pg.Op(pg.Fn("strpos", pg.Col("page", "picked"), pg.Str(":")), "+", pg.Lit("1"))))},
		&pg.ReturnQuery{Query: b.unionRows(ids, numbers)})
	b.requireCallerOfPage(nothingFound)
	return b.finish()
}

// isAllowed tells whether the caller is allowed every row. A variable holds an answer that is used several times.
func (b *builder) isAllowed() pg.Expr {
	if !b.judgesRows() || pg.IsFalse(b.early.holds) {
		return b.early.holds
	}
	allowed := b.own("v_is_allowed", "boolean", nil)
	b.step(allowedOutright, &pg.Assign{Variable: allowed, Value: b.early.holds})
	return allowed
}

// source is the query of an arm's rows: the columns that tell them apart and those that they can be ordered by.
// Conditions may follow.
func (a arm) source(action *schema.Action) pg.Expr {
	x := a.row(whereLogic, inQuery, valueInFilter)
	columns := []pg.Output{{Value: pg.As(pg.Lit(fmt.Sprint(a.number)), "bigint"), As: armColumn}}
	hasID := false
	for _, f := range unionSortable(action) {
		if f.Name == armColumn {
			continue
		}
		hasID = hasID || f.Name == "id"
		columns = append(columns, pg.Output{Value: a.column(x, a.union.Field(f.Name)), As: f.Column})
	}
	if !hasID {
		columns = append(columns, pg.Output{Value: x.row.id, As: "id"})
	}
	rows := a.rows(x)
	return &pg.Fragment{Select: &pg.Select{Columns: columns, From: rows.Query.From, Where: rows.Query.Where}, Suffix: rows.Suffix}
}

// rows is the query of an arm's rows from its from on. Conditions may follow.
func (a arm) rows(x expression) *pg.Fragment {
	fragment := &pg.Fragment{Prefix: " ", Query: &pg.QueryTail{From: pg.Ref(relatedSchema, a.Model.Table)}, Suffix: " where true"}
	if condition := x.allHold(a.wheres()); !pg.IsTrue(condition) {
		fragment.Suffix = ""
		fragment.Query.Where = &pg.And{Operands: []pg.Expr{condition}} // more follows behind and
	}
	return fragment
}

// ofArm adds the conditions of a union's list on an arm's rows to their query.
func (g *generalList) ofArm(a arm, m *merge, isAllowed pg.Expr) {
	x := a.row(whereLogic, inQuery, valueInFilter)
	for _, w := range g.b.action.Wheres {
		condition := alsoHolds(x.allHold([]expr.Node{a.over(w.Expression)}))
		if absent := g.guard(optionalInputs(w)); absent != nil {
			g.b.step("", pg.IfThen(g.given(absent), extend(g.sql, condition)))
		} else {
			g.b.step("", extend(g.sql, condition))
		}
	}
	var list []filter
	for _, in := range g.b.action.Reads {
		if !in.Explicit {
			list = append(list, filter{in, a.value(in.Union)})
		}
	}
	g.filter(x, list)

	r := g.originOfArm(a)
	if !g.b.judgesRows() {
		g.b.step("", m.add(r, everything())...)
		return
	}
	admitted := admissionOf(a.Model, g.b.action.Rules, a.row(ruleLogic, inQuery, valueInFilter), g.b.inputValue, a.over)
	if admitted.mayHaveMany() && !m.findsFew {
		g.b.findAtMost(pg.False())
		m.findsFew = true
	}
	statements := append(m.gather(&admitted, isChosen()), m.add(r, admitted)...)
	if pg.IsFalse(isAllowed) {
		g.b.step("", statements...)
		return
	}
	g.b.step("", &pg.If{Branches: []pg.IfBranch{{Condition: isAllowed, Then: m.add(r, everything())}}, Else: statements})
}

// isChosen tells whether a request filters a list, or chooses its order.
func isChosen() pg.Expr {
	none := pg.Str("{}")
	return pg.AnyOf(hasMember(input, "orderBy"), pg.Op(pg.Fn("coalesce", member(input, "where"), none), "<>", none))
}

// originOfArm is the origin of an arm's rows.
func (g generalList) originOfArm(a arm) origin {
	if g.facets != nil {
		return g.facets.origin(a.Model, g.sql)
	}
	alias := pg.Ident(g.b.table)
	return origin{model: a.Model, sql: g.sql, begin: " from (", end: ") as " + alias + " where true", columns: alias + ".*", alias: g.b.table}
}

// ofPicked is a part of each picked row, in order. The function takes parts before it reads the rows: under row
// security Postgres cannot search an index for a value that a function makes of a text.
func ofPicked(picked, part pg.Expr) pg.Expr {
	return &pg.ArrayOf{Query: &pg.Select{
		Columns: []pg.Output{{Value: part}},
		From:    &pg.CallRef{Call: pg.Fn("unnest", picked), Alias: "page", Columns: []string{"picked"}},
	}}
}

// unionRows reads the rows of a page, arm by arm, in the order in which they were picked.
func (b builder) unionRows(ids, numbers pg.Expr) *pg.Select {
	page := b.table
	var columns []pg.Output
	for i, f := range b.action.Union.Fields {
		columns = append(columns, pg.Output{Value: pg.Col(page, numberedColumn(i, f.Column))})
	}
	columns = append(columns, pg.Output{Value: pg.Col(page, armColumn)})
	return &pg.Select{
		Columns: columns,
		From:    &pg.SubqueryRef{Alias: page, Query: b.armRows(ids, numbers)},
		OrderBy: []pg.Order{{Value: pg.Col(page, "place")}},
	}
}

// armRows reads the rows of each arm, each with its place on the page.
func (b builder) armRows(ids, numbers pg.Expr) *pg.Select {
	var all *pg.Select
	for _, arm := range armsOf(b.action.Union) {
		page := pageAlias(arm.Model.Table)
		columns := arm.columns(arm.row(whereLogic, inQuery, nil))
		for i, f := range b.action.Union.Fields {
			columns[i].As = numberedColumn(i, f.Column)
		}
		rows := &pg.Select{
			Columns: append(columns,
				pg.Output{Value: pg.Col(page, "number"), As: armColumn}, pg.Output{Value: pg.Col(page, "place"), As: "place"}),
			From: &pg.CallRef{
				Call:       pg.Fn("unnest", ids, numbers),
				Ordinality: true, Alias: page, Columns: []string{"id", "number", "place"},
			},
			Joins: []pg.Join{{Kind: "join", With: pg.Ref(appSchema, arm.Model.Table),
				On: pg.Eq(pg.Col(arm.Model.Table, "id"), pg.Col(page, "id"))}},
			Where: pg.Eq(pg.Col(page, "number"), pg.Lit(fmt.Sprint(arm.number))),
		}
		if all == nil {
			all = rows
		} else {
			all.UnionAll = append(all.UnionAll, rows)
		}
	}
	return all
}
