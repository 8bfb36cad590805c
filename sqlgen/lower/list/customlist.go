package list

import (
	"github.com/sternpost/sternpost/sqlgen/lower/call"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// AnswerRows answers a page of the rows that the code returns. The code is called once and its rows are held, so that
// count, page and cursors agree. They are shown as returned and are not looked up again: they need not be the table's.
func AnswerRows(b *call.Builder) {
	a, t := b.Action, text{}
	g := generalList{b: b, rows: RowsOf(a)}
	keys := keysFor(b, value.OwnOrder(a), value.Sortable(a), len(a.Sortable) > 0)
	held := b.Own("v_rows", call.RowType(b.Model)+"[]", nil)
	comment, admitted := "", pg.Expr(nil)
	if b.JudgesRows() {
		comment, admitted = "The rules judge each row as the code returns it.", b.RowRule()
	}
	b.Step(comment, &pg.Assign{Variable: held, Value: &pg.ArrayOf{Query: &pg.Select{
		Columns: []pg.Output{{Value: b.WholeRow()}},
		From:    &pg.CallRef{Call: b.CallCode(), Alias: b.Table},
		Where:   admitted,
	}}})
	g.filterBy(nil)

	alias := call.PageAlias(b.Table)
	source := &pg.Fragment{Value: pg.Fn("unnest", t.of(held)), Suffix: " as " + pg.Ident(b.Table)}
	page := pg.Fn("platform.pick_page", value.Input, keys, pg.Str(b.Table), &pg.Fragment{Value: pg.As(b.WholeRow(), "text")}, g.sql,
		&pg.Array{Elements: []pg.Expr{source}}, &pg.Param{Name: "own", Value: t.array()},
		&pg.Param{Name: "columns", Value: pg.Str(pg.Ident(b.Table) + ".*")})
	b.Step("", &pg.ReturnQuery{Query: &pg.Select{
		Columns: b.AnswerColumns(),
		From:    &pg.CallRef{Call: pg.Fn("unnest", page), Ordinality: true, Alias: alias, Columns: []string{"picked", "place"}},
		Joins:   []pg.Join{{Kind: "cross join lateral", With: b.HeldRow(pg.As(pg.Col(alias, "picked"), call.RowType(b.Model)))}},
		OrderBy: []pg.Order{{Value: pg.Col(alias, "place")}},
	}})
	requireCallerOfPage(b)
}
