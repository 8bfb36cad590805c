package lower

import (
	"fmt"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// armColumn is the column by which rows of one id are told apart: the number of their
// arm. No name of a field gives such a column.
const armColumn = "arm__number"

// unionOrder returns the order of a union's list whose request names none: the
// declared one, then by id, then by arm, since two arms may have rows of one id.
func unionOrder(a *schema.Action) []sortKey {
	var keys []sortKey
	hasID := false
	for _, k := range a.OrderBy {
		keys = append(keys, sortKey{unionKey(k.UnionField), k.Descending})
		hasID = hasID || k.UnionField.Name == "id"
	}
	if !hasID {
		keys = append(keys, sortKey{field: unionKey(a.Union.Field("id"))})
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

// unionKey is a field of a union as the field that orders are made of.
func unionKey(f *schema.UnionField) *schema.Field {
	return &schema.Field{Name: f.Name, Column: f.Column, Type: f.Type, Optional: f.Optional}
}

func armKey() *schema.Field {
	return &schema.Field{Name: armColumn, Column: armColumn, Type: expr.Type{Kind: expr.Number}}
}

// unionList lowers a list of a union. Each arm gives at most a page, in order, so that
// an index of its table ends the search; the first of all of them are the page, of
// which the rows are then read under row security.
func (l *lowering) unionList(a *schema.Action) *pg.Function {
	b := l.begin(a, functionName(a), "action "+a.Name+", any filter and page", pg.Stable)
	where := member(input, "where")
	alias := b.table

	isBackwards := b.variable("v_is_backwards", "boolean", pg.Op(input, "?|", pg.Str("{last,before}")))
	size := b.variable("v_size", "bigint", pg.As(pg.Fn("coalesce",
		memberText(input, "first"), memberText(input, "last"), memberText(input, "limit"), pg.Str(defaultPageSize)), "bigint"))
	offset := b.variable("v_offset", "bigint", pg.As(pg.Fn("coalesce", memberText(input, "offset"), pg.Str("0")), "bigint"))
	var keys pg.Expr
	if len(a.UnionSortable) > 0 {
		keys = b.variable("v_keys", "platform.sort_key[]", pg.Str("{}"))
	} else {
		keys = b.variable("v_keys", "constant platform.sort_key[]", keysArray(unionOrder(a), alias))
	}
	path := b.variable("v_path", "text", nil)
	operand := b.variable("v_operand", "jsonb", nil)

	// The rows of each arm, without row security, so that every condition may use an
	// index.
	var sources []pg.Expr
	var lists []*generalList
	for _, arm := range armsOf(a.Union) {
		text := b.variable(b.names.Take("v_"+schema.SnakeForm(arm.Name)), "text", arm.source(a))
		sources = append(sources, text)
		lists = append(lists, &generalList{
			builder: b, where: where, path: path, operand: operand, sql: text, label: schema.SnakeForm(arm.Name) + "_",
		})
	}
	total := b.variable("v_total", "bigint", nil)
	position := b.variable("v_position", "jsonb", nil)
	beyond := b.variable("v_beyond", "text", pg.Str(""))
	rowsBefore := b.variable("v_has_rows_before", "boolean", pg.False())
	ids := b.variable("v_ids", "text[]", nil)
	numbers := b.variable("v_arms", "bigint[]", nil)
	positions := b.variable("v_positions", "json[]", nil)
	records := b.variable("v_records", "text[]", nil)
	count := b.variable("v_count", "int", nil)

	if len(a.UnionSortable) > 0 {
		b.requestedOrder(keys, unionOrder(a), unionSortable(a))
	}
	isAllowed := b.early.holds
	if b.judgesRows() && !pg.IsFalse(isAllowed) {
		isAllowed = b.variable("v_is_allowed", "boolean", nil)
		b.step("Who is allowed outright needs no rule in the query; of the others, rows decide.",
			&pg.Assign{Variable: "v_is_allowed", Value: b.early.holds})
	}
	for i, arm := range armsOf(a.Union) {
		lists[i].ofArm(arm, isAllowed)
	}

	everything := []pg.Expr{pg.Str("(")}
	page := []pg.Expr{}
	order := pg.Fn("platform.order_sql", keys, isBackwards)
	// Told to begin where the page does, Postgres finds a row before it at once, or that
	// there is none.
	backwards := pg.Negate(isBackwards)
	isBefore, reversed := pg.Fn("platform.beyond_sql", keys, backwards, position), pg.Fn("platform.order_sql", keys, backwards)
	before := []pg.Expr{pg.Str("select exists (")}
	for i, source := range sources {
		if i > 0 {
			everything = append(everything, pg.Str(" union all "))
			page = append(page, pg.Str(" union all "))
			before = append(before, pg.Str(" union all "))
		}
		as := pg.Str(") as " + pg.Ident(alias) + " where ")
		before = append(before,
			pg.Str("(select 1 from ("), source, as, isBefore, pg.Str(" order by "), reversed, pg.Str(" limit 1) union all (select 1 from ("),
			source, as, pg.Fn("platform.at_sql", keys, position), pg.Str(")"))
		everything = append(everything, source)
		page = append(page,
			pg.Str("(select * from ("), source, pg.Str(") as "+pg.Ident(alias)+" where true"), beyond,
			pg.Str(" order by "), order, pg.Str(" limit $3 + $4)"))
	}
	everything = append(everything, pg.Str(") as "+pg.Ident(alias)))
	before = append(before, pg.Str(")"))
	from := concatenated(everything...)

	b.step("", pg.IfThen(pg.Eq(member(input, "totalCount"), pg.Str("true")), &pg.Execute{
		Text: concatenated(pg.Str("select count(*) from "), from), Into: "v_total", Using: []pg.Expr{where}}))
	isBeyond := pg.Fn("platform.beyond_sql", keys, isBackwards, position)
	b.step("The page lies beyond a position, which is $2.", pg.IfThen(pg.Op(input, "?|", pg.Str("{after,before}")),
		&pg.Assign{Variable: "v_position", Value: pg.Fn("platform.read_cursor", input, pg.Str(a.Name), keys)},
		&pg.Execute{
			Text:  concatenated(before...),
			Into:  "v_has_rows_before",
			Using: []pg.Expr{where, position},
		},
		&pg.Assign{Variable: "v_beyond", Value: concatenated(pg.Str(" and "), isBeyond)},
	))

	picked := append([]pg.Expr{
		&pg.Fragment{
			Prefix: "select array_agg(page.id), array_agg(page." + armColumn + "), array_agg(page.position) from (select " +
				pg.Ident(alias) + ".id, " + pg.Ident(alias) + "." + armColumn + ", ",
			Value:  positionOf(a, alias),
			Suffix: " as position from (",
		},
	}, page...)
	picked = append(picked, pg.Str(") as "+pg.Ident(alias)+" order by "), order, pg.Str(" limit $3 offset $4) as page"))
	b.step("Of each arm at most a page, and of all of them the page, with one row more, which tells whether another follows.", &pg.Execute{
		Text:  concatenated(picked...),
		Into:  "v_ids, v_arms, v_positions",
		Using: []pg.Expr{where, position, pg.Op(size, "+", pg.Lit("1")), offset},
	})
	b.step("Rows were skipped if there are any.", pg.IfThen(pg.Op(offset, ">", pg.Lit("0")), &pg.Execute{
		Text: concatenated(pg.Str("select exists (select from "), from, pg.Str(")")), Into: "v_has_rows_before", Using: []pg.Expr{where}}))

	place := pg.Expr(pg.Col(alias, "place"))
	b.step("The page's rows, under row security. This statement is static, whatever the filter: its plan is kept.",
		&pg.Query{Select: &pg.Select{
			Columns: []pg.Output{{Value: pg.Fn("array_agg", pg.Col(alias, "record"))}},
			Into:    []string{"v_records"},
			From: &pg.SubqueryRef{Alias: alias, Query: &pg.Select{
				Columns: []pg.Output{{Value: pg.Col(alias, "record")}},
				From:    &pg.SubqueryRef{Alias: alias, Query: b.unionRows(ids, numbers, size)},
				OrderBy: []pg.Order{{Value: &pg.Case{Whens: []pg.When{{Condition: isBackwards, Result: pg.Op(pg.Lit("0"), "-", place)}}, Else: place}}},
			}},
		}},
		&pg.Assign{Variable: "v_count", Value: pg.Fn("coalesce", pg.Fn("cardinality", records), pg.Lit("0"))},
	)

	more := pg.Op(pg.Fn("cardinality", ids), ">", size)
	either := func(backwards, forwards pg.Expr) pg.Expr {
		return &pg.Case{Whens: []pg.When{{Condition: isBackwards, Result: backwards}}, Else: forwards}
	}
	cursorOf := func(index pg.Expr) pg.Expr {
		return &pg.Case{Whens: []pg.When{{
			Condition: pg.Op(count, ">", pg.Lit("0")),
			Result: pg.Fn("platform.cursor", pg.Fn("platform.list_mark", pg.Str(a.Name), keys),
				&pg.Element{Array: positions, Index: index}, keys),
		}}}
	}
	b.step("", &pg.Return{Value: pg.Fn("platform.list_page",
		records,
		cursorOf(either(count, pg.Lit("1"))),
		cursorOf(either(pg.Lit("1"), count)),
		either(rowsBefore, more),
		either(more, rowsBefore),
		count,
		total,
		&pg.Case{Whens: []pg.When{{Condition: hasMember(input, "limit"), Result: pg.Op(pg.Op(offset, "/", size), "+", pg.Lit("1"))}}},
	)})
	return b.finish()
}

// source is the query of an arm's rows: what tells them apart and what they can be
// ordered by. Conditions may follow.
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
	fragment := &pg.Fragment{Select: &pg.Select{Columns: columns, From: pg.Ref(relatedSchema, a.Model.Table)}, Suffix: " where true"}
	if condition := x.allHold(a.wheres()); !pg.IsTrue(condition) {
		fragment.Suffix = ""
		fragment.Select.Where = &pg.And{Operands: []pg.Expr{condition}} // more follows behind and
	}
	return fragment
}

// positionOf is what a cursor needs of a row, as a JSON object.
func positionOf(a *schema.Action, alias string) pg.Expr {
	members := make([]pg.Output, 0, len(a.OrderBy)+2)
	keys := rowAlias("keys", a)
	for _, f := range unionSortable(a) {
		members = append(members, pg.Output{Value: wire(f.Type, pg.Col(alias, f.Column)), As: f.Name, Quote: true})
	}
	return &pg.Subquery{Query: &pg.Select{
		Columns: []pg.Output{{Value: pg.Fn("row_to_json", pg.Var(keys))}},
		From:    &pg.SubqueryRef{Alias: keys, Query: &pg.Select{Columns: members}},
	}}
}

// ofArm adds what a list of a union asks of an arm's rows to the query of these.
func (g *generalList) ofArm(a arm, isAllowed pg.Expr) {
	x := a.row(whereLogic, inQuery, valueInFilter)
	for _, w := range g.action.Wheres {
		condition := alsoHolds(x.allHold([]expr.Node{a.over(w.Expression)}))
		if absent := g.guard(optionalInputs(w)); absent != nil {
			g.step("", pg.IfThen(g.given(absent), extend(g.sql, condition)))
		} else {
			g.step("", extend(g.sql, condition))
		}
	}
	if g.judgesRows() {
		rule := alsoHolds(a.row(ruleLogic, inQuery, valueInFilter).anyRule(a.rules(g.action.Rules)))
		if pg.IsFalse(isAllowed) {
			g.step("", extend(g.sql, rule))
		} else {
			g.step("", pg.IfThen(pg.Negate(isAllowed), extend(g.sql, rule)))
		}
	}
	var list []filter
	for _, in := range g.action.Reads {
		if !in.Explicit {
			list = append(list, filter{in, a.value(in.Union)})
		}
	}
	g.filter(x, list)
}

// unionRows reads the rows of a page, arm by arm, each with its place on the page.
func (b *builder) unionRows(ids, numbers, size pg.Expr) *pg.Select {
	var all *pg.Select
	for _, arm := range armsOf(b.action.Union) {
		page := pageAlias(arm.Model.Table)
		record := &pg.Subquery{Query: &pg.Select{
			Columns: []pg.Output{{Value: b.recordText()}},
			From: &pg.SubqueryRef{Alias: b.recordAlias(), Query: &pg.Select{
				Columns: arm.record(arm.row(whereLogic, inQuery, nil)),
			}},
		}}
		rows := &pg.Select{
			Columns: []pg.Output{{Value: pg.Col(page, "place"), As: "place"}, {Value: record, As: "record"}},
			From: &pg.CallRef{
				Call:       pg.Fn("unnest", &pg.Slice{Array: ids, From: pg.Lit("1"), To: size}, &pg.Slice{Array: numbers, From: pg.Lit("1"), To: size}),
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
