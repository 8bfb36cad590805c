package lower

import (
	"fmt"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// merge is how a general list finds rows in several ways: v_ways holds, for each, the text
// of a query that finds its rows, to which more can be added, and v_ends what has to
// follow that. platform.merged_sql makes one query of them.
type merge struct {
	*builder
	ways, ends pg.Expr   // variables
	values     []pg.Expr // variables: those that ways compare columns with
}

// firstValues is the number of the parameter of a statement that holds the first of
// merge.values; $1 is the filter and $2 the position.
const firstValues = 3

func (b *builder) newMerge() *merge {
	return &merge{
		builder: b,
		ways:    b.variable("v_ways", "text[]", pg.Str("{}")),
		ends:    b.variable("v_ends", "text[]", pg.Str("{}")),
	}
}

// origin is where the rows of a model come from that a merge may find.
type origin struct {
	model   *schema.Model
	selects string  // what a query of them begins with
	sql     pg.Expr // the variable that holds the rest of it, up to its conditions
	columns string  // what is selected of the rows of such a query
	alias   string  // the alias that it then has
}

// gather has the values found that ways compare columns with, and keeps them for the
// parameters of the statement. Of a request that filters, or chooses an order, Postgres
// decides whether to begin with these values: then they count as many.
func (m *merge) gather(admitted *admission) []pg.Statement {
	var statements []pg.Statement
	var unlessChosen []pg.Statement
	known := slices.Clone(admitted.ways)
	for i, s := range m.gatherValues(admitted) {
		if w := withValues(known)[i]; isShortArray(w.values) {
			statements = append(statements, s)
		} else {
			unlessChosen = append(unlessChosen, s)
		}
	}
	if len(unlessChosen) > 0 {
		none := pg.Str("{}")
		isChosen := pg.AnyOf(hasMember(input, "orderBy"), pg.Op(pg.Fn("coalesce", member(input, "where"), none), "<>", none))
		statements = append(statements, pg.IfThen(pg.Negate(isChosen), unlessChosen...))
	}
	for _, w := range admitted.ways {
		if w.oneOf != nil {
			m.values = append(m.values, w.values)
		}
	}
	return statements
}

// withValues are those of some ways that compare a column with several values.
func withValues(ways []way) []way {
	return slices.DeleteFunc(slices.Clone(ways), func(w way) bool { return w.oneOf == nil })
}

// add adds the ways in which rows are admitted.
func (m *merge) add(r origin, admitted admission) []pg.Statement {
	var ways, ends []pg.Expr
	for _, w := range admitted.ways {
		way, end := m.text(r, w)
		ways, ends = append(ways, way), append(ends, end)
	}
	return []pg.Statement{
		extend(m.ways, &pg.Array{Elements: ways}),
		extend(m.ends, &pg.Array{Elements: ends}),
	}
}

// text is the query of a way, and its end.
func (m *merge) text(r origin, w way) (way, end pg.Expr) {
	if w.oneOf == nil {
		way := concatenated(pg.Str(r.selects), r.sql)
		if !pg.IsTrue(w.condition) {
			way = concatenated(way, alsoHolds(w.condition))
		}
		if w.many != nil {
			way = &pg.Case{Whens: []pg.When{{Condition: pg.IsNull(w.many), Result: way}}, Else: pg.Str("")}
		}
		return way, pg.Str("")
	}
	values := pg.Lit(fmt.Sprintf("$%d", firstValues+slices.Index(m.values, w.values)))
	alias := rowAlias("access", m.action)
	return concatenated(
		&pg.Fragment{
			Prefix: "select " + r.columns + " ",
			Query:  &pg.QueryTail{From: &pg.CallRef{Call: pg.Fn("unnest", values), Alias: alias, Columns: []string{"value"}}},
			Suffix: " cross join lateral (" + r.selects,
		},
		r.sql,
		alsoHolds(pg.AllOf(w.isValue(r.model.Table, alias), w.others)),
	), pg.Str(") as " + pg.Ident(r.alias))
}

// all is the query of all rows that the ways find, with more added to the query of each.
// Rows that several ways find come once, if that matters.
func (m *merge) all(once bool, added ...pg.Expr) pg.Expr {
	word := "union all"
	if once {
		word = "union"
	}
	if len(added) == 0 {
		added = []pg.Expr{pg.Str("")}
	}
	return pg.Fn("platform.merged_sql", m.ways, m.ends, concatenated(added...), pg.Str(word))
}

// parameter is a parameter of a statement behind those that hold values: the number that
// it has where there are none.
func (m *merge) parameter(number int) string {
	if m != nil {
		number += len(m.values)
	}
	return fmt.Sprintf("$%d", number)
}
