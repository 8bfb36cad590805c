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

// tellOfPage leaves the facts about a page to the statement of the server, which reads them behind the rows: whether
// rows lie on the other side of the page, then how many match in all if they were counted.
func tellOfPage(known ...pg.Expr) pg.Statement {
	return &pg.Perform{Value: pg.Fn("set_config", pg.Str("sternpost.page"),
		pg.Fn("concat_ws", append([]pg.Expr{pg.Str(" ")}, known...)...), pg.True())}
}

// requireCallerOfPage looks for the caller of an empty page, if no row proves that the caller exists.
func requireCallerOfPage(b *call.Builder) {
	if statements := b.RequireCaller(); statements != nil {
		b.Step("", pg.IfThen(call.NothingFound, statements...))
	}
}
