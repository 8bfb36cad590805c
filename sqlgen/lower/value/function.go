package value

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// functions are the functions of Postgres that do what those of the language do.
var functions = map[string]string{
	"ROUND": "round", "FLOOR": "floor", "CEIL": "ceil", "ABS": "abs", "LEAST": "least", "GREATEST": "greatest", "COALESCE": "coalesce",
	"LOWER": "lower", "UPPER": "upper", "TRIM": "platform.trim", "LENGTH": "char_length",
}

// function lowers a function. Where a null argument makes it null, a path through to-ones keeps its joins.
func (x Expression) function(n *expr.Function) Operand {
	o := Operand{Typ: n.Type(), passesNulls: n.PassesNulls()}
	for _, argument := range n.Arguments {
		part := x.Operand(argument)
		coerce(&part, &o)
		o.nowhere = o.nowhere || part.nowhere
		o.parts = append(o.parts, part)
	}
	if o.nowhere {
		return o
	}
	first := o.parts[0] // the only one that is no literal, unless nulls are passed over
	o.Nullable, o.Joins = first.Nullable, first.Joins
	arguments := []pg.Expr{exact(first)}
	if o.passesNulls {
		arguments[0], o.Joins = first.Scalar(), nil
	}
	for _, part := range o.parts[1:] {
		arguments = append(arguments, part.Scalar())
		o.Nullable = o.Nullable && (part.Nullable || !o.passesNulls)
	}
	o.Value = pg.Fn(functions[n.Name], arguments...)
	o.isExact = !o.passesNulls && n.Name != "LENGTH"
	return o
}
