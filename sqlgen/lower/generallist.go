package lower

import (
	"maps"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// theFilter is the filter inside the statement of a general list.
var theFilter = pg.Lit("$1")

// valueInFilter returns the value of an explicit input inside that statement.
func valueInFilter(in expr.Input) pg.Expr {
	return fromJSON(in.InputType(), in.InputOptional(), theFilter, in.InputName())
}

// concatenated joins texts.
func concatenated(parts ...pg.Expr) pg.Expr {
	var all pg.Expr
	add := func(e pg.Expr) {
		if all == nil {
			all = e
		} else {
			all = pg.Op(all, "||", e)
		}
	}
	var addParts func(e pg.Expr)
	addParts = func(e pg.Expr) {
		if joined, ok := e.(*pg.Binary); ok && joined.Op == "||" {
			addParts(joined.Left)
			addParts(joined.Right)
			return
		}
		add(e)
	}
	for _, p := range parts {
		addParts(p)
	}
	return all
}

// extend adds text to a variable.
func extend(variable *pg.Variable, parts ...pg.Expr) pg.Statement {
	return &pg.Assign{Variable: variable, Value: concatenated(append([]pg.Expr{variable}, parts...)...)}
}

// alsoHolds is a further condition as a fragment of a statement.
func alsoHolds(condition pg.Expr) *pg.Fragment {
	return &pg.Fragment{Prefix: " and ", Value: condition}
}

// generalList lowers a list for every filter and page. Its statement is text put together from fragments that are fixed
// here, one per operator; each takes its operand from the filter, which is a parameter of the statement. No part of a
// request is ever part of the text.
//
// The page is picked without row security, so that every condition may use an index, then its rows are read under it.
func (l *lowering) generalList(a *model.Action) *pg.Function {
	b := l.begin(a, functionName(a), "action "+a.Name+", any filter and page", pg.Stable)
	b.readsZone = filtersByPeriod(a)
	g := generalList{b: b, where: member(input, "where"), indexed: l.indexed[a.Model]}
	keys := b.keysFor(ownOrder(a), sortable(a), len(a.Sortable) > 0)
	g.filterBy("v_filter")
	ids := b.own("v_ids", "text[]", nil)
	found := g.findRows()
	alias := pageAlias(b.table)
	pick := []pg.Statement{
		&pg.Assign{Variable: ids, Value: pg.Fn("platform.pick_page", append([]pg.Expr{
			input, keys, pg.Str(b.table), pg.Str(sortKey{field: b.model.Field("id")}.columnText(b.table)), g.sql,
		}, found...)...)},
		&pg.ReturnQuery{Query: &pg.Select{
			Columns: b.answerColumns(),
			From:    &pg.CallRef{Call: pg.Fn("unnest", ids), Ordinality: true, Alias: alias, Columns: []string{"id", "place"}},
			Joins:   []pg.Join{{Kind: "join", With: b.stored(), On: pg.Eq(pg.Col(b.table, "id"), pg.Col(alias, "id"))}},
			OrderBy: []pg.Order{{Value: pg.Col(alias, "place")}},
		}},
	}
	if g.isReadAtOnce() {
		b.step("Row security hides nothing here, so a page from the front is read at once.", g.readAtOnce(keys, pick))
	} else {
		b.step(g.whereFrom, pick...)
	}
	b.requireCallerOfPage(nothingFound)
	return b.finish()
}

// isReadAtOnce tells whether a page may be read without picking its rows first: the rules were decided before any row is
// read, and Postgres knows as much about the columns of the @wheres as without row security. What is embedded in rows
// has a plan that is kept, so they are picked.
func (g *generalList) isReadAtOnce() bool {
	a := g.b.action
	for _, w := range a.Wheres {
		for _, p := range expr.Paths(w.Expression) {
			if p.Root == expr.RootRow && (len(p.Steps) > 1 || len(p.Steps) == 1 && !g.isKnown(storedAs(field(p.Steps[0])))) {
				return false
			}
		}
	}
	return !g.b.judgesRows() && (len(a.Embeds) == 0 || answersColumns(a))
}

// isKnown tells whether Postgres plans comparisons of a column under row security as well as without: there it uses
// statistics for leakproof operators only. They do not matter without an index of the column. A column that may not be
// read is not known either: an action that answers columns reads no others of a row.
func (g *generalList) isKnown(f *model.Field) bool {
	a := g.b.action
	mayRead := !answersColumns(a) || slices.ContainsFunc(answeredColumns(a), func(c answeredColumn) bool {
		return !c.member.Field.IsRelation() && c.member.Field.Column == f.Column
	})
	return mayRead && !f.Type.Array && (isLeakproof(f.Type.Kind) || !g.indexed[f.Column])
}

// readAtOnce reads a page from the front by one statement under row security, unless the filter asks for what Postgres
// plans better without.
func (g *generalList) readAtOnce(keys pg.Expr, pick []pg.Statement) pg.Statement {
	b := g.b
	var names []string
	for _, f := range filters(b.action) {
		if column := ownColumn(f.input); column == nil || !g.isKnown(column) {
			names = append(names, filterPath(f.input)[0])
		}
	}
	isPicked := pg.Expr(pg.Op(input, "?|", pg.Str("{last,before,position,offset,totalCount}")))
	if len(names) > 0 {
		isPicked = pg.AnyOf(isPicked, pg.Op(pg.Fn("coalesce", g.where, pg.Str("{}")), "?|", pg.Str("{"+strings.Join(slices.Compact(names), ",")+"}")))
	}
	if slices.ContainsFunc(b.action.Reads, isFolded) { // the beginning of a text is found by an index that row security bars
		isPicked = pg.AnyOf(isPicked, pg.Op(pg.Fn("strpos", g.sql, pg.Str("platform.fold(")), ">", pg.Lit("0")))
	}
	return &pg.If{Branches: []pg.IfBranch{{Condition: isPicked, Then: pick}}, Else: []pg.Statement{
		tellOfPage(pg.False()),
		&pg.ReturnExecute{
			Text: concatenated(
				&pg.Fragment{Select: &pg.Select{Columns: b.answerColumns(), From: b.stored()}, Suffix: " where true"}, g.sql,
				pg.Str(" order by "), pg.Fn("platform.order_sql", keys, pg.False()), pg.Str(" limit $2 + 1"),
			),
			Using: []pg.Expr{g.where, sizeOfPage},
		},
	}}
}

// filterBy gathers the list's conditions on the row in a variable, as text that follows a condition.
func (g *generalList) filterBy(name string) {
	g.sql = g.b.own(name, "text", pg.Str(""))
	if always := pg.AllOf(g.conditions()...); !pg.IsTrue(always) {
		g.sql.Initial = alsoHolds(always)
	}
}

// generalList is a general list that is being built.
type generalList struct {
	b       *builder // the function
	where   pg.Expr  // the filter
	sql     *pg.Variable
	guards  []guard
	facets  *facets         // the facets that the rows are picked for, if not for a page
	indexed map[string]bool // the columns that lead an index

	whereFrom string // why it begins where it does
}

// findRows returns the arguments of platform.pick_page that say where the rows of the list are, and in which ways the
// rules admit them.
func (g *generalList) findRows() []pg.Expr {
	b, a := g.b, g.b.action
	t := text{b: b}
	if !b.judgesRows() {
		g.whereFrom = whereFrom(nil)
		return []pg.Expr{wayArray(t.source(b.source(), pg.True()))}
	}
	admitted := b.admission()
	g.whereFrom = whereFrom(admitted.ways)
	b.lookUpValues(admitted.ways, sizeOfPage)
	var ways []pg.Expr
	for _, w := range admitted.ways {
		ways = append(ways, t.way(b.source(), w))
	}
	arguments := []pg.Expr{
		wayArray(t.source(b.source(), admitted.rule)), b.early.holds, wayArray(ways...), t.array(), pg.Str(g.foundBy()), pg.Str(g.walked()),
		tableArray(b.model),
	}
	row := rowOf(b.model)
	return append(arguments, g.near(admitted.ways, newExpression(whereLogic, inQuery, &row, valueInFilter), ownOrder(a)[0].field, filters(a))...)
}

// tableArray is an array of the tables of models.
func tableArray(models ...*model.Model) pg.Expr {
	tables := make([]pg.Expr, len(models))
	for i, m := range models {
		tables[i] = pg.Str(pg.Qualified(appSchema, m.Table))
	}
	return pg.As(&pg.Array{Elements: tables}, "regclass[]")
}

// near are the arguments of platform.pick_page for callers with many values: how many rows of the order are looked at,
// and the conditions on its first key.
func (g *generalList) near(ways []way, x expression, first *model.Field, list []filter) []pg.Expr {
	if pg.IsFalse(manyOf(ways)) {
		return nil
	}
	rows := &pg.Case{}
	for _, w := range ways {
		if w.isMany != nil {
			rows.Whens = append(rows.Whens, pg.When{Condition: w.isMany, Result: w.enough})
		}
	}
	for _, f := range list {
		if f.input.Name == first.Name && !f.input.Type.Array {
			bounds := pg.Fn("platform.filter_sql", input, &pg.Filters{Fields: []pg.Filter{f.sql(x)}}, anywhere)
			return []pg.Expr{rows, bounds}
		}
	}
	return []pg.Expr{rows}
}

// source is where rows of the list's model come from, as text.
func (b builder) source() string { return pg.Qualified(relatedSchema, b.table) }

// sizeOfPage is the number of rows of a page that a request asks for.
var sizeOfPage = pg.As(pg.Fn("coalesce",
	memberText(input, "first"), memberText(input, "last"), memberText(input, "limit"), pg.Str(defaultPageSize)), "bigint")

// foundBy are the fields of the filter whose rows an index may find. One that leads the list's own order is none of them:
// the rows that it asks for lie behind each other there, and behind the columns that lead ways.
func (g *generalList) foundBy() string {
	var names []string
	for _, in := range g.b.action.Reads {
		switch {
		case in.Explicit:
			if slices.ContainsFunc(g.b.action.Wheres, func(w *model.Where) bool { return mentionsInput(w.Expression, in) }) {
				names = append(names, in.Name)
			}
		case mayBeFound(in, g.indexed) && ownColumn(in) != ownOrder(g.b.action)[0].field:
			names = append(names, filterPath(in)[0])
		}
	}
	slices.Sort(names)
	return "{" + strings.Join(slices.Compact(names), ",") + "}"
}

func mentionsInput(n expr.Node, in *model.Input) bool {
	return slices.ContainsFunc(expr.Mentions(n).Inputs, func(mentioned expr.Input) bool { return mentioned == expr.Input(in) })
}

// walked are the fields that rows can be ordered by along an index.
func (g *generalList) walked() string {
	var names []string
	for _, f := range sortable(g.b.action) {
		if g.indexed[f.Column] && len(g.b.action.Sortable) > 0 {
			names = append(names, f.Name)
		}
	}
	return "{" + strings.Join(names, ",") + "}"
}

// text prints where rows are, and in which ways the rules admit them, as parts of the text of a statement.
type text struct {
	b *builder
	parameters
}

// wayArray is an array of ways as the functions of the platform take them.
func wayArray(ways ...pg.Expr) pg.Expr { return pg.As(&pg.Array{Elements: ways}, "platform.way[]") }

// row is a way, its condition as a whole and, if it has a column that leads, the rest.
func (t *text) row(source string, conditions []pg.Expr, rest ...pg.Expr) pg.Expr {
	condition := &pg.Array{}
	for _, c := range conditions {
		condition.Elements = append(condition.Elements, &pg.Fragment{Value: t.inText(c)})
	}
	rest = append(rest, pg.Null(), pg.Null(), pg.Null())[:3]
	return &pg.Row{Values: append([]pg.Expr{pg.Str(source), condition}, rest...)}
}

// source is where rows come from, with the condition of the rules on one of them. Postgres looks for the rows of each
// sub-select when it comes to a row, and does not gather all of the caller's before.
func (t *text) source(source string, rule pg.Expr) pg.Expr {
	var byRow func(e pg.Expr) pg.Expr
	byRow = func(e pg.Expr) pg.Expr {
		exists, ok := e.(*pg.Exists)
		if !ok {
			return nil
		}
		q := *exists.Query
		q.Where, q.Offset = pg.Replace(q.Where, byRow), pg.Lit("0")
		return &pg.Exists{Query: &q}
	}
	return t.row(source, []pg.Expr{pg.Replace(rule, byRow)})
}

// way is a way of the rules.
func (t *text) way(source string, w way) pg.Expr {
	if w.lead == nil {
		return t.row(source, w.conditions())
	}
	column := w.lead.(*pg.ColumnRef)
	lead := pg.Expr(pg.Str(pg.Ident(column.Table) + "." + pg.Ident(column.Name)))
	if w.oneOf == nil {
		return t.row(source, w.conditions(), lead, &pg.Fragment{Value: t.inText(pg.AllOf(w.behind(w.value), w.others))})
	}
	if w.isMany != nil {
		lead = &pg.Case{Whens: []pg.When{{Condition: pg.Negate(w.isMany), Result: lead}}}
	}
	return t.row(source, w.conditions(), lead,
		&pg.Fragment{Value: t.inText(pg.AllOf(w.behind(pg.Col("list__access", "value")), w.others))},
		&pg.Fragment{Value: t.of(w.held)})
}

// guard is the condition, inside the statement, that a request lacks inputs.
type guard struct {
	inputs []*model.Input
	absent pg.Expr
}

// conditions adds the list's conditions to the statement: @wheres and operators. It returns the conditions that
// every request has.
//
// Conditions on one child of the row, by @wheres and operators, are gathered as text and become one condition, of those
// that the request has. A @where that may hold without the child that it names cannot be gathered; its group is in the
// text as a whole, and each part counts where the request has its input.
func (g *generalList) conditions() []pg.Expr {
	root := &scope{text: g.sql, x: g.rowExpression()}
	var list []listed
	for _, w := range g.b.action.Wheres {
		for _, c := range unlessAbsent(g.guard(optionalInputs(w)), partsOf(w.Expression)) {
			list = append(list, listed{conjunct: c})
		}
	}
	for _, f := range filters(g.b.action) {
		list = append(list, listed{conjunct: conjunct{prefixes: expr.Prefixes(f.path)}, filter: &f})
	}

	var always []pg.Expr
	var elsewhere []filter // filters that are in the text as a whole
	for _, group := range sharing(root.x, list, func(c listed) []expr.Prefix { return c.prefixes }) {
		if isGatherable(root.x, group) {
			for _, c := range group {
				at := g.scopeOf(root, c.prefixes)
				if c.filter != nil {
					at = g.scopeOfFilter(root, *c.filter)
				}
				if c.filter != nil {
					at.filters = append(at.filters, *c.filter)
				} else if condition := c.lower(at.x); at == root && c.absent == nil {
					always = append(always, condition)
				} else {
					g.gatherWhere(at, c.absent, condition)
				}
			}
			continue
		}
		var conjuncts []conjunct
		for _, c := range group {
			if c.filter != nil {
				elsewhere = append(elsewhere, *c.filter)
				conjuncts = append(conjuncts, c.filter.conjuncts(theFilter)...)
			} else {
				conjuncts = append(conjuncts, c.conjunct)
			}
		}
		absent := conjuncts[0].absent
		if absent != nil && !slices.ContainsFunc(conjuncts, func(c conjunct) bool { return c.absent != absent }) {
			g.gatherWhere(root, absent, root.x.group(unlessAbsent(nil, conjuncts)))
		} else {
			always = append(always, root.x.group(conjuncts))
		}
	}
	g.operators(root, elsewhere)
	return slices.DeleteFunc(always, func(e pg.Expr) bool { return pg.IsTrue(e) })
}

// filter adds only the conditions of a request's operators.
func (g generalList) filter(x expression, list []filter) {
	root := &scope{text: g.sql, x: x}
	for _, f := range list {
		at := g.scopeOfFilter(root, f)
		at.filters = append(at.filters, f)
	}
	g.operators(root, nil)
}

// rowExpression prepares to lower conditions over the row inside the statement.
func (g generalList) rowExpression() expression {
	row := rowOf(g.b.model)
	return newExpression(whereLogic, inQuery, &row, valueInFilter)
}

// listed is a condition of a list: a part of a @where, or a filter.
type listed struct {
	conjunct
	filter *filter // nil means a @where
}

// isGatherable tells whether all conditions of a group need the children that are the witnesses of their prefixes, each
// the child of another: then they can be gathered.
func isGatherable(x expression, group []listed) bool {
	for _, c := range group {
		if c.filter == nil && !needsChildren(x, c.conjunct) {
			return false
		}
	}
	return true
}

func needsChildren(x expression, c conjunct) bool {
	for i, p := range c.prefixes {
		if i > 0 && !begins(c.prefixes[i-1], p) || p.Root != expr.RootRow {
			return false
		}
		without := x
		without.witnesses = maps.Clone(x.witnesses)
		without.witnesses[p.Key()] = nil
		if !pg.IsFalse(c.lower(without)) {
			return false
		}
		_, x = x.bindWitness(p)
	}
	return true
}

// begins tells whether a prefix is the beginning of another one.
func begins(p, other expr.Prefix) bool {
	return len(p.Steps) < len(other.Steps) && p.Key() == (expr.Prefix{Root: other.Root, Steps: other.Steps[:len(p.Steps)]}).Key()
}

// gatherWhere adds a condition to those at a scope, where it counts.
func (g generalList) gatherWhere(at *scope, absent, condition pg.Expr) {
	added := extend(at.text, alsoHolds(condition))
	if absent == nil {
		g.b.step("", added)
		return
	}
	g.b.step("", pg.IfThen(g.given(absent), added))
}

// guard returns the condition that the filter lacks any of some inputs. It is the same for the same inputs, and nil for
// none.
func (g *generalList) guard(inputs []*model.Input) pg.Expr {
	if len(inputs) == 0 {
		return nil
	}
	for _, known := range g.guards {
		if slices.Equal(known.inputs, inputs) {
			return known.absent
		}
	}
	conditions := make([]pg.Expr, len(inputs))
	for i, in := range inputs {
		conditions[i] = pg.IsNull(member(theFilter, in.Name))
	}
	g.guards = append(g.guards, guard{inputs, pg.AnyOf(conditions...)})
	return g.guards[len(g.guards)-1].absent
}

// given tells, outside of the statement, that a request has the inputs of a guard.
func (g generalList) given(absent pg.Expr) pg.Expr {
	for _, known := range g.guards {
		if known.absent == absent {
			conditions := make([]pg.Expr, len(known.inputs))
			for i, in := range known.inputs {
				conditions[i] = hasMember(g.where, in.Name)
			}
			return pg.AllOf(conditions...)
		}
	}
	panic("lower: a condition of a list is guarded by what is not an input")
}

// scope is where conditions of a statement are gathered as text: the statement
// itself, or a child of the row that has to satisfy all of them.
type scope struct {
	text     *pg.Variable
	x        expression
	key      string        // key of the prefix; "" means the row itself
	opens    *pg.QueryTail // nil if the gathered conditions are outside of the statement
	filters  []filter
	children []*scope
}

// operators adds the conditions of a request's operators to its statement. An operator of which no condition is made is
// an error: none is ever skipped. wholes are filters that are in the text as a whole.
func (g generalList) operators(root *scope, wholes []filter) {
	var others []pg.Expr // paths that add nothing to the statement itself
	var listBelow func(s *scope)
	listBelow = func(s *scope) {
		for _, f := range s.filters {
			others = append(others, f.names(s != root)...)
		}
		for _, c := range s.children {
			listBelow(c)
		}
	}
	listBelow(root)
	for _, f := range wholes {
		others = append(others, f.paths()...)
	}
	for _, in := range g.b.action.Reads {
		if in.Explicit {
			others = append(others, pg.Str(in.Name)) // the @wheres have it
			if in.InputNullable() {
				others = append(others, pg.Str(in.Name+ofNull))
			}
		}
	}

	var statements []pg.Statement
	var elsewhere []pg.Expr
	if len(others) > 0 {
		elsewhere = append(elsewhere, &pg.Array{Elements: others})
	}
	g.gather(root, elsewhere, &statements)
	switch {
	case len(g.b.action.Reads) > 0:
		g.b.step("Each operator that was sent adds its condition, which takes its operand from the filter, $1.", statements...)
	case len(statements) > 0:
		g.b.step("", statements...)
	}
}

// names returns what begins the paths of a filter's operators that add nothing where the filter's scope adds its
// conditions: those inside any, or all of them.
func (f filter) names(all bool) []pg.Expr {
	var names []pg.Expr
	if all {
		names = append(names, f.named(""))
	}
	if f.input.Type.Array {
		names = append(names, f.named("any", ""))
		if all {
			names = append(names, f.named("all", ""))
		}
	}
	return names
}

// paths returns the paths of all operators of a filter.
func (f filter) paths() []pg.Expr {
	var paths []pg.Expr
	for _, o := range f.operators() {
		paths = append(paths, f.named(o.name))
		if o.nullable && f.isNullable() {
			paths = append(paths, f.named(o.name+ofNull))
		}
	}
	if f.input.Type.Array {
		for _, o := range elementOperatorsOf(f.input.Type.Kind) {
			paths = append(paths, f.named("any", o.name), f.named("all", o.name))
		}
	}
	return paths
}

// scopeOfFilter returns the scope that gathers the conditions of a filter: one outside of the statement if a facet
// leaves them out.
func (g generalList) scopeOfFilter(root *scope, f filter) *scope {
	if g.facets != nil {
		if i := g.facets.of(f.input); i >= 0 {
			return g.facetScope(root, i)
		}
	}
	return g.scopeOf(root, expr.Prefixes(f.path))
}

// scopeOf returns the scope that gathers conditions on the children of prefixes, each the child of another.
func (g generalList) scopeOf(root *scope, prefixes []expr.Prefix) *scope {
	at := root
	for _, p := range prefixes {
		at = g.childScope(at, p)
	}
	return at
}

func (g generalList) childScope(parent *scope, p expr.Prefix) *scope {
	key := p.Key()
	for _, c := range parent.children {
		if c.key == key {
			return c
		}
	}
	j, with := parent.x.bindWitness(p)
	q := j.query(nil, nil)
	name := "v"
	for _, s := range p.Steps {
		name += "_" + model.SnakeForm(s.StepName())
	}
	c := &scope{
		text:  g.b.variable(name, "text", pg.Str("")),
		x:     with,
		key:   key,
		opens: &pg.QueryTail{From: q.From, Joins: q.Joins, Where: q.Where},
	}
	parent.children = append(parent.children, c)
	return c
}

// gather adds the statements that gather a scope's conditions, the innermost scopes first. Those of the row itself see
// to it that no operator is skipped, so they know which are gathered elsewhere.
func (g generalList) gather(s *scope, elsewhere []pg.Expr, statements *[]pg.Statement) {
	fields := &pg.Filters{}
	for _, f := range s.filters {
		fields.Fields = append(fields.Fields, f.sql(s.x))
		if f.input.Type.Array {
			fields.Fields = append(fields.Fields, f.allSQL(s.x))
		}
	}
	if len(fields.Fields) > 0 || s.key == "" && len(g.b.action.Reads) > 0 {
		*statements = append(*statements, extend(s.text, pg.Fn("platform.filter_sql", append([]pg.Expr{input, fields}, elsewhere...)...)))
	}
	for _, f := range s.filters {
		if f.input.Type.Array {
			g.gatherElements(s, f, statements)
		}
	}
	for _, c := range s.children {
		g.gather(c, []pg.Expr{anywhere}, statements)
		if c.opens == nil {
			continue // its conditions are not part of the statement
		}
		*statements = append(*statements,
			pg.IfThen(pg.Op(c.text, "<>", pg.Str("")), extend(s.text, g.opening(c.opens), c.text, pg.Str(")"))))
	}
}

// anywhere tells platform.filter_sql that other operators have their conditions in another place.
var anywhere = pg.Null()

// opening begins the condition that a row exists. Conditions on the row follow.
func (g generalList) opening(q *pg.QueryTail) *pg.Fragment {
	if pg.IsTrue(q.Where) {
		return &pg.Fragment{Prefix: " and exists (select ", Query: q, Suffix: " where true"}
	}
	return &pg.Fragment{Prefix: " and exists (select ", Query: q}
}

// gatherElements gathers the conditions of any on one and the same element of an array.
func (g generalList) gatherElements(s *scope, f filter, statements *[]pg.Statement) {
	text := g.b.variable("v_any_"+model.SnakeForm(f.input.Name), "text", pg.Str(""))
	*statements = append(*statements,
		extend(text, pg.Fn("platform.filter_sql", input, &pg.Filters{Fields: []pg.Filter{f.elementSQL()}}, anywhere)),
		pg.IfThen(pg.Op(text, "<>", pg.Str("")), extend(s.text, g.opening(f.elementsQuery(s.x)), text, pg.Str(")"))))
}

// ofNull ends the path of an operator whose operand is null.
const ofNull = ":null"
