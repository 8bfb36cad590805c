package lower

import "github.com/sternpost/sternpost/sqlgen/pg"

// answerRows answers a page of the rows that the code returns. The code is called
// once and its rows are held, so that count, page and cursors agree. They are shown as
// it returns them and are not looked up again: they need not be those of the table.
func (b *builder) answerRows() {
	a := b.action
	g := generalList{builder: b, where: member(input, "where")}
	isBackwards := b.variable("v_is_backwards", "boolean", pg.Op(input, "?|", pg.Str("{last,before}")))
	size := b.variable("v_size", "bigint", pg.As(pg.Fn("coalesce",
		memberText(input, "first"), memberText(input, "last"), memberText(input, "limit"), pg.Str(defaultPageSize)), "bigint"))
	offset := b.variable("v_offset", "bigint", pg.As(pg.Fn("coalesce", memberText(input, "offset"), pg.Str("0")), "bigint"))
	var keys pg.Expr
	if len(a.Sortable) > 0 {
		keys = b.variable("v_keys", "platform.sort_key[]", pg.Str("{}"))
	} else {
		keys = b.variable("v_keys", "constant platform.sort_key[]", keysArray(ownOrder(a), b.table))
	}
	if len(a.Reads) > 0 {
		g.path = b.variable("v_path", "text", nil)
		g.operand = b.variable("v_operand", "jsonb", nil)
	}
	rows := b.variable("v_rows", rowType(b.model)+"[]", nil)
	g.sql = b.variable("v_sql", "text", &pg.Fragment{
		Prefix: " ",
		Query:  &pg.QueryTail{From: &pg.CallRef{Call: pg.Fn("unnest", pg.Lit("$3")), Alias: b.table}},
		Suffix: " where true",
	})
	total := b.variable("v_total", "bigint", nil)
	position := b.variable("v_position", "jsonb", nil)
	rowsBefore := b.variable("v_has_rows_before", "boolean", pg.False())
	page := b.variable("v_page_rows", rowType(b.model)+"[]", nil)
	records := b.variable("v_records", "text[]", nil)
	count := b.variable("v_count", "int", nil)
	using := []pg.Expr{g.where, position, rows}

	comment, admitted := "", pg.Expr(nil)
	if b.judgesRows() {
		comment, admitted = "The rules judge each row as the code returns it.", b.rowRule()
	}
	b.step(comment, &pg.Assign{Variable: "v_rows", Value: &pg.ArrayOf{Query: &pg.Select{
		Columns: []pg.Output{{Value: b.wholeRow()}},
		From:    &pg.CallRef{Call: b.callCode(), Alias: b.table},
		Where:   admitted,
	}}})
	if len(a.Sortable) > 0 {
		b.requestedOrder(keys, ownOrder(a), sortable(a))
	}
	g.filter(g.rowExpression(), filters(a))
	b.step("", pg.IfThen(pg.Eq(member(input, "totalCount"), pg.Str("true")),
		&pg.Execute{Text: concatenated(pg.Str("select count(*)"), g.sql), Into: "v_total", Using: using}))

	beyond := pg.Fn("platform.beyond_sql", keys, isBackwards, position)
	b.step("The page lies beyond a position, which is $2.", pg.IfThen(pg.Op(input, "?|", pg.Str("{after,before}")),
		&pg.Assign{Variable: "v_position", Value: pg.Fn("platform.read_cursor", input, pg.Str(a.Name), keys)},
		&pg.Execute{
			Text:  concatenated(pg.Str("select exists (select"), g.sql, pg.Str(" and ("), beyond, pg.Str(") is not true)")),
			Into:  "v_has_rows_before",
			Using: using,
		},
		&pg.Assign{Variable: "v_sql", Value: concatenated(g.sql, pg.Str(" and "), beyond)},
	))
	b.step("One row more than the page tells whether another follows.", &pg.Execute{
		Text: concatenated(
			&pg.Fragment{Prefix: "select array(select ", Value: b.wholeRow()},
			g.sql,
			pg.Str(" order by "),
			pg.Fn("platform.order_sql", keys, isBackwards),
			pg.Str(" limit $4 offset $5)"),
		),
		Into:  "v_page_rows",
		Using: append(using[:len(using):len(using)], pg.Op(size, "+", pg.Lit("1")), offset),
	})
	b.step("Rows were skipped if there are any.", pg.IfThen(pg.Op(offset, ">", pg.Lit("0")),
		&pg.Execute{Text: concatenated(pg.Str("select exists (select"), g.sql, pg.Str(")")), Into: "v_has_rows_before", Using: using}))

	alias := pageAlias(b.table)
	place := pg.Col(alias, "place")
	b.step("",
		&pg.Query{Select: &pg.Select{
			Columns: []pg.Output{{Value: pg.Fn("array_agg", b.recordText())}},
			Into:    []string{"v_records"},
			From: &pg.SubqueryRef{Alias: b.recordAlias(), Query: &pg.Select{
				Columns: b.record(),
				From:    &pg.CallRef{Call: pg.Fn("generate_subscripts", page, pg.Lit("1")), Alias: alias, Columns: []string{"place"}},
				Joins:   []pg.Join{{Kind: "cross join lateral", With: b.heldRow(&pg.Element{Array: page, Index: place})}},
				Where:   pg.Op(place, "<=", size),
				OrderBy: []pg.Order{{Value: &pg.Case{Whens: []pg.When{{Condition: isBackwards, Result: pg.Op(pg.Lit("0"), "-", place)}}, Else: place}}},
			}},
		}},
		&pg.Assign{Variable: "v_count", Value: pg.Fn("coalesce", pg.Fn("cardinality", records), pg.Lit("0"))},
	)

	more := pg.Op(pg.Fn("cardinality", page), ">", size)
	either := func(backwards, forwards pg.Expr) pg.Expr {
		return &pg.Case{Whens: []pg.When{{Condition: isBackwards, Result: backwards}}, Else: forwards}
	}
	cursorOf := func(index pg.Expr) pg.Expr {
		row := &pg.Element{Array: page, Index: index}
		return &pg.Case{Whens: []pg.When{{
			Condition: pg.Op(count, ">", pg.Lit("0")),
			Result:    pg.Fn("platform.cursor", pg.Fn("platform.list_mark", pg.Str(a.Name), keys), b.keysOf(row), keys),
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
}

// wholeRow is the row of the action's table that stands in a query. Its name alone
// could be that of a column.
func (b *builder) wholeRow() pg.Expr {
	return pg.As(&pg.Row{Values: []pg.Expr{&pg.AllFields{Value: pg.Var(pg.Ident(b.table))}}}, rowType(b.model))
}

// keysOf are the values by which the list can be ordered, of a row that is held, as a
// JSON object.
func (b *builder) keysOf(row pg.Expr) pg.Expr {
	alias := rowAlias("keys", b.action)
	var members []pg.Output
	for _, f := range sortable(b.action) {
		members = append(members, pg.Output{Value: wire(f.Type, pg.Col(b.table, f.Column)), As: f.Name, Quote: true})
	}
	return &pg.Subquery{Query: &pg.Select{
		Columns: []pg.Output{{Value: pg.Fn("row_to_json", pg.Var(alias))}},
		From:    &pg.SubqueryRef{Alias: alias, Query: &pg.Select{Columns: members, From: b.heldRow(row)}},
	}}
}
