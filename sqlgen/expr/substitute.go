package expr

import "github.com/sternpost/sternpost/sqlgen/syntax"

// Substitute returns an expression in which every path from the row is replaced by
// the node that value returns for it, which has the path's type.
func Substitute(n Node, value func(*Path) Node) Node {
	switch n := n.(type) {
	case *Path:
		if n.Root == RootRow {
			return value(n)
		}
	case *List:
		copied := *n
		copied.Elements = substituteAll(n.Elements, value)
		return &copied
	case *Compare:
		copied := *n
		copied.Left, copied.Right = Substitute(n.Left, value), Substitute(n.Right, value)
		return &copied
	case *Logic:
		copied := *n
		copied.Left, copied.Right = Substitute(n.Left, value), Substitute(n.Right, value)
		return &copied
	case *Arithmetic:
		copied := *n
		copied.Left, copied.Right = Substitute(n.Left, value), Substitute(n.Right, value)
		return &copied
	case *Function:
		copied := *n
		copied.Arguments = substituteAll(n.Arguments, value)
		return &copied
	case *Aggregate:
		return n // no expression with substitutions has them
	case *Negative:
		copied := *n
		copied.Operand = Substitute(n.Operand, value)
		return &copied
	case *Not:
		copied := *n
		copied.Operand = Substitute(n.Operand, value)
		return &copied
	}
	return n
}

func substituteAll(nodes []Node, value func(*Path) Node) []Node {
	all := make([]Node, len(nodes))
	for i, n := range nodes {
		all[i] = Substitute(n, value)
	}
	return all
}

// TextLiteral returns a text literal that is not in the source. span is the place to
// blame.
func TextLiteral(text string, span syntax.Span) *Literal {
	return &Literal{Value: text, base: base{typ: Type{Kind: Text}, span: span}}
}

// As returns the list with a type that takes its elements. A list without elements has
// no such type by itself.
func (l *List) As(t Type) *List {
	typed := *l
	typed.typ = t
	return &typed
}

// Unset returns the value of a field that never has one. It is not a literal null: a
// comparison with it compares values and does not test for null.
func Unset(t Type, span syntax.Span) *Literal {
	return &Literal{base: base{typ: t, span: span}}
}

// Negation returns the negation of the conjunction of some expressions.
func Negation(all []Node, span syntax.Span) Node {
	boolean := base{typ: Type{Kind: Boolean}, span: span}
	if len(all) == 0 {
		return &Literal{Value: false, base: boolean}
	}
	joined := all[0]
	for _, n := range all[1:] {
		joined = &Logic{Op: syntax.And, Left: joined, Right: n, base: boolean}
	}
	return &Not{Operand: joined, base: boolean}
}
