package lower

import (
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// create lowers a create. Its caller was admitted whatever the row, so the record
// is what the insert returns.
func (l *lowering) create(a *schema.Action) *pg.Function {
	b := l.begin(a, functionName(a), "action "+a.Name, pg.Volatile)
	b.variable("v_result", "text", nil)

	insert := &pg.Insert{Schema: appSchema, Table: b.table, Returning: b.returnedRecord(), Into: "v_result"}
	for _, w := range writes(a) {
		insert.Columns = append(insert.Columns, w.field.Column)
		insert.Values = append(insert.Values, createValue(w))
	}
	if len(insert.Columns) == 0 {
		insert.Columns = []string{"id"}
		insert.Values = []pg.Expr{pg.Lit("default")}
	}
	b.step("", insert)
	b.step("", &pg.Return{Value: pg.Var("v_result")})
	return b.finish()
}

// createValue is the value of a new row's column: the input's, or where it may
// be absent and the field has a default, that.
func createValue(w write) pg.Expr {
	mayBeMissing := w.input.Optional || w.input.Nullable
	value := read(w.field.Type, mayBeMissing, input, w.path...)
	fallback := columnDefault(w.field)
	if !w.input.Optional || fallback == nil {
		return value
	}
	value = read(w.field.Type, w.input.Nullable, input, w.path...)
	return &pg.Case{Whens: []pg.When{{Condition: isGiven(input, w.path), Result: value}}, Else: fallback}
}
