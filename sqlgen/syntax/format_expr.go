package syntax

import (
	"fmt"
	"github.com/sternpost/sternpost/sqlgen/layout"
)

func (f *formatter) attribute(a *Attribute) layout.Layout {
	name := layout.Concat(f.token(), f.token())
	switch {
	case !a.Parens:
		return name
	case a.Later:
		return layout.Concat(name, f.verbatim(a.span.End))
	case len(a.Args) == 1 && a.Args[0].isList():
		return layout.Concat(name, f.token(), f.expr(a.Args[0].Value, true), f.token())
	}
	return layout.Concat(name, sequence(f, a.Args, f.arg))
}

// isList reports whether the argument is nothing but a list, whose brackets are
// then written next to the parentheses.
func (a *Arg) isList() bool {
	_, ok := a.Value.(*List)
	return ok && a.Label == nil && a.Target == nil
}

func (f *formatter) arg(a *Arg) layout.Layout {
	l := layout.Concat()
	if a.Label != nil {
		l = layout.Concat(l, f.token(), f.token(), layout.Text(" "))
	}
	if a.Target != nil {
		l = layout.Concat(l, f.tokensTo(a.Target.span.End), layout.Text(" "), f.token(), layout.Text(" "))
	}
	return layout.Concat(l, f.expr(a.Value, true))
}

// expr is an expression; indented tells whether the lines after its first one
// are indented.
func (f *formatter) expr(e Expr, indented bool) layout.Layout {
	switch e := e.(type) {
	case *Binary:
		if e.Op == Or || e.Op == And {
			return f.logic(e, indented)
		}
		return f.comparison(e)
	case *Not:
		return layout.Concat(f.token(), f.expr(e.Operand, indented))
	case *Negative:
		return layout.Concat(f.token(), f.expr(e.Operand, indented))
	case *Call:
		return layout.Concat(f.tokensTo(e.Name.span.End), sequence(f, e.Args, func(arg Expr) layout.Layout { return f.expr(arg, false) }))
	case *Paren:
		return sequence(f, []Expr{e.Inner}, func(inner Expr) layout.Layout { return f.expr(inner, false) })
	case *List:
		return sequence(f, e.Elements, func(element Expr) layout.Layout { return f.expr(element, true) })
	case *Path, *String, *Number, *Bool, *Null:
		return f.tokensTo(e.Span().End)
	}
	panic(fmt.Sprintf("syntax: expression of type %T", e))
}

// logic is operands joined by one logical operator.
func (f *formatter) logic(e *Binary, indented bool) layout.Layout {
	operands := e.operands(func(op Operator) bool { return op == e.Op })
	first := f.expr(operands[0], true)
	var l []layout.Layout
	for _, operand := range operands[1:] {
		comments, lineBreak := f.separate(separation{kind: layout.Space()})
		l = append(l, comments, lineBreak, f.token(), layout.Text(" "), f.expr(operand, true))
	}
	if indented {
		return layout.Group(first, layout.Indent(l...))
	}
	return layout.Group(first, layout.Concat(l...))
}

// comparison is operands joined by operators of comparison or arithmetic; lines break
// only within them.
func (f *formatter) comparison(e *Binary) layout.Layout {
	operands := e.operands(func(op Operator) bool { return op != Or && op != And })
	l := []layout.Layout{f.expr(operands[0], true)}
	for _, operand := range operands[1:] {
		l = append(l, layout.Text(" "), f.token(), layout.Text(" "), f.expr(operand, true))
	}
	return layout.Concat(l...)
}

// operands returns the operands of the binary operators of one precedence, from left
// to right.
func (e *Binary) operands(joins func(Operator) bool) []Expr {
	var reversed []Expr
	var left Expr = e
	for {
		b, ok := left.(*Binary)
		if !ok || !joins(b.Op) {
			break
		}
		reversed = append(reversed, b.Right)
		left = b.Left
	}
	operands := []Expr{left}
	for i := len(reversed) - 1; i >= 0; i-- {
		operands = append(operands, reversed[i])
	}
	return operands
}
