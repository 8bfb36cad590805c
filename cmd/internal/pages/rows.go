package pages

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/list"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

const (
	pageSize = 25
	maxPage  = 200
	maxCount = 10000 // rows that are counted
)

// rowsInput asks for a page of the rows of a model.
type rowsInput struct {
	Model string                    `json:"model"`
	Where map[string]map[string]any `json:"where"` // the operators of fields, as lists of the API take them
	Order string                    `json:"order"` // a field; - before it means descending; empty means the id
	After *cursor                   `json:"after"` // the row behind which the page begins
	Size  int                       `json:"size"`
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
	q, filters, err := a.filters(ctx, m, in.Where)
	if err != nil {
		return nil, err
	}
	conditions, arguments := filters, slices.Clone(q.arguments)
	if in.After != nil {
		conditions += " and " + q.behind(by, isDescending, in.After)
	}
	order := key(by) + " nulls last, t.id"
	if isDescending {
		order = key(by) + " desc nulls last, t.id desc"
	}
	p := page{Labels: map[string]string{}}
	err = pgx.BeginTxFunc(ctx, a.conn, pgx.TxOptions{AccessMode: pgx.ReadOnly, IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		statement := "select " + selected(m) + ", " + key(by) + "::text from " + table(m) + " as t" + conditions +
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
		for field, operators := range in.Where {
			for _, value := range operators {
				if text, isText := value.(string); isText {
					err = a.misfitting(ctx, m, map[string]any{field: text}, err)
				}
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read rows of %s: %w", m.Name, err)
	}
	return p, nil
}

// column returns the field of that name, if it is a column with readable values.
func column(m *model.Model, name string) (*model.Field, error) {
	f := m.Field(name)
	if f == nil || !f.HasColumn() || f.Type.Kind.IsWriteOnly() {
		return nil, wrong("%s has no readable field %s", m.Name, name)
	}
	return f, nil
}

func table(m *model.Model) string { return pg.Qualified("app", m.Table) }

// key is the expression that orders rows by a field.
func key(f *model.Field) string { return "t." + pg.Ident(f.Column) }

// selected lists the read columns of a row: for write-only ones, whether there is a value.
func selected(m *model.Model) string {
	var list []string
	for _, f := range m.Fields {
		if !f.HasColumn() {
			continue
		}
		v := key(f)
		switch {
		case f.Type.Kind.IsWriteOnly():
			v = "case when " + v + " is not null then true end"
		case f.Type.Kind == expr.File && f.Type.Array:
			v = "to_jsonb(" + v + ")"
		case f.Type.Kind == expr.File:
		case f.Type.Kind.IsOpaque():
			v += "::text[]"
		default:
			v = value.LiteralText(f.Type, v)
		}
		list = append(list, v)
	}
	return strings.Join(list, ", ")
}

// collect reads rows whose last column is the key of their order.
func collect(ctx context.Context, tx pgx.Tx, m *model.Model, statement string, arguments []any) (found []map[string]any, keys []*string, err error) {
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

// filters writes the conditions of operators, of which the first argument holds the operands, as a list of the API has them.
func (a *asked) filters(ctx context.Context, m *model.Model, given map[string]map[string]any) (q *query, conditions string, err error) {
	known := map[string][]string{} // for platform.filter_sql
	for _, f := range m.Fields {
		if !f.HasColumn() || f.Type.Kind.IsWriteOnly() {
			continue
		}
		kind := list.FilterKind(f.Type)
		if f.Type.Kind.IsOpaque() {
			kind = "ID" // only null is asked for
		}
		known[f.Name] = []string{kind + "?", key(f)}
		if f.Type.Array && !f.Type.Kind.IsOpaque() {
			known[f.Name+".any"] = []string{
				list.FilterKind(expr.Type{Kind: f.Type.Kind}), "list__element.value", "from unnest(" + key(f) + ") as list__element (value) where true",
			}
		}
	}
	for name, operators := range given {
		f, err := column(m, name)
		if err != nil {
			return nil, "", err
		}
		for _, value := range operators {
			if f.Type.Kind.IsOpaque() && value != nil {
				return nil, "", wrong("%s can only be compared with null", name)
			}
		}
	}
	operands, err := json.Marshal(struct {
		Where map[string]map[string]any `json:"where,omitempty"`
	}{given})
	if err != nil {
		return nil, "", fmt.Errorf("write the filters: %w", err)
	}
	const statement = "select platform.filter_sql($1, $2)"
	if err := a.conn.QueryRow(ctx, statement, operands, known).Scan(&conditions); err != nil {
		return nil, "", err
	}
	conditions = " where $1::jsonb is not null" + strings.ReplaceAll(conditions, "$1", "($1::jsonb->'where')")
	return &query{arguments: []any{string(operands)}}, conditions, nil
}

// behind writes the condition that a row comes after a place in the order. Rows without a
// value come last.
func (q *query) behind(by *model.Field, isDescending bool, after *cursor) string {
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
	value := q.argument(*after.Value, value.CastType(by.Type.Kind))
	return fmt.Sprintf("(%[1]s %[2]s %[3]s or %[1]s = %[3]s and t.id %[2]s %[4]s or %[1]s is null)", key(by), sign, value, id)
}

// labels looks up the labels of the rows to which fields lead.
func labels(ctx context.Context, tx pgx.Tx, m *model.Model, found []map[string]any, into map[string]string) error {
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
