package lower

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// sortKey is one column that a list is ordered by. Null is last ascending and
// first descending, which is Postgres' own order.
type sortKey struct {
	field      *schema.Field
	descending bool
}

// ownOrder returns the order of a list whose request names none: the declared one,
// then by id, so that no two rows are equal.
func ownOrder(a *schema.Action) []sortKey {
	var keys []sortKey
	for _, k := range a.OrderBy {
		keys = append(keys, sortKey{k.Field, k.Descending})
		if k.Field.Name == "id" {
			return keys // nothing can follow
		}
	}
	return append(keys, sortKey{field: a.Model.Field("id")})
}

// sortable returns every field that a list may be ordered by: what a request may
// name and what the action's own order needs.
func sortable(a *schema.Action) []*schema.Field {
	var fields []*schema.Field
	seen := map[*schema.Field]bool{}
	add := func(f *schema.Field) {
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

// isByIDAlone tells whether a list has no order but the one by id.
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

// first returns a value before all others in the key's order, with which one
// statement serves the first page and those that follow. There is none for a
// column that may be null, nor a last text.
func (k sortKey) first() (pg.Expr, bool) {
	if k.field.Optional {
		return nil, false
	}
	first := sqlOf(k.field.Type.Kind).first
	if first == nil {
		return nil, false
	}
	return first(k.descending)
}

// hasFirst tells whether an order has a position before every row.
func hasFirst(keys []sortKey) bool {
	for _, k := range keys {
		if _, ok := k.first(); !ok {
			return false
		}
	}
	return true
}

// isOneRange tells whether the rows beyond a position, or all of them, can be read as one
// range by the first key: if it has a value before all others, and few rows share one.
func isOneRange(keys []sortKey) bool {
	return hasFirst(keys) && (len(keys) == 1 || keys[0].field.Type.Kind == expr.Timestamp)
}

// reverse is the opposite order.
func reverse(keys []sortKey) []sortKey {
	reversed := make([]sortKey, len(keys))
	for i, k := range keys {
		reversed[i] = sortKey{k.field, !k.descending}
	}
	return reversed
}

// beyond is the condition for rows behind a position, of which values holds the
// key's values. Its first conjunct is the range of the first key, by which an
// index finds the place.
func beyond(keys []sortKey, values []pg.Expr, table string) pg.Expr {
	k, value := keys[0], values[0]
	less := "<"
	if !k.descending {
		less = ">"
	}
	if len(keys) == 1 {
		return pg.Op(k.column(table), less, value)
	}
	return pg.AllOf(
		pg.Op(k.column(table), less+"=", value),
		pg.AnyOf(pg.Op(k.column(table), less, value), beyond(keys[1:], values[1:], table)),
	)
}

// rangesBeyond reads the rows behind a position range by range of an index, the nearest
// first: what equals the position by the first keys and lies beyond it by the next one.
// read is the statement that reads the rows of a range. Which ranges there are depends on
// which values of the position are null.
func rangesBeyond(keys []sortKey, values []pg.Expr, table string, read func(within pg.Expr) pg.Statement) []pg.Statement {
	return rangesWithin(nil, keys, values, table, read)
}

func rangesWithin(same []pg.Expr, keys []sortKey, values []pg.Expr, table string, read func(within pg.Expr) pg.Statement) []pg.Statement {
	k, value := keys[0], values[0]
	column := k.column(table)
	within := func(condition pg.Expr) pg.Statement { return read(pg.AllOf(append(slices.Clone(same), condition)...)) }
	beyond := within(pg.Op(column, k.beyondOperator(), value))
	if len(keys) == 1 {
		return []pg.Statement{beyond}
	}
	nearer := func(equal pg.Expr) []pg.Statement {
		return rangesWithin(append(slices.Clone(same), equal), keys[1:], values[1:], table, read)
	}
	around := append(nearer(pg.Eq(column, value)), beyond)
	if !k.field.Optional {
		return around
	}
	atNull := nearer(pg.IsNull(column))
	if k.descending {
		atNull = append(atNull, within(pg.IsNotNull(column)))
	} else {
		around = append(around, within(pg.IsNull(column)))
	}
	return []pg.Statement{&pg.If{Branches: []pg.IfBranch{{Condition: pg.IsNull(value), Then: atNull}}, Else: around}}
}

// at is the condition for the row at a position.
func at(keys []sortKey, values []pg.Expr, table string) pg.Expr {
	conditions := make([]pg.Expr, len(keys))
	for i, k := range keys {
		conditions[i] = pg.Eq(k.column(table), values[i])
		if k.field.Optional {
			conditions[i] = pg.Op(k.column(table), "is not distinct from", values[i])
		}
	}
	return pg.AllOf(conditions...)
}

// beyondOperator compares a value with that of a row before it in the key's order.
func (k sortKey) beyondOperator() string {
	if k.descending {
		return "<"
	}
	return ">"
}

// upTo is the condition for the rows that are not beyond a position.
func upTo(keys []sortKey, values []pg.Expr, table string) pg.Expr {
	k, value := keys[0], values[0]
	less := ">"
	if !k.descending {
		less = "<"
	}
	if len(keys) == 1 {
		return pg.Op(k.column(table), less+"=", value)
	}
	return pg.AllOf(
		pg.Op(k.column(table), less+"=", value),
		pg.AnyOf(pg.Op(k.column(table), less, value), upTo(keys[1:], values[1:], table)),
	)
}

// requestedOrder fills v_keys with the order of the request, then the action's
// own; of a column that is named twice, the first counts.
func (b *builder) requestedOrder(keys pg.Expr, order []sortKey, fields []*schema.Field) {
	requested := b.variable("v_order", "jsonb", nil)
	key := b.variable("v_key", "platform.sort_key", nil)
	var own []string
	for _, k := range order {
		direction := "asc"
		if k.descending {
			direction = "desc"
		}
		own = append(own, `{"`+k.field.Name+`": "`+direction+`"}`)
	}
	var whens []pg.When
	for _, f := range fields {
		descending := pg.Eq(memberText(requested, f.Name), pg.Str("desc"))
		whens = append(whens, pg.When{
			Condition: hasMember(requested, f.Name),
			Result:    pg.As(sortKey{field: f}.row(b.table, descending), "platform.sort_key"),
		})
	}
	b.step("The order: the request's, then the action's.", &pg.ForEach{
		Variables: []string{"v_order"},
		Query: &pg.Select{
			Columns: []pg.Output{{Value: pg.Var("value")}},
			From: &pg.CallRef{
				Call: pg.Fn("jsonb_array_elements", pg.Op(
					pg.Fn("coalesce", member(input, "orderBy"), pg.Str("[]")), "||", pg.Str("["+strings.Join(own, ", ")+"]"))),
				Alias: "requested", Columns: []string{"value"},
			},
		},
		Body: []pg.Statement{
			&pg.Assign{Variable: "v_key", Value: &pg.Case{Whens: whens}},
			pg.IfThen(pg.Negate(&pg.Exists{Query: &pg.Select{
				From:  &pg.CallRef{Call: pg.Fn("unnest", keys), Alias: "known"},
				Where: pg.Eq(pg.Col("known", "name"), &pg.Field{Value: key, Name: "name"}),
			}}), &pg.Assign{Variable: "v_keys", Value: pg.Op(keys, "||", key)}),
		},
	})
}

// orderIndexes returns the indexes that a list's own order asks for: the order
// alone, behind each foreign key that the list can be filtered by, and behind what each
// way in which rules admit rows compares with the caller. The order by id alone is the
// primary key's.
func orderIndexes(m *schema.Model) []orderIndex {
	var indexes []orderIndex
	for _, a := range m.Actions {
		if a.Kind != schema.List || a.Custom {
			continue
		}
		keys := ownOrder(a)
		if !isByIDAlone(keys) {
			indexes = append(indexes, orderIndex{a, nil, keys})
		}
		for _, in := range a.Reads {
			if f := ownColumn(in); f != nil && f.FKOf != nil {
				indexes = append(indexes, orderIndex{a, []*schema.Field{f}, keys})
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

// armIndexes returns the indexes that the orders of unions ask for in the tables of
// their arms, where the arm takes each key from a column of its own.
func (l *lowering) armIndexes(m *schema.Model) []orderIndex {
	var indexes []orderIndex
	for _, u := range l.schema.Unions {
		for _, arm := range armsOf(u) {
			if arm.Model != m {
				continue
			}
			for _, a := range u.Actions {
				keys := arm.ownKeys(a)
				if a.Kind != schema.List || keys == nil {
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

// ownKeys is the order of a union's list in terms of the arm's own columns, nil if
// some key is none. Fields that an arm gives one value to order nothing there.
func (a arm) ownKeys(action *schema.Action) []sortKey {
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
			keys = append(keys, sortKey{own, k.descending})
		}
	}
	return keys
}

// ownColumn returns the field of the action's own table that holds an implicit input:
// the field itself, or for f.id the foreign key. Of any other path it is nil.
func ownColumn(in *schema.Input) *schema.Field {
	switch {
	case in.Explicit:
		return nil
	case len(in.Path) == 1:
		return in.Path[0]
	case len(in.Path) == 2 && in.Path[1].Name == "id":
		return in.Path[0].FK
	}
	return nil
}

// orderIndex is an index for the order of a list.
type orderIndex struct {
	action *schema.Action
	behind []*schema.Field // what its rows have in common; none means that it has all
	keys   []sortKey
}
