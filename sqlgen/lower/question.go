package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Question asks for the values of an action's expressions, each lowered as in the functions and policies. One statement
// has them as columns: over a row of the model, over a row of an arm of the union, or over no row yet. The settings of
// the call are those of its transaction.
type Question struct {
	Arm   string       // empty for a model
	Model *model.Model // of the rows

	b    *builder
	arm  arm
	rows listRows
	sent *pg.Select
}

// sentInputs is the alias of the row with the inputs of the request. No table has this name.
const sentInputs = "call__inputs"

// Questions returns a question for each arm of the action's union, or one for its model. Their statements take the
// request as parameter.
func Questions(a *model.Action) []Question {
	b := &builder{action: a, model: a.Model, table: tableOf(a), values: map[*model.Input]pg.Expr{}}
	body := &pg.Select{Columns: []pg.Output{{Value: pg.Lit("$1::jsonb"), As: "input"}}}
	sent := &pg.Select{Columns: []pg.Output{{Value: input, As: "input"}}, From: &pg.SubqueryRef{Query: body, Alias: "request"}}
	send := func(value pg.Expr) pg.Expr {
		name := fmt.Sprint("value_", len(sent.Columns))
		sent.Columns = append(sent.Columns, pg.Output{Value: value, As: name})
		return pg.Col(sentInputs, name)
	}
	given := map[*model.Input]pg.Expr{}
	for _, in := range slices.Concat(a.Reads, a.Writes) {
		if in.Message != nil || a.Kind == model.List && !in.Explicit {
			continue // no expression can name it
		}
		path := requestPath(a, in)
		value := memberText(input, path...)
		if _, isScalar := scalars[in.Type.Kind]; isScalar && !in.Type.Kind.IsOpaque() { // of others, expressions only ask whether there is one
			value = fromJSON(in.Type, true, input, path...)
		}
		b.values[in], given[in] = send(value), send(b.isGivenInput(in))
	}
	b.given = given
	if a.Union == nil {
		return []Question{{Model: a.Model, b: b, sent: sent}}
	}
	var list []Question
	for _, arm := range armsOf(a.Union) {
		list = append(list, Question{Arm: arm.Name, Model: arm.Model, b: b, arm: arm, rows: rowsOf(a), sent: sent})
	}
	return list
}

// Beforehand is the query without a row.
func (q Question) Beforehand() *pg.Select {
	return &pg.Select{From: &pg.SubqueryRef{Query: q.sent, Alias: sentInputs}}
}

// Over is the query for rows under a condition, in the order of their ids.
func (q Question) Over(condition pg.Expr) *pg.Select {
	s := q.Beforehand()
	s.Joins = []pg.Join{{Kind: "cross join", With: pg.Ref(relatedSchema, q.Model.Table)}}
	if q.isOfUnion() {
		view := &pg.SubqueryRef{Query: q.arm.query(), Alias: q.b.table}
		s.Joins = append(s.Joins, pg.Join{Kind: "join", With: view, On: pg.Eq(pg.Col(q.b.table, "id"), q.ID())})
	}
	s.Where, s.OrderBy = condition, []pg.Order{{Value: q.ID()}}
	return s
}

func (q Question) isOfUnion() bool { return q.b.action.Union != nil }

// ID is the id of the row.
func (q Question) ID() pg.Expr { return pg.Col(q.Model.Table, "id") }

// row prepares to lower expressions over the row of a table, for rules.
func (q Question) row() expression {
	row := rowOf(q.Model)
	return newExpression(ruleLogic, inQuery, &row, q.b.inputValue)
}

// found prepares to lower expressions by which rows are found.
func (q Question) found() expression {
	if q.isOfUnion() {
		return q.rows.expression(whereLogic, q.b.inputValue)
	}
	x := q.row()
	x.logic = whereLogic
	return x
}

// overFound is an expression over the rows that are found.
func (q Question) overFound(n expr.Node) expr.Node {
	if q.isOfUnion() {
		return q.rows.over(n)
	}
	return n
}

// Early is what a part of a rule decides before a row is read: null means that rows decide.
func (q Question) Early(n expr.Node) pg.Expr {
	x := newExpression(ruleLogic, inFunction, nil, q.b.inputValue)
	known := decider{expression: x}.all([]expr.Node{n})
	return &pg.Case{Whens: []pg.When{{Condition: known.holds, Result: pg.True()}, {Condition: known.fails, Result: pg.False()}}}
}

// Validation is the value of a @validate, which may be null.
func (q Question) Validation(n expr.Node) pg.Expr {
	return newExpression(validateLogic, inFunction, nil, q.b.inputValue).holds(n)
}

// Rule tells whether a part of a rule holds of the row.
func (q Question) Rule(n expr.Node) pg.Expr {
	if q.isOfUnion() {
		n = q.arm.over(n)
	}
	return isTrue(q.row().allHold([]expr.Node{n}))
}

// Where tells whether a @where holds of the row.
func (q Question) Where(w *model.Where) pg.Expr {
	return isTrue(q.found().allHold([]expr.Node{q.overFound(w.Expression)}))
}

// isTrue is a condition whose null is false.
func isTrue(e pg.Expr) pg.Expr { return decider{}.exact(e) }

// Counts tells whether the request has all inputs that a @where mentions.
func (q Question) Counts(w *model.Where) pg.Expr { return pg.Negate(q.lacks(w)) }

func (q Question) lacks(w *model.Where) pg.Expr {
	var inputs []*model.Input
	for _, in := range expr.Mentions(w.Expression).Inputs {
		inputs = append(inputs, in.(*model.Input))
	}
	return q.b.lacksAny(inputs)
}

// IsSelected tells whether all @wheres that count hold of the row.
func (q Question) IsSelected() pg.Expr { return isTrue(q.found().conjunction(q.wheres())) }

func (q Question) wheres() []conjunct {
	var list []conjunct
	for _, w := range q.b.action.Wheres {
		list = append(list, unlessAbsent(q.lacks(w), partsOf(q.overFound(w.Expression)))...)
	}
	return list
}

// Conditions is the query for the conditions by which a list finds its rows, as text.
func (q Question) Conditions() *pg.Select {
	rows := rowsOf(q.b.action)
	c := conditionsOf(rows, q.b.action.Wheres, rows.filters(q.b.action))
	request := &pg.SubqueryRef{Query: &pg.Select{Columns: q.sent.Columns[:1], From: q.sent.From}, Alias: sentInputs}
	return &pg.Select{Columns: []pg.Output{{Value: c.text(anywhere)}}, From: request}
}

// Satisfies tells whether the row satisfies such conditions.
func (q Question) Satisfies(conditions string) pg.Expr {
	return pg.Lit("true" + strings.ReplaceAll(conditions, "$1", "("+sentInputs+".input->'where')"))
}

// IsFound tells whether the action finds the row by its inputs and @wheres.
func (q Question) IsFound() pg.Expr {
	return q.found().conjunction(append(q.lookedUp(), q.wheres()...))
}

// IsLookedUp tells whether inputs alone find the row. It is true of an action without such inputs.
func (q Question) IsLookedUp() pg.Expr { return q.found().conjunction(q.lookedUp()) }

func (q Question) lookedUp() []conjunct {
	var list []conjunct
	for _, in := range q.b.action.Reads {
		if in.Explicit {
			continue
		}
		var path expr.Node
		switch {
		case q.isOfUnion():
			path = q.rows.value(in.Union)
		default:
			path = rowPath(q.Model, in)
		}
		list = append(list, unlessAbsent(q.b.isAbsent(in), []conjunct{q.b.equalsInput(in, path)})...)
	}
	return list
}

// IsPinned tells whether the request gives a set of the inputs that find one row.
func (q Question) IsPinned() pg.Expr {
	var isPinned []pg.Expr
	for _, pin := range q.b.action.Pins {
		var needed []*model.Input
		for _, e := range pin {
			needed = append(needed, neededInputs(q.b.action, e)...)
		}
		isPinned = append(isPinned, pg.Negate(q.b.lacksAny(needed)))
	}
	return pg.AnyOf(isPinned...)
}

// LeadsNowhere returns the id that a write input refers to by, if no row of a model has it; else null.
func (q Question) LeadsNowhere(in *model.Input, target *model.Model) pg.Expr {
	row := pg.Ref(relatedSchema, target.Table)
	isThere := &pg.Exists{Query: &pg.Select{From: row, Where: pg.Eq(pg.Col(target.Table, "id"), q.b.value(in))}}
	return &pg.Case{Whens: []pg.When{{Condition: pg.Negate(isThere), Result: q.b.value(in)}}}
}

// Values are the values of a path as a JSON array of literals: one, or any number through a to-many. If they are not to
// be shown, the array only tells whether there are any.
func (q Question) Values(p *expr.Path, isHidden bool) pg.Expr {
	x, n := q.found(), q.overFound(p).(*expr.Path)
	shown := func(x expression) pg.Expr {
		value := x.operand(n).scalar()
		switch {
		case isHidden:
			return &pg.Case{Whens: []pg.When{{Condition: pg.IsNotNull(value), Result: pg.True()}}}
		case n.Type().Kind != expr.Model:
			return literalOf(n.Type(), value)
		}
		return value
	}
	prefixes := expr.Prefixes(n)
	if len(prefixes) == 0 {
		return pg.Fn("jsonb_build_array", shown(x))
	}
	j, x := x.bindWitness(prefixes[len(prefixes)-1])
	all := j.query([]pg.Output{{Value: pg.Fn("to_jsonb", shown(x))}}, nil)
	for _, row := range append([]pg.Join{{With: all.From}}, all.Joins...) {
		all.OrderBy = append(all.OrderBy, pg.Order{Value: pg.Col(row.With.(*pg.TableRef).Alias, "id")})
	}
	return pg.Fn("to_jsonb", &pg.ArrayOf{Query: all})
}

// Member is the value of a membership by an expression.
func (q Question) Member(m *model.Membership) pg.Expr {
	return isTrue(newExpression(ruleLogic, inQuery, nil, noInput).allHold([]expr.Node{m.Expression}))
}

// Caller is the query for a caller by id or, if no caller has it, by e-mail: the ids, the e-mails, whether these are
// verified, and whether each role has a caller with that e-mail, once it is verified.
func Caller(named string, roles []*model.Role) *pg.Select {
	column := func(name string) pg.Expr { return pg.Col("identity", name) }
	byID := pg.Eq(column("id"), pg.Str(named))
	q := &pg.Select{
		From:    pg.Ref(relatedSchema, "identity"),
		Where:   pg.AnyOf(byID, pg.Eq(column("email"), pg.Str(named))),
		OrderBy: []pg.Order{{Value: byID, Descending: true}},
		Limit:   pg.Lit("2"),
	}
	for _, value := range []pg.Expr{column("id"), column("email"), column("email_verified")} {
		q.Columns = append(q.Columns, pg.Output{Value: value})
	}
	for _, r := range roles {
		q.Columns = append(q.Columns, pg.Output{Value: isTrue(isMember(r))})
	}
	return q
}
