package lower

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// armColumn is the column that tells rows of one id apart: the number of their arm. No field's name makes such a
// column.
const armColumn = "arm__number"

// sortKey is one column that a list is ordered by. Null is last ascending and first descending, which is Postgres' own
// order.
type sortKey struct {
	field      *model.Field
	descending bool
	follows    bool // in the direction of the key before it, which a request may choose
}

// ownOrder returns the order of a list whose request names none: the declared one, then by id, so that no two rows are
// equal. The id has the direction of the field before it, so that an order in one direction is one row comparison. Two
// arms of a union may have rows of one id, so the number of the arm comes last.
func ownOrder(a *model.Action) []sortKey {
	var keys []sortKey
	for _, k := range a.OrderBy {
		keys = append(keys, sortKey{field: orderField(k.Field, k.UnionField), descending: k.Descending})
		if a.Union == nil && k.Field.Name == "id" {
			return keys // nothing can follow
		}
	}
	if !slices.ContainsFunc(keys, func(k sortKey) bool { return k.field.Name == "id" }) {
		id := sortKey{field: fieldOf(a, "id"), descending: len(keys) > 0 && keys[len(keys)-1].descending, follows: true}
		keys = append(keys, id)
	}
	if a.Union != nil {
		keys = append(keys, sortKey{field: &model.Field{Name: armColumn, Column: armColumn, Type: expr.Type{Kind: expr.Number}}})
	}
	return keys
}

// keysOfArms is the order of a list within each source of its rows: without the number of the arm.
func keysOfArms(a *model.Action) []sortKey {
	keys := ownOrder(a)
	if a.Union != nil {
		return keys[:len(keys)-1]
	}
	return keys
}

// fieldOf is a field of the rows of an action.
func fieldOf(a *model.Action, name string) *model.Field {
	if a.Union != nil {
		return unionKey(a.Union.Field(name))
	}
	return a.Model.Field(name)
}

// orderField is one of two fields: that of a model or, if it is nil, that of a union.
func orderField(f *model.Field, u *model.UnionField) *model.Field {
	if u != nil {
		return unionKey(u)
	}
	return f
}

// unionKey is a field of a union as the field type that orders use.
func unionKey(f *model.UnionField) *model.Field {
	return &model.Field{Name: f.Name, Column: f.Column, Type: f.Type, Optional: f.Optional}
}

// isSortable tells whether requests may order a list.
func isSortable(a *model.Action) bool { return len(a.Sortable)+len(a.UnionSortable) > 0 }

// sortable returns every field that a list may be ordered by: the fields that a request may name and those that the
// action's own order needs.
func sortable(a *model.Action) []*model.Field {
	fields := slices.Clone(a.Sortable)
	for _, f := range a.UnionSortable {
		fields = append(fields, unionKey(f))
	}
	for _, k := range ownOrder(a) {
		fields = append(fields, k.field)
	}
	var once []*model.Field
	for _, f := range fields {
		if !slices.ContainsFunc(once, func(known *model.Field) bool { return known.Name == f.Name }) {
			once = append(once, f)
		}
	}
	return once
}

// column is the column that a key orders by.
func (k sortKey) column(table string) pg.Expr { return pg.Col(table, k.field.Column) }

// columnText is the column as text of a statement.
func (k sortKey) columnText(table string) string {
	return pg.Ident(table) + "." + pg.Ident(k.field.Column)
}

// keysArray is an order as the platform's functions take it.
func keysArray(keys []sortKey, table string) pg.Expr {
	rows := make([]pg.Expr, len(keys))
	for i, k := range keys {
		rows[i] = &pg.Row{Values: []pg.Expr{
			pg.Str(k.field.Name), pg.Str(k.columnText(table)), pg.Str(castType(k.field.Type.Kind)), boolean(k.field.Optional), boolean(k.descending),
		}}
	}
	return pg.As(&pg.Array{Elements: rows}, "platform.sort_key[]")
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

// keyColumns are the columns that a way selects of its rows, to merge them with those of others.
func keyColumns(keys []sortKey, table string) []pg.Output {
	columns := make([]pg.Output, len(keys))
	for i, k := range keys {
		columns[i] = pg.Output{Value: k.column(table)}
	}
	return columns
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

// canSeek tells whether the rows from a position on are one row comparison, and there is a position before all of them:
// the order goes one way, no key may be null, and each has a first value. In a descending order, the first key has a
// value above all that rows hold, so it does not matter that texts have none.
func canSeek(keys []sortKey) bool {
	for i, k := range keys {
		_, hasFirst := k.first()
		if k.field.Optional || k.descending != keys[0].descending || !hasFirst && (i == 0 || castType(k.field.Type.Kind) != "text") {
			return false
		}
	}
	return !keys[0].descending || keys[0].field.Type.Kind != expr.Boolean
}

// reverse is the opposite order.
func reverse(keys []sortKey) []sortKey {
	reversed := make([]sortKey, len(keys))
	for i, k := range keys {
		reversed[i] = sortKey{field: k.field, descending: !k.descending}
	}
	return reversed
}

// orderIndex is an index for the order of a list.
type orderIndex struct {
	action *model.Action
	behind []*model.Field // columns with the same value in all its rows; none means that it has all rows
	keys   []sortKey
}

// orderIndexes returns the indexes that the own orders of lists need in a table: the order alone, behind each foreign key
// that the list can be filtered by, and behind each column that a way of admitting rows compares with the caller. The
// order by id alone uses the primary key. A union's order has them where the arm takes each key from a column of its own.
func (l *lowering) orderIndexes(m *model.Model) []orderIndex {
	var indexes []orderIndex
	add := func(a *model.Action, keys []sortKey, over func(expr.Node) expr.Node) {
		if len(keys) > 1 || keys[0].field.Name != "id" || keys[0].descending {
			indexes = append(indexes, orderIndex{a, nil, keys})
		}
		for _, in := range a.Reads {
			if f := ownColumn(in); f != nil && f.FKOf != nil {
				indexes = append(indexes, orderIndex{a, []*model.Field{f}, keys})
			}
		}
		for _, w := range admittedByPolicy(m, a.Rules, over).ways {
			if fields := w.indexed(keys); fields != nil {
				indexes = append(indexes, orderIndex{a, fields, keys})
			}
		}
	}
	for _, a := range m.Actions {
		if a.Kind == model.List && !a.Custom {
			add(a, ownOrder(a), asItIs)
		}
	}
	for _, u := range l.schema.Unions {
		for _, arm := range armsOf(u) {
			for _, a := range u.Actions {
				if arm.Model != m || a.Kind != model.List {
					continue
				}
				if keys := arm.ownKeys(a); keys != nil {
					add(a, keys, arm.over)
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
	for _, k := range keysOfArms(action) {
		f := a.union.Field(k.field.Name)
		if _, isConstant := a.value(f).(*expr.Literal); isConstant {
			continue
		}
		own := a.ownField(f)
		if own == nil {
			return nil
		}
		keys = append(keys, sortKey{field: own, descending: k.descending})
	}
	return keys
}

// orderedBy returns a list with a foreseen filter whose rows an @index has in the order of the list, or nil.
func orderedBy(m *model.Model, i *model.Index) *model.Action {
	for _, a := range m.Actions {
		isServed := func(set operatorSet) bool { return set.isInOrderOf(i, ownOrder(a)) }
		if a.Kind == model.List && !a.Custom && slices.ContainsFunc(foreseenSets(a), isServed) {
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
