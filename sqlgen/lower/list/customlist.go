package list

import (
	"github.com/sternpost/sternpost/sqlgen/lower/call"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// AnswerRows answers a page of the rows that the code returns. The code is called once and its rows are held, so that
// count, page and cursors agree. They are shown as returned and are not looked up again: they need not be the table's.
func AnswerRows(b *call.Builder) {
	a := b.Action
	g := generalList{b: b, rows: RowsOf(a)}
	p := askedFor(b, value.OwnOrder(a), value.Sortable(a), len(a.Sortable) > 0)
	rows := b.Own("v_rows", call.RowType(b.Model)+"[]", nil)
	g.sql = b.Own("v_sql", "text", &pg.Fragment{
		Prefix: " ",
		Query:  &pg.QueryTail{From: &pg.CallRef{Call: pg.Fn("unnest", pg.Lit("$3")), Alias: b.Table}},
		Suffix: " where true",
	})
	p = p.found()
	picked := b.Own("v_page_rows", call.RowType(b.Model)+"[]", pg.Str("{}"))
	using := []pg.Expr{value.Member(value.Input, "where"), p.position, rows}

	comment, admitted := "", pg.Expr(nil)
	if b.JudgesRows() {
		comment, admitted = "The rules judge each row as the code returns it.", b.RowRule()
	}
	b.Step(comment, &pg.Assign{Variable: rows, Value: &pg.ArrayOf{Query: &pg.Select{
		Columns: []pg.Output{{Value: b.WholeRow()}},
		From:    &pg.CallRef{Call: b.CallCode(), Alias: b.Table},
		Where:   admitted,
	}}})
	g.filterBy(nil)
	p.countAll(call.Concatenated(pg.Str("select count(*)"), g.sql), using)
	p.readPosition(func(pg.Expr) pg.Expr {
		return call.Concatenated(pg.Str("select exists (select"), g.sql, pg.Str(" and "), p.rangeOf, pg.Str(")"))
	}, using)
	p.pick("", picked, &pg.Execute{
		Text: call.Concatenated(
			&pg.Fragment{Prefix: "select $6 || array(select ", Value: b.WholeRow()},
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
	p.wasSkipped(call.Concatenated(pg.Str("select"), g.sql), using)

	alias := call.PageAlias(b.Table)
	place := pg.Col(alias, "place")
	b.Step("", &pg.ReturnQuery{Query: &pg.Select{
		Columns: b.AnswerColumns(),
		From:    &pg.CallRef{Call: pg.Fn("generate_subscripts", picked, pg.Lit("1")), Alias: alias, Columns: []string{"place"}},
		Joins:   []pg.Join{{Kind: "cross join lateral", With: b.HeldRow(&pg.Element{Array: picked, Index: place})}},
		OrderBy: []pg.Order{{Value: place}},
	}})
	requireCallerOfPage(b, call.NothingFound)
	b.Step("", tellOfPage(p.rowsBefore, p.total))
}
