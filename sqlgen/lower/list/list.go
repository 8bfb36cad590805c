package list

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/call"
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// defaultPageSize is the number of rows of a page if the request names no size.
var defaultPageSize = strconv.Itoa(release.DefaultPageSize)

// sizeOfPage is the number of rows of a page that a request asks for.
var sizeOfPage = pg.As(pg.Fn("coalesce",
	value.MemberText(value.Input, "first"), value.MemberText(value.Input, "last"), value.MemberText(value.Input, "limit"), pg.Str(defaultPageSize)), "bigint")

// List lowers a list to the function that takes any request, and one with static statements, whose plans are kept, for
// the foreseen operator sets. The rows of a union's list are read by a function of their own.
func (l *Lowering) List(a *model.Action) []*pg.Function {
	rows := ""
	if a.Union != nil {
		rows = l.Functions.Take(rule.FunctionName(a) + "__rows")
	}
	functions := l.generalList(a, rows)
	if len(a.Facets) > 0 { // facets cost more than a plan does
		return append(functions, l.facetsOf(a)...)
	}
	if a.Union != nil {
		return append(functions, l.foreseenUnion(a, rows)...)
	}
	return append(functions, l.foreseenLists(a)...)
}

// generalList is a list for every filter and page that is being built.
type generalList struct {
	b       *call.Builder // the function
	rows    ListRows
	indexed map[*model.Model]map[string]bool // the columns that lead an index
	sql     *pg.Variable                     // the conditions on a row
	facets  *facets                          // the facets that the rows are picked for, if not for a page
}

// generalList lowers a list for every filter and page. Its statement is text put together from fragments that are fixed
// here, one per operator; each takes its operand from the filter, which is a parameter of the statement. No part of a
// request is ever part of the text.
//
// The page is picked without row security, so that every condition may use an index, then its rows are read under it.
func (l *Lowering) generalList(a *model.Action, rows string) []*pg.Function {
	b := l.Begin(a, rule.FunctionName(a), "action "+a.Name+", any filter and page", pg.Stable)
	b.ReadsZone = call.FiltersByPeriod(a)
	g := generalList{b: b, rows: RowsOf(a), indexed: l.indexed}
	keys := keysFor(b, value.OwnOrder(a), value.Sortable(a), value.IsSortable(a))
	g.filterBy(a.Wheres)
	found, from := g.findRows()
	found = append([]pg.Expr{value.Input, keys, pg.Str(b.Table), pg.Str(picked(a)), g.sql}, found...)
	if a.Union != nil {
		readArms(b, from, pg.Fn("platform.pick_page", found...), rows)
		return []*pg.Function{b.Finish(), rowsFunction(b, rows)}
	}
	ids, alias := b.Own("v_ids", "text[]", nil), call.PageAlias(b.Table)
	pick := []pg.Statement{
		&pg.Assign{Variable: ids, Value: pg.Fn("platform.pick_page", found...)},
		&pg.ReturnQuery{Query: &pg.Select{
			Columns: b.AnswerColumns(),
			From:    &pg.CallRef{Call: pg.Fn("unnest", ids), Ordinality: true, Alias: alias, Columns: []string{"id", "place"}},
			Joins:   []pg.Join{{Kind: "join", With: b.Stored(), On: pg.Eq(pg.Col(b.Table, "id"), pg.Col(alias, "id"))}},
			OrderBy: []pg.Order{{Value: pg.Col(alias, "place")}},
		}},
	}
	if g.isReadAtOnce() {
		b.Step("Row security hides nothing here, so a page from the front is read at once.", g.readAtOnce(keys, pick))
	} else {
		b.Step(from, pick...)
	}
	requireCallerOfPage(b)
	return []*pg.Function{b.Finish()}
}

// picked is the text by which a row is picked: its id, in a union behind the number of its arm and a colon.
func picked(a *model.Action) string {
	table := pg.Ident(value.TableOf(a))
	if a.Union != nil {
		return table + "." + value.ArmColumn + " || ':' || " + table + ".id"
	}
	return table + ".id"
}

// filterBy gathers the list's conditions on the row in a variable, as text that follows a condition. Conditions on the
// field of a facet are in a variable of their own.
func (g *generalList) filterBy(wheres []*model.Where) {
	b, a := g.b, g.b.Action
	facetOf := func(f Filter) int {
		if g.facets == nil {
			return -1
		}
		return slices.IndexFunc(a.Facets, func(facet *model.Facet) bool { return isOwnInput(f.Input, facet) })
	}
	filters := g.rows.Filters(a)
	c := ConditionsOf(g.rows, wheres, slices.DeleteFunc(slices.Clone(filters), func(f Filter) bool { return facetOf(f) >= 0 }))
	var statements []pg.Statement
	for _, f := range filters {
		if i := facetOf(f); i >= 0 {
			c.leaveOut(f)
			g.facets.own[i] = b.Variable("v_own_"+model.SnakeForm(a.Facets[i].Name()), "text", nil)
			statements = append(statements, &pg.Assign{Variable: g.facets.own[i], Value: f.operators(c.x)})
		}
	}
	if g.sql == nil {
		g.sql = b.Own("v_filter", "text", pg.Str(""))
	}
	if always := pg.AllOf(c.always...); !pg.IsTrue(always) {
		g.sql.Initial = alsoHolds(always)
	}
	var explicit []pg.Expr
	for _, in := range a.Reads {
		if in.Explicit {
			explicit = append(explicit, pg.Str(in.Name)) // the @wheres have it
			if in.InputNullable() {
				explicit = append(explicit, pg.Str(in.Name+":null"))
			}
		}
	}
	comment := ""
	if len(a.Reads) > 0 || len(c.groups) > 0 {
		var elsewhere pg.Expr
		if explicit != nil {
			elsewhere = &pg.Array{Elements: explicit}
		}
		comment = "Each operator that was sent adds its condition, which takes its operand from the filter, $1."
		c.texts = append(c.texts, c.Operators(elsewhere))
	}
	if len(c.texts) > 0 {
		if _, isEmpty := g.sql.Initial.(*pg.Text); !isEmpty {
			c.texts = append([]pg.Expr{g.sql}, c.texts...)
		}
		statements = append([]pg.Statement{&pg.Assign{Variable: g.sql, Value: call.Concatenated(c.texts...)}}, statements...)
	}
	if len(statements) > 0 {
		b.Step(comment, statements...)
	}
}

// findRows returns the arguments of platform.pick_page that say where the rows of the list are, and in which ways the
// rules admit them, and why it begins where it does.
func (g *generalList) findRows() (arguments []pg.Expr, from string) {
	b, a, t := g.b, g.b.Action, text{}
	var sources, rules, ways, tables []pg.Expr
	var all []way
	for _, s := range sourcesOf(a) {
		admitted := admission{rule: pg.True()}
		if b.JudgesRows() {
			admitted = admissionOf(b, s)
			lookUpValues(b, admitted.ways, sizeOfPage)
		}
		sources, rules = append(sources, s.text()), append(rules, t.byRow(admitted.rule))
		tables = append(tables, pg.Str(pg.Qualified(value.AppSchema, s.model.Table)))
		for _, w := range admitted.ways {
			if !pg.IsFalse(w.condition) {
				ways = append(ways, t.way(s, w))
			}
		}
		all = append(all, admitted.ways...)
	}
	if !b.JudgesRows() {
		return []pg.Expr{&pg.Array{Elements: sources}}, whereFrom(nil)
	}
	if len(ways) == 0 {
		ways = []pg.Expr{t.row(sourcesOf(a)[0], pg.False())}
	}
	arguments = []pg.Expr{
		&pg.Array{Elements: sources}, &pg.Array{Elements: rules}, b.Early.Holds, wayArray(ways...), t.array(), pg.Str(g.foundBy()), pg.Str(g.walked()),
		pg.As(&pg.Array{Elements: tables}, "regclass[]"),
	}
	return append(arguments, g.near(all)...), whereFrom(all)
}

// near are the arguments of platform.pick_page for callers with many values: how many rows of the order are looked at,
// and the conditions on its first key.
func (g *generalList) near(ways []way) []pg.Expr {
	rows := &pg.Case{}
	for _, w := range ways {
		if w.isMany != nil {
			rows.Whens = append(rows.Whens, pg.When{Condition: w.isMany, Result: w.enough})
		}
	}
	if rows.Whens == nil {
		return nil
	}
	for _, f := range g.rows.Filters(g.b.Action) {
		if g.isFirst(f.Input) && !f.Input.Type.Array {
			return []pg.Expr{rows, f.operators(g.rows.Expression(value.WhereLogic, ValueInFilter))}
		}
	}
	return []pg.Expr{rows}
}

// isFirst tells whether an input filters by the first key of the list's own order: the rows that it asks for lie behind
// each other there, and behind the columns that lead ways.
func (g *generalList) isFirst(in *model.Input) bool {
	first := value.OwnOrder(g.b.Action)[0].Field
	return in.Union != nil && in.Union.Name == first.Name || in.Union == nil && value.OwnColumn(in) == first
}

// column is the field of a source's model that an input filters by; nil if it is behind relations. isStored tells
// whether it is a value of rows.
func (s source) column(in *model.Input) (f *model.Field, isStored bool) {
	if s.arm == nil {
		return value.OwnColumn(in), true
	}
	p, isPath := s.arm.Value(in.Union).(*expr.Path)
	return s.arm.OwnField(in.Union), isPath && p.Root == expr.RootRow
}

// mayBeFound tells whether an index may find the rows that a filter asks for: one that its column leads, where few rows
// have one value, or one behind relations.
func (s source) mayBeFound(in *model.Input, indexed map[*model.Model]map[string]bool) bool {
	f, isStored := s.column(in)
	return isStored && (f == nil || f.Type.Array || indexed[s.model][f.Column] && f.Type.Kind != expr.Boolean && f.Type.Kind != expr.Enum)
}

// foundBy are the fields of the filter whose rows an index may find.
func (g *generalList) foundBy() string {
	a := g.b.Action
	var names []string
	for _, in := range a.Reads {
		isMentioned := func(w *model.Where) bool { return slices.Contains(expr.Mentions(w.Expression).Inputs, expr.Input(in)) }
		isFound := func(s source) bool { return s.mayBeFound(in, g.indexed) }
		switch {
		case in.Explicit && slices.ContainsFunc(a.Wheres, isMentioned):
			names = append(names, in.Name)
		case !in.Explicit && !g.isFirst(in) && slices.ContainsFunc(sourcesOf(a), isFound):
			names = append(names, value.FilterPath(in)[0])
		}
	}
	slices.Sort(names)
	return "{" + strings.Join(slices.Compact(names), ",") + "}"
}

// walked are the fields that rows can be ordered by along an index of each source.
func (g *generalList) walked() string {
	var names []string
	for _, f := range value.Sortable(g.b.Action) {
		isWalked := func(s source) bool {
			own := f
			if s.arm != nil {
				if f.Name == value.ArmColumn {
					return false
				}
				own = s.arm.OwnField(s.arm.Union.Field(f.Name))
			}
			return own != nil && g.indexed[s.model][own.Column]
		}
		if value.IsSortable(g.b.Action) && !slices.ContainsFunc(sourcesOf(g.b.Action), func(s source) bool { return !isWalked(s) }) {
			names = append(names, f.Name)
		}
	}
	return "{" + strings.Join(names, ",") + "}"
}

// isReadAtOnce tells whether a page may be read without picking its rows first: the rules were decided before any row is
// read, and Postgres knows as much about the columns of the @wheres as without row security. What is embedded in rows
// has a plan that is kept, so they are picked.
func (g *generalList) isReadAtOnce() bool {
	a := g.b.Action
	for _, w := range a.Wheres {
		for _, p := range expr.Paths(w.Expression) {
			if p.Root == expr.RootRow && (len(p.Steps) > 1 || len(p.Steps) == 1 && !g.isKnown(value.StoredAs(value.Field(p.Steps[0])))) {
				return false
			}
		}
	}
	return !g.b.JudgesRows() && (len(a.Embeds) == 0 || call.AnswersColumns(a))
}

// isKnown tells whether Postgres plans comparisons of a column under row security as well as without: there it uses
// statistics for leakproof operators only. They do not matter without an index of the column. A column that may not be
// read is not known either: an action that answers columns reads no others of a row.
func (g *generalList) isKnown(f *model.Field) bool {
	a := g.b.Action
	mayRead := !call.AnswersColumns(a) || slices.ContainsFunc(call.AnsweredColumns(a), func(c call.AnsweredColumn) bool {
		return !c.Member.Field.IsRelation() && c.Member.Field.Column == f.Column
	})
	return mayRead && f.Column != "" && !f.Type.Array && (value.IsLeakproof(f.Type.Kind) || !g.indexed[g.b.Model][f.Column])
}

// readAtOnce reads a page from the front by one statement under row security, unless the filter asks for what Postgres
// plans better without.
func (g *generalList) readAtOnce(keys pg.Expr, pick []pg.Statement) pg.Statement {
	b, where := g.b, value.Member(value.Input, "where")
	var names []string
	for _, f := range g.rows.Filters(b.Action) {
		if column := value.OwnColumn(f.Input); column == nil || !g.isKnown(column) {
			names = append(names, value.FilterPath(f.Input)[0])
		}
	}
	isPicked := pg.Expr(pg.Op(value.Input, "?|", pg.Str("{last,before,position,offset,totalCount}")))
	if len(names) > 0 {
		isPicked = pg.AnyOf(isPicked, pg.Op(pg.Fn("coalesce", where, pg.Str("{}")), "?|", pg.Str("{"+strings.Join(slices.Compact(names), ",")+"}")))
	}
	if slices.ContainsFunc(b.Action.Reads, isFolded) { // the beginning of a text is found by an index that row security bars
		isPicked = pg.AnyOf(isPicked, pg.Op(pg.Fn("strpos", g.sql, pg.Str("platform.fold(")), ">", pg.Lit("0")))
	}
	return &pg.If{Branches: []pg.IfBranch{{Condition: isPicked, Then: pick}}, Else: []pg.Statement{
		tellOfPage(pg.False()),
		&pg.ReturnExecute{
			Text: call.Concatenated(
				&pg.Fragment{Select: &pg.Select{Columns: b.AnswerColumns(), From: b.Stored()}, Suffix: " where true"}, g.sql,
				pg.Str(" order by "), pg.Fn("platform.order_sql", keys, pg.False()), pg.Str(" limit $2 + 1"),
			),
			Using: []pg.Expr{where, sizeOfPage},
		},
	}}
}

// readArms picks the rows of a page of a union, and reads them.
func readArms(b *call.Builder, comment string, page pg.Expr, rows string) {
	picked := b.Own("v_picked", "text[]", nil)
	b.Step(comment, &pg.Assign{Variable: picked, Value: page})
	b.Step("The first rows of all arms are the page. They are read under row security.", &pg.ReturnQuery{Query: &pg.Select{
		Columns: []pg.Output{{Value: call.AllColumns(b.Table)}},
		From:    &pg.CallRef{Call: pg.Fn(pg.Qualified(value.APISchema, rows), picked), Alias: b.Table},
	}})
	requireCallerOfPage(b)
}

// placeColumn is the column that holds the place of a row on the page. No field's name makes such a column.
const placeColumn = "list__place"

// rowsFunction is the function that reads the picked rows of a union's list, arm by arm, in the order in which they were
// picked. It takes ids and numbers of arms apart before it reads rows: under row security Postgres cannot search an index
// for a value that a function makes of a text.
func rowsFunction(b *call.Builder, name string) *pg.Function {
	a, text := b.Action, pg.Col("page", "picked")
	part := func(name, typ string, value pg.Expr) *pg.Variable {
		from := &pg.CallRef{Call: pg.Fn("unnest", pg.Var("v_picked")), Alias: "page", Columns: []string{"picked"}}
		return &pg.Variable{Name: name, Type: typ, Initial: &pg.ArrayOf{Query: &pg.Select{Columns: []pg.Output{{Value: value}}, From: from}}}
	}
	ids := part("v_ids", "text[]", pg.Fn("substr", text, pg.Op(pg.Fn("strpos", text, pg.Str(":")), "+", pg.Lit("1"))))
	numbers := part("v_arms", "bigint[]", pg.As(pg.Fn("split_part", text, pg.Str(":"), pg.Lit("1")), "bigint"))
	columns := append(unionColumns(a.Union), pg.Output{Value: pg.Col(b.Table, value.ArmColumn)})
	read := columns
	if !slices.ContainsFunc(value.ArmsOf(a.Union), func(arm value.Arm) bool { return lookedAt(arm) != nil }) {
		read = []pg.Output{{Value: call.AllColumns(b.Table)}} // the views of all arms have the same columns
	}
	var all *pg.Select
	for _, arm := range value.ArmsOf(a.Union) {
		page := value.RowAlias("page", a)
		call := pg.Fn("unnest", ids, numbers)
		rows := &pg.Select{
			Columns: append(slices.Clone(read), pg.Output{Value: pg.Col(page, "place"), As: placeColumn}),
			From:    &pg.CallRef{Call: call, Ordinality: true, Alias: page, Columns: []string{"id", "number", "place"}},
			Joins: []pg.Join{
				{Kind: "join", With: pg.Ref(value.AppSchema, arm.Model.Table), On: pg.Eq(pg.Col(arm.Model.Table, "id"), pg.Col(page, "id"))},
				underRowSecurity(arm),
			},
			Where: pg.Eq(pg.Col(page, "number"), pg.Lit(fmt.Sprint(arm.Number))),
		}
		if all == nil {
			all = rows
		} else {
			all.UnionAll = append(all.UnionAll, rows)
		}
	}
	query := &pg.Select{
		Columns: columns, From: &pg.SubqueryRef{Alias: b.Table, Query: all}, OrderBy: []pg.Order{{Value: pg.Col(b.Table, placeColumn)}},
	}
	fn := beside(b, name, "rows of all arms", "the picked rows of all arms", b.Fn.Returns, []pg.Argument{{Name: "v_picked", Type: "text[]"}}, query)
	fn.Variables = []*pg.Variable{ids, numbers}
	return fn
}

// beside is a function that the function of a union's list calls.
func beside(b *call.Builder, name, title, comment, returns string, arguments []pg.Argument, query *pg.Select) *pg.Function {
	a := b.Action
	return &pg.Function{
		Schema: value.APISchema, Name: name, Title: "action " + a.Name + ", " + title, Origin: b.Fn.Origin, Owner: b.Fn.Owner,
		Comment: fmt.Sprintf("action %s of union %s: %s", a.Name, a.Union.Name, comment), Arguments: arguments,
		Returns: returns, Volatility: pg.Stable, Settings: b.Fn.Settings,
		Body: []pg.Paragraph{{Statements: []pg.Statement{&pg.ReturnQuery{Query: query}}}},
	}
}
