package expr

import (
	"fmt"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Check checks a Boolean expression: that of a @where, @permission or @validate.
// It reports every independent error to errs and returns nil if there is any.
func Check(e syntax.Expr, scope Scope, errs *syntax.Errors) Node {
	c := &checker{scope: scope, errs: errs}
	return c.boolean(e)
}

// checker checks one expression. Its methods report errors and return nil for them; a
// caller that gets nil adds nothing.
type checker struct {
	scope Scope
	errs  *syntax.Errors

	computed    *Target // of a @computed: the field; nil elsewhere
	inAggregate bool    // whether it checks the condition of an aggregate
}

// boolean checks a Boolean expression: the whole, or an operand of !, && or ||.
func (c *checker) boolean(e syntax.Expr) Node {
	switch e := syntax.Unparen(e).(type) {
	case *syntax.Not:
		operand := c.boolean(e.Operand)
		if operand == nil {
			return nil
		}
		return &Not{Operand: operand, base: booleanAt(e.Span())}
	case *syntax.Binary:
		if syntax.IsArithmetic(e) {
			return c.isBoolean(c.operand(e))
		}
		if !isLogical(e) {
			return c.comparison(e)
		}
		left, right := c.boolean(e.Left), c.boolean(e.Right)
		if left == nil || right == nil {
			return nil
		}
		return &Logic{Op: e.Op, Left: left, Right: right, base: booleanAt(e.Span())}
	case *syntax.Path:
		return c.isBoolean(c.path(e))
	default:
		return c.isBoolean(c.operand(e))
	}
}

// isBoolean checks that a path, literal or function by itself is Boolean.
func (c *checker) isBoolean(n Node) Node {
	switch {
	case n == nil:
		return nil
	case isWriteOnly(n):
		c.report(n, WriteOnlyField, writeOnlyField(n.Type()))
		return nil
	case n.Type() != Type{Kind: Boolean}:
		c.report(n, NotBoolean, notBoolean(n))
		return nil
	}
	if f, ok := n.(*Function); ok {
		return isTrue(f)
	}
	return n
}

// comparison checks an operator of equality or order, or in, with its operands.
func (c *checker) comparison(e *syntax.Binary) Node {
	if nested := nestedOperand(e); nested != nil {
		c.add(nested.Span(), NestedComparison, nestedComparison(e.Op))
		c.nestedOperands(e)
		return nil
	}
	left, right := c.operand(e.Left), c.operand(e.Right)
	if left == nil || right == nil {
		return nil
	}
	isNullTest := operators(e.Op) == Equality && (isNull(left) || isNull(right))
	if !isNullTest && !c.canBeCompared(left, right) {
		return nil
	}
	ok := false
	if e.Op == syntax.In {
		left, right, ok = c.membership(e, left, right)
	} else {
		left, right, ok = c.pair(e, left, right)
	}
	if !ok {
		return nil
	}
	return &Compare{Op: e.Op, Left: left, Right: right, base: booleanAt(e.Span())}
}

// nestedOperand returns the first operand that is not a path, literal, list or arithmetic,
// or nil.
func nestedOperand(e *syntax.Binary) syntax.Expr {
	for _, side := range []syntax.Expr{e.Left, e.Right} {
		switch e := syntax.Unparen(side).(type) {
		case *syntax.Binary:
			if !syntax.IsArithmetic(e) {
				return side
			}
		case *syntax.Not:
			return side
		}
	}
	return nil
}

// nestedOperands looks for further errors in the operands of a nested comparison.
// It says no more of a chain such as a < b < c < d.
func (c *checker) nestedOperands(e *syntax.Binary) {
	for _, side := range []syntax.Expr{e.Left, e.Right} {
		switch side := syntax.Unparen(side).(type) {
		case *syntax.Not:
			c.boolean(side)
		case *syntax.Binary:
			if syntax.IsArithmetic(side) {
				c.operand(side)
				continue
			}
			if !isLogical(side) && nestedOperand(side) != nil {
				c.nestedOperands(side)
				continue
			}
			c.boolean(side)
		default:
			c.operand(side)
		}
	}
}

// isLogical tells whether an operator joins conditions.
func isLogical(e *syntax.Binary) bool { return e.Op == syntax.And || e.Op == syntax.Or }

// canBeCompared checks for operands that only a test for null may have.
func (c *checker) canBeCompared(left, right Node) bool {
	ok := true
	for _, n := range []Node{left, right} {
		switch {
		case isWriteOnly(n):
			c.report(n, WriteOnlyField, writeOnlyField(n.Type()))
			ok = false
		case c.scope.Place() == EventWhere && n.Type().Kind == Model:
			c.report(n, NotOwnField, toOneInEvent())
			ok = false
		}
	}
	return ok
}

// pair checks two operands against the operator table and gives each literal the
// type of the other side.
func (c *checker) pair(e *syntax.Binary, left, right Node) (Node, Node, bool) {
	if c.isSource(left) || c.isSource(right) {
		return c.pairSource(e, left, right)
	}
	if !canCompare(operandOf(left), operandOf(right), operators(e.Op)) {
		c.add(e.Span(), OperandTypes, operandTypes(e.Op, left, right))
		return nil, nil, false
	}
	elements := Type{Kind: left.Type().Kind, Name: left.Type().Name}
	if _, isList := left.(*List); isList {
		elements = Type{Kind: right.Type().Kind, Name: right.Type().Name}
	}
	newLeft := c.settleSide(left, right.Type(), elements)
	newRight := c.settleSide(right, left.Type(), elements)
	return newLeft, newRight, newLeft != nil && newRight != nil
}

// settleSide gives a literal the type of the other side, and the literals of a
// list the type of the other side's elements.
func (c *checker) settleSide(n Node, other, elements Type) Node {
	switch n := n.(type) {
	case *Literal:
		return c.settle(n, other)
	case *List:
		return c.settleList(n, elements)
	}
	return n
}

// membership checks x in a list, in an array, or in the values of a path through a
// to-many.
func (c *checker) membership(e *syntax.Binary, x, right Node) (Node, Node, bool) {
	refuse := func() (Node, Node, bool) {
		c.add(e.Span(), OperandTypes, operandTypes(e.Op, x, right))
		return nil, nil, false
	}
	if list, ok := right.(*List); ok {
		switch operandOf(x).class {
		case ClassArray, ClassToMany, ClassList, ClassOpaque:
			return refuse()
		}
		return c.membershipOfList(e, x, list)
	}
	element, ok := elementOf(right)
	if !ok || c.isSource(x) || c.isSource(right) || !canCompare(operandOf(x), element, Equality) {
		return refuse()
	}
	if literal, ok := x.(*Literal); ok {
		x = c.settle(literal, Type{Kind: right.Type().Kind, Name: right.Type().Name})
	}
	return x, right, x != nil
}

// membershipOfList checks x in a list. If x is a literal, its type is that of the
// first element with a type of its own.
func (c *checker) membershipOfList(e *syntax.Binary, x Node, list *List) (Node, Node, bool) {
	if c.isSource(x) {
		_, newList, ok := c.pairSource(e, x, list)
		return x, newList, ok
	}
	if literal, ok := x.(*Literal); ok {
		elements := literal.Type()
		typed := slices.IndexFunc(list.Elements, func(n Node) bool { _, isLiteral := n.(*Literal); return !isLiteral })
		if typed >= 0 && canCompare(operandOf(x), operandOf(list.Elements[typed]), Equality) {
			elements = list.Elements[typed].Type()
		}
		settled := c.settle(literal, elements)
		if settled == nil {
			return nil, nil, false
		}
		x = settled
	}
	settled := c.settleList(list, x.Type())
	return x, settled, settled != nil
}

// settleList checks the elements of a list against the type of the other side's
// elements. The list becomes an array of it.
func (c *checker) settleList(list *List, elements Type) Node {
	settled := &List{base: list.base}
	if len(list.Elements) == 0 {
		return settled
	}
	if elements.Kind == NullKind {
		elements = list.Elements[0].Type()
	}
	settled.typ = Type{Kind: elements.Kind, Name: elements.Name, Array: true}
	against := operand{class: elements.Kind.Class(), name: elements.Name}
	ok := true
	for _, n := range list.Elements {
		if !canCompare(operandOf(n), against, Equality) {
			c.report(n, ListElement, listElementType(n, elements))
			ok = false
			continue
		}
		if literal, isLiteral := n.(*Literal); isLiteral {
			if n = c.settle(literal, elements); n == nil {
				ok = false
			}
		}
		if !ok {
			continue
		}
		if isWider(n.Type().Kind, settled.typ.Kind) {
			settled.typ.Kind = n.Type().Kind
		}
		settled.Elements = append(settled.Elements, n)
	}
	if !ok {
		return nil
	}
	return settled
}

// settle gives a literal the type of the other side, if they can be compared, and
// checks its spelling.
func (c *checker) settle(l *Literal, other Type) Node {
	settled := *l
	settled.untyped = false
	switch kind := other.Kind; {
	case l.untyped && kind == Model:
		settled.typ.Kind = ID
	case l.untyped && kinds[kind].isText && !kind.IsWriteOnly(), isWider(kind, l.typ.Kind):
		settled.typ.Kind = kind
	}
	return c.spelled(&settled)
}

// spelled checks the spelling of a literal and gives it the one that its type has.
func (c *checker) spelled(l *Literal) Node {
	read := kinds[l.typ.Kind].read
	if read == nil {
		return l
	}
	text, ok := read(l.Value.(string))
	if !ok {
		c.report(l, BadLiteral, badLiteral(l.typ.Kind))
		return nil
	}
	l.Value = text
	return l
}

// isSource tells whether a node is the sourceModel or sourceArm of a union.
func (c *checker) isSource(n Node) bool {
	_, ok := c.sourceNames(n)
	return ok
}

// sourceNames returns the texts that sourceModel or sourceArm can be compared
// with, false for anything else.
func (c *checker) sourceNames(n Node) ([]string, bool) {
	p, ok := n.(*Path)
	if !ok || p.Root != RootRow || len(p.Steps) != 1 {
		return nil, false
	}
	return c.scope.SourceNames(p.Steps[0])
}

// pairSource checks a comparison of sourceModel or sourceArm, which takes text
// literals that name a model or arm, and null.
func (c *checker) pairSource(e *syntax.Binary, left, right Node) (Node, Node, bool) {
	names, isLeft := c.sourceNames(left)
	source, other := left, right
	if !isLeft {
		names, _ = c.sourceNames(right)
		source, other = right, left
	}
	settled, isFitting := c.sourceOperand(e.Op, source, other, names)
	switch {
	case !isFitting:
		c.add(e.Span(), OperandTypes, sourceOperandTypes(source))
		return nil, nil, false
	case settled == nil:
		return nil, nil, false
	case isLeft:
		return left, settled, true
	default:
		return settled, right, true
	}
}

// sourceOperand checks the operand beside sourceModel or sourceArm. It returns false
// if the operator does not take the operand, and nil if a name was reported.
func (c *checker) sourceOperand(op syntax.Operator, source, other Node, names []string) (Node, bool) {
	switch other := other.(type) {
	case *Literal:
		switch {
		case operators(op) != Equality:
			return nil, false
		case isNull(other):
			return other, true
		case other.untyped:
			return c.sourceName(source, other, names), true
		}
	case *List:
		if op != syntax.In {
			return nil, false
		}
		return c.sourceList(source, other, names), true
	}
	return nil, false
}

// sourceList checks the names in a list.
func (c *checker) sourceList(source Node, list *List, names []string) Node {
	settled := &List{base: list.base}
	if len(list.Elements) > 0 {
		settled.typ = Type{Kind: source.Type().Kind, Name: source.Type().Name, Array: true}
	}
	ok := true
	for _, n := range list.Elements {
		literal, isLiteral := n.(*Literal)
		if !isLiteral || !literal.untyped {
			c.report(n, ListElement, sourceOperandTypes(source))
			ok = false
			continue
		}
		name := c.sourceName(source, literal, names)
		ok = ok && name != nil
		settled.Elements = append(settled.Elements, name)
	}
	if !ok {
		return nil
	}
	return settled
}

// sourceName checks that a literal is one of the names and gives it the type of
// the field.
func (c *checker) sourceName(source Node, l *Literal, names []string) Node {
	text := l.Value.(string)
	if !slices.Contains(names, text) {
		c.report(l, UnknownArm, unknownArm(source, text, names))
		return nil
	}
	settled := *l
	settled.untyped = false
	settled.typ = source.Type()
	return &settled
}

// operand checks that the names of an operand are known. Its literals take the type
// of the other side later.
func (c *checker) operand(e syntax.Expr) Node {
	switch e := syntax.Unparen(e).(type) {
	case *syntax.Path:
		return c.valuePath(e)
	case *syntax.List:
		return c.list(e)
	case *syntax.Binary:
		return c.arithmetic(e)
	case *syntax.Negative:
		return c.negative(e)
	case *syntax.Call:
		return c.call(e)
	case *syntax.BadExpr:
		return nil
	default:
		return literal(e)
	}
}

// literal returns the node of a literal.
func literal(e syntax.Expr) Node {
	at := func(k Kind) base { return base{typ: Type{Kind: k}, span: e.Span()} }
	switch e := e.(type) {
	case *syntax.String:
		return &Literal{Value: e.Value, untyped: true, base: at(Text)}
	case *syntax.Number:
		if e.IsInteger {
			return &Literal{Value: e.Text, base: at(Number)}
		}
		return &Literal{Value: e.Text, base: at(Decimal)}
	case *syntax.Bool:
		return &Literal{Value: e.Value, base: at(Boolean)}
	case *syntax.Null:
		return &Literal{base: at(NullKind)}
	}
	panic(fmt.Sprintf("expr: %T is not a literal, line %d", e, e.Span().Start.Line))
}

// list checks the elements of a list by themselves.
func (c *checker) list(e *syntax.List) Node {
	list := &List{base: base{typ: Type{Kind: AnyList}, span: e.Span()}}
	ok := true
	for _, element := range e.Elements {
		n := c.element(element)
		ok = ok && n != nil
		list.Elements = append(list.Elements, n)
	}
	if !ok || e.Incomplete() {
		return nil
	}
	return list
}

// element checks an element of a list: a literal other than null, an input, or a
// path from ctx.
func (c *checker) element(e syntax.Expr) Node {
	switch e := syntax.Unparen(e).(type) {
	case *syntax.Binary, *syntax.Not, *syntax.Negative, *syntax.Call, *syntax.List, *syntax.Null:
		c.add(e.Span(), ListElement, listElementForm())
		return nil
	}
	n := c.operand(e)
	p, isPath := n.(*Path)
	switch {
	case isPath && p.Root == RootRow:
		c.report(n, ListElement, listElementForm())
		return nil
	case isPath && p.isWriteOnly():
		c.report(n, WriteOnlyField, writeOnlyField(p.typ))
		return nil
	}
	return n
}

// booleanAt is the base of a node that is Boolean.
func booleanAt(span syntax.Span) base { return base{typ: Type{Kind: Boolean}, span: span} }

// isNull tells whether a node is the literal null.
func isNull(n Node) bool { return n.Type().Kind == NullKind }

// isWriteOnly tells whether a node is a path to a value that can never be read.
func isWriteOnly(n Node) bool {
	p, ok := n.(*Path)
	return ok && p.isWriteOnly()
}

// report adds an error at a node.
func (c *checker) report(n Node, code syntax.Code, message string) {
	c.add(n.Span(), code, message)
}

// add adds an error.
func (c *checker) add(span syntax.Span, code syntax.Code, message string) {
	c.errs.Add(code, span, message)
}
