package explain

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// unionRow is a row of a union: that of an arm's model, with the arm's mapping in
// place of the fields.
type unionRow struct {
	arm    *model.Arm
	source *row
}

// ID returns the id of the source row.
func (r unionRow) ID() string { return r.source.id }

// Value returns the value that the arm maps to a field.
func (r unionRow) Value(field string) any {
	switch field {
	case "id":
		return r.source.id
	case "sourceModel":
		return r.arm.Model.Name
	case "sourceArm":
		return r.arm.Name
	}
	for _, v := range r.arm.Values {
		if v.Field.Name != field {
			continue
		}
		switch value := v.Value.(type) {
		case *expr.Literal:
			return value.Value
		case *expr.List:
			values := []any{}
			for _, e := range value.Elements {
				values = append(values, e.(*expr.Literal).Value)
			}
			return values
		case *expr.Arithmetic, *expr.Negative:
			return expr.Evaluate(expr.Call{Row: r.source}, value, v.Field.Type)
		case *expr.Path:
			if values := valuesFrom(value, r.source); len(values) == 1 {
				return values[0]
			}
		}
		return nil
	}
	return nil
}

// Related is never called: a union has no relations.
func (r unionRow) Related(field string) []expr.Row {
	panic("explain: a union has no relation " + field)
}

// arms returns the rows of a union that come from these source rows: those that
// satisfy the conditions of the arm, and of no arm of the same model before it.
func (s *store) arms(u *model.Union, sources func(*model.Model) []*row) []unionRow {
	var rows []unionRow
	taken := map[*row]bool{}
	for _, arm := range u.Arms {
		var wheres []expr.Node
		for _, w := range arm.Wheres {
			wheres = append(wheres, w.Expression)
		}
		for _, source := range sources(arm.Model) {
			if !taken[source] && expr.Holds(expr.Call{Row: source}, wheres...) {
				taken[source] = true
				rows = append(rows, unionRow{arm, source})
			}
		}
	}
	return rows
}
