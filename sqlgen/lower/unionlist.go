package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// armColumn is the column that tells rows of one id apart: the number of their arm. No field's name makes such a
// column.
const armColumn = "arm__number"

// unionOrder returns the order of a union's list whose request names none: the declared one, then by id as in any list,
// then by arm, since two arms may have rows of one id.
func unionOrder(a *model.Action) []sortKey {
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
func unionSortable(a *model.Action) []*model.Field {
	var fields []*model.Field
	seen := map[string]bool{}
	add := func(f *model.Field) {
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
func unionKey(f *model.UnionField) *model.Field {
	return &model.Field{Name: f.Name, Column: f.Column, Type: f.Type, Optional: f.Optional}
}

func armKey() *model.Field {
	return &model.Field{Name: armColumn, Column: armColumn, Type: expr.Type{Kind: expr.Number}}
}

// unionList lowers a list of a union. Each arm gives at most a page, in order, so that an index of its table ends the
// search. The first of all of them are the page, whose rows are then read under row security.
func (l *lowering) unionList(a *model.Action) []*pg.Function {
	b := l.begin(a, functionName(a), "action "+a.Name+", any filter and page", pg.Stable)
	b.readsZone = filtersByPeriod(a)
	keys := b.keysFor(unionOrder(a), unionSortable(a), len(a.UnionSortable) > 0)
	g := generalList{b: b, where: member(input, "where")}
	rows := rowsOf(a.Union)
	g.unionConditions(rows)
	picked := b.own("v_picked", "text[]", nil)
	arguments := append([]pg.Expr{input, keys, pg.Str(b.table), pickedText(b.table), g.sql}, g.findInArms(rows, l.foundInArms(a), l.walkedInArms(a))...)
	rowsFunction := l.functions.Take(functionName(a) + "__rows")
	b.readArms(g.whereFrom, &pg.Assign{Variable: picked, Value: pg.Fn("platform.pick_page", arguments...)}, picked, rowsFunction)
	return append([]*pg.Function{b.finish(), b.rowsFunction(rowsFunction)}, l.foreseenUnion(a, rowsFunction)...)
}

// pickedText is the text by which a row is picked: the number of its arm, a colon and its id.
func pickedText(alias string) pg.Expr {
	return pg.Str(pg.Ident(alias) + "." + armColumn + " || ':' || " + pg.Ident(alias) + ".id")
}

// readArms picks the rows of a page, and reads them.
func (b *builder) readArms(comment string, pick pg.Statement, picked *pg.Variable, rows string) {
	ids, numbers := b.own("v_ids", "text[]", nil), b.own("v_arms", "bigint[]", nil)
	row := pg.Col("page", "picked")
	b.step(comment, pick)
	b.step("The first rows of all arms are the page. They are read under row security.",
		&pg.Assign{Variable: numbers, Value: ofPicked(picked, pg.As(pg.Fn("split_part", row, pg.Str(":"), pg.Lit("1")), "bigint"))},
		&pg.Assign{Variable: ids, Value: ofPicked(picked, pg.Fn("substr", row, pg.Op(pg.Fn("strpos", row, pg.Str(":")), "+", pg.Lit("1"))))},
		&pg.ReturnQuery{Query: &pg.Select{
			Columns: []pg.Output{{Value: allColumns(b.table)}},
			From:    &pg.CallRef{Call: pg.Fn(pg.Qualified(apiSchema, rows), ids, numbers), Alias: b.table},
		}})
	b.requireCallerOfPage(nothingFound)
}

// rowsFunction is the function that reads the picked rows of a union's list: it is given their ids and the numbers of
// their arms.
func (b *builder) rowsFunction(name string) *pg.Function {
	a := b.action
	return &pg.Function{
		Schema: apiSchema, Name: name, Title: "action " + a.Name + ", rows of all arms", Origin: b.fn.Origin, Owner: b.fn.Owner,
		Comment:   fmt.Sprintf("action %s of union %s: the picked rows of all arms", a.Name, a.Union.Name),
		Arguments: []pg.Argument{{Name: "v_ids", Type: "text[]"}, {Name: "v_arms", Type: "bigint[]"}},
		Returns:   b.fn.Returns, Volatility: pg.Stable, Settings: b.fn.Settings,
		Body: []pg.Paragraph{{Statements: []pg.Statement{&pg.ReturnQuery{Query: b.unionRows(pg.Var("v_ids"), pg.Var("v_arms"))}}}},
	}
}

// unionConditions gathers the conditions of a union's list, which are the same for all arms: those of its @wheres, and
// of the operators that a request puts to the columns of the views.
func (g *generalList) unionConditions(rows unionRows) {
	g.sql = g.b.own("v_filter", "text", pg.Str(""))
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

// findInArms is findRows for the rows of all arms.
func (g *generalList) findInArms(rows unionRows, foundBy, walked string) []pg.Expr {
	b := g.b
	t := text{b: b}
	var sources, ways []pg.Expr
	var all []way
	for _, arm := range armsOf(b.action.Union) {
		if !b.judgesRows() {
			sources = append(sources, t.source(arm.source(), pg.True()))
			continue
		}
		admitted := rows.admission(b, arm)
		sources = append(sources, t.source(arm.source(), admitted.rule))
		b.lookUpValues(admitted.ways, sizeOfPage)
		for _, w := range admitted.ways {
			if !pg.IsFalse(w.condition) {
				ways = append(ways, t.way(arm.source(), w))
			}
		}
		all = append(all, admitted.ways...)
	}
	if len(ways) == 0 {
		ways = []pg.Expr{t.source(armsOf(b.action.Union)[0].source(), pg.False())}
	}
	if !b.judgesRows() {
		return []pg.Expr{wayArray(sources...)}
	}
	g.whereFrom = whereFrom(all)
	models := make([]*model.Model, len(b.action.Union.Arms))
	for i, arm := range b.action.Union.Arms {
		models[i] = arm.Model
	}
	arguments := []pg.Expr{wayArray(sources...), b.early.holds, wayArray(ways...), t.array(), pg.Str(foundBy), pg.Str(walked),
		tableArray(models...)}
	var list []filter
	for _, in := range b.action.Reads {
		if !in.Explicit {
			list = append(list, filter{in, rows.value(in.Union)})
		}
	}
	return append(arguments, g.near(all, rows.expression(whereLogic, valueInFilter), unionOrder(b.action)[0].field, list)...)
}

// foundInArms are the fields of the filter by which an index may find rows of some arm.
func (l *lowering) foundInArms(a *model.Action) string {
	first := unionOrder(a)[0].field.Name
	var names []string
	for _, in := range a.Reads {
		isFound := in.Explicit
		for _, arm := range armsOf(a.Union) {
			if in.Explicit || in.Name == first {
				continue
			}
			if p, ok := arm.value(in.Union).(*expr.Path); ok && p.Root == expr.RootRow {
				f := storedAs(field(p.Steps[0]))
				isFound = isFound || len(p.Steps) > 1 || l.indexed[arm.Model][f.Column] && f.Type.Kind != expr.Boolean && f.Type.Kind != expr.Enum
			}
		}
		if isFound {
			names = append(names, in.Name)
		}
	}
	return "{" + strings.Join(names, ",") + "}"
}

// walkedInArms are the fields that an index of each arm has rows in the order of.
func (l *lowering) walkedInArms(a *model.Action) string {
	var names []string
	for _, f := range a.UnionSortable {
		if !slices.ContainsFunc(armsOf(a.Union), func(arm arm) bool {
			p, ok := arm.value(f).(*expr.Path)
			return !ok || len(p.Steps) != 1 || !l.indexed[arm.Model][storedAs(field(p.Steps[0])).Column]
		}) {
			names = append(names, f.Name)
		}
	}
	return "{" + strings.Join(names, ",") + "}"
}

// foreseenUnion lowers the page of a union's list that no request filters, to static statements: one function for each
// arm, and one that merges their rows. There is none if every request filters, or if the rules ask for an input.
func (l *lowering) foreseenUnion(a *model.Action, rowsFunction string) []*pg.Function {
	name := functionName(a) + "__foreseen"
	isFiltered := slices.ContainsFunc(a.Reads, func(in *model.Input) bool { return !in.Optional })
	if isFiltered || len(ruleInputs(a.Rules)) > 0 || len(a.Facets) > 0 || isClosed(a) || !takesFormArguments(a, name, nil) {
		return nil
	}
	keys := keysOfArms(a)
	b, foreseen := l.beginForms(a, l.functions.Take(name), formArguments(a, nil))
	foreseen.Forms = []string{""}
	rows := rowsOf(a.Union)
	x := rows.expression(whereLogic, nil)
	where := pg.Expr(pg.True())
	for _, w := range a.Wheres {
		if len(optionalInputs(w)) == 0 {
			where = pg.AllOf(where, x.allHold([]expr.Node{rows.over(w.Expression)}))
		}
	}
	picked := b.own("v_picked", "text[]", nil)
	var functions []*pg.Function
	var merged *pg.Select
	var all []way
	for _, arm := range armsOf(a.Union) {
		p := b.place(keys)
		p.from = arm.from()
		ways := slices.DeleteFunc(b.ownWays(func() admission { return rows.admission(b, arm) }), func(w way) bool { return pg.IsFalse(w.condition) })
		if len(ways) == 0 {
			continue
		}
		all = append(all, ways...)
		fn, call := l.armFunction(b, arm, p.page(ways, keyColumns(keys, b.table), where, false), keys)
		functions = append(functions, fn)
		found := &pg.Select{
			Columns: []pg.Output{{Value: pg.As(pg.Lit(fmt.Sprint(arm.number)), "bigint"), As: armColumn}, {Value: allColumns(b.table)}},
			From:    call,
		}
		if merged == nil {
			merged = found
		} else {
			merged.UnionAll = append(merged.UnionAll, found)
		}
	}
	page := &pg.Select{
		Columns: []pg.Output{{Value: pg.Lit(pickedText(b.table).(*pg.Text).Value)}},
		From:    &pg.SubqueryRef{Alias: b.table, Query: merged},
		OrderBy: orderBy(unionOrder(a), b.table), Limit: pg.Var(sizeArgument.Name),
	}
	b.readArms(whereFrom(all), &pg.Assign{Variable: picked, Value: &pg.ArrayOf{Query: page}}, picked, rowsFunction)
	return append([]*pg.Function{b.finish()}, functions...)
}

// keysOfArms is the order of a union's list within each arm.
func keysOfArms(a *model.Action) []sortKey {
	keys := unionOrder(a)
	return keys[:len(keys)-1]
}

// armFunction is the function that finds the rows of an arm for a page, and its call. It takes the position, the number
// of rows and the values that its statement names.
func (l *lowering) armFunction(b *builder, a arm, page *pg.Select, keys []sortKey) (*pg.Function, *pg.CallRef) {
	mentioned := pg.Mentions(&pg.Subquery{Query: page})
	var arguments []pg.Argument
	for _, argument := range append(slices.Clone(b.fn.Arguments), b.valuesHeld()...) {
		if mentioned.Column(argument.Name) {
			arguments = append(arguments, argument)
		}
	}
	names, values := make([]string, len(keys)), make([]pg.Expr, len(arguments))
	types := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.field.Column
		types[i] = numberedColumn(i, k.field.Column) + " " + variableType(k.field.Type)
	}
	for i, argument := range arguments {
		values[i] = pg.Var(pg.ParamIdent(argument.Name))
	}
	fn := &pg.Function{
		Schema: apiSchema, Name: l.functions.Take(functionName(b.action) + "__" + model.SnakeForm(a.Name)),
		Title: "action " + b.action.Name + ", arm " + a.Name, Origin: b.fn.Origin, Owner: b.fn.Owner,
		Comment:   fmt.Sprintf("action %s of union %s: the next rows of the arm %s", b.action.Name, a.union.Name, a.Name),
		Arguments: arguments, Returns: "table (" + strings.Join(types, ", ") + ")", Volatility: pg.Stable,
		Settings: b.fn.Settings, Body: []pg.Paragraph{{Statements: []pg.Statement{&pg.ReturnQuery{Query: page}}}},
	}
	return fn, &pg.CallRef{Call: pg.Fn(pg.Qualified(apiSchema, fn.Name), values...), Alias: b.table, Columns: names}
}

// admission is the condition of the rules on the rows of an arm. The arm's model tells which ways an index serves; their
// conditions are over the columns of the arm's view.
func (r unionRows) admission(b *builder, a arm) admission {
	shown := r.expression(ruleLogic, b.inputValue)
	return rules{
		model: a.Model, list: b.action.Rules, x: a.row(ruleLogic, inQuery, b.inputValue), known: b.known, over: a.over,
		shown: func(nodes []expr.Node) pg.Expr {
			list := make([]expr.Node, len(nodes))
			for i, n := range nodes {
				list[i] = r.overArm(a, n)
			}
			return shown.allHold(list)
		},
		lead: func(f *model.Field) pg.Expr {
			name, _ := a.columnOf(f)
			return pg.Col(a.union.Table, name)
		},
	}.admission()
}

// source is where the rows of an arm come from, as text.
func (a arm) source() string {
	return pg.Qualified(relatedSchema, a.view) + " as " + pg.Ident(a.union.Table)
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
	return &pg.Select{
		Columns: append(unionColumns(b.action.Union), pg.Output{Value: pg.Col(b.table, armColumn)}),
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
			Columns: []pg.Output{arm.allColumns(), {Value: pg.Col(page, "place"), As: placeColumn}},
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
