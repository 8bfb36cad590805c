package lower

import (
	"fmt"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// operand is one side of a comparison.
type operand struct {
	value    pg.Expr
	joins    *joins // tables on a path through to-ones; nil means none
	typ      expr.Type
	nullable bool      // whether it may be null, and null is a value there
	nobody   bool      // whether its null makes the comparison false
	nowhere  bool      // whether it leads through a to-many without child
	elements []operand // of a list; not nil even if there are none
	parts    []operand // operands of arithmetic
	known    pg.Expr   // condition under which no null element makes a list null; nil means always
}

// operand lowers one side of a comparison.
func (x expression) operand(n expr.Node) operand {
	switch n := n.(type) {
	case *expr.Literal:
		return operand{value: literal(n), typ: n.Type(), nullable: n.Value == nil && x.logic != validateLogic}
	case *expr.List:
		return x.list(n)
	case *expr.Path:
		return x.path(n)
	case *expr.Arithmetic:
		return x.arithmetic(n)
	case *expr.Negative:
		return x.negative(n)
	case *expr.Aggregate:
		return x.aggregate(n)
	}
	panic(fmt.Sprintf("lower: %T is not an operand", n))
}

// list lowers a list. In @validate a null element makes it null as a whole.
func (x expression) list(l *expr.List) operand {
	o := operand{typ: l.Type(), elements: []operand{}}
	var known []pg.Expr
	for _, e := range l.Elements {
		element := x.operand(e)
		o.nowhere = o.nowhere || element.nowhere
		o.elements = append(o.elements, element)
		if p, ok := e.(*expr.Path); ok && p.MayBeNull() && x.logic == validateLogic && !element.nowhere {
			known = append(known, pg.IsNotNull(element.scalar()))
		}
	}
	if len(known) > 0 {
		o.known = pg.AllOf(known...)
	}
	return o
}

func (x expression) path(p *expr.Path) operand {
	o := operand{typ: p.Type()}
	switch p.Root {
	case expr.RootInput:
		o.value = x.input(p.Input)
		o.nobody = x.logic == ruleLogic && (p.Input.InputNullable() || p.Input.InputOptional())
		o.nullable = x.logic == whereLogic && p.Input.InputNullable() // a mention of an absent input does not count
		return o
	case expr.RootIsAuthenticated:
		o.value = pg.IsNotNull(x.identityID())
		return o
	case expr.RootNow:
		o.value = pg.As(pg.Fn("now"), columnType(o.typ)) // in its stored form
		return o
	case expr.RootHeader:
		o.value, o.nullable = x.setting("platform.header", p.Name), x.logic != validateLogic
		return o
	case expr.RootEnv:
		o.value = x.setting("platform.environment", p.Name)
		return o
	case expr.RootSecret:
		o.value = x.setting("platform.secret", p.Name)
		return o
	}

	if x.outer != nil && p.Root == expr.RootRow {
		o.value, o.nullable = x.outer.value(p), p.MayBeNull()
		return o
	}
	if x.parts != nil {
		o.value, o.nullable = x.ownColumn(p), p.MayBeNull()
		return o
	}
	start, steps := x.start(p.Root, p.Steps)
	if start == nil {
		o.nowhere = true
		return o
	}
	j := x.joinsFrom(p.Root)
	at := *start
	o.nobody = p.Root == expr.RootIdentity && x.logic != validateLogic
	for i, s := range steps {
		f := field(s)
		o.nullable = o.nullable || f.Optional
		if i == len(steps)-1 && !f.IsRelation() {
			o.value = j.value(at, f)
			break
		}
		at = j.follow(at, f)
	}
	if o.value == nil {
		o.value = at.id
	}
	o.nullable = o.nullable && !o.nobody && x.logic != validateLogic
	if len(j.list) > 0 {
		o.joins = j
		// From the caller it is the same for all rows, so Postgres evaluates it once.
		// In @validate null has to stay null, which joins would lose.
		if p.Root == expr.RootIdentity && start.name == "" || x.logic == validateLogic {
			o.value, o.joins = o.scalar(), nil
		}
	}
	return o
}

// setting reads a setting of the call.
func (x expression) setting(function, name string) pg.Expr {
	return settled(pg.Fn(function, pg.Str(name)), x.site)
}

// identityID is the caller's id, null for an anonymous caller. In a function that writes, reading a setting costs
// Postgres a snapshot, while a query has one anyhow.
func (x expression) identityID() pg.Expr {
	if x.site == inFunction && x.caller != nil {
		return x.caller
	}
	return identityID(x.site)
}

// identityID is the caller's id as its setting has it.
func identityID(at site) pg.Expr { return settled(pg.Fn("platform.identity_id"), at) }

// settled reads a setting once per statement inside a query.
func settled(call pg.Expr, at site) pg.Expr {
	if at == inFunction {
		return call
	}
	return &pg.Subquery{Query: &pg.Select{Columns: []pg.Output{{Value: call}}}}
}

// scalar is the operand as one value, null where its path leads nowhere.
func (o operand) scalar() pg.Expr {
	if o.elements != nil {
		elements := make([]pg.Expr, len(o.elements))
		for i, e := range o.elements {
			elements[i] = e.scalar()
		}
		array := pg.As(&pg.Array{Elements: elements}, castType(o.typ.Kind)+"[]")
		if o.known != nil {
			return &pg.Case{Whens: []pg.When{{Condition: o.known, Result: array}}}
		}
		return array
	}
	if o.joins == nil {
		return o.value
	}
	return &pg.Subquery{Query: o.joins.query([]pg.Output{{Value: o.value}}, nil)}
}

// rejectingNull builds a condition over the value that does not hold for null. The tables of its path may then be
// joined, and Postgres can reorder such joins.
func (o operand) rejectingNull(condition func(pg.Expr) pg.Expr) pg.Expr {
	if o.joins == nil {
		return condition(o.scalar())
	}
	return &pg.Exists{Query: o.joins.query(nil, condition(o.value))}
}

// both builds a condition over two values that holds for no null.
func both(left, right operand, condition func(l, r pg.Expr) pg.Expr) pg.Expr {
	return left.rejectingNull(func(l pg.Expr) pg.Expr {
		if left.joins != nil && right.joins != nil {
			return condition(l, right.scalar())
		}
		return right.rejectingNull(func(r pg.Expr) pg.Expr { return condition(l, r) })
	})
}

// somebody is the condition that must hold beside a comparison that null would satisfy: neither the operand nor an
// element or part of it is an anonymous caller.
func (o operand) somebody() pg.Expr {
	var conditions []pg.Expr
	if o.nobody {
		conditions = append(conditions, pg.IsNotNull(o.scalar()))
	}
	for _, e := range slices.Concat(o.elements, o.parts) {
		conditions = append(conditions, e.somebody())
	}
	return pg.AllOf(conditions...)
}

// unify gives two operands types between which Postgres has an operator with the language's meaning.
func unify(left, right *operand) {
	coerce(left, right)
	coerce(right, left)
}

// coerce brings an operand to the wider kind of the other: a Date compared with a Timestamp is its midnight in UTC;
// Postgres would take the session's zone.
func coerce(o, other *operand) {
	if o.elements != nil {
		if o.typ.Kind == expr.AnyList {
			o.typ.Kind = other.typ.Kind
		}
		for i := range o.elements {
			coerce(&o.elements[i], &operand{typ: expr.Type{Kind: o.typ.Kind}})
		}
		return
	}
	switch {
	case o.typ.Kind == expr.Date && other.typ.Kind == expr.Timestamp:
		o.value = pg.Fn("platform.midnight", o.value)
		o.typ.Kind = expr.Timestamp
	case o.typ.Kind == expr.Number && other.typ.Kind == expr.Decimal && o.typ.Array && other.typ.Array:
		o.value = pg.As(o.value, "numeric[]")
		o.typ.Kind = expr.Decimal
	}
}
