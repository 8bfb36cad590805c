package lower

import "github.com/sternpost/sternpost/sqlgen/pg"

// answerRows answers a page of the rows that the code returns. The code is called once and its rows are held, so that
// count, page and cursors agree. They are shown as returned and are not looked up again: they need not be the table's.
func (b *builder) answerRows() {
	a := b.action
	g := generalList{b: b, rows: rowsOf(a)}
	p := b.askedFor(ownOrder(a), sortable(a), len(a.Sortable) > 0)
	rows := b.own("v_rows", rowType(b.model)+"[]", nil)
	g.sql = b.own("v_sql", "text", &pg.Fragment{
		Prefix: " ",
		Query:  &pg.QueryTail{From: &pg.CallRef{Call: pg.Fn("unnest", pg.Lit("$3")), Alias: b.table}},
		Suffix: " where true",
	})
	p = p.found()
	picked := b.own("v_page_rows", rowType(b.model)+"[]", pg.Str("{}"))
	using := []pg.Expr{member(input, "where"), p.position, rows}

	comment, admitted := "", pg.Expr(nil)
	if b.judgesRows() {
		comment, admitted = "The rules judge each row as the code returns it.", b.rowRule()
	}
	b.step(comment, &pg.Assign{Variable: rows, Value: &pg.ArrayOf{Query: &pg.Select{
		Columns: []pg.Output{{Value: b.wholeRow()}},
		From:    &pg.CallRef{Call: b.callCode(), Alias: b.table},
		Where:   admitted,
	}}})
	g.filterBy(nil)
	p.countAll(concatenated(pg.Str("select count(*)"), g.sql), using)
	p.readPosition(func(pg.Expr) pg.Expr {
		return concatenated(pg.Str("select exists (select"), g.sql, pg.Str(" and "), p.rangeOf, pg.Str(")"))
	}, using)
	p.pick("", picked, &pg.Execute{
		Text: concatenated(
			&pg.Fragment{Prefix: "select $6 || array(select ", Value: b.wholeRow()},
			g.sql,
			pg.Str(" and "),
			p.rangeOf,
			pg.Str(" order by "),
			p.inOrder(),
			pg.Str(" limit $4 offset $5)"),
		),
		Into:  picked,
		Using: append(using[:len(using):len(using)], p.missing(picked), p.offset, picked),
	})
	p.wasSkipped(concatenated(pg.Str("select"), g.sql), using)

	alias := pageAlias(b.table)
	place := pg.Col(alias, "place")
	b.step("", &pg.ReturnQuery{Query: &pg.Select{
		Columns: b.answerColumns(),
		From:    &pg.CallRef{Call: pg.Fn("generate_subscripts", picked, pg.Lit("1")), Alias: alias, Columns: []string{"place"}},
		Joins:   []pg.Join{{Kind: "cross join lateral", With: b.heldRow(&pg.Element{Array: picked, Index: place})}},
		OrderBy: []pg.Order{{Value: place}},
	}})
	b.requireCallerOfPage(nothingFound)
	b.step("", tellOfPage(p.rowsBefore, p.total))
}

// wholeRow is the row of the action's table in a query. Its bare name could be that of a column.
func (b builder) wholeRow() pg.Expr {
	return pg.As(&pg.Row{Values: []pg.Expr{&pg.AllFields{Value: pg.Var(pg.Ident(b.table))}}}, rowType(b.model))
}
