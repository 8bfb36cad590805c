package lower

import (
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// create lowers a create. Where its caller was admitted whatever the row, the record
// is what the insert returns; else row security judges the new row when the record
// is read, once all is written.
func (l *lowering) create(a *schema.Action) *pg.Function {
	b := l.begin(a, functionName(a), "action "+a.Name, pg.Volatile)
	b.variable("v_result", "text", nil)

	insert := &pg.Insert{Schema: appSchema, Table: b.table, Returning: b.returnedRecord(), Into: "v_result"}
	for _, w := range writes(a) {
		insert.Columns = append(insert.Columns, w.field.Column)
		insert.Values = append(insert.Values, createValue(w))
	}
	if b.judgesRows() {
		id := b.newID(insert)
		insert.Returning, insert.Into = nil, ""
		b.step("", insert)
		b.step("Row security judges the new row here, with all that hangs on it.", b.recordQuery(pg.Eq(pg.Col(b.table, "id"), id), "v_result"))
		b.step("", pg.IfThen(pg.IsNull(pg.Var("v_result")), &pg.Perform{Value: pg.Fn("platform.refuse")}))
		b.step("", &pg.Return{Value: pg.Var("v_result")})
		return b.finish()
	}
	if len(insert.Columns) == 0 {
		insert.Columns = []string{"id"}
		insert.Values = []pg.Expr{pg.Lit("default")}
	}
	b.step("", insert)
	b.step("", &pg.Return{Value: pg.Var("v_result")})
	return b.finish()
}

// newID makes the id of the new row before it is inserted, unless the request gives
// one.
func (b *builder) newID(insert *pg.Insert) pg.Expr {
	name := b.names.Take("v_" + b.table + "_id")
	for i, column := range insert.Columns {
		if column == "id" {
			id := b.variable(name, "text", insert.Values[i])
			insert.Values[i] = id
			return id
		}
	}
	id := b.variable(name, "text", pg.Fn("platform.new_id"))
	insert.Columns = append([]string{"id"}, insert.Columns...)
	insert.Values = append([]pg.Expr{id}, insert.Values...)
	return id
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
