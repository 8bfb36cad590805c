package list

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/call"
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// operatorSet is the set of operators in the filter of a request: fields by equals, and values of explicit inputs.
type operatorSet struct {
	equals []Filter
	given  []*model.Input
}

// foreseenSets returns the operator sets that have a static statement: the inputs that every request must give,
// alone and with each other input.
func foreseenSets(a *model.Action) []operatorSet {
	isForeseen := func(in *model.Input) bool { return in.Explicit || !in.Type.Array && in.Type.Kind.HasFilter("equals") }
	sets := []operatorSet{{}}
	for _, in := range a.Reads {
		if !in.Optional && !isForeseen(in) {
			return nil
		} else if !in.Optional {
			sets[0] = sets[0].with(a, in)
		}
	}
	for _, in := range a.Reads {
		if in.Optional && isForeseen(in) {
			sets = append(sets, sets[0].with(a, in))
		}
	}
	return sets
}

// with returns the set with one input more.
func (s operatorSet) with(a *model.Action, in *model.Input) operatorSet {
	if in.Explicit {
		return operatorSet{equals: s.equals, given: append(slices.Clone(s.given), in)}
	}
	return operatorSet{equals: append(slices.Clone(s.equals), Filter{in, listPath(a.Model, in)}), given: s.given}
}

// operators is the set as a server writes it.
func (s operatorSet) operators() string {
	var list []string
	for _, f := range s.equals {
		list = append(list, f.At("equals"))
	}
	for _, in := range s.given {
		list = append(list, in.Name)
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}

// wheres are the @wheres that count: the request gives all inputs that they mention.
func (s operatorSet) wheres(a *model.Action) []*model.Where {
	return slices.DeleteFunc(slices.Clone(a.Wheres), func(w *model.Where) bool {
		return slices.ContainsFunc(call.OptionalInputs(w), func(in *model.Input) bool { return !slices.Contains(s.given, in) })
	})
}

// foreseenLists lowers a list for the foreseen operator sets, each a form. Where rules look at rows, the statement of a
// form is long, and a function has two of them.
func (l *Lowering) foreseenLists(a *model.Action) []*pg.Function {
	var functions []*pg.Function
	most := 8
	if value.NeedRow(a.Rules) {
		most = 2
	}
	name := rule.FunctionName(a) + "__foreseen"
	all := slices.DeleteFunc(foreseenSets(a), func(set operatorSet) bool { return !takesFormArguments(a, name, []operatorSet{set}) })
	for sets := range slices.Chunk(all, most) {
		functions = append(functions, l.foreseenList(a, l.Functions.Take(name), sets))
	}
	return functions
}

// foreseenList lowers a list for some operator sets: its pages from the front, and pages behind a position if the order
// has a position before all rows. It looks from the caller outwards. A caller with so many values that the order shows a
// page sooner gets a row of nulls, which sends the server to the function for any request.
func (l *Lowering) foreseenList(a *model.Action, name string, sets []operatorSet) *pg.Function {
	b := l.beginForms(a, name, sets)
	f := foreseenList{b: b, indexed: l.indexed, keys: value.OwnOrder(a), from: source{model: a.Model}}
	if slices.ContainsFunc(sets, func(set operatorSet) bool { return !f.isReadDirectly(set) }) {
		f.ids = b.Own("v_ids", "text[]", nil)
		f.ways = f.ownWays()
	}
	choice := &pg.Choose{Value: pg.Var("form")}
	for _, set := range sets {
		choice.Branches = append(choice.Branches, pg.ChooseBranch{Value: pg.Str(set.operators()), Then: []pg.Statement{f.pageOf(set)}})
	}
	if comment := whereFrom(f.ways); len(sets) == 1 {
		b.Step(comment, choice.Branches[0].Then...)
	} else {
		b.Step(comment, choice)
	}
	if f.ids != nil {
		rows := pg.Statement(&pg.ReturnQuery{Query: &pg.Select{
			Columns: b.AnswerColumns(), From: b.Stored(), OrderBy: value.OrderBy(f.keys, b.Table),
			Where: &pg.Any{Value: pg.Col(b.Table, "id"), Op: "=", Array: f.ids},
		}})
		if slices.ContainsFunc(sets, f.isReadDirectly) {
			rows = pg.IfThen(pg.IsNotNull(f.ids), rows)
		}
		b.Step("The page's rows, under row security.", rows)
	}
	requireCallerOfPage(b)
	return b.Finish()
}

// beginForms begins a function for forms of a list.
func (l *Lowering) beginForms(a *model.Action, name string, sets []operatorSet) *call.Builder {
	arguments := formArguments(a, sets)
	foreseen := &release.Foreseen{Function: name, Seeks: value.CanSeek(value.KeysOfArms(a)), Arguments: call.Published(a, arguments)}
	for _, set := range sets {
		foreseen.Forms = append(foreseen.Forms, set.operators())
	}
	l.Foreseen[a] = append(l.Foreseen[a], foreseen)
	b := l.BeginWith(a, name, "action "+a.Name+", foreseen filters: first, after", pg.Stable, arguments)
	b.Fn.Comment = fmt.Sprintf("action %s of %s, by form: the operators of a filter that is foreseen", a.Name, rule.OwnerOf(a))
	// The page size would otherwise make every call plan anew.
	b.Fn.Settings = append(b.Fn.Settings, pg.Setting{Name: "plan_cache_mode", Value: "force_generic_plan"})
	return b
}

// foreseenList is where a statement whose plan is kept finds the rows of a page.
type foreseenList struct {
	b       *call.Builder // the function
	indexed map[*model.Model]map[string]bool
	keys    []value.SortKey // the order
	from    source
	ways    []way        // in which rows are found
	ids     *pg.Variable // the picked rows
}

// afterKey names the value of a key at the position of a page.
func afterKey(k value.SortKey) string { return "after_" + k.Field.Column }

// keyset is the condition for the row at the position and those behind it: one row comparison, which an index on the
// order answers.
func (f foreseenList) keyset() pg.Expr {
	if !value.CanSeek(f.keys) {
		return pg.True()
	}
	row, position := &pg.Row{IsBare: true}, &pg.Row{IsBare: true}
	for _, k := range f.keys {
		first, _ := k.First()
		row.Values = append(row.Values, k.Column(f.b.Table))
		position.Values = append(position.Values, pg.Fn("coalesce", pg.Var(pg.ParamIdent(afterKey(k))), first))
	}
	operator := ">="
	if f.keys[0].Descending {
		operator = "<="
	}
	if len(f.keys) == 1 {
		return pg.Op(row.Values[0], operator, position.Values[0])
	}
	return pg.Op(row, operator, position)
}

// first selects the first rows of a page, in the order of the list, behind a column with one value if one leads.
func (f foreseenList) first(from pg.From, columns []pg.Output, where, lead pg.Expr) *pg.Select {
	order := value.OrderBy(f.keys, f.b.Table)
	if lead != nil {
		order = append([]pg.Order{{Value: lead, Descending: f.keys[0].Descending}}, order...)
	}
	return &pg.Select{Columns: columns, From: from, Where: where, OrderBy: order, Limit: pg.Var(call.SizeArgument.Name)}
}

// own selects the keys of the rows that a way finds, from the caller outwards. A limit is inside only where an index has
// the rows in the order of the list. Where another index may find the rows of a condition, they are behind a fence: in
// front of it Postgres would take the walk along the order for one more way, and that nothing bounds.
func (f foreseenList) own(w way, condition pg.Expr, isFenced bool) *pg.Select {
	columns, from, table := value.KeyColumns(f.keys, f.b.Table), f.from.from(), f.b.Table
	switch {
	case w.lead == nil:
		return f.first(from, columns, pg.AllOf(f.keyset(), w.condition, condition), nil)
	case isFenced:
		return &pg.Select{Columns: columns, From: from, Where: pg.AllOf(f.keyset(), w.condition, condition), Offset: pg.Lit("0")}
	case w.oneOf == nil:
		return f.first(from, columns, pg.AllOf(f.keyset(), w.behind(w.value), w.others, condition), w.lead)
	}
	const access = "list__access"
	rows := f.first(from, columns, pg.AllOf(f.keyset(), w.behind(pg.Col(access, "value")), w.others, condition), w.lead)
	values := &pg.Select{
		Columns: []pg.Output{{Value: pg.Lit("distinct " + access + ".value")}},
		From:    &pg.CallRef{Call: pg.Fn("unnest", w.held), Alias: access, Columns: []string{"value"}},
	}
	return &pg.Select{
		Columns: columns, From: &pg.SubqueryRef{Alias: access, Query: values},
		Joins: []pg.Join{{Kind: "cross join lateral", With: &pg.SubqueryRef{Alias: table, Query: rows}}},
	}
}

// page selects columns of the first rows that the ways find.
func (f foreseenList) page(columns []pg.Output, condition pg.Expr, isFenced bool) *pg.Select {
	var queries []*pg.Select
	for _, w := range f.ways {
		queries = append(queries, f.own(w, condition, isFenced))
	}
	if len(queries) > 1 || isFenced {
		return f.first(&pg.UnionRef{Alias: f.b.Table, Queries: queries}, columns, nil, nil)
	}
	q := queries[0]
	if q.Columns = columns; q.Limit == nil {
		q.OrderBy, q.Limit = value.OrderBy(f.keys, f.b.Table), pg.Var(call.SizeArgument.Name)
	}
	return q
}

// ownWays are the ways in which rows are found, with the values of the caller looked up. A caller who is allowed
// outright is one way more.
func (f foreseenList) ownWays() []way {
	b := f.b
	if !b.JudgesRows() {
		return []way{{condition: pg.True()}}
	}
	ways := admissionOf(b, f.from).ways
	lookUpValues(b, ways, pg.Var(call.SizeArgument.Name))
	if isMany := manyOf(ways); !pg.IsFalse(isMany) {
		nothing := &pg.ReturnNext{} // columns that are variables are null
		if b.Action.Union == nil && !call.AnswersColumns(b.Action) && len(b.Action.Embeds) == 0 {
			nothing.Row = pg.As(pg.Null(), call.RowType(b.Action.Model))
		}
		b.Step("The order shows a page sooner than so many values do.", pg.IfThen(isMany, nothing, &pg.Return{}))
	}
	if !pg.IsFalse(b.Early.Holds) {
		ways = append([]way{{condition: b.Early.Holds}}, ways...)
	}
	return ways
}

// pageOf reads a page of an operator set, or picks its rows.
func (f foreseenList) pageOf(set operatorSet) pg.Statement {
	b, lead := f.b, f.leadOf(set)
	var conjuncts []value.Conjunct
	for _, equal := range set.equals {
		val := b.Value(equal.Input)
		conjuncts = append(conjuncts, call.Passing(equal.path, func(x value.Expression) pg.Expr {
			return x.Operand(equal.path).RejectingNull(func(v pg.Expr) pg.Expr {
				if lead != nil && value.OwnColumn(equal.Input).Column == lead.Name {
					return way{lead: v}.behind(val)
				}
				return pg.Eq(v, val)
			})
		}))
	}
	for _, w := range set.wheres(b.Action) {
		conjuncts = append(conjuncts, value.PartsOf(w.Expression)...)
	}
	condition := b.Expression(value.WhereLogic, value.InQuery).Conjunction(conjuncts)
	if f.isReadDirectly(set) {
		var leading pg.Expr
		if lead != nil {
			leading = lead
		}
		return &pg.ReturnQuery{Query: f.first(b.Stored(), b.AnswerColumns(), pg.AllOf(f.keyset(), condition), leading)}
	}
	isFenced := slices.ContainsFunc(set.equals, func(equal Filter) bool {
		return f.from.mayBeFound(equal.Input, f.indexed) && value.OwnColumn(equal.Input) != f.keys[0].Field
	})
	ids := []pg.Output{{Value: pg.Col(b.Table, "id")}}
	return &pg.Assign{Variable: f.ids, Value: &pg.ArrayOf{Query: f.page(ids, condition, isFenced)}}
}

// leadOf is the column of an operator set that leads an @index whose rows are in the order of the list; nil means none.
func (f foreseenList) leadOf(set operatorSet) *pg.ColumnRef {
	for _, i := range f.b.Model.Indexes {
		if f.isReadDirectly(set) && set.isInOrderOf(i, f.keys) {
			return pg.Col(f.b.Table, value.StoredAs(i.Fields[0]).Column)
		}
	}
	return nil
}

// isReadDirectly tells whether one statement on the table is enough for a set, under row security: the rules were decided
// before any row is read, and their remainder in the policy cannot keep the conditions from an index.
func (f foreseenList) isReadDirectly(set operatorSet) bool {
	isBarred := func(t expr.Type) bool { return !value.IsLeakproof(t.Kind) }
	return !f.b.JudgesRows() && (pg.IsTrue(rule.PolicyRule(f.b.Model, f.b.Action.Rules)) || // nothing is left in the policy
		len(set.wheres(f.b.Action)) == 0 &&
			!slices.ContainsFunc(set.equals, func(e Filter) bool { return value.OwnColumn(e.Input) == nil || isBarred(e.Input.Type) }) &&
			!slices.ContainsFunc(f.keys, func(k value.SortKey) bool { return isBarred(k.Field.Type) }))
}

// foreseenUnion lowers the page of a union's list that no request filters, to static statements: one function for each
// arm, and one that merges their rows. There is none if every request filters, or if the rules ask for an input.
func (l *Lowering) foreseenUnion(a *model.Action, rows string) []*pg.Function {
	name := rule.FunctionName(a) + "__foreseen"
	isFiltered := slices.ContainsFunc(a.Reads, func(in *model.Input) bool { return !in.Optional })
	if isFiltered || len(value.RuleInputs(a.Rules)) > 0 || rule.IsClosed(a) || !takesFormArguments(a, name, nil) {
		return nil
	}
	b := l.beginForms(a, l.Functions.Take(name), []operatorSet{{}})
	r := RowsOf(a)
	var conjuncts []value.Conjunct
	for _, w := range (operatorSet{}).wheres(a) {
		conjuncts = append(conjuncts, value.PartsOf(r.Over(w.Expression))...)
	}
	where := r.Expression(value.WhereLogic, nil).Conjunction(conjuncts)
	var arms []*pg.Function
	var merged *pg.Select
	var all []way
	for _, s := range sourcesOf(a) {
		f := foreseenList{b: b, keys: value.KeysOfArms(a), from: s}
		f.ways = slices.DeleteFunc(f.ownWays(), func(w way) bool { return pg.IsFalse(w.condition) })
		if len(f.ways) == 0 {
			continue
		}
		all = append(all, f.ways...)
		fn, c := l.armFunction(f, f.page(value.KeyColumns(f.keys, b.Table), where, false))
		arms = append(arms, fn)
		found := &pg.Select{
			Columns: []pg.Output{{Value: pg.As(pg.Lit(fmt.Sprint(s.arm.Number)), "bigint"), As: value.ArmColumn}, {Value: call.AllColumns(b.Table)}},
			From:    c,
		}
		if merged == nil {
			merged = found
		} else {
			merged.UnionAll = append(merged.UnionAll, found)
		}
	}
	readArms(b, whereFrom(all), &pg.ArrayOf{Query: &pg.Select{
		Columns: []pg.Output{{Value: pg.Lit(picked(a))}},
		From:    &pg.SubqueryRef{Alias: b.Table, Query: merged},
		OrderBy: value.OrderBy(value.OwnOrder(a), b.Table), Limit: pg.Var(call.SizeArgument.Name),
	}}, rows)
	return append([]*pg.Function{b.Finish()}, arms...)
}

// armFunction is the function that finds the rows of an arm for a page, and its call. It takes the position, the number
// of rows and the values that its statement names.
func (l *Lowering) armFunction(f foreseenList, page *pg.Select) (*pg.Function, *pg.CallRef) {
	b := f.b
	mentioned := pg.Mentions(&pg.Subquery{Query: page})
	var arguments []pg.Argument
	var values []pg.Expr
	add := func(argument pg.Argument) {
		if mentioned.Column(argument.Name) {
			arguments, values = append(arguments, argument), append(values, pg.Var(pg.ParamIdent(argument.Name)))
		}
	}
	for _, argument := range b.Fn.Arguments {
		add(argument)
	}
	for _, v := range b.Fn.Variables { // values of the caller
		add(pg.Argument{Name: v.Name, Type: v.Type})
	}
	var names, types []string
	for i, k := range f.keys {
		names = append(names, k.Field.Column)
		types = append(types, call.NumberedColumn(i, k.Field.Column)+" "+value.VariableType(k.Field.Type))
	}
	arm := f.from.arm.Name
	fn := beside(b, l.Functions.Take(rule.FunctionName(b.Action)+"__"+model.SnakeForm(arm)), "arm "+arm, "the next rows of the arm "+arm,
		"table ("+strings.Join(types, ", ")+")", arguments, page)
	return fn, &pg.CallRef{Call: pg.Fn(pg.Qualified(value.APISchema, fn.Name), values...), Alias: b.Table, Columns: names}
}
