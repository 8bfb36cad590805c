package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/call"
	"github.com/sternpost/sternpost/sqlgen/lower/list"
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Question asks for the values of an action's expressions, each lowered as in the functions and policies. One statement
// has them as columns: over a row of the model, over a row of an arm of the union, or over no row yet. The settings of
// the call are those of its transaction.
type Question struct {
	Arm   string       // empty for a model
	Model *model.Model // of the rows

	b    *call.Builder
	arm  value.Arm
	rows list.ListRows
	sent *pg.Select
}

// sentInputs is the alias of the row with the inputs of the request. No table has this name.
const sentInputs = "call__inputs"

// Questions returns a question for each arm of the action's union, or one for its model. Their statements take the
// request as parameter.
func Questions(a *model.Action) []Question {
	b := &call.Builder{Action: a, Model: a.Model, Table: value.TableOf(a), Values: map[*model.Input]pg.Expr{}}
	body := &pg.Select{Columns: []pg.Output{{Value: pg.Lit("$1::jsonb"), As: "input"}}}
	sent := &pg.Select{Columns: []pg.Output{{Value: value.Input, As: "input"}}, From: &pg.SubqueryRef{Query: body, Alias: "request"}}
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
		path := value.RequestPath(a, in)
		v := value.MemberText(value.Input, path...)
		if _, isScalar := value.Scalars[in.Type.Kind]; isScalar && !in.Type.Kind.IsOpaque() { // of others, expressions only ask whether there is one
			v = value.FromJSON(in.Type, true, value.Input, path...)
		}
		b.Values[in], given[in] = send(v), send(b.IsGivenInput(in))
	}
	b.Given = given
	if a.Union == nil {
		return []Question{{Model: a.Model, b: b, sent: sent}}
	}
	var all []Question
	for _, arm := range value.ArmsOf(a.Union) {
		all = append(all, Question{Arm: arm.Name, Model: arm.Model, b: b, arm: arm, rows: list.RowsOf(a), sent: sent})
	}
	return all
}

// Beforehand is the query without a row.
func (q Question) Beforehand() *pg.Select {
	return &pg.Select{From: &pg.SubqueryRef{Query: q.sent, Alias: sentInputs}}
}

// Over is the query for rows under a condition, in the order of their ids.
func (q Question) Over(condition pg.Expr) *pg.Select {
	s := q.Beforehand()
	s.Joins = []pg.Join{{Kind: "cross join", With: pg.Ref(value.RelatedSchema, q.Model.Table)}}
	if q.isOfUnion() {
		view := &pg.SubqueryRef{Query: list.Query(q.arm), Alias: q.b.Table}
		s.Joins = append(s.Joins, pg.Join{Kind: "join", With: view, On: pg.Eq(pg.Col(q.b.Table, "id"), q.ID())})
	}
	s.Where, s.OrderBy = condition, []pg.Order{{Value: q.ID()}}
	return s
}

func (q Question) isOfUnion() bool { return q.b.Action.Union != nil }

// ID is the id of the row.
func (q Question) ID() pg.Expr { return pg.Col(q.Model.Table, "id") }

// row prepares to lower expressions over the row of a table, for rules.
func (q Question) row() value.Expression {
	row := value.RowOf(q.Model)
	return value.NewExpression(value.RuleLogic, value.InQuery, &row, q.b.InputValue)
}

// found prepares to lower expressions by which rows are found.
func (q Question) found() value.Expression {
	if q.isOfUnion() {
		return q.rows.Expression(value.WhereLogic, q.b.InputValue)
	}
	x := q.row()
	x.Logic = value.WhereLogic
	return x
}

// overFound is an expression over the rows that are found.
func (q Question) overFound(n expr.Node) expr.Node {
	if q.isOfUnion() {
		return q.rows.Over(n)
	}
	return n
}

// Early is what a part of a rule decides before a row is read: null means that rows decide.
func (q Question) Early(n expr.Node) pg.Expr {
	x := value.NewExpression(value.RuleLogic, value.InFunction, nil, q.b.InputValue)
	known := rule.Decider{Expression: x}.All([]expr.Node{n})
	return &pg.Case{Whens: []pg.When{{Condition: known.Holds, Result: pg.True()}, {Condition: known.Fails, Result: pg.False()}}}
}

// Validation is the value of a @validate, which may be null.
func (q Question) Validation(n expr.Node) pg.Expr {
	return value.NewExpression(value.ValidateLogic, value.InFunction, nil, q.b.InputValue).Holds(n)
}

// Rule tells whether a part of a rule holds of the row.
func (q Question) Rule(n expr.Node) pg.Expr {
	if q.isOfUnion() {
		n = q.arm.Over(n)
	}
	return isTrue(q.row().AllHold([]expr.Node{n}))
}

// Where tells whether a @where holds of the row.
func (q Question) Where(w *model.Where) pg.Expr {
	return isTrue(q.found().AllHold([]expr.Node{q.overFound(w.Expression)}))
}

// isTrue is a condition whose null is false.
func isTrue(e pg.Expr) pg.Expr { return rule.Decider{}.Exact(e) }

// Counts tells whether the request has all inputs that a @where mentions.
func (q Question) Counts(w *model.Where) pg.Expr { return pg.Negate(q.lacks(w)) }

func (q Question) lacks(w *model.Where) pg.Expr {
	var inputs []*model.Input
	for _, in := range expr.Mentions(w.Expression).Inputs {
		inputs = append(inputs, in.(*model.Input))
	}
	return q.b.LacksAny(inputs)
}

// IsSelected tells whether all @wheres that count hold of the row.
func (q Question) IsSelected() pg.Expr { return isTrue(q.found().Conjunction(q.wheres())) }

func (q Question) wheres() []value.Conjunct {
	var list []value.Conjunct
	for _, w := range q.b.Action.Wheres {
		list = append(list, value.UnlessAbsent(q.lacks(w), value.PartsOf(q.overFound(w.Expression)))...)
	}
	return list
}

// Conditions is the query for the conditions by which a list finds its rows, as text.
func (q Question) Conditions() *pg.Select {
	rows := list.RowsOf(q.b.Action)
	c := list.ConditionsOf(rows, q.b.Action.Wheres, rows.Filters(q.b.Action))
	request := &pg.SubqueryRef{Query: &pg.Select{Columns: q.sent.Columns[:1], From: q.sent.From}, Alias: sentInputs}
	return &pg.Select{Columns: []pg.Output{{Value: c.Text(list.Anywhere)}}, From: request}
}

// Satisfies tells whether the row satisfies such conditions.
func (q Question) Satisfies(conditions string) pg.Expr {
	return pg.Lit("true" + strings.ReplaceAll(conditions, "$1", "("+sentInputs+".input->'where')"))
}

// IsFound tells whether the action finds the row by its inputs and @wheres.
func (q Question) IsFound() pg.Expr {
	return q.found().Conjunction(append(q.lookedUp(), q.wheres()...))
}

// IsLookedUp tells whether inputs alone find the row. It is true of an action without such inputs.
func (q Question) IsLookedUp() pg.Expr { return q.found().Conjunction(q.lookedUp()) }

func (q Question) lookedUp() []value.Conjunct {
	var list []value.Conjunct
	for _, in := range q.b.Action.Reads {
		if in.Explicit {
			continue
		}
		var path expr.Node
		switch {
		case q.isOfUnion():
			path = q.rows.Value(in.Union)
		default:
			path = call.RowPath(q.Model, in)
		}
		list = append(list, value.UnlessAbsent(q.b.IsAbsent(in), []value.Conjunct{q.b.EqualsInput(in, path)})...)
	}
	return list
}

// IsPinned tells whether the request gives a set of the inputs that find one row.
func (q Question) IsPinned() pg.Expr {
	var isPinned []pg.Expr
	for _, pin := range q.b.Action.Pins {
		var needed []*model.Input
		for _, e := range pin {
			needed = append(needed, call.NeededInputs(q.b.Action, e)...)
		}
		isPinned = append(isPinned, pg.Negate(q.b.LacksAny(needed)))
	}
	return pg.AnyOf(isPinned...)
}

// LeadsNowhere returns the id that a write input refers to by, if no row of a model has it; else null.
func (q Question) LeadsNowhere(in *model.Input, target *model.Model) pg.Expr {
	row := pg.Ref(value.RelatedSchema, target.Table)
	isThere := &pg.Exists{Query: &pg.Select{From: row, Where: pg.Eq(pg.Col(target.Table, "id"), q.b.Value(in))}}
	return &pg.Case{Whens: []pg.When{{Condition: pg.Negate(isThere), Result: q.b.Value(in)}}}
}

// Values are the values of a path as a JSON array of literals: one, or any number through a to-many. If they are not to
// be shown, the array only tells whether there are any.
func (q Question) Values(p *expr.Path, isHidden bool) pg.Expr {
	x, n := q.found(), q.overFound(p).(*expr.Path)
	shown := func(x value.Expression) pg.Expr {
		v := x.Operand(n).Scalar()
		switch {
		case isHidden:
			return &pg.Case{Whens: []pg.When{{Condition: pg.IsNotNull(v), Result: pg.True()}}}
		case n.Type().Kind != expr.Model:
			return value.Literal(n.Type(), v)
		}
		return v
	}
	prefixes := expr.Prefixes(n)
	if len(prefixes) == 0 {
		return pg.Fn("jsonb_build_array", shown(x))
	}
	j, x := x.BindWitness(prefixes[len(prefixes)-1])
	all := j.Query([]pg.Output{{Value: pg.Fn("to_jsonb", shown(x))}}, nil)
	for _, row := range append([]pg.Join{{With: all.From}}, all.Joins...) {
		all.OrderBy = append(all.OrderBy, pg.Order{Value: pg.Col(row.With.(*pg.TableRef).Alias, "id")})
	}
	return pg.Fn("to_jsonb", &pg.ArrayOf{Query: all})
}

// Member is the value of a membership by an expression.
func (q Question) Member(m *model.Membership) pg.Expr {
	return isTrue(value.NewExpression(value.RuleLogic, value.InQuery, nil, value.NoInput).AllHold([]expr.Node{m.Expression}))
}

// Caller is the query for a caller by id or, if no caller has it, by e-mail: the ids, the e-mails, whether these are
// verified, and whether each role has a caller with that e-mail, once it is verified.
func Caller(named string, roles []*model.Role) *pg.Select {
	column := func(name string) pg.Expr { return pg.Col("identity", name) }
	byID := pg.Eq(column("id"), pg.Str(named))
	q := &pg.Select{
		From:    pg.Ref(value.RelatedSchema, "identity"),
		Where:   pg.AnyOf(byID, pg.Eq(column("email"), pg.Str(named))),
		OrderBy: []pg.Order{{Value: byID, Descending: true}},
		Limit:   pg.Lit("2"),
	}
	for _, value := range []pg.Expr{column("id"), column("email"), column("email_verified")} {
		q.Columns = append(q.Columns, pg.Output{Value: value})
	}
	for _, r := range roles {
		q.Columns = append(q.Columns, pg.Output{Value: isTrue(rule.IsMember(r))})
	}
	return q
}
