package list

import (
	"fmt"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/lower/call"
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// The statement of facets has its rows under these names, which no table has: as they are picked, and with the values
// that facets count.
const (
	pickedRows = "list__rows"
	pickedRow  = "list__row"
)

// facetsOf lowers the facets of a list to a function that the server calls in the statement of the page, so that both
// see the same rows. Rows are picked as those of a page are, by the conditions that apply to every facet. Conditions on
// the fields of facets are noted for each row instead, since they bind only the other facets. Then the rows are read
// under row security.
func (l *Lowering) facetsOf(a *model.Action) []*pg.Function {
	if len(a.Facets) == 0 || rule.IsClosed(a) {
		return nil
	}
	name := l.Functions.Take(rule.FunctionName(a) + "__facets")
	l.Facets[a] = name
	b := l.Begin(a, name, "action "+a.Name+", its facets", pg.Stable)
	b.Fn.Comment = fmt.Sprintf("action %s of %s: its facets", a.Name, rule.OwnerOf(a))
	b.Fn.Returns = "text"
	b.ReadsZone = call.FiltersByPeriod(a)
	g := generalList{b: b, rows: RowsOf(a), indexed: l.indexed}
	b.Step("Each row is read once, for all facets.", &pg.Return{
		Value: pg.Fn("platform.facets", append([]pg.Expr{value.Input, facetsArray(a)}, g.findFacets()...)...),
	})
	return []*pg.Function{b.Finish()}
}

// facetsArray is the facets of a list as the platform's functions take them.
func facetsArray(a *model.Action) pg.Expr {
	rows := make([]pg.Expr, len(a.Facets))
	for i, f := range a.Facets {
		rows[i] = &pg.Row{Values: []pg.Expr{pg.Str(f.Name()), pg.Str(value.SQLOf(f.Type().Kind).Facet), value.Boolean(isFiltered(a, f))}}
	}
	return pg.As(&pg.Array{Elements: rows}, "platform.facet[]")
}

// isFiltered tells whether a list can be filtered by the field of a facet.
func isFiltered(a *model.Action, f *model.Facet) bool {
	return slices.ContainsFunc(a.Reads, func(in *model.Input) bool { return isOwnInput(in, f) })
}

// isOwnInput tells whether an input of a list is that of the field of a facet: the field itself or, for a foreign key,
// the id of the row that it points to.
func isOwnInput(in *model.Input, f *model.Facet) bool {
	switch {
	case in.Explicit:
		return false
	case f.UnionField != nil:
		return in.Union == f.UnionField
	}
	return value.OwnColumn(in) == f.Field
}

// facets is the part of a model's rows that the statement of facets picks.
type facets struct {
	action *model.Action
	picked []pg.Output    // outputs of each row, beside whether it satisfies the conditions on the fields of facets
	own    []*pg.Variable // these conditions, in the order of the facets; nil where a field cannot have any
}

// columns are the columns of the rows that facets count, as text: each shows whether it satisfies the conditions on the
// field of each facet.
func (f *facets) columns() pg.Expr {
	parts := []pg.Expr{&pg.Fragment{Columns: f.picked}}
	for i, own := range f.own {
		if own != nil {
			parts = append(parts, pg.Str(", true"), own, pg.Str(" as "+ownName(i)))
		}
	}
	return call.Concatenated(parts...)
}

func valueName(i int) string { return fmt.Sprintf("value_%d", i+1) }
func ownName(i int) string   { return fmt.Sprintf("own_%d", i+1) }

// findFacets returns the arguments of platform.facets. Where row security admits every row, the rows of a model are read
// as they are picked. The values of a union are read from the tables of the arms: of many rows, a join with the view
// would be work for each.
func (g *generalList) findFacets() []pg.Expr {
	b, a, t := g.b, g.b.Action, text{}
	g.facets = &facets{action: a, own: make([]*pg.Variable, len(a.Facets)), picked: []pg.Output{{Value: pg.Col(b.Table, "id")}}}
	if a.Union != nil {
		g.facets.picked = append(g.facets.picked, pg.Output{Value: pg.Col(b.Table, value.ArmColumn)})
	}
	isPlain := a.Union == nil && pg.IsTrue(rule.PolicyRule(b.Model, a.Rules))
	if isPlain {
		g.facets.picked, b.NoPolicies = g.facets.values(sourcesOf(a)[0]), true
	}
	g.filterBy(a.Wheres)
	var queries, ways, allowed []pg.Expr
	for i, s := range sourcesOf(a) {
		query := &pg.Fragment{Select: g.facets.shown(s)}
		if i > 0 {
			query.Prefix = " union all "
		}
		queries = append(queries, query)
		allowed = append(allowed, t.row(s, pg.True()))
		if b.JudgesRows() {
			for _, w := range admissionOf(b, s).ways {
				ways = append(ways, t.row(s, w.condition))
			}
		}
	}
	found := wayArray(allowed...)
	switch {
	case isPlain:
		queries = []pg.Expr{pg.Str("select * from " + pickedRows)}
	case b.JudgesRows() && pg.IsFalse(b.Early.Holds):
		found = wayArray(ways...)
	case b.JudgesRows():
		found = &pg.Case{Whens: []pg.When{{Condition: b.Early.Holds, Result: found}}, Else: wayArray(ways...)}
	}
	return []pg.Expr{call.Concatenated(queries...), pg.Str(b.Table), g.facets.columns(), g.sql, found, t.array()}
}

// values are the values of a row that facets count.
func (f *facets) values(s source) []pg.Output {
	values := make([]pg.Output, len(f.action.Facets))
	for i, facet := range f.action.Facets {
		values[i].As = valueName(i)
		if s.arm == nil {
			values[i].Value = pg.Col(s.model.Table, facet.Field.Column)
		} else {
			values[i].Value = s.arm.Column(s.arm.Row(value.WhereLogic, value.InQuery, nil), facet.UnionField)
		}
	}
	return values
}

// shown reads the picked rows of a source from its table.
func (f *facets) shown(s source) *pg.Select {
	columns, table := f.values(s), s.model.Table
	for i, facet := range f.action.Facets {
		if isFiltered(f.action, facet) {
			columns = append(columns, pg.Output{Value: pg.Col(pickedRow, ownName(i))})
		}
	}
	var where pg.Expr
	if s.arm != nil {
		where = pg.Eq(pg.Col(pickedRow, value.ArmColumn), pg.Lit(fmt.Sprint(s.arm.Number)))
	}
	return &pg.Select{
		Columns: columns,
		From:    &pg.TableRef{Name: pickedRows, Alias: pickedRow},
		Joins:   []pg.Join{{Kind: "join", With: pg.Ref(value.AppSchema, table), On: pg.Eq(pg.Col(table, "id"), pg.Col(pickedRow, "id"))}},
		Where:   where,
	}
}
