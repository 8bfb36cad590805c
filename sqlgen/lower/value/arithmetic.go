package value

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// arithmetic lowers an arithmetic operator. A path through to-ones keeps its joins if the other side has none.
func (x Expression) arithmetic(n *expr.Arithmetic) Operand {
	left, right := x.Operand(n.Left), x.Operand(n.Right)
	o := Operand{Typ: n.Type(), isExact: true, parts: []Operand{left, right}, nowhere: left.nowhere || right.nowhere}
	if o.nowhere {
		return o
	}
	divides := n.Op == syntax.Divide && expr.MayBeNull(n)
	o.Nullable = left.Nullable || right.Nullable || divides && x.Logic != ValidateLogic
	if left.Joins != nil && right.Joins != nil {
		left.Value, left.Joins = left.Scalar(), nil
		right.Value, right.Joins = right.Scalar(), nil
	}
	if o.Joins = left.Joins; o.Joins == nil {
		o.Joins = right.Joins
	}
	o.Value = combine(n.Op, left, right)
	return o
}

// negative lowers the opposite of a value.
func (x Expression) negative(n *expr.Negative) Operand {
	o := x.Operand(n.Operand)
	if !o.nowhere {
		o.Value = &pg.Minus{Operand: exact(o)}
		o.parts, o.isExact = []Operand{o}, true
	}
	return o
}

// combine makes one value of two, without rounding or overflow on the way.
func combine(op syntax.Operator, left, right Operand) pg.Expr {
	switch {
	case left.Typ.Kind.Class() == expr.ClassText:
		return pg.Op(left.Value, "||", right.Value)
	case left.Typ.Kind.Class() == expr.ClassTemporal && right.Typ.Kind == expr.Duration:
		span := right.Value
		if op == syntax.Subtract {
			span = &pg.Minus{Operand: span}
		}
		return pg.Fn("platform.later", instant(left), span)
	case left.Typ.Kind.Class() == expr.ClassTemporal:
		return pg.Op(instant(left), "-", instant(right))
	case op == syntax.Divide:
		return pg.Fn("platform.quotient", left.Value, right.Value)
	}
	l, r := left.Value, right.Value
	if isConstant(l) == isConstant(r) || isConstant(r) {
		l = exact(left)
	}
	if !isConstant(r) {
		r = exact(right)
	}
	return pg.Op(l, string(op), r)
}

// exact returns a number in the type that holds every number.
func exact(o Operand) pg.Expr {
	if o.Typ.Kind == expr.Number && !o.isExact {
		return pg.As(o.Value, "numeric")
	}
	return o.Value
}

func isConstant(e pg.Expr) bool {
	_, ok := e.(*pg.Raw)
	return ok
}

// instant returns a Date or Timestamp as a point in time.
func instant(o Operand) pg.Expr {
	if o.Typ.Kind == expr.Date {
		return pg.Fn("platform.midnight", o.Value)
	}
	return o.Value
}

// IsMade tells whether a value is made of others, by an operator or a function.
func IsMade(n expr.Node) bool {
	switch n.(type) {
	case *expr.Arithmetic, *expr.Negative, *expr.Function:
		return true
	}
	return false
}

// Stored returns a value that is made of others as a column of a type takes it. A value out of range becomes one that the
// column's check refuses.
func Stored(value pg.Expr, from, to expr.Type) pg.Expr {
	switch to.Kind {
	case expr.Number:
		return pg.Fn("platform.number", value)
	case expr.Decimal:
		if call, ok := value.(*pg.Call); ok && call.Name == "round" && len(call.Args) == 2 {
			return value // has no more than 18 digits after the point
		}
		return pg.Fn("round", value, pg.Lit("18"))
	}
	return Convert(value, from, to)
}

// CalculatedFields returns the fields whose values are made of others, and so may be out of range.
func CalculatedFields(s *model.Schema) map[*model.Field]bool {
	fields := map[*model.Field]bool{}
	for _, a := range s.Actions {
		for _, set := range a.Sets {
			if IsMade(set.Value) {
				fields[StoredAs(set.Target[len(set.Target)-1])] = true
			}
		}
	}
	for _, m := range s.Models {
		for _, f := range m.Fields {
			if f.Computed != nil {
				fields[f] = true
			}
		}
	}
	return fields
}

// OptionalInputsOf returns the inputs without which a value is not given.
func OptionalInputsOf(n expr.Node) []*model.Input {
	var inputs []*model.Input
	for _, in := range expr.Mentions(n).Inputs {
		if in := in.(*model.Input); in.Optional && !slices.Contains(inputs, in) {
			inputs = append(inputs, in)
		}
	}
	return inputs
}
