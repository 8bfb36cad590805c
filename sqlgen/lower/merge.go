package lower

import (
	"fmt"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// merge is how a general list finds rows in several ways. v_ways holds, for each way, a query that finds its rows, from
// its from on, to which conditions can be added; v_ends holds the text that has to follow. platform.pick_page makes one
// query of them.
type merge struct {
	b          *builder // the function
	ways, ends *pg.Variable
	values     []pg.Expr // variables: the values that ways compare columns with
	lists      []pg.Expr // the same as texts

	// knowsMany tells that the statement may be planned for many values.
	knowsMany bool
}

// with is the query of the rows that satisfy a condition. More conditions can be added.
func (r origin) with(condition pg.Expr) pg.Expr {
	parts := []pg.Expr{r.sql}
	if !pg.IsTrue(condition) {
		parts = append(parts, alsoHolds(condition))
	}
	if r.end != "" {
		parts = append(parts, pg.Str(r.end))
	}
	return concatenated(parts...)
}

func (b *builder) newMerge() *merge {
	return &merge{
		b:    b,
		ways: b.own("v_ways", "text[]", pg.Str("{}")),
		ends: b.own("v_ends", "text[]", pg.Str("{}")),
	}
}

// origin is where the rows of a model that a merge may find come from.
type origin struct {
	model   *schema.Model
	sql     pg.Expr // the variable that holds their query from its from on, up to its conditions
	columns string  // the selected columns; lists are ordered by some of them
	alias   string  // the alias that these columns are qualified by

	end string // the text behind the conditions, if the query is part of another

	row string // the alias of the rows of a view that conditions are on; empty means the model's table

	// direct is where rows of an arm come from that are looked for behind the values of a column of its table. Nil means
	// the same place.
	direct *origin
}

// foundRows is rows from a place that are admitted in some ways.
type foundRows struct {
	origin
	admission
}

// gather finds the values that ways compare columns with, and keeps them for the parameters of the statement. If these
// are few, rows are looked for behind one value after the other, unless the request has a condition that other indexes
// may serve sooner. In that case the statement is planned for the values, or else without.
func (m *merge) gather(isChosen pg.Expr, list ...*admission) []pg.Statement {
	var statements, noted []pg.Statement
	for _, admitted := range list {
		found := m.b.gatherValues(admitted)
		for i, w := range admitted.ways {
			if w.oneOf == nil {
				continue
			}
			statements = append(statements, found[0])
			found = found[1:]
			switch {
			case w.isShort: // and is all that the way goes by
			case m.knowsMany:
				each := m.b.variableFor(w.oneOf.Column+"_each", "boolean", nil)
				noted = append(noted, &pg.Assign{Variable: each, Value: pg.AllOf(pg.Negate(isChosen), w.isFew())})
				admitted.ways[i].each = each
			default:
				admitted.ways[i].each = pg.AllOf(pg.Negate(isChosen), pg.IsNotNull(w.values))
			}
		}
		m.take(*admitted)
	}
	return append(statements, noted...)
}

// take keeps the values of ways for the parameters of the statement.
func (m *merge) take(admitted admission) {
	for _, w := range admitted.ways {
		if w.oneOf != nil {
			m.values = append(m.values, w.values)
			m.lists = append(m.lists, &pg.Row{Values: []pg.Expr{textsOf(w)}})
		}
	}
}

// textsOf are the values that a way compares a column with, as an array of texts.
func textsOf(w way) pg.Expr {
	if castType(w.oneOf.Type.Kind) == "text" {
		return w.values
	}
	return pg.As(w.values, "text[]")
}

// add adds the ways in which rows are admitted.
func (m merge) add(list ...foundRows) []pg.Statement {
	var ways, ends []pg.Expr
	for _, f := range list {
		for _, w := range f.ways {
			way, end := m.text(f.origin, w)
			ways, ends = append(ways, way), append(ends, end)
		}
	}
	return []pg.Statement{
		extend(m.ways, &pg.Array{Elements: ways}),
		extend(m.ends, &pg.Array{Elements: ends}),
	}
}

// text is the query of a way, and its end.
func (m merge) text(r origin, w way) (way, end pg.Expr) {
	if w.oneOf == nil {
		return r.with(w.condition), pg.Str("")
	}
	typ := castType(w.oneOf.Type.Kind)
	values := castTo(pg.Lit(fmt.Sprintf("($3[%d]).list", 1+slices.Index(m.values, w.values))), typ, "[]")
	alias := rowAlias("access", m.b.action)
	way = concatenated(
		&pg.Fragment{
			Prefix: " ",
			Query:  &pg.QueryTail{From: &pg.CallRef{Call: pg.Fn("unnest", values), Alias: alias, Columns: []string{"value"}}},
			Suffix: " cross join lateral (select " + r.columns,
		},
		r.behindValue(w, alias),
	)
	end = pg.Str(") as " + pg.Ident(r.alias))
	if w.isShort {
		return way, end
	}
	other := &pg.Case{Else: r.with(w.condition)}
	if m.knowsMany {
		isAny := &pg.Any{Value: pg.Col(r.model.Table, w.oneOf.Column), Op: "=", Array: values}
		other.Whens = []pg.When{{Condition: pg.IsNotNull(w.values), Result: r.with(pg.AllOf(isAny, w.others))}}
	}
	if w.insisting != nil {
		other.Whens = []pg.When{{Condition: pg.IsNotNull(w.values), Result: r.with(w.insisting)}}
	}
	if w.each == nil {
		return other, pg.Str("")
	}
	other.Whens = append([]pg.When{{Condition: w.each, Result: way}}, other.Whens...)
	return other, &pg.Case{Whens: []pg.When{{Condition: w.each, Result: end}}, Else: pg.Str("")}
}

// behindValue is the query of the rows that a way finds behind one of the values that it compares a column with.
func (r origin) behindValue(w way, alias string) pg.Expr {
	switch {
	case w.isInView:
		return r.with(pg.AllOf(w.isValue(r.row, alias), w.others))
	case r.direct != nil:
		return r.direct.with(pg.AllOf(w.isValue(r.model.Table, alias), w.others))
	}
	return r.with(pg.AllOf(w.isValue(r.model.Table, alias), w.others))
}

// arguments are the ways as platform.pick_page takes them.
func (m merge) arguments() []pg.Expr {
	if len(m.lists) == 0 {
		return []pg.Expr{m.ways, m.ends}
	}
	return []pg.Expr{m.ways, m.ends, m.parameters()}
}

// parameters are the values that ways compare columns with.
func (m merge) parameters() pg.Expr {
	return pg.As(&pg.Array{Elements: m.lists}, "platform.text_list[]")
}
