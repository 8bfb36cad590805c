package lower

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// lookUp returns the condition that the look-up inputs pin the row by.
func (b *builder) lookUp() pg.Expr {
	var conditions []pg.Expr
	for _, in := range b.action.Reads {
		column := pg.Col(b.table, storedAs(ownField(in)).Column)
		var condition pg.Expr = pg.Eq(column, b.value(in))
		if in.Nullable {
			condition = pg.Op(column, "is not distinct from", b.value(in))
		}
		if in.Optional {
			condition = pg.AnyOf(pg.Negate(b.isGivenInput(in)), condition)
			// An absent input is no condition; only a plan made for the call knows which are.
			b.fn.Settings = []pg.Setting{{Name: "plan_cache_mode", Value: "force_custom_plan"}}
		}
		conditions = append(conditions, condition)
	}
	return pg.AllOf(conditions...)
}

// variableType is the type of a variable that holds a column's value.
func variableType(t expr.Type) string {
	name := valueType(t.Kind)
	if t.Array {
		name += "[]"
	}
	return name
}

// ownField returns the field of the action's model that an implicit input
// stands for: the field itself, or for f.id the to-one f.
func ownField(in *schema.Input) *schema.Field { return in.Path[0] }
