package value

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Logic is the meaning of null at the place of an expression: the SQL there has to mean what the interpreter does.
type Logic = expr.NullSemantics

const (
	WhereLogic    = expr.InWhere
	RuleLogic     = expr.InRule
	ValidateLogic = expr.InValidate
)

// Site is the place of an expression's SQL. A query reads the caller's settings through sub-selects, once per statement
// and not once per row; a plain statement of a function has them at hand.
type Site int

const (
	InFunction Site = iota
	InQuery
)

// Expression lowers a Boolean expression to a condition. In whereLogic and ruleLogic its null counts as false, as
// Postgres treats it in where and using; where that would show, under a negation, it is made exact.
//
// A path through a to-many asks whether there is a child. The child for which the conjuncts that mention it hold
// together is their witness: it becomes one exists, around as few of the conjuncts as mention it. Since only ! negates,
// and its operand has witnesses of its own, exists may be moved inside || and past conjuncts that do not mention it.
type Expression struct {
	Logic     Logic
	Site      Site
	IsRaised  bool        // whether the caller counts as one who has just shown a second factor
	Row       *TableAlias // nil where there is none
	input     func(expr.Input) pg.Expr
	Caller    pg.Expr // the caller's id as a function has it at hand; nil means that every use reads its setting
	Aliases   map[string]bool
	Witnesses map[string]*TableAlias // by prefix; nil means that there is no child

	// parts are the columns in which a row of a computed field keeps the values that it reads of others; nil where
	// relations are walked. inlines tells whether generated columns are inlined.
	Parts   partColumns
	Inlines bool

	// beside is the expression over another row, which has all paths but those in behind; nil means that all are of the
	// row.
	Beside *Expression
	Behind map[*expr.Path]bool

	// linked returns the row to which a path leads by a link of a row that is not there yet, and the steps that are left;
	// nil where the row is there.
	Linked func(steps []expr.Step) (TableAlias, []expr.Step)

	// outer joins the rows at the ends of to-ones to the row; nil where a path becomes a sub-select.
	Outer *OuterJoins

	// written is what the action has inserted when it judges the row, which is a part of it; nil means nothing. Paths
	// from the caller skip these rows.
	Written *Level

	// asked are the answers to parts of the expression that were evaluated before.
	Asked map[expr.Node]pg.Expr
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

// NewExpression prepares to lower expressions over a row, which may be nil.
// input returns the value of an input.
func NewExpression(l Logic, at Site, row *TableAlias, input func(expr.Input) pg.Expr) Expression {
	x := Expression{Logic: l, Site: at, Row: row, input: input, Aliases: map[string]bool{}, Witnesses: map[string]*TableAlias{}}
	if row != nil {
		x.Aliases[row.Name] = true
	}
	return x
}

// Holds lowers a Boolean expression.
func (x Expression) Holds(n expr.Node) pg.Expr {
	if answer, ok := x.Asked[n]; ok {
		return answer
	}
	switch n := n.(type) {
	case *expr.Logic:
		if n.Op == syntax.Or {
			return pg.AnyOf(x.Holds(n.Left), x.Holds(n.Right))
		}
		return x.AllHold([]expr.Node{n})
	case *expr.Not:
		// The operand has witnesses of its own.
		inner := x
		inner.Witnesses = map[string]*TableAlias{}
		return x.negate(inner.Holds(n.Operand))
	}
	if p := x.Unbound(expr.Prefixes(n)); p != nil {
		return x.WithWitness(*p, PartsOf(n))
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
func (x Expression) negate(e pg.Expr) pg.Expr {
	if x.Logic == ValidateLogic || IsExact(e) {
		return pg.Negate(e)
	}
	return &pg.Is{Value: e, Test: "not true"}
}

// IsExact tells whether a condition is never null.
func IsExact(e pg.Expr) bool {
	switch e := e.(type) {
	case *pg.Exists, *pg.Is:
		return true
	case *pg.Raw:
		return pg.IsTrue(e) || pg.IsFalse(e)
	case *pg.Not:
		return IsExact(e.Operand)
	case *pg.And:
		return allExact(e.Operands)
	case *pg.Or:
		return allExact(e.Operands)
	case *pg.Binary:
		return e.Op == "is distinct from" || e.Op == "is not distinct from" || isSet(e.Left) && isSet(e.Right)
	case *pg.In:
		return isSet(e.Value) && allSet(e.List)
	case *pg.Call, *pg.Subquery:
		return isSet(e)
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
		case "now", "platform.environment", "platform.secret", "platform.second_factor", "platform.signed_in_within":
			return true
		case "coalesce":
			return slices.ContainsFunc(e.Args, isSet)
		}
	case *pg.Subquery:
		return e.Query.From == nil && len(e.Query.Columns) == 1 && isSet(e.Query.Columns[0].Value)
	case *pg.Binary, *pg.Is, *pg.Exists, *pg.Not, *pg.And, *pg.Or:
		return IsExact(e)
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
		if !IsExact(e) {
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

// WithWitness lowers conjuncts that mention a prefix: they hold with some child there, or without a child, when the
// comparisons with it are false.
func (x Expression) WithWitness(p expr.Prefix, conjuncts []Conjunct) pg.Expr {
	key := p.Key()

	without := x
	without.Witnesses = maps.Clone(x.Witnesses)
	without.Witnesses[key] = nil
	none := without.Conjunction(conjuncts)

	if start, _ := x.Start(p.Root, p.Steps); start == nil {
		return none // a prefix behind one without children has none either
	}
	j, with := x.BindWitness(p)
	return pg.AnyOf(x.some(j, with.Conjunction(conjuncts)), none)
}

// BindWitness returns the joins that lead to the children of a prefix, and the
// expression in which one of them is its witness.
func (x Expression) BindWitness(p expr.Prefix) (*joins, Expression) {
	start, rest := x.Start(p.Root, p.Steps)
	j := x.joinsFrom(p.Root)
	at := *start
	for _, s := range rest {
		at = j.Follow(at, Field(s))
	}
	with := x
	with.Site = InQuery
	with.Aliases = j.Aliases
	with.Witnesses = maps.Clone(x.Witnesses)
	with.Witnesses[p.Key()] = &at
	return j, with
}

// some holds if the condition does for some row of the joins. In @validate, if it
// does for none and is unknown for some, the result is unknown, not false.
func (x Expression) some(j *joins, condition pg.Expr) pg.Expr {
	if x.Logic == ValidateLogic && !IsExact(condition) {
		return &pg.Any{Value: pg.True(), Op: "=", Array: &pg.Subquery{Query: j.Query([]pg.Output{{Value: condition}}, nil)}}
	}
	return &pg.Exists{Query: j.Query(nil, condition)}
}

// Start returns the row from which a path goes on, and the steps that are left: the witness of its longest prefix that
// has one, or its root. The row is nil if there is no child.
func (x Expression) Start(root expr.Root, steps []expr.Step) (*TableAlias, []expr.Step) {
	for n := len(steps); n > 0; n-- {
		if at, bound := x.Witnesses[(expr.Prefix{Root: root, Steps: steps[:n]}).Key()]; bound {
			return at, steps[n:]
		}
	}
	switch {
	case root == expr.RootRow && x.Linked != nil:
		at, rest := x.Linked(steps)
		return &at, rest
	case root == expr.RootRow:
		return x.Row, steps
	case len(steps) == 0:
		return &TableAlias{ID: x.identityID()}, nil
	}
	// A path on from the caller is a query.
	return &TableAlias{Model: Field(steps[0]).Model, ID: IdentityID(InQuery)}, steps
}

// isTrue lowers a Boolean path by itself, which means == true.
func (x Expression) isTrue(p *expr.Path) pg.Expr {
	o := x.Operand(p)
	if o.nowhere {
		return pg.False()
	}
	return o.RejectingNull(func(value pg.Expr) pg.Expr { return value })
}

// comparison lowers a comparison whose prefixes all have their witnesses.
func (x Expression) comparison(c *expr.Compare) pg.Expr {
	if n, ok := NullTested(c); ok {
		return x.nullTest(n, c.Op == syntax.Equal)
	}
	if holds, isKnown := ofLiterals(c); isKnown {
		return Boolean(holds)
	}
	return x.Compare(c.Op, x.Operand(c.Left), x.Operand(c.Right))
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

// Compare lowers a comparison that tests nothing for null.
func (x Expression) Compare(operator syntax.Operator, left, right Operand) pg.Expr {
	if left.nowhere || right.nowhere {
		return pg.False()
	}
	if operator == syntax.In {
		return pg.AllOf(membership(left, right), left.somebodyPassed())
	}
	unify(&left, &right)
	op := operatorOf(operator)
	switch {
	case x.Logic == ValidateLogic, op != "=" && op != "<>":
	case op == "=" && left.Nullable && right.Nullable:
		return pg.AllOf(
			pg.Op(left.Scalar(), "is not distinct from", right.Scalar()),
			left.somebody(), right.somebody(),
		)
	case op == "<>" && (left.Nullable || right.Nullable):
		// Null differs from every value, but an anonymous caller differs from none.
		return pg.AllOf(
			pg.Op(left.Scalar(), "is distinct from", right.Scalar()),
			left.somebody(), right.somebody(),
		)
	}
	compared := both(left, right, func(l, r pg.Expr) pg.Expr { return pg.Op(l, op, r) })
	if op == "<>" && x.Logic != ValidateLogic && (left.elements != nil || right.elements != nil) {
		// Postgres takes a null element for a value.
		return pg.AllOf(compared, left.somebody(), right.somebody())
	}
	return pg.AllOf(compared, left.somebodyPassed(), right.somebodyPassed())
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

// NullTested returns the side of a comparison with null that is not null.
func NullTested(c *expr.Compare) (expr.Node, bool) {
	if c.Op != syntax.Equal && c.Op != syntax.NotEqual {
		return nil, false
	}
	if IsNullLiteral(c.Left) {
		return c.Right, true
	}
	return c.Left, IsNullLiteral(c.Right)
}

// IsNullLiteral tells whether an expression is null as it is written.
func IsNullLiteral(n expr.Node) bool {
	l, ok := n.(*expr.Literal)
	return ok && l.Type().Kind == expr.NullKind
}

// nullTest lowers == null and != null.
func (x Expression) nullTest(n expr.Node, wantsNull bool) pg.Expr {
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
func (x Expression) isNull(n expr.Node) (pg.Expr, bool) {
	p, isPath := n.(*expr.Path)
	if isPath && endsInInverse(p) && x.Parts == nil {
		return x.leadsNowhere(p)
	}
	o := x.Operand(n)
	switch {
	case o.nowhere:
		return nil, false
	case isPath, IsMade(n), IsAggregate(n):
		return pg.IsNull(o.Scalar()), true
	}
	l, isLiteral := n.(*expr.Literal)
	return Boolean(isLiteral && l.Value == nil), true // literals and lists are known
}

// leadsNowhere tests that there is no row at the end of a path.
func (x Expression) leadsNowhere(p *expr.Path) (pg.Expr, bool) {
	last := len(p.Steps) - 1
	start, rest := x.Start(p.Root, p.Steps[:last])
	if start == nil {
		return nil, false
	}
	j := x.joinsFrom(p.Root)
	at := *start
	for _, s := range append(rest[:len(rest):len(rest)], p.Steps[last]) {
		at = j.Follow(at, Field(s))
	}
	return pg.Negate(&pg.Exists{Query: j.Query(nil, nil)}), true
}

// endsInInverse tells whether a path ends in a relation whose column, if any, is in the other model.
func endsInInverse(p *expr.Path) bool {
	if len(p.Steps) == 0 {
		return false
	}
	f := Field(p.Steps[len(p.Steps)-1])
	return f.IsRelation() && f.FK == nil
}

// membership lowers x in a list, an array or the values of a to-many.
func membership(left, right Operand) pg.Expr {
	unify(&left, &right)
	switch {
	case right.elements != nil && len(right.elements) == 0:
		return pg.False()
	case len(right.elements) == 1: // in (…) with a lone sub-select would ask for its rows
		return both(left, right.elements[0], func(l, r pg.Expr) pg.Expr { return pg.Eq(l, r) })
	case right.elements != nil:
		list := make([]pg.Expr, len(right.elements))
		for i, e := range right.elements {
			list[i] = e.Scalar()
		}
		return left.RejectingNull(func(value pg.Expr) pg.Expr { return &pg.In{Value: value, List: list} })
	case right.Typ.Array && right.Typ.Kind != expr.Model:
		return both(left, right, func(l, r pg.Expr) pg.Expr {
			if _, isQuery := r.(*pg.Subquery); isQuery {
				r = pg.As(r, ColumnType(right.Typ)) // or any would ask for a row, not for an element
			}
			return &pg.Any{Value: l, Op: "=", Array: r}
		})
	}
	return both(right, left, func(r, l pg.Expr) pg.Expr { return pg.Eq(r, l) })
}
