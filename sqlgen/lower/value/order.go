package value

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// ArmColumn is the column that tells rows of one id apart: the number of their arm. No field's name makes such a
// column.
const ArmColumn = "arm__number"

// SortKey is one column that a list is ordered by. Null is last ascending and first descending, which is Postgres' own
// order.
type SortKey struct {
	Field      *model.Field
	Descending bool
	Follows    bool // in the direction of the key before it, which a request may choose
}

// OwnOrder returns the order of a list whose request names none: the declared one, then by id, so that no two rows are
// equal. The id has the direction of the field before it, so that an order in one direction is one row comparison. Two
// arms of a union may have rows of one id, so the number of the arm comes last.
func OwnOrder(a *model.Action) []SortKey {
	var keys []SortKey
	for _, k := range a.OrderBy {
		keys = append(keys, SortKey{Field: orderField(k.Field, k.UnionField), Descending: k.Descending})
		if a.Union == nil && k.Field.Name == "id" {
			return keys // nothing can follow
		}
	}
	if !slices.ContainsFunc(keys, func(k SortKey) bool { return k.Field.Name == "id" }) {
		id := SortKey{Field: fieldOf(a, "id"), Descending: len(keys) > 0 && keys[len(keys)-1].Descending, Follows: true}
		keys = append(keys, id)
	}
	if a.Union != nil {
		keys = append(keys, SortKey{Field: &model.Field{Name: ArmColumn, Column: ArmColumn, Type: expr.Type{Kind: expr.Number}}})
	}
	return keys
}

// KeysOfArms is the order of a list within each source of its rows: without the number of the arm.
func KeysOfArms(a *model.Action) []SortKey {
	keys := OwnOrder(a)
	if a.Union != nil {
		return keys[:len(keys)-1]
	}
	return keys
}

// fieldOf is a field of the rows of an action.
func fieldOf(a *model.Action, name string) *model.Field {
	if a.Union != nil {
		return UnionKey(a.Union.Field(name))
	}
	return a.Model.Field(name)
}

// orderField is one of two fields: that of a model or, if it is nil, that of a union.
func orderField(f *model.Field, u *model.UnionField) *model.Field {
	if u != nil {
		return UnionKey(u)
	}
	return f
}

// UnionKey is a field of a union as the field type that orders use.
func UnionKey(f *model.UnionField) *model.Field {
	return &model.Field{Name: f.Name, Column: f.Column, Type: f.Type, Optional: f.Optional}
}

// IsSortable tells whether requests may order a list.
func IsSortable(a *model.Action) bool { return len(a.Sortable)+len(a.UnionSortable) > 0 }

// Sortable returns every field that a list may be ordered by: the fields that a request may name and those that the
// action's own order needs.
func Sortable(a *model.Action) []*model.Field {
	fields := slices.Clone(a.Sortable)
	for _, f := range a.UnionSortable {
		fields = append(fields, UnionKey(f))
	}
	for _, k := range OwnOrder(a) {
		fields = append(fields, k.Field)
	}
	var once []*model.Field
	for _, f := range fields {
		if !slices.ContainsFunc(once, func(known *model.Field) bool { return known.Name == f.Name }) {
			once = append(once, f)
		}
	}
	return once
}

// Column is the column that a key orders by.
func (k SortKey) Column(table string) pg.Expr { return pg.Col(table, k.Field.Column) }

// KeysArray is an order as the platform's functions take it.
func KeysArray(keys []SortKey, table string) pg.Expr {
	rows := make([]pg.Expr, len(keys))
	for i, k := range keys {
		rows[i] = &pg.Row{Values: []pg.Expr{
			pg.Str(k.Field.Name), pg.Str(pg.Ident(table) + "." + pg.Ident(k.Field.Column)), pg.Str(CastType(k.Field.Type.Kind)), Boolean(k.Field.Optional), Boolean(k.Descending),
		}}
	}
	return pg.As(&pg.Array{Elements: rows}, "platform.sort_key[]")
}

// OrderBy is an order as a clause.
func OrderBy(keys []SortKey, table string) []pg.Order {
	orders := make([]pg.Order, len(keys))
	for i, k := range keys {
		orders[i] = pg.Order{Value: k.Column(table), Descending: k.Descending}
	}
	return orders
}

// KeyColumns are the columns that a way selects of its rows, to merge them with those of others.
func KeyColumns(keys []SortKey, table string) []pg.Output {
	columns := make([]pg.Output, len(keys))
	for i, k := range keys {
		columns[i] = pg.Output{Value: k.Column(table)}
	}
	return columns
}

// First returns a value before all others in the key's order, as text. Then one statement serves the first page and
// those that follow. Texts have no last value: in a descending order the empty text will do behind a key that has a
// last value.
func (k SortKey) First() (value pg.Expr, exists bool) {
	first := SQLOf(k.Field.Type.Kind).first
	if first == nil {
		return nil, false
	}
	return first(k.Descending)
}

// CanSeek tells whether the rows from a position on are one row comparison, and there is a position before all of them:
// the order goes one way, no key may be null, and each has a first value. In a descending order, the first key has a
// value above all that rows hold, so it does not matter that texts have none.
func CanSeek(keys []SortKey) bool {
	for i, k := range keys {
		_, hasFirst := k.First()
		if k.Field.Optional || k.Descending != keys[0].Descending || !hasFirst && (i == 0 || CastType(k.Field.Type.Kind) != "text") {
			return false
		}
	}
	return !keys[0].Descending || keys[0].Field.Type.Kind != expr.Boolean
}

// Reverse is the opposite order.
func Reverse(keys []SortKey) []SortKey {
	reversed := make([]SortKey, len(keys))
	for i, k := range keys {
		reversed[i] = SortKey{Field: k.Field, Descending: !k.Descending}
	}
	return reversed
}

// OwnColumn returns the field of the action's own table that holds an implicit input: the field itself, or for f.id the
// foreign key. It returns nil for any other path.
func OwnColumn(in *model.Input) *model.Field {
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
