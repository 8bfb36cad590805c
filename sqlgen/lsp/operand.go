package lsp

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// valueType is the type of a symbol's value; the zero valueType is not known.
type valueType struct {
	name  string // of a scalar, enum or model
	array bool
}

// comparisons are the operators whose operands have to agree.
var comparisons = []string{"==", "!=", "<", "<=", ">", ">="}

// beforeOperand are the tokens before an operand without arithmetic.
var beforeOperand = []string{"(", ",", ":", "&&", "||", "!", "{"}

// behindOperand are the tokens behind such an operand.
var behindOperand = []string{")", ",", "&&", "||", "}"}

// readOperands notes the path that the place is compared with or assigned to: the other
// side of an operator, if it is only a path.
func (w *walk) readOperands(s *spot) {
	begin := w.at - 2*len(s.path) // of the path that the place is in
	end := w.at + 2*len(s.rest)
	if s.word != "" {
		end++
	}
	token := func(i int) *syntax.Token { return &w.tokens[max(0, min(i, len(w.tokens)-1))] }
	path := func(i, step int) (names []string, next int) {
		for token(i).Kind == syntax.TokenName {
			names = append(names, token(i).Text)
			if token(i+step).Text != "." {
				return names, i + step
			}
			i += 2 * step
		}
		return nil, i
	}
	if op := token(begin - 1).Text; slices.Contains(comparisons, op) || op == "=" {
		names, before := path(begin-2, -1)
		if slices.Contains(beforeOperand, token(before).Text) {
			slices.Reverse(names)
			s.against, s.operator = names, op
		}
		return
	}
	if op := token(end).Text; (s.word != "" || s.path != nil) && slices.Contains(comparisons, op) && slices.Contains(beforeOperand, token(begin-1).Text) {
		if names, behind := path(end+1, 1); slices.Contains(behindOperand, token(behind).Text) {
			s.against, s.operator = names, op
		}
	}
}

// agrees tells whether a symbol can be on one side of an operator, given the path on the
// other. A symbol that leads on behind a dot can, and so can an unknown one.
func (x *index) agrees(s *spot, y *symbol) bool {
	if len(s.against) == 0 || y.next != nil {
		return true
	}
	other := *s
	other.path, other.assigned = nil, s.assigned && s.operator != "="
	symbols := x.roots(&other)
	var against *symbol
	for _, name := range s.against {
		if against = named(symbols, name); against == nil {
			return true
		}
		symbols = nil
		if against.next != nil {
			symbols = against.next()
		}
	}
	if isSource(against) || isSource(y) {
		return false // those are compared with texts that name a model or an arm
	}
	if y.name == "null" && y.class == classValue {
		return s.operator == "==" || s.operator == "!=" || s.operator == "=" && (against.field == nil || against.field.optional)
	}
	if (y.name == "true" || y.name == "false") && y.class == classValue {
		y.typ = valueType{name: "Boolean"}
	}
	if against.typ.name == "" || y.typ.name == "" {
		return true
	}
	if s.block == "arms" && s.operator == "=" { // a view changes no types
		return against.typ == y.typ || against.typ == valueType{name: "Decimal"} && y.typ == valueType{name: "Number"}
	}
	return x.pair(against.typ, y.typ, s.operator)
}

// isSource tells whether a symbol is one of the fields by which a union tells its sources.
func isSource(y *symbol) bool {
	return y.field != nil && y.field.typeName == "Text" && y.field.tree == nil && (y.name == "sourceModel" || y.name == "sourceArm")
}

// pair tells whether an operator takes values of two types, or the possible results of
// arithmetic with the second.
func (x *index) pair(a, b valueType, operator string) bool {
	kindA, _ := expr.ScalarNamed(a.name)
	kindB, _ := expr.ScalarNamed(b.name)
	classA, classB := x.classOf(a), x.classOf(b)
	switch {
	case operator == "=" && kindA.IsWriteOnly():
		return true
	case operator == "=" && kindA == expr.Number && kindB == expr.Decimal:
		return false
	case classA == expr.ClassDuration && classB == expr.ClassTemporal:
		return true // less another time
	}
	operators := expr.Equality
	if strings.HasPrefix(operator, "<") || strings.HasPrefix(operator, ">") {
		operators = expr.Ordering
	}
	for _, p := range expr.Pairs() {
		fits := p.Left == classA && p.Right == classB || p.Left == classB && p.Right == classA
		if fits && p.Operators&operators != 0 {
			return classA != classB || classA != expr.ClassEnum && classA != expr.ClassModel || a.name == b.name
		}
	}
	return false
}

// classOf returns the class of an operand of a type.
func (x *index) classOf(v valueType) expr.Class {
	kind, isScalar := expr.ScalarNamed(v.name)
	switch {
	case x.isModel(v.name) && v.array:
		return expr.ClassToMany
	case v.array:
		return expr.ClassArray
	case x.isModel(v.name):
		return expr.ClassModel
	case isScalar:
		return kind.Class()
	}
	return expr.ClassEnum
}
