package lower

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// arithmetic lowers an arithmetic operator. A path through to-ones keeps its joins if the other side has none.
func (x expression) arithmetic(n *expr.Arithmetic) operand {
	left, right := x.operand(n.Left), x.operand(n.Right)
	o := operand{typ: n.Type(), parts: []operand{left, right}, nowhere: left.nowhere || right.nowhere}
	if o.nowhere {
		return o
	}
	divides := n.Op == syntax.Divide && expr.MayBeNull(n)
	o.nullable = left.nullable || right.nullable || divides && x.logic != validateLogic
	if left.joins != nil && right.joins != nil {
		left.value, left.joins = left.scalar(), nil
		right.value, right.joins = right.scalar(), nil
	}
	if o.joins = left.joins; o.joins == nil {
		o.joins = right.joins
	}
	o.value = combine(n.Op, left, right)
	return o
}

// negative lowers the opposite of a value.
func (x expression) negative(n *expr.Negative) operand {
	o := x.operand(n.Operand)
	if !o.nowhere {
		o.value = &pg.Minus{Operand: exact(o)}
		o.parts = []operand{o}
	}
	return o
}

// combine makes one value of two, without rounding or overflow on the way.
func combine(op syntax.Operator, left, right operand) pg.Expr {
	switch {
	case left.typ.Kind.Class() == expr.ClassText:
		return pg.Op(left.value, "||", right.value)
	case left.typ.Kind.Class() == expr.ClassTemporal && right.typ.Kind == expr.Duration:
		span := right.value
		if op == syntax.Subtract {
			span = &pg.Minus{Operand: span}
		}
		return pg.Fn("platform.later", instant(left), span)
	case left.typ.Kind.Class() == expr.ClassTemporal:
		return pg.Op(instant(left), "-", instant(right))
	case op == syntax.Divide:
		return pg.Fn("platform.quotient", left.value, right.value)
	}
	l, r := left.value, right.value
	if isConstant(l) == isConstant(r) || isConstant(r) {
		l = exact(left)
	}
	if !isConstant(r) {
		r = exact(right)
	}
	return pg.Op(l, string(op), r)
}

// exact returns a number in the type that holds every number.
func exact(o operand) pg.Expr {
	if o.typ.Kind == expr.Number && o.parts == nil {
		return pg.As(o.value, "numeric")
	}
	return o.value
}

func isConstant(e pg.Expr) bool {
	_, ok := e.(*pg.Raw)
	return ok
}

// instant returns a Date or Timestamp as a point in time.
func instant(o operand) pg.Expr {
	if o.typ.Kind == expr.Date {
		return pg.Fn("platform.midnight", o.value)
	}
	return o.value
}

// isArithmetic tells whether a value is made by an operator.
func isArithmetic(n expr.Node) bool {
	switch n.(type) {
	case *expr.Arithmetic, *expr.Negative:
		return true
	}
	return false
}

// stored returns the result of arithmetic as a column of a type takes it. A value out of range becomes one that the
// column's check refuses.
func stored(value pg.Expr, from, to expr.Type) pg.Expr {
	switch to.Kind {
	case expr.Number:
		return pg.Fn("platform.number", value)
	case expr.Decimal:
		return pg.Fn("round", value, pg.Lit("18"))
	}
	return convert(value, from, to)
}

// calculatedFields returns the fields whose values come from arithmetic, and so may be out of range.
func calculatedFields(s *model.Schema) map[*model.Field]bool {
	fields := map[*model.Field]bool{}
	for _, a := range s.Actions {
		for _, set := range a.Sets {
			if isArithmetic(set.Value) {
				fields[storedAs(set.Target[len(set.Target)-1])] = true
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

// optionalInputsOf returns the inputs without which a value is not given.
func optionalInputsOf(n expr.Node) []*model.Input {
	var inputs []*model.Input
	for _, in := range expr.Mentions(n).Inputs {
		if in := in.(*model.Input); in.Optional && !slices.Contains(inputs, in) {
			inputs = append(inputs, in)
		}
	}
	return inputs
}
