package expr

import (
	"math/big"
	"strings"
	"time"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Arithmetic is a value computed from two others. Op is +, -, * or /. The value is null if
// one of them is null, or on a division by zero.
type Arithmetic struct {
	Op          syntax.Operator
	Left, Right Node
	base
}

// Negative is the opposite of a number or Duration.
type Negative struct {
	Operand Node
	base
}

// signature is the result of an operator for two classes of operands.
type signature struct {
	left   Class
	ops    string
	right  Class
	result Kind // 0 is the wider of both
}

// signatures is the table of arithmetic. Beside a typed operand, a text literal counts as of
// each class that it is the spelling of.
var signatures = []signature{
	{ClassNumeric, "+-*", ClassNumeric, 0},
	{ClassNumeric, "/", ClassNumeric, Decimal},
	{ClassText, "+", ClassText, Text},
	{ClassDuration, "+-", ClassDuration, Duration},
	{ClassTemporal, "+-", ClassDuration, Timestamp},
	{ClassTemporal, "-", ClassTemporal, Duration},
}

// arithmetic checks an operator of arithmetic with its operands.
func (c *checker) arithmetic(e *syntax.Binary) Node {
	left, right := c.arithmeticOperand(e.Left), c.arithmeticOperand(e.Right)
	if left == nil || right == nil {
		return nil
	}
	l, r := operandOf(left).class, operandOf(right).class
	var fitting []signature
	for _, s := range signatures {
		if strings.Contains(s.ops, string(e.Op)) && couldBe(l, s.left) && couldBe(r, s.right) {
			fitting = append(fitting, s)
		}
	}
	if l == ClassTextLiteral && r == ClassTextLiteral && len(fitting) > 0 {
		fitting = []signature{{ClassText, "+", ClassText, Text}} // nothing says otherwise
		if e.Op != syntax.Add {
			fitting = nil
		}
	}
	if len(fitting) == 0 {
		c.add(e.Span(), OperandTypes, noArithmetic(e.Op, left, right))
		return nil
	}
	for i, s := range fitting {
		isLast := i == len(fitting)-1
		newLeft, leftOk := c.spelledAs(left, right, s.left, isLast)
		newRight, rightOk := c.spelledAs(right, left, s.right, isLast && leftOk)
		if leftOk && rightOk {
			return &Arithmetic{Op: e.Op, Left: newLeft, Right: newRight, base: base{typ: s.resultOf(newLeft, newRight), span: e.Span()}}
		}
	}
	return nil
}

// resultOf returns the type of the result for two operands that fit.
func (s signature) resultOf(left, right Node) Type {
	switch {
	case s.result != 0:
		return Type{Kind: s.result}
	case isWider(right.Type().Kind, left.Type().Kind):
		return right.Type()
	}
	return left.Type()
}

// couldBe tells whether an operand of a class may be read as one of another.
func couldBe(c, wanted Class) bool {
	return c == wanted || c == ClassTextLiteral && wanted != ClassNumeric
}

// spelledAs gives a literal a type of the wanted class. It returns false if the literal is
// not a spelling of one, and reports it if no other class is left to try.
func (c *checker) spelledAs(n, other Node, class Class, isLast bool) (Node, bool) {
	l, ok := n.(*Literal)
	if !ok {
		return n, true
	}
	if !l.untyped {
		n := c.settle(l, other.Type())
		return n, n != nil
	}
	kinds := map[Class][]Kind{ClassText: {Text}, ClassDuration: {Duration}, ClassTemporal: {Timestamp, Date}}[class]
	for _, k := range kinds {
		if read := k.reader(); read == nil || isSpelling(read, l) {
			return c.settle(l, Type{Kind: k}), true
		}
	}
	if isLast {
		c.report(l, BadLiteral, badLiteral(kinds[0]))
	}
	return nil, false
}

// reader returns the check of the spelling of a literal of the kind, nil if it takes any.
func (k Kind) reader() func(string) (string, bool) { return kinds[k].read }

func isSpelling(read func(string) (string, bool), l *Literal) bool {
	_, ok := read(l.Value.(string))
	return ok
}

// negative checks the opposite of a value.
func (c *checker) negative(e *syntax.Negative) Node {
	n := c.arithmeticOperand(e.Operand)
	if n == nil {
		return nil
	}
	switch operandOf(n).class {
	case ClassNumeric, ClassDuration:
		if l, ok := n.(*Literal); ok {
			if n = c.settle(l, l.typ); n == nil {
				return nil
			}
		}
		return &Negative{Operand: n, base: base{typ: n.Type(), span: e.Span()}}
	}
	c.add(e.Span(), OperandTypes, noOpposite(n))
	return nil
}

// arithmeticOperand checks an operand of arithmetic, or of a function, by itself.
func (c *checker) arithmeticOperand(e syntax.Expr) Node {
	e = syntax.Unparen(e)
	if b, isBinary := e.(*syntax.Binary); isBinary && !syntax.IsArithmetic(b) || isNot(e) {
		if c.boolean(e) != nil {
			c.add(e.Span(), OperandTypes, arithmeticOfCondition())
		}
		return nil
	}
	n := c.operand(e)
	if n != nil && isWriteOnly(n) {
		c.report(n, WriteOnlyField, writeOnlyField(n.Type()))
		return nil
	}
	return n
}

func isNot(e syntax.Expr) bool {
	_, ok := e.(*syntax.Not)
	return ok
}

// MayBeNull tells whether the value of an expression can be null.
func MayBeNull(n Node) bool {
	switch n := n.(type) {
	case *Literal:
		return n.Value == nil
	case *Path:
		return n.MayBeNull()
	case *Negative:
		return MayBeNull(n.Operand)
	case *Aggregate:
		return n.mayBeNull()
	case *Function:
		return n.mayBeNull()
	case *Arithmetic:
		return MayBeNull(n.Left) || MayBeNull(n.Right) || n.Op == syntax.Divide && !isNonZero(n.Right)
	}
	return false
}

// isNonZero tells whether a node is a number that is written out and is not zero.
func isNonZero(n Node) bool {
	l, ok := n.(*Literal)
	if !ok {
		return false
	}
	value, ok := canonical(l.typ, l.Value).(*big.Rat)
	return ok && value.Sign() != 0
}

// combine evaluates an operator of arithmetic on two canonical values.
func combine(op syntax.Operator, left, right any) any {
	if left == nil || right == nil {
		return nil
	}
	switch l := left.(type) {
	case string:
		return l + right.(string)
	case duration:
		if op == syntax.Subtract {
			return l.plus(right.(duration).opposite())
		}
		return l.plus(right.(duration))
	case time.Time:
		switch r := right.(type) {
		case time.Time:
			return elapsed(r, l)
		case duration:
			if op == syntax.Subtract {
				r = r.opposite()
			}
			return r.after(l)
		}
	}
	return combineNumbers(op, left.(*big.Rat), right.(*big.Rat))
}

func combineNumbers(op syntax.Operator, left, right *big.Rat) any {
	result := new(big.Rat)
	switch op {
	case syntax.Add:
		return result.Add(left, right)
	case syntax.Subtract:
		return result.Sub(left, right)
	case syntax.Multiply:
		return result.Mul(left, right)
	}
	if right.Sign() == 0 {
		return nil
	}
	return rounded(result.Quo(left, right), maxDecimalScale)
}

// opposite returns the opposite of a canonical value.
func opposite(value any) any {
	switch v := value.(type) {
	case duration:
		return v.opposite()
	case *big.Rat:
		return new(big.Rat).Neg(v)
	}
	return nil
}

// rounded rounds half away from zero to so many digits after the point.
func rounded(n *big.Rat, digits int) *big.Rat {
	r, _ := new(big.Rat).SetString(n.FloatString(digits))
	return r
}

func (d duration) opposite() duration { return duration{-d.months, -d.days, -d.micros} }

func (d duration) plus(o duration) duration {
	return duration{d.months + o.months, d.days + o.days, d.micros + o.micros}
}

// after returns the time that is the duration after another: months first, the day of
// month shortened where needed, then days, on the calendar of UTC.
func (d duration) after(t time.Time) time.Time {
	t = t.UTC()
	year, month, day := t.Date()
	first := time.Date(year, month+time.Month(d.months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	day = min(day, first.AddDate(0, 1, -1).Day())
	const ofDay = 86_400_000_000
	return first.AddDate(0, 0, day-1+int(d.days)+int(d.micros/ofDay)).Add(time.Duration(d.micros%ofDay) * time.Microsecond)
}

// elapsed returns the time between two others, in days and what is left of one.
func elapsed(from, to time.Time) duration {
	const ofDay = 86_400_000_000
	micros := (to.Unix()-from.Unix())*1_000_000 + int64(to.Nanosecond()-from.Nanosecond())/1000
	return duration{days: micros / ofDay, micros: micros % ofDay}
}
