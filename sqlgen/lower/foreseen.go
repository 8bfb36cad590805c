package lower

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// specializedLists lowers a list for the foreseen operator sets, each a form: its pages from the front, and pages
// behind a position if the order has a position before all rows.
func (l *lowering) specializedLists(a *schema.Action, sets []operatorSet) *pg.Function {
	name := l.functions.Take(functionName(a) + "__foreseen")
	keys := ownOrder(a)
	l.specialized[a] = &release.Foreseen{Function: name, Seeks: canSeek(keys)}
	if takesFormArguments(a, name) {
		l.specialized[a].Arguments = published(a, formArguments(a))
	}
	b := l.begin(a, name, "action "+a.Name+", foreseen filters: first, after", pg.Stable)
	b.fn.Comment = fmt.Sprintf("action %s of model %s, by form: the operators of a filter that is foreseen", a.Name, a.Model.Name)
	// The page size would otherwise make every call plan anew.
	b.fn.Settings = []pg.Setting{{Name: "plan_cache_mode", Value: "force_generic_plan"}}

	f := specializedList{b: b, keys: keys, operands: map[*schema.Input]pg.Expr{}, takesArguments: l.specialized[a].Arguments != nil}
	f.size = f.pageSize()
	if canSeek(f.keys) {
		f.position = f.startOfPage()
	}
	direct := 0
	for _, set := range sets {
		l.specialized[a].Forms = append(l.specialized[a].Forms, set.operators())
		if set.isReadDirectly(b, f.keys) {
			direct++
		}
	}
	if direct < len(sets) {
		f.ids = b.own("v_ids", "text[]", nil)
		f.admitted = f.admit()
	}
	choice := &pg.Choose{Value: pg.Var("form")}
	for _, set := range sets {
		condition := f.operatorSet(set, f.b.expression(whereLogic, inQuery), f.operand)
		page := f.pick(condition, len(set.equals)+len(set.given) > 0)
		if set.isReadDirectly(b, f.keys) {
			page = &pg.ReturnQuery{Query: f.page(f.b.stored(), b.answerColumns(), pg.AllOf(f.keyset(), condition))}
		}
		choice.Branches = append(choice.Branches, pg.ChooseBranch{Value: pg.Str(set.operators()), Then: []pg.Statement{page}})
	}
	if isMany := f.admitted.hasMany(); pg.IsFalse(isMany) {
		b.step("", choice)
	} else {
		b.step("For few values, the rows of each are looked for. For many, a statement is planned.",
			&pg.If{Branches: []pg.IfBranch{{Condition: isMany, Then: f.pickForMany(sets)}}, Else: []pg.Statement{choice}})
	}
	if direct < len(sets) {
		f.readPicked(direct > 0)
	}
	b.requireCallerOfPage(nothingFound)
	return b.finish()
}

// specializedList is the function that is being built.
type specializedList struct {
	b        *builder // the function
	keys     []sortKey
	position []pg.Expr // a value per key: the start of the page; none if it always begins at the front
	admitted admission // the ways in which picked rows are found
	operands map[*schema.Input]pg.Expr

	takesArguments bool // and not the input as JSON

	size pg.Expr // the number of rows to read
	ids  *pg.Variable
}

// pageSize is the number of rows to read: one more than the page has, which tells whether another follows, and the one
// at the position, which tells that rows lie before.
func (f specializedList) pageSize() pg.Expr {
	if f.takesArguments {
		return pg.Var(pg.ParamIdent(sizeArgument.Name))
	}
	size := pg.As(pg.Fn("coalesce", memberText(input, "first"), pg.Str(defaultPageSize)), "bigint")
	more := pg.Expr(pg.Lit("1"))
	if canSeek(f.keys) {
		more = &pg.Case{Whens: []pg.When{{Condition: hasMember(input, "position"), Result: pg.Lit("2")}}, Else: more}
	}
	return f.b.own("v_size", "bigint", pg.Op(size, "+", more))
}

// startOfPage returns a value per key, the start of the page: the request's position, or one before every row. Postgres
// prepares the expression of a variable in each transaction, so values that are arguments have no variables.
func (f specializedList) startOfPage() []pg.Expr {
	position := make([]pg.Expr, len(f.keys))
	for i, k := range f.keys {
		typ := castType(k.field.Type.Kind)
		first, _ := k.first()
		if f.takesArguments {
			position[i] = pg.Fn("coalesce", pg.Var(pg.ParamIdent(afterKey(k))), first)
			continue
		}
		value := pg.Fn("coalesce", memberText(input, "position", fmt.Sprint(i)), first)
		position[i] = f.b.variableFor(afterKey(k), typ, castTo(value, typ, ""))
	}
	return position
}

// afterKey names the value of a key at the position of a page.
func afterKey(k sortKey) string { return "after_" + k.field.Column }

// keyset is the condition for the row at the position and those behind it: one row comparison, which an index on the
// order answers.
func (f specializedList) keyset() pg.Expr {
	if f.position == nil {
		return pg.True()
	}
	return f.compared(f.keys[0].keysetOperator()+"=", f.position)
}

// compared compares a row's sort keys with a position.
func (f specializedList) compared(operator string, position []pg.Expr) pg.Expr {
	columns := keyColumns(f.keys, f.b.table)
	if len(columns) == 1 {
		return pg.Op(columns[0].Value, operator, position[0])
	}
	row := make([]pg.Expr, len(columns))
	for i, c := range columns {
		row[i] = c.Value
	}
	return pg.Op(&pg.Row{Values: row, IsBare: true}, operator, &pg.Row{Values: position, IsBare: true})
}

// operatorSet is the condition of an operator set with the @wheres that count beside it. operand is the value that a
// filter compares with.
func (f specializedList) operatorSet(set operatorSet, x expression, operand func(filter) pg.Expr) pg.Expr {
	var conjuncts []conjunct
	isInOrder := set.isReadDirectly(f.b, f.keys) &&
		slices.ContainsFunc(f.b.model.Indexes, func(i *schema.Index) bool { return set.isInOrderOf(i, f.keys) })
	for _, equal := range set.equals {
		value := operand(equal)
		conjuncts = append(conjuncts, passing(equal.path, func(x expression) pg.Expr {
			return x.operand(equal.path).rejectingNull(func(v pg.Expr) pg.Expr {
				if isInOrder {
					return boundTwice(pg.Eq(v, value), v, value)
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
	return x.conjunction(conjuncts)
}

// operand holds the value that a filter compares with in a variable.
func (f specializedList) operand(equal filter) pg.Expr {
	if known, ok := f.operands[equal.input]; ok {
		return known
	}
	if f.takesArguments {
		return f.b.value(equal.input)
	}
	path := append([]string{"where"}, equal.at("equals")...)
	v := f.b.variableFor(schema.SnakeForm(equal.input.Name), variableType(equal.input.Type), cast(memberText(input, path...), equal.input.Type))
	f.operands[equal.input] = v
	return v
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

// page reads the first rows from a place, in the order of the list.
func (f specializedList) page(from pg.From, columns []pg.Output, where pg.Expr) *pg.Select {
	return &pg.Select{Columns: columns, From: from, Where: where, OrderBy: orderBy(f.keys, f.b.table), Limit: f.size}
}

// admit finds the ways in which rows are admitted. A variable holds each value that a way compares a column with.
// Another holds whether the caller is allowed outright, which is one way more.
func (f specializedList) admit() admission {
	if !f.b.judgesRows() {
		return everything()
	}
	admitted := f.b.admission(f.b.inputValue)
	if admitted.mayHaveMany() {
		f.b.findAtMost(pg.Op(pg.Var("form"), "<>", pg.Str("")))
	}
	var statements []pg.Statement
	if !pg.IsFalse(f.b.early.holds) {
		allowed := f.b.own("v_is_allowed", "boolean", nil)
		statements = append(statements, &pg.Assign{Variable: allowed, Value: f.b.early.holds})
		admitted.ways = append([]way{{condition: allowed}}, admitted.ways...)
	}
	for i, w := range admitted.ways {
		admitted.ways[i].insisting = f.holding(w.insisting, &statements)
		admitted.ways[i].others = f.holding(w.others, &statements)
	}
	statements = append(statements, f.b.gatherValues(&admitted)...)
	if len(statements) > 0 {
		f.b.step("The values of the caller that the rules compare rows with.", statements...)
	}
	return admitted
}

// holding returns a condition with variables in place of the sub-selects that columns are compared with. The statements
// fill the variables.
func (f specializedList) holding(condition pg.Expr, statements *[]pg.Statement) pg.Expr {
	and, ok := condition.(*pg.And)
	if !ok {
		return condition
	}
	held := &pg.And{}
	for _, o := range and.Operands {
		if c, ok := o.(*pg.Binary); ok {
			column, isColumn := c.Left.(*pg.ColumnRef)
			value, isSubquery := c.Right.(*pg.Subquery)
			if isColumn && isSubquery && !pg.Mentions(value).Table(f.b.table) {
				o = pg.Op(column, c.Op, f.held(column, value, statements))
			}
		}
		held.Operands = append(held.Operands, o)
	}
	return held
}

// held is the variable that holds the value that a column is compared with.
func (f specializedList) held(column *pg.ColumnRef, value *pg.Subquery, statements *[]pg.Statement) *pg.Variable {
	for _, s := range *statements {
		if a := s.(*pg.Assign); reflect.DeepEqual(a.Value, pg.Expr(value)) {
			return a.Variable
		}
	}
	field := ownColumnOf(f.b.model, column)
	variable := f.b.variableFor("own_"+column.Name, variableType(field.Type), nil)
	*statements = append(*statements, &pg.Assign{Variable: variable, Value: value})
	return variable
}

// pick picks the ids of the page without row security, so that every condition may use an index. The rules' conditions
// on rows are among them.
func (f specializedList) pick(condition pg.Expr, isFiltered bool) pg.Statement {
	where := pg.AllOf(f.keyset(), condition)
	ids := []pg.Output{{Value: pg.Col(f.b.table, "id")}}
	order := orderBy(f.keys, f.b.table)
	query := &pg.Select{}
	switch {
	case f.admitted.isPlain():
		query = f.b.found(f.admitted.ways[0], ids, where, order, f.size)
	case len(f.admitted.ways) == 1:
		query = f.found(f.admitted.ways[0], where, isFiltered)
		query.Columns, query.OrderBy, query.Limit = ids, order, f.size
	default:
		merged := &pg.UnionRef{Alias: f.b.table}
		for _, w := range f.admitted.ways {
			merged.Queries = append(merged.Queries, f.found(w, where, isFiltered))
		}
		query = f.page(merged, ids, nil)
	}
	return &pg.Assign{Variable: f.ids, Value: &pg.ArrayOf{Query: query}}
}

// readPicked reads the picked rows. If some forms pick none, it does so only when rows were picked.
func (f specializedList) readPicked(sometimes bool) {
	rows := pg.Statement(&pg.ReturnQuery{Query: &pg.Select{
		Columns: f.b.answerColumns(),
		From:    f.b.stored(),
		Where:   &pg.Any{Value: pg.Col(f.b.table, "id"), Op: "=", Array: f.ids},
		OrderBy: orderBy(f.keys, f.b.table),
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
	if !goesOneWay(keys) {
		return false
	}
	for i, k := range keys {
		if _, hasFirst := k.first(); !hasFirst && (i == 0 || castType(k.field.Type.Kind) != "text") {
			return false
		}
	}
	return !keys[0].descending || keys[0].field.Type.Kind != expr.Boolean
}

// goesOneWay tells whether an order is one row comparison.
func goesOneWay(keys []sortKey) bool {
	for _, k := range keys {
		if k.field.Optional || k.descending != keys[0].descending {
			return false
		}
	}
	return true
}
