package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/server/docs"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

const (
	pageSize = 25
	maxPage  = 200
	maxCount = 10000 // rows that are counted
)

// rowsInput asks for a page of the rows of a model.
type rowsInput struct {
	Model   string   `json:"model"`
	Filters []filter `json:"filters"`
	Order   string   `json:"order"` // a field; - before it means descending; empty means the id
	After   *cursor  `json:"after"` // the row behind which the page begins
	Size    int      `json:"size"`
}

// filter compares a field with a value.
type filter struct {
	Field    string `json:"field"`
	Operator string `json:"operator"`
	Value    string `json:"value"`
}

// cursor is a place in an order.
type cursor struct {
	Value *string `json:"value"` // of the field that is ordered by; nil is null
	ID    string  `json:"id"`
}

// page is some rows, each a value for each field; a number is a text, so that it keeps all
// its digits.
type page struct {
	Rows   []map[string]any  `json:"rows"`
	Labels map[string]string `json:"labels"` // of the rows that fields lead to, by id
	Next   *cursor           `json:"next"`   // nil on the last page
	Count  int               `json:"count"`  // of all that the filters leave, at most one more than maxCount
}

// rows answers with a page of rows.
func rows(ctx context.Context, a *asked) (any, error) {
	var in rowsInput
	if err := a.read(&in); err != nil {
		return nil, err
	}
	m, err := a.model(in.Model)
	if err != nil {
		return nil, err
	}
	if in.Size <= 0 {
		in.Size = pageSize
	}
	in.Size = min(in.Size, maxPage)
	name, isDescending := strings.CutPrefix(in.Order, "-")
	if name == "" {
		name = "id"
	}
	by, err := column(m, name)
	if err != nil {
		return nil, err
	}
	if by.Type.Array || by.Type.Kind.IsOpaque() {
		return nil, wrong("rows cannot be ordered by %s", name)
	}
	q := &query{}
	var conditions []string
	for _, f := range in.Filters {
		condition, err := q.filter(m, f)
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, condition)
	}
	filters := where(conditions)
	arguments := slices.Clone(q.arguments)
	if in.After != nil {
		conditions = append(conditions, q.behind(by, isDescending, in.After))
	}
	order := key(by) + " nulls last, t.id"
	if isDescending {
		order = key(by) + " desc nulls last, t.id desc"
	}
	p := page{Labels: map[string]string{}}
	err = pgx.BeginTxFunc(ctx, a.conn, pgx.TxOptions{AccessMode: pgx.ReadOnly, IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		statement := "select " + selected(m) + ", " + key(by) + "::text from " + table(m) + " as t" + where(conditions) +
			" order by " + order + fmt.Sprintf(" limit %d", in.Size+1)
		var keys []*string
		if p.Rows, keys, err = collect(ctx, tx, m, statement, q.arguments); err != nil {
			return err
		}
		if len(p.Rows) > in.Size {
			p.Rows = p.Rows[:in.Size]
			p.Next = &cursor{Value: keys[in.Size-1], ID: p.Rows[in.Size-1]["id"].(string)}
		}
		count := fmt.Sprintf("select count(*) from (select from %s as t%s limit %d) as counted", table(m), filters, maxCount+1)
		if err := tx.QueryRow(ctx, count, arguments...).Scan(&p.Count); err != nil {
			return err
		}
		return labels(ctx, tx, m, p.Rows, p.Labels)
	})
	if isMisfit(err) {
		for _, f := range in.Filters {
			if given := (map[string]any{f.Field: f.Value}); f.Operator != "contains" {
				err = a.misfitting(ctx, m, given, err)
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read rows of %s: %w", m.Name, err)
	}
	return p, nil
}

// rowInput names a row.
type rowInput struct {
	Model string `json:"model"`
	ID    string `json:"id"`
}

// oneRow is a row with the relations that lead to it.
type oneRow struct {
	Values  map[string]any    `json:"values"`
	Labels  map[string]string `json:"labels"`
	Related map[string]int    `json:"related"` // how many rows each relation leads to
}

// row answers with one row.
func row(ctx context.Context, a *asked) (any, error) {
	var in rowInput
	if err := a.read(&in); err != nil {
		return nil, err
	}
	m, err := a.model(in.Model)
	if err != nil {
		return nil, err
	}
	one := oneRow{Labels: map[string]string{}, Related: map[string]int{}}
	err = pgx.BeginTxFunc(ctx, a.conn, pgx.TxOptions{AccessMode: pgx.ReadOnly, IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		found, _, err := collect(ctx, tx, m, "select "+selected(m)+", t.id from "+table(m)+" as t where t.id = $1", []any{in.ID})
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return wrong("%s has no row with the id %s", m.Name, in.ID)
		}
		one.Values = found[0]
		for _, r := range shapeOf(m).Relations {
			other, err := a.model(r.Model)
			if err != nil {
				return err
			}
			var count int
			statement := "select count(*) from " + table(other) + " as t where t." + pg.Ident(other.Field(r.Field).Column) + " = $1"
			if err := tx.QueryRow(ctx, statement, in.ID).Scan(&count); err != nil {
				return err
			}
			one.Related[r.Name] = count
		}
		return labels(ctx, tx, m, found, one.Labels)
	})
	var e *docs.WrongError
	if err != nil && !errors.As(err, &e) {
		return nil, fmt.Errorf("read a row of %s: %w", m.Name, err)
	}
	return one, err
}

// column returns the field of that name, if it is a column with readable values.
func column(m *schema.Model, name string) (*schema.Field, error) {
	f := m.Field(name)
	if f == nil || !f.HasColumn() || f.Type.Kind.IsWriteOnly() {
		return nil, wrong("%s has no readable field %s", m.Name, name)
	}
	return f, nil
}

func table(m *schema.Model) string { return pg.Qualified("app", m.Table) }

// key is the expression that orders rows by a field.
func key(f *schema.Field) string { return "t." + pg.Ident(f.Column) }

// selected lists the read columns of a row: for write-only ones, whether there is a value.
func selected(m *schema.Model) string {
	var list []string
	for _, f := range m.Fields {
		if !f.HasColumn() {
			continue
		}
		value := key(f)
		switch {
		case f.Type.Kind.IsWriteOnly():
			value = "case when " + value + " is not null then true end"
		case f.Type.Kind == expr.File && f.Type.Array:
			value = "to_jsonb(" + value + ")"
		case f.Type.Kind == expr.File:
		case f.Type.Kind.IsOpaque():
			value += "::text[]"
		default:
			value = lower.LiteralOf(f.Type, value)
		}
		list = append(list, value)
	}
	return strings.Join(list, ", ")
}

// collect reads rows whose last column is the key of their order.
func collect(ctx context.Context, tx pgx.Tx, m *schema.Model, statement string, arguments []any) (found []map[string]any, keys []*string, err error) {
	result, err := tx.Query(ctx, statement, arguments...)
	if err != nil {
		return nil, nil, err
	}
	found, err = pgx.CollectRows(result, func(r pgx.CollectableRow) (map[string]any, error) {
		values, err := r.Values()
		if err != nil {
			return nil, err
		}
		of := map[string]any{}
		for _, f := range m.Fields {
			if f.HasColumn() {
				of[f.Name] = values[len(of)]
			}
		}
		var key *string
		if text, isText := values[len(values)-1].(string); isText {
			key = &text
		}
		keys = append(keys, key)
		return of, nil
	})
	return found, keys, err
}

// query collects the arguments of a statement.
type query struct {
	arguments []any
}

// argument adds an argument, which is a text, as a value of a type.
func (q *query) argument(value any, castType string) string {
	q.arguments = append(q.arguments, value)
	return fmt.Sprintf("$%d::text::%s", len(q.arguments), castType)
}

// filter writes a filter as a condition.
func (q *query) filter(m *schema.Model, f filter) (string, error) {
	by, err := column(m, f.Field)
	if err != nil {
		return "", err
	}
	at, cast := key(by), lower.CastType(by.Type.Kind)
	switch f.Operator {
	case "isNull":
		return at + " is null", nil
	case "isNotNull":
		return at + " is not null", nil
	}
	if by.Type.Kind.IsOpaque() {
		return "", wrong("%s can only be compared with null", f.Field)
	}
	operator, isOrder := map[string]string{
		"equals": "=", "notEquals": "<>", "lessThan": "<", "atMost": "<=", "atLeast": ">=", "moreThan": ">",
	}[f.Operator]
	switch {
	case f.Operator == "contains" && by.Type.Array:
		return q.argument(f.Value, cast) + " = any (" + at + ")", nil
	case f.Operator == "contains":
		return "strpos(lower(" + at + "::text), lower(" + q.argument(f.Value, "text") + ")) > 0", nil
	case isOrder && !by.Type.Array:
		return at + " " + operator + " " + q.argument(f.Value, cast), nil
	}
	return "", wrong("%s has no filter %s", f.Field, f.Operator)
}

// behind writes the condition that a row comes after a place in the order. Rows without a
// value come last.
func (q *query) behind(by *schema.Field, isDescending bool, after *cursor) string {
	sign := ">"
	if isDescending {
		sign = "<"
	}
	id := q.argument(after.ID, `text collate "C"`)
	if by.Name == "id" {
		return "t.id " + sign + " " + id
	}
	if after.Value == nil {
		return "(" + key(by) + " is null and t.id " + sign + " " + id + ")"
	}
	value := q.argument(*after.Value, lower.CastType(by.Type.Kind))
	return fmt.Sprintf("(%[1]s %[2]s %[3]s or %[1]s = %[3]s and t.id %[2]s %[4]s or %[1]s is null)", key(by), sign, value, id)
}

func where(conditions []string) string {
	if len(conditions) == 0 {
		return ""
	}
	return " where " + strings.Join(conditions, " and ")
}

// labels looks up the labels of the rows to which fields lead.
func labels(ctx context.Context, tx pgx.Tx, m *schema.Model, found []map[string]any, into map[string]string) error {
	for _, f := range m.Fields {
		if f.FKOf == nil {
			continue
		}
		target := f.FKOf.Target
		name := label(target)
		if name == "id" {
			continue
		}
		var ids []string
		for _, r := range found {
			if id, isText := r[f.Name].(string); isText {
				ids = append(ids, id)
			}
		}
		result, err := tx.Query(ctx, "select t.id, "+key(target.Field(name))+" from "+table(target)+" as t where t.id = any ($1)", ids)
		if err != nil {
			return err
		}
		var id string
		var text *string
		if _, err := pgx.ForEachRow(result, []any{&id, &text}, func() error {
			if text != nil {
				into[id] = *text
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}
