package expr

import "github.com/sternpost/sternpost/sqlgen/syntax"

// Class groups the operands that the operators treat alike.
type Class int

// The classes of operands.
const (
	ClassText        Class = iota + 1 // Text, Markdown
	ClassTextLiteral                  // "…", whose type is that of the other side
	ClassID
	ClassNumeric  // Number, Decimal, their literals
	ClassTemporal // Date, Timestamp
	ClassDuration
	ClassBoolean
	ClassEnum   // of one enum with itself only
	ClassModel  // a row; of one model with itself only
	ClassToMany // a path that ends in a to-many
	ClassArray  // an array field or input; its elements decide
	ClassList   // […]; its elements decide
	ClassNull
	ClassOpaque // File, Vector, Password, Secret, messages, Any
)

// String returns the class as a table of operators names it.
func (c Class) String() string {
	return [...]string{
		ClassText: "Text", ClassTextLiteral: "text literal", ClassID: "ID", ClassNumeric: "numeric",
		ClassTemporal: "temporal", ClassDuration: "Duration", ClassBoolean: "Boolean", ClassEnum: "enum",
		ClassModel: "row", ClassToMany: "to-many", ClassArray: "array", ClassList: "list", ClassNull: "null",
		ClassOpaque: "opaque",
	}[c]
}

// Comparisons is a set of comparison operators.
type Comparisons int

// The sets of comparison operators that operands share.
const (
	Equality Comparisons = 1 << iota // == and !=
	Ordering                         // <, <=, > and >=
)

// Pair says which operators compare an operand of one class with one of another,
// in either order.
type Pair struct {
	Left, Right Class
	Operators   Comparisons
}

// Pairs is the operator table: two operands can be compared if their classes
// are here, in either order, with the operator. Where both classes are enum or
// row, the names must be the same too. Arrays and lists pair if their elements
// pair under ==. For in, see elementOf.
func Pairs() []Pair {
	return []Pair{
		{ClassText, ClassText, Equality | Ordering},
		{ClassText, ClassTextLiteral, Equality | Ordering},
		{ClassTextLiteral, ClassTextLiteral, Equality | Ordering},
		{ClassText, ClassID, Equality},
		{ClassID, ClassID, Equality},
		{ClassID, ClassTextLiteral, Equality},
		{ClassNumeric, ClassNumeric, Equality | Ordering},
		{ClassTemporal, ClassTemporal, Equality | Ordering},
		{ClassTemporal, ClassTextLiteral, Equality | Ordering},
		{ClassDuration, ClassDuration, Equality | Ordering},
		{ClassDuration, ClassTextLiteral, Equality | Ordering},
		{ClassBoolean, ClassBoolean, Equality},
		{ClassEnum, ClassEnum, Equality},
		{ClassModel, ClassModel, Equality},
		{ClassModel, ClassID, Equality},
		{ClassModel, ClassTextLiteral, Equality},
		{ClassArray, ClassArray, Equality},
		{ClassArray, ClassList, Equality},
		{ClassNull, ClassNull, Equality},
		{ClassNull, ClassText, Equality},
		{ClassNull, ClassTextLiteral, Equality},
		{ClassNull, ClassID, Equality},
		{ClassNull, ClassNumeric, Equality},
		{ClassNull, ClassTemporal, Equality},
		{ClassNull, ClassDuration, Equality},
		{ClassNull, ClassBoolean, Equality},
		{ClassNull, ClassEnum, Equality},
		{ClassNull, ClassModel, Equality},
		{ClassNull, ClassToMany, Equality},
		{ClassNull, ClassArray, Equality},
		{ClassNull, ClassList, Equality},
		{ClassNull, ClassOpaque, Equality},
	}
}

// operators returns the comparisons of the set that an operator belongs to, 0
// for in and the logical operators.
func operators(op syntax.Operator) Comparisons {
	switch op {
	case syntax.Equal, syntax.NotEqual:
		return Equality
	case syntax.Less, syntax.LessOrEqual, syntax.Greater, syntax.GreaterOrEqual:
		return Ordering
	}
	return 0
}

// paired tells whether the table has the two classes with one of the operators.
func paired(left, right Class, ops Comparisons) bool {
	for _, p := range Pairs() {
		same := p.Left == left && p.Right == right
		turned := p.Left == right && p.Right == left
		if (same || turned) && p.Operators&ops != 0 {
			return true
		}
	}
	return false
}

// operand holds the properties of an operand for the table.
type operand struct {
	class Class
	name  string // of an enum or model
	elem  Class  // of an array: the class of its elements
}

// canCompare tells whether two operands can be compared by one of the operators.
// It ignores elements of lists: they have an error of their own.
func canCompare(a, b operand, ops Comparisons) bool {
	if !paired(a.class, b.class, ops) {
		return false
	}
	switch {
	case a.class == ClassArray && b.class == ClassArray:
		return canCompare(operand{class: a.elem, name: a.name}, operand{class: b.elem, name: b.name}, Equality)
	case a.class == b.class && (a.class == ClassEnum || a.class == ClassModel):
		return a.name == b.name
	}
	return true
}

// operandOf describes an operand. A text literal that took the type of the other side counts
// as of that type.
func operandOf(n Node) operand {
	t := n.Type()
	switch n := n.(type) {
	case *Literal:
		if n.untyped {
			return operand{class: ClassTextLiteral}
		}
	case *List:
		return operand{class: ClassList}
	}
	if t.Array && t.Kind == Model {
		return operand{class: ClassToMany, name: t.Name}
	}
	if t.Array {
		return operand{class: ClassArray, elem: t.Kind.Class(), name: t.Name}
	}
	return operand{class: t.Kind.Class(), name: t.Name}
}

// elementOf describes the values that x is compared with in "x in right": the elements of an
// array, or the values of a path through a to-many. It returns false if right is neither, and
// for a list, whose elements each have their own.
func elementOf(n Node) (operand, bool) {
	p, ok := n.(*Path)
	if !ok {
		return operand{}, false
	}
	t := p.Type()
	if !t.Array && !p.ThroughToMany() {
		return operand{}, false
	}
	return operand{class: t.Kind.Class(), name: t.Name}, true
}
