package lower

import (
	"fmt"
	"maps"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// logic is the meaning of null at the place of an expression: the SQL there has to mean what the interpreter does.
type logic = expr.NullSemantics

const (
	whereLogic    = expr.InWhere
	ruleLogic     = expr.InRule
	validateLogic = expr.InValidate
)

// site is the place of an expression's SQL. A query reads the caller's settings through sub-selects, once per statement
// and not once per row; a plain statement of a function has them at hand.
type site int

const (
	inFunction site = iota
	inQuery
)

// expression lowers a Boolean expression to a condition. In whereLogic and ruleLogic its null counts as false, as
// Postgres treats it in where and using; where that would show, under a negation, it is made exact.
//
// A path through a to-many asks whether there is a child. The child for which the conjuncts that mention it hold
// together is their witness: it becomes one exists, around as few of the conjuncts as mention it. Since only ! negates,
// and its operand has witnesses of its own, exists may be moved inside || and past conjuncts that do not mention it.
type expression struct {
	logic     logic
	site      site
	row       *tableAlias // nil where there is none
	input     func(expr.Input) pg.Expr
	caller    pg.Expr // the caller's id as a function has it at hand; nil means that every use reads its setting
	aliases   map[string]bool
	witnesses map[string]*tableAlias // by prefix; nil means that there is no child

	// parts are the columns in which a row of a computed field keeps the values that it reads of others; nil where
	// relations are walked. inlines tells whether generated columns are inlined.
	parts   partColumns
	inlines bool

	// beside is the expression over another row, which has all paths but those in behind; nil means that all are of the
	// row.
	beside *expression
	behind map[*expr.Path]bool

	// linked returns the row that a to-one leads to from a row that is not there yet; nil
	// where the row is there.
	linked func(toOne *model.Field) tableAlias

	// outer joins the rows at the ends of to-ones to the row; nil where a path becomes a sub-select.
	outer *outerJoins

	// written is what the action has inserted when it judges the row, which is a part of it; nil means nothing. Paths
	// from the caller skip these rows.
	written *level

	// asked are the answers to parts of the expression that were evaluated before.
	asked map[expr.Node]pg.Expr
}

// partColumns are the columns in which rows keep the values that their computed fields read of other rows.
type partColumns interface {
	// PathColumn is the column of a model's rows that holds what a path to another row leads to.
	PathColumn(m *model.Model, p *expr.Path) string
	// AggregateColumn is the column of a model's rows that holds a function of other rows.
	AggregateColumn(m *model.Model, a *expr.Aggregate, function string) string
	// Column is the column of a computed field. inlines asks for what it is generated from, if Postgres generates it.
	Column(f *model.Field, alias string, inlines bool) pg.Expr
}

// newExpression prepares to lower expressions over a row, which may be nil.
// input returns the value of an input.
func newExpression(l logic, at site, row *tableAlias, input func(expr.Input) pg.Expr) expression {
	x := expression{logic: l, site: at, row: row, input: input, aliases: map[string]bool{}, witnesses: map[string]*tableAlias{}}
	if row != nil {
		x.aliases[row.name] = true
	}
	return x
}

// holds lowers a Boolean expression.
func (x expression) holds(n expr.Node) pg.Expr {
	if answer, ok := x.asked[n]; ok {
		return answer
	}
	switch n := n.(type) {
	case *expr.Logic:
		if n.Op == syntax.Or {
			return pg.AnyOf(x.holds(n.Left), x.holds(n.Right))
		}
		return x.allHold([]expr.Node{n})
	case *expr.Not:
		// The operand has witnesses of its own.
		inner := x
		inner.witnesses = map[string]*tableAlias{}
		return x.negate(inner.holds(n.Operand))
	}
	if p := x.unbound(expr.Prefixes(n)); p != nil {
		return x.withWitness(*p, partsOf(n))
	}
	switch n := n.(type) {
	case *expr.Compare:
		return x.comparison(n)
	case *expr.Literal:
		return literal(n)
	case *expr.Path:
		return x.isTrue(n)
	}
	panic(fmt.Sprintf("lower: %T is not a Boolean expression", n))
}

// negate negates a condition. Its null counts as false and so becomes true, except in @validate, where it stays null.
func (x expression) negate(e pg.Expr) pg.Expr {
	if x.logic == validateLogic || isExact(e) {
		return pg.Negate(e)
	}
	return &pg.Is{Value: e, Test: "not true"}
}

// isExact tells whether a condition is never null.
func isExact(e pg.Expr) bool {
	switch e := e.(type) {
	case *pg.Exists, *pg.Is:
		return true
	case *pg.Raw:
		return pg.IsTrue(e) || pg.IsFalse(e)
	case *pg.Not:
		return isExact(e.Operand)
	case *pg.And:
		return allExact(e.Operands)
	case *pg.Or:
		return allExact(e.Operands)
	case *pg.Binary:
		return e.Op == "is distinct from" || e.Op == "is not distinct from" || isSet(e.Left) && isSet(e.Right)
	case *pg.In:
		return isSet(e.Value) && allSet(e.List)
	}
	return false
}

// isSet tells whether a value is never null: a literal, a test, or a value that the platform has for every call.
func isSet(e pg.Expr) bool {
	switch e := e.(type) {
	case *pg.Text:
		return true
	case *pg.Raw:
		return e.SQL != "null"
	case *pg.Cast:
		return isSet(e.Value)
	case *pg.Call:
		switch e.Name {
		case "now", "platform.environment", "platform.secret":
			return true
		}
	case *pg.Subquery:
		return e.Query.From == nil && len(e.Query.Columns) == 1 && isSet(e.Query.Columns[0].Value)
	case *pg.Binary, *pg.Is, *pg.Exists, *pg.Not, *pg.And, *pg.Or:
		return isExact(e)
	}
	return false
}

func allSet(list []pg.Expr) bool {
	for _, e := range list {
		if !isSet(e) {
			return false
		}
	}
	return true
}

func allExact(list []pg.Expr) bool {
	for _, e := range list {
		if !isExact(e) {
			return false
		}
	}
	return true
}

func conjunctsOf(n expr.Node) []expr.Node {
	if l, ok := n.(*expr.Logic); ok && l.Op == syntax.And {
		return append(conjunctsOf(l.Left), conjunctsOf(l.Right)...)
	}
	return []expr.Node{n}
}

// withWitness lowers conjuncts that mention a prefix: they hold with some child there, or without a child, when the
// comparisons with it are false.
func (x expression) withWitness(p expr.Prefix, conjuncts []conjunct) pg.Expr {
	key := p.Key()

	without := x
	without.witnesses = maps.Clone(x.witnesses)
	without.witnesses[key] = nil
	none := without.conjunction(conjuncts)

	if start, _ := x.start(p.Root, p.Steps); start == nil {
		return none // a prefix behind one without children has none either
	}
	j, with := x.bindWitness(p)
	return pg.AnyOf(x.some(j, with.conjunction(conjuncts)), none)
}

// bindWitness returns the joins that lead to the children of a prefix, and the
// expression in which one of them is its witness.
func (x expression) bindWitness(p expr.Prefix) (*joins, expression) {
	start, rest := x.start(p.Root, p.Steps)
	j := x.joinsFrom(p.Root)
	at := *start
	for _, s := range rest {
		at = j.follow(at, field(s))
	}
	with := x
	with.site = inQuery
	with.aliases = j.aliases
	with.witnesses = maps.Clone(x.witnesses)
	with.witnesses[p.Key()] = &at
	return j, with
}

// some holds if the condition does for some row of the joins. In @validate, if it
// does for none and is unknown for some, the result is unknown, not false.
func (x expression) some(j *joins, condition pg.Expr) pg.Expr {
	if x.logic == validateLogic && !isExact(condition) {
		return &pg.Any{Value: pg.True(), Op: "=", Array: &pg.Subquery{Query: j.query([]pg.Output{{Value: condition}}, nil)}}
	}
	return &pg.Exists{Query: j.query(nil, condition)}
}

// start returns the row from which a path goes on, and the steps that are left: the witness of its longest prefix that
// has one, or its root. The row is nil if there is no child.
func (x expression) start(root expr.Root, steps []expr.Step) (*tableAlias, []expr.Step) {
	for n := len(steps); n > 0; n-- {
		if at, bound := x.witnesses[(expr.Prefix{Root: root, Steps: steps[:n]}).Key()]; bound {
			return at, steps[n:]
		}
	}
	switch {
	case root == expr.RootRow && x.linked != nil:
		at := x.linked(field(steps[0]))
		return &at, steps[1:]
	case root == expr.RootRow:
		return x.row, steps
	case len(steps) == 0:
		return &tableAlias{id: x.identityID()}, nil
	}
	// A path on from the caller is a query.
	return &tableAlias{model: field(steps[0]).Model, id: identityID(inQuery)}, steps
}

// isTrue lowers a Boolean path by itself, which means == true.
func (x expression) isTrue(p *expr.Path) pg.Expr {
	o := x.operand(p)
	if o.nowhere {
		return pg.False()
	}
	return o.rejectingNull(func(value pg.Expr) pg.Expr { return value })
}

// comparison lowers a comparison whose prefixes all have their witnesses.
func (x expression) comparison(c *expr.Compare) pg.Expr {
	if n, ok := nullTested(c); ok {
		return x.nullTest(n, c.Op == syntax.Equal)
	}
	if holds, isKnown := ofLiterals(c); isKnown {
		return boolean(holds)
	}
	return x.compare(c.Op, x.operand(c.Left), x.operand(c.Right))
}

// ofLiterals is the outcome of a comparison of texts, enum values, Booleans or Numbers that are known, as an arm of a
// union puts them in place of fields.
func ofLiterals(c *expr.Compare) (holds, isKnown bool) {
	elements := []expr.Node{c.Right}
	if list, ok := c.Right.(*expr.List); ok && c.Op == syntax.In {
		elements = list.Elements
	} else if c.Op != syntax.Equal && c.Op != syntax.NotEqual {
		return false, false
	}
	for _, n := range append(elements, c.Left) {
		l, ok := n.(*expr.Literal)
		if !ok || l.Value == nil {
			return false, false
		}
		switch l.Type().Kind {
		case expr.Text, expr.Enum, expr.Boolean, expr.Number:
		default:
			return false, false
		}
		if l.Type().Kind != c.Left.Type().Kind {
			return false, false
		}
	}
	return expr.Holds(expr.Call{}, c), true
}

// compare lowers a comparison that tests nothing for null.
func (x expression) compare(operator syntax.Operator, left, right operand) pg.Expr {
	if left.nowhere || right.nowhere {
		return pg.False()
	}
	if operator == syntax.In {
		return membership(left, right)
	}
	unify(&left, &right)
	op := operatorOf(operator)
	switch {
	case x.logic == validateLogic, op != "=" && op != "<>":
	case op == "=" && left.nullable && right.nullable:
		return pg.AllOf(
			pg.Op(left.scalar(), "is not distinct from", right.scalar()),
			left.somebody(), right.somebody(),
		)
	case op == "<>" && (left.nullable || right.nullable):
		// Null differs from every value, but an anonymous caller differs from none.
		return pg.AllOf(
			pg.Op(left.scalar(), "is distinct from", right.scalar()),
			left.somebody(), right.somebody(),
		)
	}
	compared := both(left, right, func(l, r pg.Expr) pg.Expr { return pg.Op(l, op, r) })
	if op == "<>" && x.logic != validateLogic && (left.elements != nil || right.elements != nil) {
		// Postgres takes a null element for a value.
		return pg.AllOf(compared, left.somebody(), right.somebody())
	}
	return compared
}

func operatorOf(op syntax.Operator) string {
	switch op {
	case syntax.Equal:
		return "="
	case syntax.NotEqual:
		return "<>"
	}
	return string(op)
}

// nullTested returns the side of a comparison with null that is not null.
func nullTested(c *expr.Compare) (expr.Node, bool) {
	if c.Op != syntax.Equal && c.Op != syntax.NotEqual {
		return nil, false
	}
	if isNullLiteral(c.Left) {
		return c.Right, true
	}
	return c.Left, isNullLiteral(c.Right)
}

func isNullLiteral(n expr.Node) bool {
	l, ok := n.(*expr.Literal)
	return ok && l.Type().Kind == expr.NullKind
}

// nullTest lowers == null and != null.
func (x expression) nullTest(n expr.Node, wantsNull bool) pg.Expr {
	isNull, somewhere := x.isNull(n)
	switch {
	case !somewhere:
		return pg.False()
	case wantsNull:
		return isNull
	}
	return pg.Negate(isNull)
}

// isNull tests for null. It is false if n leads through a to-many without child.
func (x expression) isNull(n expr.Node) (pg.Expr, bool) {
	p, isPath := n.(*expr.Path)
	if isPath && endsInInverse(p) && x.parts == nil {
		return x.leadsNowhere(p)
	}
	o := x.operand(n)
	switch {
	case o.nowhere:
		return nil, false
	case isPath, isArithmetic(n), isAggregate(n):
		return pg.IsNull(o.scalar()), true
	}
	l, isLiteral := n.(*expr.Literal)
	return boolean(isLiteral && l.Value == nil), true // literals and lists are known
}

// leadsNowhere tests that there is no row at the end of a path.
func (x expression) leadsNowhere(p *expr.Path) (pg.Expr, bool) {
	last := len(p.Steps) - 1
	start, rest := x.start(p.Root, p.Steps[:last])
	if start == nil {
		return nil, false
	}
	j := x.joinsFrom(p.Root)
	at := *start
	for _, s := range append(rest[:len(rest):len(rest)], p.Steps[last]) {
		at = j.follow(at, field(s))
	}
	return pg.Negate(&pg.Exists{Query: j.query(nil, nil)}), true
}

// endsInInverse tells whether a path ends in a relation whose column, if any, is in the other model.
func endsInInverse(p *expr.Path) bool {
	if len(p.Steps) == 0 {
		return false
	}
	f := field(p.Steps[len(p.Steps)-1])
	return f.IsRelation() && f.FK == nil
}

// membership lowers x in a list, an array or the values of a to-many.
func membership(left, right operand) pg.Expr {
	unify(&left, &right)
	switch {
	case right.elements != nil && len(right.elements) == 0:
		return pg.False()
	case len(right.elements) == 1: // in (…) with a lone sub-select would ask for its rows
		return both(left, right.elements[0], func(l, r pg.Expr) pg.Expr { return pg.Eq(l, r) })
	case right.elements != nil:
		list := make([]pg.Expr, len(right.elements))
		for i, e := range right.elements {
			list[i] = e.scalar()
		}
		return left.rejectingNull(func(value pg.Expr) pg.Expr { return &pg.In{Value: value, List: list} })
	case right.typ.Array && right.typ.Kind != expr.Model:
		return both(left, right, func(l, r pg.Expr) pg.Expr {
			if _, isQuery := r.(*pg.Subquery); isQuery {
				r = pg.As(r, columnType(right.typ)) // or any would ask for a row, not for an element
			}
			return &pg.Any{Value: l, Op: "=", Array: r}
		})
	}
	return both(right, left, func(r, l pg.Expr) pg.Expr { return pg.Eq(r, l) })
}
