package lower

import (
	"fmt"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// The statement of facets has its rows under these names, which no table has: as they are picked, and with the values
// that facets count.
const (
	listRows = "list__rows"
	listRow  = "list__row"
)

// facetsOf lowers the facets of a list to a function that the server calls in the statement of the page, so that both
// see the same rows. Rows are picked as those of a page are, by the conditions that apply to every facet. Conditions on
// the fields of facets are noted for each row instead, since they bind only the other facets. Then the rows are read
// under row security.
func (l *lowering) facetsOf(a *model.Action) []*pg.Function {
	if len(a.Facets) == 0 || isClosed(a) {
		return nil
	}
	name := l.functions.Take(functionName(a) + "__facets")
	l.facets[a] = name
	b := l.begin(a, name, "action "+a.Name+", its facets", pg.Stable)
	b.fn.Comment = fmt.Sprintf("action %s of %s: its facets", a.Name, ownerOf(a))
	b.fn.Returns = "text"
	b.readsZone = filtersByPeriod(a)
	g := generalList{b: b, where: member(input, "where"), indexed: l.indexed[a.Model]}
	var arguments []pg.Expr
	if a.Union != nil {
		arguments = g.facetsOfUnion()
	} else {
		arguments = g.facetsOfModel()
	}
	b.step("Each row is read once, for all facets.", &pg.Return{
		Value: pg.Fn("platform.facets", append([]pg.Expr{input, facetsArray(a)}, arguments...)...),
	})
	return []*pg.Function{b.finish()}
}

// facetsArray is the facets of a list as the platform's functions take them.
func facetsArray(a *model.Action) pg.Expr {
	rows := make([]pg.Expr, len(a.Facets))
	for i, f := range a.Facets {
		rows[i] = &pg.Row{Values: []pg.Expr{pg.Str(f.Name()), pg.Str(sqlOf(f.Type().Kind).facet), boolean(isFiltered(a, f))}}
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
	return ownColumn(in) == f.Field
}

// facets is the part of a model's rows that the statement of facets picks.
type facets struct {
	action *model.Action
	picked []pg.Output    // outputs of each row, beside whether it satisfies the conditions on the fields of facets
	own    []*pg.Variable // these conditions, in the order of the facets; nil where a field cannot have any
}

// of returns the facet that leaves out the condition of an input, -1 for none.
func (f *facets) of(in *model.Input) int {
	return slices.IndexFunc(f.action.Facets, func(facet *model.Facet) bool { return isOwnInput(in, facet) })
}

// facetScope returns the scope that gathers the conditions on the field of the i-th facet.
func (g generalList) facetScope(root *scope, i int) *scope {
	key := fmt.Sprintf("facet %d", i)
	for _, c := range root.children {
		if c.key == key {
			return c
		}
	}
	name := "v_own_" + model.SnakeForm(g.b.action.Facets[i].Name())
	c := &scope{text: g.b.variable(name, "text", pg.Str("")), x: root.x, key: key}
	root.children = append(root.children, c)
	g.facets.own[i] = c.text
	return c
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
	return concatenated(parts...)
}

func valueName(i int) string { return fmt.Sprintf("value_%d", i+1) }
func ownName(i int) string   { return fmt.Sprintf("own_%d", i+1) }

// facetsOfModel returns the arguments of platform.facets for the rows of a model. Where row security admits every row,
// the rows are read as they are picked.
func (g *generalList) facetsOfModel() []pg.Expr {
	b := g.b
	values := make([]pg.Output, len(b.action.Facets))
	for i, f := range b.action.Facets {
		values[i] = pg.Output{Value: pg.Col(b.table, f.Field.Column), As: valueName(i)}
	}
	g.facets = &facets{action: b.action, own: make([]*pg.Variable, len(values)), picked: []pg.Output{{Value: pg.Col(b.table, "id")}}}
	t := text{b: b}
	if pg.IsTrue(policyRule(b.model, b.action.Rules)) {
		g.facets.picked = values
		g.filterBy("v_filter")
		return []pg.Expr{
			pg.Str("select * from " + listRows), pg.Str(b.table), g.facets.columns(), g.sql, wayArray(t.source(pg.Qualified(appSchema, b.table), pg.True())),
		}
	}
	g.filterBy("v_filter")
	ways := []pg.Expr{t.source(b.source(), pg.True())}
	if b.judgesRows() {
		ways = nil
		for _, w := range b.admission().ways {
			ways = append(ways, t.row(b.source(), w.conditions()))
		}
	}
	shown := &pg.Fragment{Select: g.facets.shown(b.table, values, nil)}
	return []pg.Expr{
		shown, pg.Str(b.table), g.facets.columns(), g.sql, b.unlessAllowed(ways, []pg.Expr{t.source(b.source(), pg.True())}), t.array(),
	}
}

// unlessAllowed are the ways in which rows are found, others if the caller is allowed every row.
func (b *builder) unlessAllowed(ways, allowed []pg.Expr) pg.Expr {
	if !b.judgesRows() || pg.IsFalse(b.early.holds) {
		return wayArray(ways...)
	}
	return &pg.Case{Whens: []pg.When{{Condition: b.early.holds, Result: wayArray(allowed...)}}, Else: wayArray(ways...)}
}

// shown reads picked rows from their table.
func (f *facets) shown(table string, values []pg.Output, where pg.Expr) *pg.Select {
	columns := slices.Clone(values)
	for i, facet := range f.action.Facets {
		if isFiltered(f.action, facet) {
			columns = append(columns, pg.Output{Value: pg.Col(listRow, ownName(i))})
		}
	}
	return &pg.Select{
		Columns: columns,
		From:    &pg.TableRef{Name: listRows, Alias: listRow},
		Joins:   []pg.Join{{Kind: "join", With: pg.Ref(appSchema, table), On: pg.Eq(pg.Col(table, "id"), pg.Col(listRow, "id"))}},
		Where:   where,
	}
}

// facetsOfUnion is facetsOfModel for the rows of all arms of a union. The values are read from the tables of the arms: of
// many rows, a join with the view would be work for each.
func (g *generalList) facetsOfUnion() []pg.Expr {
	b := g.b
	g.facets = &facets{action: b.action, own: make([]*pg.Variable, len(b.action.Facets)), picked: []pg.Output{
		{Value: pg.Col(b.table, "id")}, {Value: pg.Col(b.table, armColumn)},
	}}
	var queries, ways, allowed []pg.Expr
	t := text{b: b}
	rows := rowsOf(b.action.Union)
	g.unionConditions(rows)
	for i, arm := range armsOf(b.action.Union) {
		query := &pg.Fragment{Select: g.facets.shownOfArm(arm)}
		if i > 0 {
			query.Prefix = " union all "
		}
		queries = append(queries, query)
		allowed = append(allowed, t.source(arm.source(), pg.True()))
		if b.judgesRows() {
			for _, w := range rows.admission(b, arm).ways {
				ways = append(ways, t.row(arm.source(), w.conditions()))
			}
		}
	}
	if !b.judgesRows() {
		ways = allowed
	}
	return []pg.Expr{
		concatenated(queries...), pg.Str(b.table), g.facets.columns(), g.sql, b.unlessAllowed(ways, allowed), t.array(),
	}
}

// shownOfArm reads picked rows of an arm from its table.
func (f *facets) shownOfArm(arm arm) *pg.Select {
	values := make([]pg.Output, len(f.action.Facets))
	x := arm.row(whereLogic, inQuery, nil)
	for i, facet := range f.action.Facets {
		values[i] = pg.Output{Value: arm.column(x, facet.UnionField), As: valueName(i)}
	}
	return f.shown(arm.Model.Table, values, pg.Eq(pg.Col(listRow, armColumn), pg.Lit(fmt.Sprint(arm.number))))
}
