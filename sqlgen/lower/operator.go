package lower

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// operator is one operator of a query object.
type operator struct {
	name     string
	operand  operandShape
	nullable bool // whether the operand is nullable where the field is
	// condition holds for a value and an operand, neither of which is null.
	condition func(value, operand pg.Expr) pg.Expr // nil for equalsRelative, which apply knows
	// unset says what the operator makes of a row without value: equals matches
	// none but with null, notEquals all but with null.
	unset bool
}

// operandShape is what an operator takes.
type operandShape int

const (
	oneValue operandShape = iota
	manyValues
	relativePeriod
)

func compare(op string) func(value, operand pg.Expr) pg.Expr {
	return func(value, operand pg.Expr) pg.Expr { return pg.Op(value, op, operand) }
}

func oneOf(value, operand pg.Expr) pg.Expr {
	return &pg.Any{Value: value, Op: "=", Array: operand}
}

// The text operators but equals disregard case; what they look for is literal.
func startsWith(value, operand pg.Expr) pg.Expr {
	return pg.Fn("starts_with", pg.Fn("lower", value), pg.Fn("lower", operand))
}

// beginsWith is startsWith with what an index can find: see foldedFields.
func beginsWith(value, operand pg.Expr) pg.Expr {
	folded := pg.Op(pg.Fn("platform.fold", value), "collate", pg.Lit(`"C"`))
	return pg.AllOf(pg.Fn("starts_with", folded, pg.Fn("platform.fold", operand)), startsWith(value, operand))
}

func endsWith(value, operand pg.Expr) pg.Expr {
	return pg.Fn("starts_with", pg.Fn("reverse", pg.Fn("lower", value)), pg.Fn("reverse", pg.Fn("lower", operand)))
}

func contains(value, operand pg.Expr) pg.Expr {
	return pg.Op(pg.Fn("strpos", pg.Fn("lower", value), pg.Fn("lower", operand)), ">", pg.Lit("0"))
}

var (
	equalsOperators = []operator{
		{name: "equals", nullable: true, condition: compare("=")},
		{name: "notEquals", nullable: true, condition: compare("<>"), unset: true},
	}
	orderOperators = []operator{
		{name: "lessThan", condition: compare("<")},
		{name: "lessThanOrEquals", condition: compare("<=")},
		{name: "greaterThan", condition: compare(">")},
		{name: "greaterThanOrEquals", condition: compare(">=")},
	}
	textOperators = []operator{
		{name: "startsWith", condition: startsWith},
		{name: "endsWith", condition: endsWith},
		{name: "contains", condition: contains},
	}
	oneOfOperator     = operator{name: "oneOf", operand: manyValues, condition: oneOf}
	relativeOperators = []operator{
		{name: "beforeRelative", operand: relativePeriod, condition: compare("<")},
		{name: "afterRelative", operand: relativePeriod, condition: compare(">=")},
		{name: "equalsRelative", operand: relativePeriod},
	}
)

// operatorsOf returns the operators of a scalar type, in the order in which they
// are published.
func operatorsOf(k expr.Kind) []operator {
	var list []operator
	switch k {
	case expr.Text, expr.Markdown:
		list = append(list, equalsOperators...)
		list = append(list, textOperators...)
		return append(list, oneOfOperator)
	case expr.Number, expr.Decimal:
		list = append(list, equalsOperators...)
		list = append(list, orderOperators...)
		return append(list, oneOfOperator)
	case expr.Duration:
		list = append(list, equalsOperators...)
		return append(list, orderOperators...)
	case expr.Boolean:
		return equalsOperators
	case expr.ID, expr.Enum:
		list = append(list, equalsOperators...)
		return append(list, oneOfOperator)
	case expr.Date:
		list = append(list, equalsOperators...)
		list = append(list,
			operator{name: "before", condition: compare("<")},
			operator{name: "onOrBefore", condition: compare("<=")},
			operator{name: "after", condition: compare(">")},
			operator{name: "onOrAfter", condition: compare(">=")},
		)
		return append(list, relativeOperators...)
	case expr.Timestamp:
		list = append(list,
			operator{name: "before", condition: compare("<")},
			operator{name: "after", condition: compare(">")},
		)
		return append(list, relativeOperators...)
	}
	panic("lower: no filter takes kind " + kindName(k))
}

// inputOperators returns the operators of a scalar input. What names the source of a
// union's rows is filtered as an enum.
func inputOperators(in *schema.Input) []operator {
	if isSource(in) {
		return operatorsOf(expr.Enum)
	}
	return operatorsOf(in.Type.Kind)
}

// isSource tells whether an input is the sourceModel or sourceArm of a union.
func isSource(in *schema.Input) bool {
	return in.Union != nil && in.Union.BuiltIn && in.Union.Name != "id"
}

// elementOperatorsOf returns the operators inside any and all: those of the
// element's type, of which oneOf is left out and none is nullable.
func elementOperatorsOf(k expr.Kind) []operator {
	var list []operator
	for _, o := range operatorsOf(k) {
		if o.operand != manyValues {
			o.nullable = false
			list = append(list, o)
		}
	}
	return list
}

// apply returns the condition for a value of a kind and an operand, neither of which
// is null. given is what holds the operand, path its place there.
func (o operator) apply(k expr.Kind, value, given pg.Expr, path []string) pg.Expr {
	switch o.operand {
	case manyValues:
		return o.condition(value, elementsOf(expr.Type{Kind: k, Array: true}, member(given, path...)))
	case relativePeriod:
		starts, ends := "starts_at", "ends_at"
		if k == expr.Date {
			// A Date has no zone: it is compared with the period on the caller's calendar.
			starts, ends = "local_starts_at", "local_ends_at"
		}
		switch o.name {
		case "beforeRelative":
			return o.condition(value, period(memberText(given, path...), starts))
		case "afterRelative":
			return o.condition(value, period(memberText(given, path...), ends))
		}
		return pg.AllOf(
			pg.Op(value, ">=", period(memberText(given, path...), starts)),
			pg.Op(value, "<", period(memberText(given, path...), ends)),
		)
	}
	return o.condition(value, cast(memberText(given, path...), expr.Type{Kind: k}))
}

// period is one end of a relative period, which is known when the statement is
// planned.
func period(expression pg.Expr, end string) pg.Expr {
	return &pg.Field{Value: pg.Fn("platform.current_period", expression), Name: end}
}
