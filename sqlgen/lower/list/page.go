package list

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/lower/call"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// keysFor declares the variable that holds a list's order: its own, or the request's if requests may order it by more
// fields.
func keysFor(b *call.Builder, order []value.SortKey, fields []*model.Field, isSortable bool) *pg.Variable {
	own := value.KeysArray(order, b.Table)
	if !isSortable {
		return b.Own("v_keys", "constant platform.sort_key[]", own)
	}
	var others []value.SortKey
	for _, f := range fields {
		if !slices.ContainsFunc(order, func(k value.SortKey) bool { return k.Field.Name == f.Name }) {
			others = append(others, value.SortKey{Field: f})
		}
	}
	follows := slices.ContainsFunc(order, func(k value.SortKey) bool { return k.Follows })
	return b.Own("v_keys", "constant platform.sort_key[]", pg.Fn("platform.requested_order",
		value.Member(value.Input, "orderBy"), own, value.KeysArray(others, b.Table), value.Boolean(follows)))
}

// page is how a list over the rows that custom code returns picks its page.
type page struct {
	b          *call.Builder   // the function
	order      []value.SortKey // the list's own
	isSortable bool            // whether requests may order it

	isBackwards, size, offset, keys *pg.Variable // the page that is asked for
	total, position, rowsBefore     *pg.Variable // the results of the query
	ranges, rangeOf                 *pg.Variable // the position of the page, and the range that is read
}

// askedFor declares the variables that hold the page that a request asks for.
func askedFor(b *call.Builder, order []value.SortKey, fields []*model.Field, isSortable bool) page {
	p := page{b: b, order: order, isSortable: isSortable}
	p.isBackwards = b.Own("v_is_backwards", "boolean", pg.Op(value.Input, "?|", pg.Str("{last,before}")))
	p.size = b.Own("v_size", "bigint", pg.As(pg.Fn("coalesce",
		value.MemberText(value.Input, "first"), value.MemberText(value.Input, "last"), value.MemberText(value.Input, "limit"), pg.Str(defaultPageSize)), "bigint"))
	p.offset = b.Own("v_offset", "bigint", pg.As(pg.Fn("coalesce", value.MemberText(value.Input, "offset"), pg.Str("0")), "bigint"))
	p.keys = keysFor(b, order, fields, isSortable)
	return p
}

// tellOfPage leaves the facts about a page to the statement of the server, which reads them behind the rows: whether
// rows lie on the other side of the page, then how many match in all if they were counted.
func tellOfPage(known ...pg.Expr) pg.Statement {
	return &pg.Perform{Value: pg.Fn("set_config", pg.Str("sternpost.page"),
		pg.Fn("concat_ws", append([]pg.Expr{pg.Str(" ")}, known...)...), pg.True())}
}

// found declares the variables that hold the results, and returns the page with them.
func (p page) found() page {
	p.total = p.b.Own("v_total", "bigint", nil)
	p.position = p.b.Own("v_position", "jsonb", positionOf(value.Input))
	p.ranges = p.b.Own("v_ranges", "text[]", pg.Str("{true}"))
	p.rangeOf = p.b.Own("v_range", "text", nil)
	p.rowsBefore = p.b.Own("v_has_rows_before", "boolean", pg.False())
	return p
}

// countAll runs the query that counts all rows, if the request asks for the count.
func (p page) countAll(query pg.Expr, using []pg.Expr) {
	p.b.Step("", pg.IfThen(pg.Eq(value.Member(value.Input, "totalCount"), pg.Str("true")),
		&pg.Execute{Text: query, Into: p.total, Using: using}))
}

// wasSkipped sets whether an offset skipped rows: it did if a query has any.
func (p page) wasSkipped(query pg.Expr, using []pg.Expr) {
	p.b.Step("Rows were skipped if there are any.", pg.IfThen(pg.Op(p.offset, ">", pg.Lit("0")), &pg.Execute{
		Text: call.Concatenated(pg.Str("select exists ("), query, pg.Str(")")), Into: p.rowsBefore, Using: using}))
}

// positionOf is the position that the page lies beyond, as the server reads it from a
// cursor: the values that rows are ordered by, each in the form of the wire.
func positionOf(input pg.Expr) pg.Expr { return value.Member(input, "position") }

// readPosition finds the position of the page if it lies beyond one, and whether rows lie before the page: most often
// the cursor's own. anyRow is the statement that yields whether the range has a row. nearest is the order in which the
// row nearest to the page comes first.
func (p page) readPosition(anyRow func(nearest pg.Expr) pg.Expr, using []pg.Expr) {
	isForwards := pg.Negate(p.isBackwards)
	p.b.Step("The page lies beyond a position, which is $2.", pg.IfThen(pg.IsNotNull(p.position),
		&pg.Assign{Variable: p.ranges, Value: pg.Fn("platform.ranges_beyond", p.keys, p.isBackwards, p.position)},
		&pg.ForElement{
			Variable: p.rangeOf,
			Array: pg.Op(pg.Fn("platform.at_sql", p.keys, p.position), "||",
				pg.Fn("platform.ranges_beyond", p.keys, isForwards, p.position)),
			Body: []pg.Statement{pg.IfThen(pg.Negate(p.rowsBefore), &pg.Execute{
				Text:  anyRow(p.orderedBy(true)),
				Into:  p.rowsBefore,
				Using: using,
			})},
		},
	))
}

// pick reads the rows of the page, and one more, which tells whether another follows. It reads range by range: from
// each, as many as those before it left open.
func (p page) pick(comment string, picked pg.Expr, rows *pg.Execute) {
	p.b.Step(comment, &pg.ForElement{Variable: p.rangeOf, Array: p.ranges, Body: []pg.Statement{
		pg.IfThen(pg.Op(pg.Fn("cardinality", picked), "<=", p.size), rows),
	}})
}

// missing is the number of rows that pick still has to read.
func (p page) missing(picked pg.Expr) pg.Expr {
	return pg.Op(pg.Op(p.size, "+", pg.Lit("1")), "-", pg.Fn("cardinality", picked))
}

// inOrder is the order of the page, reversed if the request asks for it backwards.
func (p page) inOrder() pg.Expr { return p.orderedBy(false) }

// orderedBy is the order of the page as text, or its reverse. An order that no request chooses is known here, and costs
// nothing.
func (p page) orderedBy(reversed bool) pg.Expr {
	if p.isSortable {
		backwards := pg.Expr(p.isBackwards)
		if reversed {
			backwards = pg.Negate(backwards)
		}
		return pg.Fn("platform.order_sql", p.keys, backwards)
	}
	return p.either(pg.Str(value.OrderText(p.order, p.b.Table, !reversed)), pg.Str(value.OrderText(p.order, p.b.Table, reversed)))
}

func (p page) either(backwards, forwards pg.Expr) pg.Expr {
	return &pg.Case{Whens: []pg.When{{Condition: p.isBackwards, Result: backwards}}, Else: forwards}
}

// requireCallerOfPage looks for the caller of an empty page, if no row proves that the caller exists.
func requireCallerOfPage(b *call.Builder, isEmpty pg.Expr) {
	if statements := b.RequireCaller(); statements != nil {
		b.Step("", pg.IfThen(isEmpty, statements...))
	}
}
