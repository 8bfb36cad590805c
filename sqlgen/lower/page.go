package lower

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// keysFor declares the variable that holds a list's order: its own, or the request's if requests may order it by more
// fields.
func (b *builder) keysFor(order []sortKey, fields []*model.Field, isSortable bool) *pg.Variable {
	own := keysArray(order, b.table)
	if !isSortable {
		return b.own("v_keys", "constant platform.sort_key[]", own)
	}
	var others []sortKey
	for _, f := range fields {
		if !slices.ContainsFunc(order, func(k sortKey) bool { return k.field.Name == f.Name }) {
			others = append(others, sortKey{field: f})
		}
	}
	follows := slices.ContainsFunc(order, func(k sortKey) bool { return k.follows })
	return b.own("v_keys", "constant platform.sort_key[]", pg.Fn("platform.requested_order",
		member(input, "orderBy"), own, keysArray(others, b.table), boolean(follows)))
}

// page is how a list over the rows that custom code returns picks its page.
type page struct {
	b          *builder  // the function
	order      []sortKey // the list's own
	isSortable bool      // whether requests may order it

	isBackwards, size, offset, keys *pg.Variable // the page that is asked for
	total, position, rowsBefore     *pg.Variable // the results of the query
	ranges, rangeOf                 *pg.Variable // the position of the page, and the range that is read
}

// askedFor declares the variables that hold the page that a request asks for.
func (b *builder) askedFor(order []sortKey, fields []*model.Field, isSortable bool) page {
	p := page{b: b, order: order, isSortable: isSortable}
	p.isBackwards = b.own("v_is_backwards", "boolean", pg.Op(input, "?|", pg.Str("{last,before}")))
	p.size = b.own("v_size", "bigint", pg.As(pg.Fn("coalesce",
		memberText(input, "first"), memberText(input, "last"), memberText(input, "limit"), pg.Str(defaultPageSize)), "bigint"))
	p.offset = b.own("v_offset", "bigint", pg.As(pg.Fn("coalesce", memberText(input, "offset"), pg.Str("0")), "bigint"))
	p.keys = b.keysFor(order, fields, isSortable)
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
	p.total = p.b.own("v_total", "bigint", nil)
	p.position = p.b.own("v_position", "jsonb", positionOf(input))
	p.ranges = p.b.own("v_ranges", "text[]", pg.Str("{true}"))
	p.rangeOf = p.b.own("v_range", "text", nil)
	p.rowsBefore = p.b.own("v_has_rows_before", "boolean", pg.False())
	return p
}

// countAll runs the query that counts all rows, if the request asks for the count.
func (p page) countAll(query pg.Expr, using []pg.Expr) {
	p.b.step("", pg.IfThen(pg.Eq(member(input, "totalCount"), pg.Str("true")),
		&pg.Execute{Text: query, Into: p.total, Using: using}))
}

// wasSkipped sets whether an offset skipped rows: it did if a query has any.
func (p page) wasSkipped(query pg.Expr, using []pg.Expr) {
	p.b.step("Rows were skipped if there are any.", pg.IfThen(pg.Op(p.offset, ">", pg.Lit("0")), &pg.Execute{
		Text: concatenated(pg.Str("select exists ("), query, pg.Str(")")), Into: p.rowsBefore, Using: using}))
}

// positionOf is the position that the page lies beyond, as the server reads it from a
// cursor: the values that rows are ordered by, each in the form of the wire.
func positionOf(input pg.Expr) pg.Expr { return member(input, "position") }

// readPosition finds the position of the page if it lies beyond one, and whether rows lie before the page: most often
// the cursor's own. anyRow is the statement that yields whether the range has a row. nearest is the order in which the
// row nearest to the page comes first.
func (p page) readPosition(anyRow func(nearest pg.Expr) pg.Expr, using []pg.Expr) {
	isForwards := pg.Negate(p.isBackwards)
	p.b.step("The page lies beyond a position, which is $2.", pg.IfThen(pg.IsNotNull(p.position),
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
	p.b.step(comment, &pg.ForElement{Variable: p.rangeOf, Array: p.ranges, Body: []pg.Statement{
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
	return p.either(pg.Str(orderText(p.order, p.b.table, !reversed)), pg.Str(orderText(p.order, p.b.table, reversed)))
}

func (p page) either(backwards, forwards pg.Expr) pg.Expr {
	return &pg.Case{Whens: []pg.When{{Condition: p.isBackwards, Result: backwards}}, Else: forwards}
}

// requireCallerOfPage looks for the caller of an empty page, if no row proves that the caller exists.
func (b *builder) requireCallerOfPage(isEmpty pg.Expr) {
	if statements := b.requireCaller(); statements != nil {
		b.step("", pg.IfThen(isEmpty, statements...))
	}
}
