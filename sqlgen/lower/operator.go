package lower

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// operator is one operator of a query object, and its condition on a row. platform.operators has the conditions as SQL,
// written from this table by go test -update.
type operator struct {
	name     string
	operand  expr.FilterOperand
	nullable bool // whether the operand is nullable where the field is
	// condition holds for a value and an operand; neither is null.
	condition func(value, operand pg.Expr) pg.Expr // nil for equalsRelative, which apply knows
	// unset is the result of the operator for a row without value: equals matches none but with null, notEquals all but
	// with null.
	unset bool
}

func compare(op string) func(value, operand pg.Expr) pg.Expr {
	return func(value, operand pg.Expr) pg.Expr { return pg.Op(value, op, operand) }
}

func oneOf(value, operand pg.Expr) pg.Expr {
	return &pg.Any{Value: value, Op: "=", Array: operand}
}

// startsWith ignores case, like all text operators but equals, and looks for its operand literally.
func startsWith(value, operand pg.Expr) pg.Expr {
	return pg.Fn("starts_with", pg.Fn("lower", value), pg.Fn("lower", operand))
}

// beginsWith is startsWith in a form that an index can serve: see foldedFields.
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

// conditions are the conditions of the query objects' operators.
var conditions = map[string]func(value, operand pg.Expr) pg.Expr{
	"equals": compare("="), "notEquals": compare("<>"), "oneOf": oneOf,
	"lessThan": compare("<"), "lessThanOrEquals": compare("<="),
	"greaterThan": compare(">"), "greaterThanOrEquals": compare(">="),
	"startsWith": startsWith, "endsWith": endsWith, "contains": contains,
	"before": compare("<"), "onOrBefore": compare("<="),
	"after": compare(">"), "onOrAfter": compare(">="),
	"beforeRelative": compare("<"), "afterRelative": compare(">="), "equalsRelative": nil,
}

// operators returns the operators with their conditions.
func operators(filters []expr.Filter) []operator {
	list := make([]operator, len(filters))
	for i, f := range filters {
		list[i] = operator{name: f.Name, operand: f.Operand, nullable: f.Nullable,
			condition: conditions[f.Name], unset: f.Name == "notEquals"}
	}
	return list
}

// operatorsOf returns the operators of a scalar type, in the order in which they
// are published.
func operatorsOf(k expr.Kind) []operator { return operators(k.Filters()) }

// inputOperators returns the operators of a scalar input. The name of the source of a union's rows is filtered as an
// enum.
func inputOperators(in *model.Input) []operator {
	if isSource(in) {
		return operatorsOf(expr.Enum)
	}
	return operatorsOf(in.Type.Kind)
}

// isSource tells whether an input is the sourceModel or sourceArm of a union.
func isSource(in *model.Input) bool {
	return in.Union != nil && in.Union.BuiltIn && in.Union.Name != "id"
}

// elementOperatorsOf returns the operators inside any and all.
func elementOperatorsOf(k expr.Kind) []operator { return operators(k.ElementFilters()) }

// apply returns the condition for a value of a kind and an operand; neither is null. given holds the operand at path.
func (o operator) apply(k expr.Kind, value, given pg.Expr, path []string) pg.Expr {
	switch o.operand {
	case expr.ManyValues:
		values := pg.Fn("platform.texts", member(given, path...)) // Postgres knows it when it plans
		return o.condition(value, castTo(values, elementType(expr.Type{Kind: k, Array: true}), "[]"))
	case expr.RelativePeriod:
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
