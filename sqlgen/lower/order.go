package lower

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// sortKey is one column that a list is ordered by. Null is last ascending and first descending, which is Postgres' own
// order.
type sortKey struct {
	field      *model.Field
	descending bool
	follows    bool // in the direction of the key before it, which a request may choose
}

// ownOrder returns the order of a list whose request names none: the declared one, then by id, so that no two rows are
// equal. The id has the direction of the field before it, so that an order in one direction is one row comparison.
func ownOrder(a *model.Action) []sortKey {
	var keys []sortKey
	for _, k := range a.OrderBy {
		keys = append(keys, sortKey{field: k.Field, descending: k.Descending})
		if k.Field.Name == "id" {
			return keys // nothing can follow
		}
	}
	return followedBy(keys, a.Model.Field("id"))
}

// followedBy returns an order with one more field, in the direction of the one before it.
func followedBy(keys []sortKey, f *model.Field) []sortKey {
	descending := len(keys) > 0 && keys[len(keys)-1].descending
	return append(keys, sortKey{field: f, descending: descending, follows: true})
}

// sortable returns every field that a list may be ordered by: the fields that a request may name and those that the
// action's own order needs.
func sortable(a *model.Action) []*model.Field {
	var fields []*model.Field
	seen := map[*model.Field]bool{}
	add := func(f *model.Field) {
		if !seen[f] {
			seen[f] = true
			fields = append(fields, f)
		}
	}
	for _, f := range a.Sortable {
		add(f)
	}
	for _, k := range ownOrder(a) {
		add(k.field)
	}
	return fields
}

// column is the column that a key orders by.
func (k sortKey) column(table string) pg.Expr { return pg.Col(table, k.field.Column) }

// columnText is the column as text of a statement.
func (k sortKey) columnText(table string) string {
	return pg.Ident(table) + "." + pg.Ident(k.field.Column)
}

// row is the key as the platform's functions take it.
func (k sortKey) row(table string, descending pg.Expr) pg.Expr {
	return &pg.Row{Values: []pg.Expr{
		pg.Str(k.field.Name),
		pg.Str(k.columnText(table)),
		pg.Str(castType(k.field.Type.Kind)),
		boolean(k.field.Optional),
		descending,
	}}
}

// keysArray is an order as the platform's functions take it.
func keysArray(keys []sortKey, table string) pg.Expr {
	rows := make([]pg.Expr, len(keys))
	for i, k := range keys {
		rows[i] = k.row(table, boolean(k.descending))
	}
	return pg.As(&pg.Array{Elements: rows}, "platform.sort_key[]")
}

// isByIDAlone tells whether a list is ordered by id alone.
func isByIDAlone(keys []sortKey) bool {
	return len(keys) == 1 && keys[0].field.Name == "id" && !keys[0].descending
}

// orderBy is an order as a clause.
func orderBy(keys []sortKey, table string) []pg.Order {
	orders := make([]pg.Order, len(keys))
	for i, k := range keys {
		orders[i] = pg.Order{Value: k.column(table), Descending: k.descending}
	}
	return orders
}

// orderText is an order, or its reverse, as text of a statement.
func orderText(keys []sortKey, table string, reversed bool) string {
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = k.columnText(table)
		if k.descending != reversed {
			texts[i] += " desc"
		}
	}
	return strings.Join(texts, ", ")
}

// first returns a value before all others in the key's order, as text. Then one statement serves the first page and
// those that follow. Texts have no last value: in a descending order the empty text will do behind a key that has a
// last value.
func (k sortKey) first() (value pg.Expr, exists bool) {
	first := sqlOf(k.field.Type.Kind).first
	if first == nil {
		return nil, false
	}
	return first(k.descending)
}

// reverse is the opposite order.
func reverse(keys []sortKey) []sortKey {
	reversed := make([]sortKey, len(keys))
	for i, k := range keys {
		reversed[i] = sortKey{field: k.field, descending: !k.descending}
	}
	return reversed
}

// keysetOperator is the operator of the keyset condition: it compares a value with that of a row before it in the key's
// order.
func (k sortKey) keysetOperator() string {
	if k.descending {
		return "<"
	}
	return ">"
}

// orderIndexes returns the indexes that a list's own order needs: the order alone, behind each foreign key that the
// list can be filtered by, and behind each column that a way of admitting rows compares with the caller. The order by
// id alone uses the primary key.
func orderIndexes(m *model.Model) []orderIndex {
	var indexes []orderIndex
	for _, a := range m.Actions {
		if a.Kind != model.List || a.Custom {
			continue
		}
		keys := ownOrder(a)
		if !isByIDAlone(keys) {
			indexes = append(indexes, orderIndex{a, nil, keys})
		}
		for _, in := range a.Reads {
			if f := ownColumn(in); f != nil && f.FKOf != nil {
				indexes = append(indexes, orderIndex{a, []*model.Field{f}, keys})
			}
		}
		for _, w := range waysByPolicy(m, a.Rules, asItIs) {
			if fields := w.indexed(keys); fields != nil {
				indexes = append(indexes, orderIndex{a, fields, keys})
			}
		}
	}
	return indexes
}

// orderedBy returns a list with a foreseen filter whose rows an @index has in the order of the list, or nil.
func orderedBy(m *model.Model, i *model.Index) *model.Action {
	for _, a := range m.Actions {
		if a.Kind != model.List || a.Custom {
			continue
		}
		keys := ownOrder(a)
		if slices.ContainsFunc(foreseenSets(a), func(set operatorSet) bool { return set.isInOrderOf(i, keys) }) {
			return a
		}
	}
	return nil
}

// isInOrderOf tells whether an @index begins with the columns that the set compares with one value each, and goes on in
// the order of a list. The id that ends the order may be missing there: it is added, see declaredIndex.
func (s operatorSet) isInOrderOf(i *model.Index, keys []sortKey) bool {
	leading := len(s.equals)
	if leading == 0 || len(i.Fields) <= leading {
		return false
	}
	for _, f := range s.equals {
		column := ownColumn(f.input)
		if column == nil || !slices.ContainsFunc(i.Fields[:leading], func(led *model.Field) bool { return storedAs(led) == column }) {
			return false
		}
	}
	for at, k := range keys {
		if k.descending != keys[0].descending {
			return false
		}
		if leading+at == len(i.Fields) {
			return k.field.Name == "id"
		}
		if storedAs(i.Fields[leading+at]) != k.field {
			return false
		}
	}
	return true
}

// armIndexes returns the indexes that the orders of unions need in the tables of their arms, where the arm takes each
// key from a column of its own.
func (l *lowering) armIndexes(m *model.Model) []orderIndex {
	var indexes []orderIndex
	for _, u := range l.schema.Unions {
		for _, arm := range armsOf(u) {
			if arm.Model != m {
				continue
			}
			for _, a := range u.Actions {
				keys := arm.ownKeys(a)
				if a.Kind != model.List || keys == nil {
					continue
				}
				if !isByIDAlone(keys) {
					indexes = append(indexes, orderIndex{a, nil, keys})
				}
				for _, w := range waysByPolicy(m, a.Rules, arm.over) {
					if fields := w.indexed(keys); fields != nil {
						indexes = append(indexes, orderIndex{a, fields, keys})
					}
				}
			}
		}
	}
	return indexes
}

// ownKeys is the order of a union's list in terms of the arm's own columns, nil if some key is not one. Fields that an
// arm gives one value to order nothing there.
func (a arm) ownKeys(action *model.Action) []sortKey {
	var keys []sortKey
	for _, k := range unionOrder(action) {
		f := a.union.Field(k.field.Name)
		if f == nil {
			continue // the arm's number
		}
		switch n := a.value(f).(type) {
		case *expr.Literal:
		case *expr.Arithmetic, *expr.Negative:
			return nil
		case *expr.Path:
			if len(n.Steps) != 1 {
				return nil
			}
			own := storedAs(field(n.Steps[0]))
			if own.Column == "" {
				return nil
			}
			keys = append(keys, sortKey{field: own, descending: k.descending})
		}
	}
	return keys
}

// ownColumn returns the field of the action's own table that holds an implicit input: the field itself, or for f.id the
// foreign key. It returns nil for any other path.
func ownColumn(in *model.Input) *model.Field {
	if in.Explicit || in.Union != nil {
		return nil
	}
	switch path := in.AlongCopies(); {
	case len(path) == 1:
		return path[0]
	case len(path) == 2 && path[1].Name == "id":
		return path[0].FK
	}
	return nil
}

// orderIndex is an index for the order of a list.
type orderIndex struct {
	action *model.Action
	behind []*model.Field // columns with the same value in all its rows; none means that it has all rows
	keys   []sortKey
}
