package value

import (
	"fmt"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Operand is one side of a comparison.
type Operand struct {
	Value    pg.Expr
	Joins    *joins // tables on a path through to-ones; nil means none
	Typ      expr.Type
	Nullable bool      // whether it may be null, and null is a value there
	Nobody   bool      // whether its null makes the comparison false
	nowhere  bool      // whether it leads through a to-many without child
	elements []Operand // of a list; not nil even if there are none
	parts    []Operand // operands of arithmetic or of a function
	isExact  bool      // whether a Number has the type that holds every number

	passesNulls bool    // whether it may have a value though a part is null
	known       pg.Expr // condition under which no null element makes a list null; nil means always
}

// Operand lowers one side of a comparison.
func (x Expression) Operand(n expr.Node) Operand {
	switch n := n.(type) {
	case *expr.Literal:
		return Operand{Value: literal(n), Typ: n.Type(), Nullable: n.Value == nil && x.Logic != ValidateLogic}
	case *expr.List:
		return x.list(n)
	case *expr.Path:
		return x.path(n)
	case *expr.Arithmetic:
		return x.arithmetic(n)
	case *expr.Negative:
		return x.negative(n)
	case *expr.Function:
		return x.function(n)
	case *expr.Aggregate:
		return x.aggregate(n)
	}
	panic(fmt.Sprintf("lower: %T is not an operand", n))
}

// list lowers a list. In @validate a null element makes it null as a whole.
func (x Expression) list(l *expr.List) Operand {
	o := Operand{Typ: l.Type(), elements: []Operand{}}
	var known []pg.Expr
	for _, e := range l.Elements {
		element := x.Operand(e)
		o.nowhere = o.nowhere || element.nowhere
		o.elements = append(o.elements, element)
		if p, ok := e.(*expr.Path); ok && p.MayBeNull() && x.Logic == ValidateLogic && !element.nowhere {
			known = append(known, pg.IsNotNull(element.Scalar()))
		}
	}
	if len(known) > 0 {
		o.known = pg.AllOf(known...)
	}
	return o
}

func (x Expression) path(p *expr.Path) Operand {
	o := Operand{Typ: p.Type()}
	switch p.Root {
	case expr.RootInput:
		o.Value = x.input(p.Input)
		o.Nobody = x.Logic == RuleLogic && (p.Input.InputNullable() || p.Input.InputOptional())
		o.Nullable = x.Logic == WhereLogic && p.Input.InputNullable() // a mention of an absent input does not count
		return o
	case expr.RootIsAuthenticated:
		o.Value = pg.IsNotNull(x.identityID())
		return o
	case expr.RootNow:
		o.Value = pg.As(pg.Fn("now"), ColumnType(o.Typ)) // in its stored form
		return o
	case expr.RootHeader:
		o.Value, o.Nullable = x.setting("platform.header", p.Name), x.Logic != ValidateLogic
		return o
	case expr.RootEnv:
		o.Value = x.setting("platform.environment", p.Name)
		return o
	case expr.RootSecret:
		o.Value = x.setting("platform.secret", p.Name)
		return o
	case expr.RootSecondFactor, expr.RootSignedInWithin:
		o.Value = x.session(p)
		return o
	}

	if x.Outer != nil && p.Root == expr.RootRow {
		o.Value, o.Nullable = x.Outer.value(p), p.MayBeNull()
		return o
	}
	if x.Parts != nil {
		o.Value, o.Nullable = x.OwnColumn(p), p.MayBeNull()
		return o
	}
	start, steps := x.Start(p.Root, p.Steps)
	if start == nil {
		o.nowhere = true
		return o
	}
	j := x.joinsFrom(p.Root)
	at := *start
	o.Nobody = p.Root == expr.RootIdentity && x.Logic != ValidateLogic
	for i, s := range steps {
		f := Field(s)
		o.Nullable = o.Nullable || f.Optional
		if i == len(steps)-1 && !f.IsRelation() {
			o.Value = j.value(at, f)
			break
		}
		at = j.Follow(at, f)
	}
	if o.Value == nil {
		o.Value = at.ID
	}
	o.Nullable = o.Nullable && !o.Nobody && x.Logic != ValidateLogic
	if len(j.List) > 0 {
		o.Joins = j
		// From the caller it is the same for all rows, so Postgres evaluates it once.
		// In @validate null has to stay null, which joins would lose.
		if p.Root == expr.RootIdentity && start.Name == "" || x.Logic == ValidateLogic {
			o.Value, o.Joins = o.Scalar(), nil
		}
	}
	return o
}

// session tells what the caller has shown to sign in.
func (x Expression) session(p *expr.Path) pg.Expr {
	if x.IsRaised {
		return pg.True()
	}
	if p.Root == expr.RootSecondFactor {
		return Settled(pg.Fn("platform.second_factor"), x.Site)
	}
	return Settled(pg.Fn("platform.signed_in_within", pg.Str(p.Name)), x.Site)
}

// setting reads a setting of the call.
func (x Expression) setting(function, name string) pg.Expr {
	return Settled(pg.Fn(function, pg.Str(name)), x.Site)
}

// identityID is the caller's id, null for an anonymous caller. In a function that writes, reading a setting costs
// Postgres a snapshot, while a query has one anyhow.
func (x Expression) identityID() pg.Expr {
	if x.Site == InFunction && x.Caller != nil {
		return x.Caller
	}
	return IdentityID(x.Site)
}

// IdentityID is the caller's id as its setting has it.
func IdentityID(at Site) pg.Expr { return Settled(pg.Fn("platform.identity_id"), at) }

// Settled reads a setting once per statement inside a query.
func Settled(call pg.Expr, at Site) pg.Expr {
	if at == InFunction {
		return call
	}
	return &pg.Subquery{Query: &pg.Select{Columns: []pg.Output{{Value: call}}}}
}

// Scalar is the operand as one value, null where its path leads nowhere.
func (o Operand) Scalar() pg.Expr {
	if o.elements != nil {
		elements := make([]pg.Expr, len(o.elements))
		for i, e := range o.elements {
			elements[i] = e.Scalar()
		}
		array := pg.As(&pg.Array{Elements: elements}, CastType(o.Typ.Kind)+"[]")
		if o.known != nil {
			return &pg.Case{Whens: []pg.When{{Condition: o.known, Result: array}}}
		}
		return array
	}
	if o.Joins == nil {
		return o.Value
	}
	return &pg.Subquery{Query: o.Joins.Query([]pg.Output{{Value: o.Value}}, nil)}
}

// RejectingNull builds a condition over the value that does not hold for null. The tables of its path may then be
// joined, and Postgres can reorder such joins.
func (o Operand) RejectingNull(condition func(pg.Expr) pg.Expr) pg.Expr {
	if o.Joins == nil {
		return condition(o.Scalar())
	}
	return &pg.Exists{Query: o.Joins.Query(nil, condition(o.Value))}
}

// both builds a condition over two values that holds for no null.
func both(left, right Operand, condition func(l, r pg.Expr) pg.Expr) pg.Expr {
	return left.RejectingNull(func(l pg.Expr) pg.Expr {
		if left.Joins != nil && right.Joins != nil {
			return condition(l, right.Scalar())
		}
		return right.RejectingNull(func(r pg.Expr) pg.Expr { return condition(l, r) })
	})
}

// somebody is the condition that must hold beside a comparison that null would satisfy: neither the operand nor an
// element or part of it is an anonymous caller.
func (o Operand) somebody() pg.Expr {
	var conditions []pg.Expr
	if o.Nobody {
		conditions = append(conditions, pg.IsNotNull(o.Scalar()))
	}
	for _, e := range slices.Concat(o.elements, o.parts) {
		conditions = append(conditions, e.somebody())
	}
	return pg.AllOf(conditions...)
}

// somebodyPassed is the condition that must hold beside a comparison that a null would not make false, since a function
// passes over it.
func (o Operand) somebodyPassed() pg.Expr {
	if o.passesNulls {
		return o.somebody()
	}
	var conditions []pg.Expr
	for _, e := range o.parts {
		conditions = append(conditions, e.somebodyPassed())
	}
	return pg.AllOf(conditions...)
}

// unify gives two operands types between which Postgres has an operator with the language's meaning.
func unify(left, right *Operand) {
	coerce(left, right)
	coerce(right, left)
}

// coerce brings an operand to the wider kind of the other: a Date compared with a Timestamp is its midnight in UTC;
// Postgres would take the session's zone.
func coerce(o, other *Operand) {
	if o.elements != nil {
		if o.Typ.Kind == expr.AnyList {
			o.Typ.Kind = other.Typ.Kind
		}
		for i := range o.elements {
			coerce(&o.elements[i], &Operand{Typ: expr.Type{Kind: o.Typ.Kind}})
		}
		return
	}
	switch {
	case o.Typ.Kind == expr.Date && other.Typ.Kind == expr.Timestamp:
		o.Value = pg.Fn("platform.midnight", o.Value)
		o.Typ.Kind = expr.Timestamp
	case o.Typ.Kind == expr.Number && other.Typ.Kind == expr.Decimal && o.Typ.Array && other.Typ.Array:
		o.Value = pg.As(o.Value, "numeric[]")
		o.Typ.Kind = expr.Decimal
	}
}
