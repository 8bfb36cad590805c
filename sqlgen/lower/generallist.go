package lower

import (
	"maps"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
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
func (l *lowering) generalList(a *schema.Action) *pg.Function {
	b := l.begin(a, functionName(a), "action "+a.Name+", any filter and page", pg.Stable)
	b.readsZone = filtersByPeriod(a)
	g := generalList{b: b, where: member(input, "where"), indexed: l.indexed[a.Model]}
	if g.isReadAtOnce() {
		g.readAtOnce()
	} else {
		g.pickFirst(g.keys())
	}
	b.requireCallerOfPage(nothingFound)
	return b.finish()
}

// keys declares the variable that holds the order of the list.
func (g *generalList) keys() *pg.Variable {
	a := g.b.action
	return g.b.keysFor(ownOrder(a), sortable(a), len(a.Sortable) > 0)
}

// pickFirst picks the rows of the page by a statement without row security, so that every
// condition may use an index, and then reads them under it.
func (g *generalList) pickFirst(keys *pg.Variable) {
	g.sql = g.b.own("v_sql", "text", nil)
	ids := g.b.own("v_ids", "text[]", nil)
	g.readFrom(g.b.related())

	ways := []pg.Expr{&pg.Array{Elements: []pg.Expr{g.sql}}}
	if g.merge != nil {
		ways = g.merge.arguments()
	}
	g.b.step("The page is picked without row security, so that every condition may use an index, then its rows are read under it.",
		g.b.readPage(keys, ids, ways...)...)
}

// readPage picks the ids of a page, in some ways, and reads its rows under row security.
func (b *builder) readPage(keys pg.Expr, ids *pg.Variable, ways ...pg.Expr) []pg.Statement {
	alias := pageAlias(b.table)
	return []pg.Statement{
		&pg.Assign{Variable: ids, Value: pg.Fn("platform.pick_page",
			append([]pg.Expr{input, keys, pg.Str(b.table), pg.Str(sortKey{field: b.model.Field("id")}.columnText(b.table))}, ways...)...)},
		&pg.ReturnQuery{Query: &pg.Select{
			Columns: b.answerColumns(),
			From: &pg.CallRef{
				Call:       pg.Fn("unnest", ids),
				Ordinality: true, Alias: alias, Columns: []string{"id", "place"},
			},
			Joins:   []pg.Join{{Kind: "join", With: b.stored(), On: pg.Eq(pg.Col(b.table, "id"), pg.Col(alias, "id"))}},
			OrderBy: []pg.Order{{Value: pg.Col(alias, "place")}},
		}},
	}
}

// readFrom makes the statement read the rows of a table that satisfy all conditions.
func (g *generalList) readFrom(table pg.From) {
	source := &pg.Fragment{Prefix: " ", Query: &pg.QueryTail{From: table}, Suffix: " where true"}
	if always := g.conditions(); len(always) > 0 {
		source.Query.Where = &pg.And{Operands: always} // even if it is one, since more follows behind and
		source.Suffix = ""
	}
	g.sql.Initial = source
}

// readWhere makes the statement consist of the conditions alone.
func (g *generalList) readWhere() {
	g.sql.Initial = pg.Str(" where true")
	if always := g.conditions(); len(always) > 0 {
		g.sql.Initial = &pg.Fragment{Prefix: " where ", Value: &pg.And{Operands: always}}
	}
}

// generalList is a general list that is being built.
type generalList struct {
	b       *builder // the function
	where   pg.Expr  // the filter
	sql     *pg.Variable
	guards  []guard
	facets  *facets         // the facets that the rows are picked for, if not for a page
	merge   *merge          // the ways in which rows are found; nil means that the statement finds them itself
	indexed map[string]bool // columns of the table that are in indexes

	noted    *pg.Variable // whether the request has one of some operators; nil if it does not matter
	notedFor pg.Expr      // patterns of these operators' paths
	isChosen pg.Expr      // whether the request orders the rows, or has a condition that an index may serve
}

// guard is the condition, inside the statement, that a request lacks inputs.
type guard struct {
	inputs []*schema.Input
	absent pg.Expr
}

// conditions adds the list's conditions to the statement: @wheres, rules and operators. It returns the conditions that
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
	if g.b.judgesRows() {
		admitted := g.b.admission(valueInFilter)
		switch {
		case !admitted.isPlain():
			g.merge = g.b.newMerge()
			g.noteChosen(admitted)
			defer g.addWays(admitted) // once all conditions are there
		case pg.IsFalse(g.b.early.holds):
			always = append(always, admitted.rule)
		default:
			g.b.step(allowedOutright, pg.IfThen(pg.Negate(g.b.early.holds), extend(g.sql, alsoHolds(admitted.rule))))
		}
	}
	g.operators(root, elsewhere)
	return slices.DeleteFunc(always, func(e pg.Expr) bool { return pg.IsTrue(e) })
}

// noteChosen notes whether a request orders the rows, or has a condition that an index may serve, if that matters to
// the ways in which rows are found.
func (g *generalList) noteChosen(admitted admission) {
	if !admitted.mayHaveMany() {
		return
	}
	g.merge.knowsMany = true
	switch {
	case g.facets != nil:
		g.b.findAtMost(pg.True()) // since all rows are read
	default:
		g.b.findAtMost(isChosen())
	}
	isOrdered := pg.Expr(pg.False())
	if len(g.b.action.Sortable) > 0 {
		isOrdered = hasMember(input, "orderBy")
	}
	g.isChosen = isOrdered
	var paths []string
	for _, in := range g.b.action.Reads {
		f := ownColumn(in)
		switch {
		case in.Explicit:
			paths = append(paths, in.Name)
		case f == nil || f.Type.Array:
			paths = append(paths, dotted(filter{input: in}.at("%")))
		case g.indexed[f.Column] && f.Type.Kind != expr.Boolean && f.Type.Kind != expr.Enum: // many rows have each value
			paths = append(paths, dotted(filter{input: in}.at("%")))
		}
	}
	if len(paths) > 0 {
		g.noted = g.b.own("v_is_chosen", "boolean", isOrdered)
		g.notedFor = pg.Str("{" + strings.Join(slices.Compact(paths), ",") + "}")
		g.isChosen = g.noted
	}
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

// addWays adds the ways in which rows are admitted.
func (g generalList) addWays(admitted admission) {
	r := g.origin()
	if g.facets != nil {
		r.sql = g.b.keptRows(r.sql)
	}
	statements := append(g.merge.gather(g.isChosen, &admitted), g.merge.add(foundRows{r, admitted})...)
	if pg.IsFalse(g.b.early.holds) {
		g.b.step("Rows are found in several ways, each by an index.", statements...)
		return
	}
	g.b.step("A caller allowed outright needs no rule in the query. Others find rows in several ways, each by an index.", &pg.If{
		Branches: []pg.IfBranch{{Condition: g.b.early.holds, Then: g.merge.add(foundRows{r, everything()})}},
		Else:     statements,
	})
}

// origin is where the rows of a list come from.
func (g generalList) origin() origin {
	if g.facets != nil {
		return g.facets.origin(g.b.model, g.facets.begin(), g.sql)
	}
	return origin{model: g.b.model, sql: g.sql, columns: columnsText(sortable(g.b.action), g.b.table), alias: g.b.table}
}

// columnsText are columns of a table as text of a statement.
func columnsText(fields []*schema.Field, table string) string {
	columns := make([]string, len(fields))
	for i, f := range fields {
		columns[i] = sortKey{field: f}.columnText(table)
	}
	return strings.Join(columns, ", ")
}

// allowedOutright says why a list first asks what it knows without rows.
const allowedOutright = "A caller allowed outright needs no rule in the query. For others, rows decide."

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
func (g *generalList) guard(inputs []*schema.Input) pg.Expr {
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
	if g.noted != nil {
		path := g.b.own("v_path", "text", nil)
		isNoted := pg.Expr(&pg.Any{Value: path, Op: "like", Array: g.notedFor})
		if g.isChosen != nil {
			isNoted = pg.AllOf(isNoted, &pg.Any{Value: path, Op: "not like", Array: pg.Str("{%.notEquals%,%.contains,%.endsWith}"), All: true})
		}
		statements = append(statements, &pg.ForElement{
			Variable: path, Array: pg.Fn("platform.operator_paths", input),
			Body: []pg.Statement{&pg.Assign{Variable: g.noted, Value: &pg.Or{Operands: []pg.Expr{g.noted, isNoted}}}},
		})
	}
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
		name += "_" + schema.SnakeForm(s.StepName())
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
	text := g.b.variable("v_any_"+schema.SnakeForm(f.input.Name), "text", pg.Str(""))
	*statements = append(*statements,
		extend(text, pg.Fn("platform.filter_sql", input, &pg.Filters{Fields: []pg.Filter{f.elementSQL()}}, anywhere)),
		pg.IfThen(pg.Op(text, "<>", pg.Str("")), extend(s.text, g.opening(f.elementsQuery(s.x)), text, pg.Str(")"))))
}

// ofNull ends the path of an operator whose operand is null.
const ofNull = ":null"
