package lower

import (
	"fmt"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// armColumn is the column that tells rows of one id apart: the number of their arm. No field's name makes such a
// column.
const armColumn = "arm__number"

// unionOrder returns the order of a union's list whose request names none: the declared one, then by id as in any list,
// then by arm, since two arms may have rows of one id.
func unionOrder(a *schema.Action) []sortKey {
	var keys []sortKey
	hasID := false
	for _, k := range a.OrderBy {
		keys = append(keys, sortKey{field: unionKey(k.UnionField), descending: k.Descending})
		hasID = hasID || k.UnionField.Name == "id"
	}
	if !hasID {
		keys = followedBy(keys, unionKey(a.Union.Field("id")))
	}
	return append(keys, sortKey{field: armKey()})
}

// unionSortable returns every field that a union's list may be ordered by.
func unionSortable(a *schema.Action) []*schema.Field {
	var fields []*schema.Field
	seen := map[string]bool{}
	add := func(f *schema.Field) {
		if !seen[f.Name] {
			seen[f.Name] = true
			fields = append(fields, f)
		}
	}
	for _, f := range a.UnionSortable {
		add(unionKey(f))
	}
	for _, k := range unionOrder(a) {
		add(k.field)
	}
	return fields
}

// unionKey is a field of a union as the field type that orders use.
func unionKey(f *schema.UnionField) *schema.Field {
	return &schema.Field{Name: f.Name, Column: f.Column, Type: f.Type, Optional: f.Optional}
}

func armKey() *schema.Field {
	return &schema.Field{Name: armColumn, Column: armColumn, Type: expr.Type{Kind: expr.Number}}
}

// unionList lowers a list of a union. Each arm gives at most a page, in order, so that an index of its table ends the
// search. The first of all of them are the page, whose rows are then read under row security.
func (l *lowering) unionList(a *schema.Action) *pg.Function {
	b := l.begin(a, functionName(a), "action "+a.Name+", any filter and page", pg.Stable)
	b.readsZone = filtersByPeriod(a)
	keys := b.keysFor(unionOrder(a), unionSortable(a), len(a.UnionSortable) > 0)

	g := generalList{b: b, where: member(input, "where")}
	g.sql = b.own("v_conditions", "text", nil)
	picked := b.own("v_picked", "text[]", nil) // the number of each row's arm, a colon and its id
	ids := b.own("v_ids", "text[]", nil)
	numbers := b.own("v_arms", "bigint[]", nil)
	m := b.newMerge()

	rows := rowsOf(a.Union)
	g.unionConditions(rows)
	g.findInArms(rows, m, func(arm arm) origin {
		return origin{
			model: arm.Model, sql: concatenated(pg.Str(arm.numbered()), g.sql), columns: pg.Ident(b.table) + ".*", alias: b.table, row: b.table,
			direct: arm.source(a, ""),
		}
	})
	alias := pg.Ident(b.table)
	b.step("Each arm gives at most a page, and the first of all their rows are the page. It is then read under row security.",
		&pg.Assign{Variable: picked, Value: pg.Fn("platform.pick_page", append([]pg.Expr{
			input, keys, pg.Str(b.table), pg.Str(alias + "." + armColumn + " || ':' || " + alias + ".id"),
		}, m.arguments()...)...)},
		&pg.Assign{Variable: numbers, Value: ofPicked(picked, pg.As(pg.Fn("split_part", pg.Col("page", "picked"), pg.Str(":"), pg.Lit("1")), "bigint"))},
		&pg.Assign{Variable: ids, Value: ofPicked(picked, pg.Fn("substr", pg.Col("page", "picked"),
			pg.Op(pg.Fn("strpos", pg.Col("page", "picked"), pg.Str(":")), "+", pg.Lit("1"))))},
		&pg.ReturnQuery{Query: b.unionRows(ids, numbers)})
	b.requireCallerOfPage(nothingFound)
	return b.finish()
}

// unionConditions gathers the conditions of a union's list, which are the same for all arms: those of its @wheres, and
// of the operators that a request puts to the columns of the views.
func (g *generalList) unionConditions(rows unionRows) {
	x := rows.expression(whereLogic, valueInFilter)
	var always []pg.Expr
	for _, w := range g.b.action.Wheres {
		condition := x.allHold([]expr.Node{rows.over(w.Expression)})
		if absent := g.guard(optionalInputs(w)); absent != nil {
			g.b.step("", pg.IfThen(g.given(absent), extend(g.sql, alsoHolds(condition))))
		} else {
			always = append(always, condition)
		}
	}
	g.sql.Initial = pg.Str("")
	if condition := pg.AllOf(always...); !pg.IsTrue(condition) {
		g.sql.Initial = alsoHolds(condition)
	}
	var list []filter
	for _, in := range g.b.action.Reads {
		if !in.Explicit {
			list = append(list, filter{in, rows.value(in.Union)})
		}
	}
	g.filter(x, list)
}

// findInArms adds the ways in which rows of all arms are found.
func (g *generalList) findInArms(rows unionRows, m *merge, originOf func(arm) origin) {
	b := g.b
	isAllowed := b.isAllowed()
	var all, judged []foundRows
	for _, arm := range armsOf(b.action.Union) {
		o := originOf(arm)
		all = append(all, foundRows{o, everything()})
		if !b.judgesRows() {
			continue
		}
		if admitted := rows.admission(b, arm); !pg.IsFalse(admitted.rule) || len(judged) == 0 {
			judged = append(judged, foundRows{o, admitted})
		}
	}
	if !b.judgesRows() {
		b.step("", m.add(all...)...)
		return
	}
	statements := append(g.gatherInArms(m, judged), m.add(judged...)...)
	if !pg.IsFalse(isAllowed) {
		statements = []pg.Statement{&pg.If{Branches: []pg.IfBranch{{Condition: isAllowed, Then: m.add(all...)}}, Else: statements}}
	}
	b.step("", statements...)
}

// gatherInArms finds the values that ways to the rows of arms compare columns with.
func (g *generalList) gatherInArms(m *merge, judged []foundRows) []pg.Statement {
	admissions := make([]*admission, len(judged))
	var chosen pg.Expr
	for i := range judged {
		admissions[i] = &judged[i].admission
		if chosen == nil && admissions[i].mayHaveMany() {
			g.b.findAtMost(pg.False())
			chosen = g.b.own("v_is_chosen", "boolean", isChosen())
		}
	}
	return m.gather(chosen, admissions...)
}

// admission is the condition of the rules on the rows of an arm. The arm's model tells which ways an index serves; their
// conditions are over the columns of the arm's view.
func (r unionRows) admission(b *builder, a arm) admission {
	x := a.row(ruleLogic, inQuery, valueInFilter)
	shown := r.expression(ruleLogic, valueInFilter)
	return admissionOf(a.Model, b.action.Rules, x, b.inputValue, a.over, func(alternative []expr.Node, role pg.Expr, w way) way {
		for i, n := range alternative {
			alternative[i] = r.overArm(a, n)
		}
		return a.shown(w, wayOf(r.model, pg.AllOf(shown.allHold(alternative), role)))
	})
}

// shown is a way to rows of the arm as one to rows of its view. Without such a column in the view, the rows behind the
// values of a column are looked for in the table. If the values are few, the condition on the view insists, so that
// Postgres starts from the caller: past the rows of all others it would look long for few of them, and for none.
func (a arm) shown(w, inView way) way {
	isEqual := inView.equal != nil
	inView.equal = w.equal
	switch {
	case w.oneOf == nil:
		inView.oneOf = nil
	case inView.oneOf != nil && a.isColumn(inView.oneOf, w.oneOf):
		inView.values, inView.isInView, inView.insisting = w.values, true, nil
	case isShortArray(w.values):
		return way{condition: inView.condition}
	default:
		inView.oneOf, inView.values, inView.others = w.oneOf, w.values, w.others
		if !isEqual {
			inView.insisting = nil
		}
	}
	return inView
}

// isColumn tells whether a field of the union is a column of the arm's table.
func (a arm) isColumn(inView, own *schema.Field) bool {
	p, ok := a.value(a.union.Field(inView.Name)).(*expr.Path)
	return ok && p.Root == expr.RootRow && len(p.Steps) == 1 && storedAs(field(p.Steps[0])) == own
}

// isAllowed tells whether the caller is allowed every row. A variable holds an answer that is used several times.
func (b *builder) isAllowed() pg.Expr {
	if !b.judgesRows() || pg.IsFalse(b.early.holds) {
		return b.early.holds
	}
	allowed := b.own("v_is_allowed", "boolean", nil)
	b.step(allowedOutright, &pg.Assign{Variable: allowed, Value: b.early.holds})
	return allowed
}

// numbered is the rows of an arm's view with the arm's number, as the text of a query from its from on. Conditions may
// follow.
func (a arm) numbered() string {
	alias := pg.Ident(a.union.Table)
	return fmt.Sprintf(" from (select %d::bigint as %s, %s.* from %s as %s) as %s where true",
		a.number, armColumn, alias, pg.Qualified(relatedSchema, a.view), alias, alias)
}

// source is the rows of the arm's table for a request that neither filters nor orders them, and the end of their query:
// the columns of the list's own order, which tell them apart.
func (a arm) source(action *schema.Action, end string) *origin {
	x := a.row(whereLogic, inQuery, valueInFilter)
	columns := []pg.Output{{Value: pg.As(pg.Lit(fmt.Sprint(a.number)), "bigint"), As: armColumn}}
	for _, k := range unionOrder(action) {
		if k.field.Name != armColumn {
			columns = append(columns, pg.Output{Value: a.column(x, a.union.Field(k.field.Name)), As: k.field.Column})
		}
	}
	conditions := x.allHold(a.wheres())
	for _, w := range action.Wheres {
		if len(optionalInputs(w)) == 0 {
			conditions = pg.AllOf(conditions, x.allHold([]expr.Node{a.over(w.Expression)}))
		}
	}
	rows := &pg.Fragment{Prefix: " from (", Select: &pg.Select{Columns: columns, From: pg.Ref(relatedSchema, a.Model.Table)}, Suffix: " where true"}
	if !pg.IsTrue(conditions) {
		rows.Suffix = ""
		rows.Select.Where = &pg.And{Operands: []pg.Expr{conditions}} // more follows behind and
	}
	return &origin{sql: rows, end: ") as " + pg.Ident(a.union.Table) + " where true" + end}
}

// isChosen tells whether a request filters a list, or chooses its order.
func isChosen() pg.Expr {
	none := pg.Str("{}")
	return pg.AnyOf(hasMember(input, "orderBy"), pg.Op(pg.Fn("coalesce", member(input, "where"), none), "<>", none))
}

// ofPicked is a part of each picked row, in order. The function takes parts before it reads the rows: under row
// security Postgres cannot search an index for a value that a function makes of a text.
func ofPicked(picked, part pg.Expr) pg.Expr {
	return &pg.ArrayOf{Query: &pg.Select{
		Columns: []pg.Output{{Value: part}},
		From:    &pg.CallRef{Call: pg.Fn("unnest", picked), Alias: "page", Columns: []string{"picked"}},
	}}
}

// unionRows reads the rows of a page, arm by arm, in the order in which they were picked.
func (b builder) unionRows(ids, numbers pg.Expr) *pg.Select {
	var columns []pg.Output
	for _, f := range b.action.Union.Fields {
		columns = append(columns, pg.Output{Value: pg.Col(b.table, f.Column)})
	}
	columns = append(columns, pg.Output{Value: pg.Col(b.table, armColumn)})
	return &pg.Select{
		Columns: columns,
		From:    &pg.SubqueryRef{Alias: b.table, Query: b.armRows(ids, numbers)},
		OrderBy: []pg.Order{{Value: pg.Col(b.table, placeColumn)}},
	}
}

// placeColumn is the column that holds the place of a row on the page. No field's name makes such a column.
const placeColumn = "list__place"

// armRows reads the rows of each arm, each with its place on the page.
func (b builder) armRows(ids, numbers pg.Expr) *pg.Select {
	var all *pg.Select
	for _, arm := range armsOf(b.action.Union) {
		page := rowAlias("page", b.action)
		rows := &pg.Select{
			Columns: []pg.Output{
				arm.allColumns(), {Value: pg.Col(page, "number"), As: armColumn}, {Value: pg.Col(page, "place"), As: placeColumn},
			},
			From: &pg.CallRef{
				Call:       pg.Fn("unnest", ids, numbers),
				Ordinality: true, Alias: page, Columns: []string{"id", "number", "place"},
			},
			Joins: []pg.Join{
				{Kind: "join", With: pg.Ref(appSchema, arm.Model.Table), On: pg.Eq(pg.Col(arm.Model.Table, "id"), pg.Col(page, "id"))},
				arm.underRowSecurity(),
			},
			Where: pg.Eq(pg.Col(page, "number"), pg.Lit(fmt.Sprint(arm.number))),
		}
		if all == nil {
			all = rows
		} else {
			all.UnionAll = append(all.UnionAll, rows)
		}
	}
	return all
}
