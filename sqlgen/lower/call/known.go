package call

import (
	"maps"
	"reflect"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Concatenated joins texts.
func Concatenated(parts ...pg.Expr) pg.Expr {
	var all pg.Expr
	for _, p := range parts {
		joined, isJoined := p.(*pg.Binary)
		switch {
		case all == nil:
			all = p
		case isJoined && joined.Op == "||":
			all = Concatenated(all, joined.Left, joined.Right)
		default:
			all = pg.Op(all, "||", p)
		}
	}
	return all
}

// The values that the rules of a list compare rows with are looked up once, before rows are read, and held in variables.
// Postgres then knows them when it plans a statement, and finds nothing behind a null.

// Known returns a condition of the rules with the values that are the same for all rows in variables.
func (b *Builder) Known(condition pg.Expr) pg.Expr {
	return pg.Replace(condition, func(e pg.Expr) pg.Expr {
		switch e := e.(type) {
		case *pg.Subquery:
			if reflect.DeepEqual(e, value.IdentityID(value.InQuery)) {
				return b.caller()
			}
			if typ, name := b.typeOf(e.Query); typ != "" && isSameForAllRows(e) {
				return b.Hold(name, typ, e)
			}
		case *pg.Exists:
			if isSameForAllRows(e) {
				name := "is_known"
				if c, ok := e.Query.Where.(*pg.ColumnRef); ok {
					name = c.Name
				}
				return b.Hold(name, "boolean", e)
			}
		}
		return nil
	})
}

// caller is the caller's id: an argument, or a variable that holds it.
func (b *Builder) caller() pg.Expr {
	if slices.Contains(b.Fn.Arguments, callerArgument) {
		return b.callerID()
	}
	return b.Hold("caller", "text", b.callerID())
}

// Hold returns the variable that holds a value.
func (b *Builder) Hold(name, typ string, value pg.Expr) *pg.Variable {
	for _, v := range b.held {
		if reflect.DeepEqual(v.Initial, value) {
			return v
		}
	}
	b.held = append(b.held, b.VariableFor(name, typ, value))
	return b.held[len(b.held)-1]
}

// typeOf returns the type of the column that a query reads from a view of a model, and a name for the value. The type is
// empty if it reads anything else.
func (b *Builder) typeOf(q *pg.Select) (typ, name string) {
	if len(q.Columns) != 1 {
		return "", ""
	}
	column, ok := q.Columns[0].Value.(*pg.ColumnRef)
	if !ok {
		return "", ""
	}
	table := tablesOf(q)[column.Table]
	for _, m := range value.ModelsRead(b.Action) {
		for _, f := range m.Stored() {
			if f.Column == column.Name && m.Table == table {
				return value.VariableType(f.Type), m.Table + "_" + f.Column
			}
		}
	}
	return "", ""
}

// tablesOf are the tables and views that a query reads, by the names that they have there.
func tablesOf(q *pg.Select) map[string]string {
	tables := map[string]string{}
	for _, j := range append([]pg.Join{{With: q.From}}, q.Joins...) {
		if t, ok := j.With.(*pg.TableRef); ok && t.Alias != "" {
			tables[t.Alias] = t.Name
		} else if ok {
			tables[t.Name] = t.Name
		}
	}
	return tables
}

// isSameForAllRows tells whether an expression reads no row around it.
func isSameForAllRows(e pg.Expr) bool {
	read, own := map[string]bool{}, map[string]string{}
	query := func(q *pg.Select) pg.Expr { maps.Copy(own, tablesOf(q)); return nil }
	pg.Replace(e, func(e pg.Expr) pg.Expr {
		switch e := e.(type) {
		case *pg.ColumnRef:
			read[e.Table] = true
		case *pg.Subquery:
			return query(e.Query)
		case *pg.Exists:
			return query(e.Query)
		case *pg.ArrayOf:
			return query(e.Query)
		}
		return nil
	})
	for table := range read {
		if own[table] == "" {
			return false
		}
	}
	return true
}
