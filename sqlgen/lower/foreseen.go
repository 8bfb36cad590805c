package lower

import (
	"fmt"
	"slices"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// foreseenLists lowers a list for the foreseen operator sets, each a form. Where rules look at rows, the statement of a
// form is long, and a function has two of them.
func (l *lowering) foreseenLists(a *model.Action) []*pg.Function {
	var functions []*pg.Function
	most := 8
	if needRow(a.Rules) {
		most = 2
	}
	name := functionName(a) + "__foreseen"
	all := slices.DeleteFunc(foreseenSets(a), func(set operatorSet) bool { return !takesFormArguments(a, name, []operatorSet{set}) })
	for sets := range slices.Chunk(all, most) {
		functions = append(functions, l.foreseenList(a, l.functions.Take(name), sets))
	}
	return functions
}

// foreseenList lowers a list for some operator sets: its pages from the front, and pages behind a position if the order
// has a position before all rows. It looks from the caller outwards. A caller with so many values that the order shows a
// page sooner gets a row of nulls, which sends the server to the function for any request.
func (l *lowering) foreseenList(a *model.Action, name string, sets []operatorSet) *pg.Function {
	keys := ownOrder(a)
	b, foreseen := l.beginForms(a, name, formArguments(a, sets))
	f := foreseenList{b: b, indexed: l.indexed[a.Model], place: b.place(keys)}
	isRead := func(set operatorSet) bool { return set.isReadDirectly(b, keys) }
	if slices.ContainsFunc(sets, func(set operatorSet) bool { return !isRead(set) }) {
		f.ids = b.own("v_ids", "text[]", nil)
		f.ways = b.ownWays(b.admission)
	}
	choice := &pg.Choose{Value: pg.Var("form")}
	for _, set := range sets {
		foreseen.Forms = append(foreseen.Forms, set.operators())
		choice.Branches = append(choice.Branches, pg.ChooseBranch{Value: pg.Str(set.operators()), Then: []pg.Statement{f.page(set, isRead(set))}})
	}
	if comment := whereFrom(f.ways); len(sets) == 1 {
		b.step(comment, choice.Branches[0].Then...)
	} else {
		b.step(comment, choice)
	}
	if f.ids != nil {
		f.readPicked(slices.ContainsFunc(sets, isRead))
	}
	b.requireCallerOfPage(nothingFound)
	return b.finish()
}

// beginForms begins a function for forms of a list.
func (l *lowering) beginForms(a *model.Action, name string, arguments []argument) (*builder, *release.Foreseen) {
	foreseen := &release.Foreseen{Function: name, Seeks: canSeek(orderOfForms(a)), Arguments: published(a, arguments)}
	l.foreseen[a] = append(l.foreseen[a], foreseen)
	b := l.beginWith(a, name, "action "+a.Name+", foreseen filters: first, after", pg.Stable, arguments)
	b.fn.Comment = fmt.Sprintf("action %s of %s, by form: the operators of a filter that is foreseen", a.Name, ownerOf(a))
	// The page size would otherwise make every call plan anew.
	b.fn.Settings = append(b.fn.Settings, pg.Setting{Name: "plan_cache_mode", Value: "force_generic_plan"})
	return b, foreseen
}

// whereFrom says why a list begins to look for rows where it does.
func whereFrom(ways []way) string {
	for _, w := range ways {
		switch {
		case w.oneOf != nil:
			return "It begins with the values of " + w.oneOf.Name + " that the caller has: the rows of each are in the order of the list."
		case w.lead != nil:
			return "It begins with a value of the caller: the rows that have it are in the order of the list."
		}
	}
	return "It begins with the order of the list, since no index leads from the caller to rows."
}

// foreseenList is the function that is being built.
type foreseenList struct {
	b       *builder // the function
	place   place
	indexed map[string]bool // the columns that lead an index
	ways    []way           // in which picked rows are found
	ids     *pg.Variable
}

// place is where a statement whose plan is kept finds the rows of a page.
type place struct {
	from     *pg.TableRef
	table    string // its name in the statement
	keys     []sortKey
	position []pg.Expr // a value per key: the start of the page; none if it always begins at the front
}

// place is the place of the rows of a list.
func (b *builder) place(keys []sortKey) place {
	p := place{from: b.related(), table: b.table, keys: keys}
	if canSeek(keys) {
		for _, k := range keys {
			first, _ := k.first()
			p.position = append(p.position, pg.Fn("coalesce", pg.Var(pg.ParamIdent(afterKey(k))), first))
		}
	}
	return p
}

// afterKey names the value of a key at the position of a page.
func afterKey(k sortKey) string { return "after_" + k.field.Column }

// keyset is the condition for the row at the position and those behind it: one row comparison, which an index on the
// order answers.
func (p place) keyset() pg.Expr {
	if p.position == nil {
		return pg.True()
	}
	columns := keyColumns(p.keys, p.table)
	operator := p.keys[0].keysetOperator() + "="
	if len(columns) == 1 {
		return pg.Op(columns[0].Value, operator, p.position[0])
	}
	row := make([]pg.Expr, len(columns))
	for i, c := range columns {
		row[i] = c.Value
	}
	return pg.Op(&pg.Row{Values: row, IsBare: true}, operator, &pg.Row{Values: p.position, IsBare: true})
}

// first selects the first rows of a page, in the order of the list, behind a column with one value if one leads.
func (p place) first(from pg.From, columns []pg.Output, where, lead pg.Expr) *pg.Select {
	order := orderBy(p.keys, p.table)
	if lead != nil {
		order = append([]pg.Order{{Value: lead, Descending: p.keys[0].descending}}, order...)
	}
	return &pg.Select{Columns: columns, From: from, Where: where, OrderBy: order, Limit: pg.Var(sizeArgument.Name)}
}

// own selects the keys of the rows that a way finds, from the caller outwards. A limit is inside only where an index has
// the rows in the order of the list. Where another index may find the rows of a condition, they are behind a fence: in
// front of it Postgres would take the walk along the order for one more way, and that nothing bounds.
func (p place) own(w way, condition pg.Expr, isFenced bool) []*pg.Select {
	columns := keyColumns(p.keys, p.table)
	switch {
	case w.lead == nil:
		return []*pg.Select{p.first(p.from, columns, pg.AllOf(p.keyset(), w.condition, condition), nil)}
	case isFenced:
		var queries []*pg.Select
		for _, c := range w.conditions() {
			rows := &pg.Select{
				Columns: []pg.Output{{Value: allColumns(p.table)}}, From: p.from, Where: pg.AllOf(c, condition), Offset: pg.Lit("0"),
			}
			queries = append(queries, p.first(&pg.SubqueryRef{Alias: p.table, Query: rows}, columns, p.keyset(), nil))
		}
		return queries
	case w.oneOf == nil:
		return []*pg.Select{p.first(p.from, columns, pg.AllOf(p.keyset(), w.behind(w.value), w.others, condition), w.lead)}
	}
	const access = "list__access"
	value := pg.Col(access, "value")
	rows := p.first(p.from, columns, pg.AllOf(p.keyset(), w.behind(value), w.others, condition), w.lead)
	values := &pg.Select{
		Columns: []pg.Output{{Value: pg.Lit("distinct " + access + ".value")}},
		From:    &pg.CallRef{Call: pg.Fn("unnest", w.held), Alias: access, Columns: []string{"value"}},
	}
	return []*pg.Select{{
		Columns: columns,
		From:    &pg.SubqueryRef{Alias: access, Query: values},
		Joins:   []pg.Join{{Kind: "cross join lateral", With: &pg.SubqueryRef{Alias: p.table, Query: rows}}},
	}}
}

// page selects columns of the first rows that some ways find.
func (p place) page(ways []way, columns []pg.Output, condition pg.Expr, isFenced bool) *pg.Select {
	var queries []*pg.Select
	for _, w := range ways {
		queries = append(queries, p.own(w, condition, isFenced)...)
	}
	if len(queries) > 1 {
		return p.first(&pg.UnionRef{Alias: p.table, Queries: queries}, columns, nil, nil)
	}
	q := queries[0]
	if q.Columns = columns; q.Limit == nil {
		q.OrderBy, q.Limit = orderBy(p.keys, p.table), pg.Var(sizeArgument.Name)
	}
	return q
}

// ownWays are the ways in which rows are found, with the values of the caller looked up. A caller who is allowed
// outright is one way more.
func (b *builder) ownWays(admission func() admission) []way {
	if !b.judgesRows() {
		return everything().ways
	}
	ways := admission().ways
	b.lookUpValues(ways, pg.Var(sizeArgument.Name))
	b.leaveMany(ways)
	if !pg.IsFalse(b.early.holds) {
		ways = append([]way{{condition: b.early.holds}}, ways...)
	}
	return ways
}

// leaveMany leaves callers with many values to the function for any request.
func (b *builder) leaveMany(ways []way) {
	if isMany := manyOf(ways); !pg.IsFalse(isMany) {
		b.step("The order shows a page sooner than so many values do.", pg.IfThen(isMany, &pg.ReturnNext{Row: nullRow(b.action)}, &pg.Return{}))
	}
}

// nullRow is a row of nulls of the function of an action; nil if its columns are variables, which are null.
func nullRow(a *model.Action) pg.Expr {
	if a.Union != nil || answersColumns(a) || len(a.Embeds) > 0 {
		return nil
	}
	return pg.As(pg.Null(), rowType(a.Model))
}

// page reads a page, or picks its rows.
func (f foreseenList) page(set operatorSet, isRead bool) pg.Statement {
	b, keys := f.b, f.place.keys
	lead := f.leadOf(set)
	condition := f.operatorSet(set, lead)
	if isRead {
		return &pg.ReturnQuery{Query: f.place.first(b.stored(), b.answerColumns(), pg.AllOf(f.place.keyset(), condition), lead)}
	}
	isFenced := slices.ContainsFunc(set.equals, func(equal filter) bool {
		return mayBeFound(equal.input, f.indexed) && ownColumn(equal.input) != keys[0].field
	})
	ids := []pg.Output{{Value: pg.Col(b.table, "id")}}
	return &pg.Assign{Variable: f.ids, Value: &pg.ArrayOf{Query: f.place.page(f.ways, ids, condition, isFenced)}}
}

// mayBeFound tells whether an index may find the rows that a filter asks for: one that its column leads, where few rows
// have one value, or one behind relations.
func mayBeFound(in *model.Input, indexed map[string]bool) bool {
	f := ownColumn(in)
	return f == nil || f.Type.Array || indexed[f.Column] && f.Type.Kind != expr.Boolean && f.Type.Kind != expr.Enum
}

// leadOf is the column of an operator set that leads an @index whose rows are in the order of the list; nil means none.
func (f foreseenList) leadOf(set operatorSet) pg.Expr {
	for _, i := range f.b.model.Indexes {
		if set.isReadDirectly(f.b, f.place.keys) && set.isInOrderOf(i, f.place.keys) {
			return pg.Col(f.b.table, storedAs(i.Fields[0]).Column)
		}
	}
	return nil
}

// operatorSet is the condition of an operator set with the @wheres that count beside it.
func (f foreseenList) operatorSet(set operatorSet, lead pg.Expr) pg.Expr {
	var conjuncts []conjunct
	for _, equal := range set.equals {
		value := f.b.value(equal.input)
		conjuncts = append(conjuncts, passing(equal.path, func(x expression) pg.Expr {
			return x.operand(equal.path).rejectingNull(func(v pg.Expr) pg.Expr {
				if lead != nil && ownColumn(equal.input).Column == lead.(*pg.ColumnRef).Name {
					return way{lead: v}.behind(value)
				}
				return pg.Eq(v, value)
			})
		}))
	}
	for _, w := range f.b.action.Wheres {
		if set.counts(w) {
			conjuncts = append(conjuncts, partsOf(w.Expression)...)
		}
	}
	return f.b.expression(whereLogic, inQuery).conjunction(conjuncts)
}

// isReadDirectly tells whether one statement on the table is enough, under row security: the rules were decided before
// any row is read, and their remainder in the policy cannot keep the conditions from an index.
func (set operatorSet) isReadDirectly(b *builder, keys []sortKey) bool {
	if b.judgesRows() {
		return false
	}
	if pg.IsTrue(policyRule(b.model, b.action.Rules)) {
		return true // nothing is left in the policy
	}
	for _, f := range set.equals {
		if ownColumn(f.input) == nil || !isLeakproof(f.input.Type.Kind) {
			return false
		}
	}
	for _, w := range b.action.Wheres {
		if set.counts(w) {
			return false
		}
	}
	for _, k := range keys {
		if !isLeakproof(k.field.Type.Kind) {
			return false
		}
	}
	return true
}

// readPicked reads the picked rows. If some forms pick none, it does so only when rows were picked.
func (f foreseenList) readPicked(sometimes bool) {
	rows := pg.Statement(&pg.ReturnQuery{Query: &pg.Select{
		Columns: f.b.answerColumns(),
		From:    f.b.stored(),
		Where:   &pg.Any{Value: pg.Col(f.b.table, "id"), Op: "=", Array: f.ids},
		OrderBy: orderBy(f.place.keys, f.b.table),
	}})
	if sometimes {
		rows = pg.IfThen(pg.IsNotNull(f.ids), rows)
	}
	f.b.step("The page's rows, under row security.", rows)
}

// canSeek tells whether the rows from a position on are one row comparison, and there is a position before all of them:
// the order goes one way, no key may be null, and each has a first value. In a descending order, the first key has a
// value above all that rows hold, so it does not matter that texts have none.
func canSeek(keys []sortKey) bool {
	for i, k := range keys {
		_, hasFirst := k.first()
		if k.field.Optional || k.descending != keys[0].descending || !hasFirst && (i == 0 || castType(k.field.Type.Kind) != "text") {
			return false
		}
	}
	return !keys[0].descending || keys[0].field.Type.Kind != expr.Boolean
}
