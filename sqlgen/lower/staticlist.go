package lower

import (
	"fmt"
	"strconv"

	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// staticList lowers a list for one operator set, forward from the beginning or a
// cursor.
func (l *lowering) staticList(a *schema.Action, name string, set operatorSet) *pg.Function {
	b := l.begin(a, name, "action "+a.Name+", "+set.title()+": first, after", pg.Stable)
	b.fn.Comment = fmt.Sprintf("action %s of model %s, %s", a.Name, a.Model.Name, set.title())
	// The page size would otherwise make every call plan anew.
	b.fn.Settings = []pg.Setting{{Name: "plan_cache_mode", Value: "force_generic_plan"}}

	s := staticList{builder: b, keys: ownOrder(a)}
	s.size = b.variable("v_size", "bigint", pg.As(pg.Fn("coalesce", memberText(input, "first"), pg.Str(defaultPageSize)), "bigint"))
	s.condition = b.operatorSet(set)
	s.hasPrevious = b.variable("v_has_previous", "boolean", pg.False())
	isReadDirectly := set.isReadDirectly(b, s.keys)
	if !isReadDirectly {
		s.ids = b.variable("v_ids", "text[]", pg.Str("{}"))
	}
	s.position = b.firstPosition(s.keys)
	if isReadDirectly {
		s.readDirectly()
	} else {
		s.pickFirst()
	}
	return b.finish()
}

// staticList is a static list in the making.
type staticList struct {
	*builder
	keys      []sortKey
	position  []pg.Expr // a variable per key: where the page begins
	condition pg.Expr   // of the operator set

	size, hasPrevious, ids pg.Expr // variables
}

// operatorSet is the condition of an operator set with the @wheres that count beside
// it. The values are held in variables.
func (b *builder) operatorSet(set operatorSet) pg.Expr {
	var conjuncts []conjunct
	for _, f := range set.equals {
		path := append([]string{"where"}, f.at("equals")...)
		value := b.variableFor(schema.SnakeForm(f.input.Name), variableType(f.input.Type), cast(memberText(input, path...), f.input.Type))
		conjuncts = append(conjuncts, passing(f.path, func(x expression) pg.Expr {
			return x.operand(f.path).rejectingNull(func(v pg.Expr) pg.Expr { return pg.Eq(v, value) })
		}))
	}
	for _, w := range b.action.Wheres {
		if set.counts(w) {
			conjuncts = append(conjuncts, partsOf(w.Expression)...)
		}
	}
	return b.expression(whereLogic, inQuery).conjunction(conjuncts)
}

// isReadDirectly tells whether one statement on the table does, under row security:
// the rules were decided before any row is read, and what they left in the policy
// cannot keep the conditions from an index.
func (set operatorSet) isReadDirectly(b *builder, keys []sortKey) bool {
	if b.judgesRows() || !isOneRange(keys) {
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

// readDirectly reads the rows of the page from the table.
func (s staticList) readDirectly() {
	s.readPosition(s.lookBefore(s.condition))
	s.step("One row more than the page tells whether another follows.", &pg.ReturnQuery{Query: &pg.Select{
		Columns: s.answerColumns(),
		From:    s.stored(),
		Where:   pg.AllOf(beyond(s.keys, s.position, s.table), s.condition),
		OrderBy: orderBy(s.keys, s.table),
		Limit:   pg.Op(s.size, "+", pg.Lit("1")),
	}})
	s.tell()
}

// lookBefore sees whether rows of the table lie before the page.
func (s staticList) lookBefore(condition pg.Expr) pg.Statement {
	return &pg.Assign{Variable: "v_has_previous", Value: s.isThere(&pg.Select{
		Columns: isThere,
		From:    s.stored(),
		Where:   pg.AllOf(upTo(s.keys, s.position, s.table), condition),
		OrderBy: orderBy(reverse(s.keys), s.table),
	})}
}

// lookFor sees whether an admitted row before the page lies in a range and satisfies a
// condition.
func (s staticList) lookFor(admitted admission, within, condition pg.Expr) pg.Statement {
	var found []pg.Expr
	for _, w := range admitted.ways {
		found = append(found, s.isThere(s.found(w, isThere, pg.AllOf(within, condition), orderBy(reverse(s.keys), s.table), pg.Lit("1"))))
	}
	return &pg.Assign{Variable: "v_has_previous", Value: pg.AnyOf(found...)}
}

// isThere is what a query selects that is to find any row.
var isThere = []pg.Output{{Value: pg.True()}}

// isThere tells whether a query finds a row. Told to begin where the page does, Postgres
// finds one at once, or that there is none; left to itself it reads the table from its
// beginning, where the rows may all lie behind.
func (s staticList) isThere(q *pg.Select) pg.Expr {
	q.Limit = pg.Lit("1")
	return pg.IsNotNull(&pg.Subquery{Query: q})
}

// pickFirst picks the ids of the page without row security, so that every condition
// may use an index, with what the rules ask of rows among them; then it reads these
// rows under row security.
func (s staticList) pickFirst() {
	s.readPosition()
	const comment = "The page, and one row more, which tells whether another follows."
	switch {
	case !s.judgesRows():
		s.step(comment, s.pick(s.condition, everything())...)
	case pg.IsFalse(s.early.holds):
		s.step(comment, s.pickAdmitted()...)
	default:
		s.step(allowedOutright, &pg.If{
			Branches: []pg.IfBranch{{Condition: s.early.holds, Then: s.pick(s.condition, everything())}},
			Else:     s.pickAdmitted(),
		})
	}
	s.step("The page's rows, under row security.", &pg.ReturnQuery{Query: &pg.Select{
		Columns: s.answerColumns(),
		From:    s.stored(),
		Where:   &pg.Any{Value: pg.Col(s.table, "id"), Op: "=", Array: s.ids},
		OrderBy: orderBy(s.keys, s.table),
	}})
	s.tell()
}

// pickAdmitted picks the ids of the rows that the rules admit.
func (s staticList) pickAdmitted() []pg.Statement {
	admitted := s.admission(s.inputValue)
	statements := s.gatherValues(&admitted)
	return append(statements, s.pick(s.condition, admitted)...)
}

// pick picks the ids of the rows that satisfy a condition and are admitted, one more than
// the page has, and tells whether rows lie before them.
func (s staticList) pick(condition pg.Expr, admitted admission) []pg.Statement {
	size := pg.Op(s.size, "+", pg.Lit("1"))
	// Most often the cursor's own row is still there.
	lookAt := s.lookFor(admission{admitted.rule, []way{{condition: admitted.rule}}}, at(s.keys, s.position, s.table), condition)
	if isOneRange(s.keys) {
		return []pg.Statement{
			pg.IfThen(pg.IsNotNull(pg.Var("v_position")), lookAt,
				pg.IfThen(pg.Negate(s.hasPrevious), s.lookFor(admitted, upTo(s.keys, s.position, s.table), condition))),
			&pg.Assign{Variable: "v_ids", Value: s.idsOf(admitted, pg.AllOf(beyond(s.keys, s.position, s.table), condition), size)},
		}
	}
	look := func(within pg.Expr) pg.Statement {
		return pg.IfThen(pg.Negate(s.hasPrevious), s.lookFor(admitted, within, condition))
	}
	take := func(within pg.Expr) pg.Statement {
		return pg.IfThen(pg.Op(pg.Fn("cardinality", s.ids), "<=", s.size), &pg.Assign{Variable: "v_ids", Value: pg.Op(
			s.ids, "||", s.idsOf(admitted, pg.AllOf(within, condition), pg.Op(size, "-", pg.Fn("cardinality", s.ids))))})
	}
	onward := append([]pg.Statement{lookAt}, rangesBeyond(reverse(s.keys), s.position, s.table, look)...)
	onward = append(onward, rangesBeyond(s.keys, s.position, s.table, take)...)
	return []pg.Statement{&pg.If{
		Branches: []pg.IfBranch{{Condition: pg.IsNotNull(pg.Var("v_position")), Then: onward}},
		Else:     []pg.Statement{&pg.Assign{Variable: "v_ids", Value: s.idsOf(admitted, condition, size)}},
	}}
}

// idsOf are the ids of the first rows that satisfy a condition and are admitted.
func (s staticList) idsOf(admitted admission, condition, size pg.Expr) pg.Expr {
	order := orderBy(s.keys, s.table)
	ids := []pg.Output{{Value: pg.Col(s.table, "id")}}
	if admitted.isPlain() {
		return &pg.ArrayOf{Query: s.found(admitted.ways[0], ids, condition, order, size)}
	}
	merged := &pg.UnionRef{Alias: s.table}
	for _, w := range admitted.ways {
		merged.Queries = append(merged.Queries, s.found(w, keyColumns(s.keys, s.table), condition, order, size))
	}
	return &pg.ArrayOf{Query: &pg.Select{Columns: ids, From: merged, OrderBy: order, Limit: size}}
}

// tell leaves what is known of a page beyond a cursor to the statement of the server.
func (s staticList) tell() {
	s.requireCallerOfPage(nothingFound)
	s.step("", pg.IfThen(pg.IsNotNull(pg.Var("v_position")), tellOfPage(s.hasPrevious)))
}

// firstPosition declares a variable per key, which holds where the page begins: at
// first before every row, if the order has such a position.
func (b *builder) firstPosition(keys []sortKey) []pg.Expr {
	position := make([]pg.Expr, len(keys))
	for i, k := range keys {
		first, _ := k.first()
		if !isOneRange(keys) {
			first = nil
		}
		position[i] = b.variableFor("after_"+k.field.Column, castType(k.field.Type.Kind), first)
	}
	return position
}

// readPosition takes the position from the request's cursor, if it has one, and does
// what else is to be done then.
func (s staticList) readPosition(then ...pg.Statement) {
	read := s.variable("v_position", "jsonb", positionOf(input))
	var statements []pg.Statement
	for i, k := range s.keys {
		value := castTo(pg.Op(read, "->>", pg.Lit(strconv.Itoa(i))), castType(k.field.Type.Kind), "")
		statements = append(statements, &pg.Assign{Variable: s.position[i].(*pg.Name).Name, Value: value})
	}
	s.step("", pg.IfThen(pg.IsNotNull(pg.Var("v_position")), append(statements, then...)...))
}
