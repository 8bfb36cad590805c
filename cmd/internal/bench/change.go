package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/server/docs"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// changeInput is a change of a row, without any of the model's rules but the constraints of
// its table.
type changeInput struct {
	Model  string         `json:"model"`
	ID     string         `json:"id"`
	Values map[string]any `json:"values"` // a text each, null, a boolean, or a list of texts
}

// insert makes a row.
func insert(ctx context.Context, a *asked) (any, error) {
	in, m, err := a.change()
	if err != nil {
		return nil, err
	}
	statement, arguments, err := insertion(m, in.Values)
	if err != nil {
		return nil, err
	}
	return a.one(ctx, "insert a row of "+m.Name, m, in, statement, arguments)
}

// Insert makes a row in a transaction of the owner, as the pages make one, whose values may
// also name its id, its times and its number of a sequence. Its error is an *docs.WrongError if the values are wrong, or
// if the database refuses them.
func Insert(ctx context.Context, tx pgx.Tx, compiled *sqlgen.Compiled, model string, values map[string]any) error {
	a := &asked{Compiled: compiled}
	m, err := a.model(model)
	if err != nil {
		return err
	}
	if err := mayChange(m, values, func(f *schema.Field) bool { return f.BuiltIn || f.Sequence != nil || fieldOf(f).Editable }); err != nil {
		return err
	}
	statement, arguments, err := insertion(m, values)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, statement, arguments...); err != nil {
		return a.refuse(err)
	}
	return nil
}

// insertion writes the statement that makes a row, and answers with its id.
func insertion(m *schema.Model, given map[string]any) (statement string, arguments []any, err error) {
	q := &query{}
	var columns, values []string
	for _, f := range changed(m, given) {
		value, err := q.value(f, given[f.Name])
		if err != nil {
			return "", nil, err
		}
		columns, values = append(columns, pg.Ident(f.Column)), append(values, value)
	}
	if len(columns) == 0 {
		return "insert into " + table(m) + " default values returning id", nil, nil
	}
	return "insert into " + table(m) + " (" + strings.Join(columns, ", ") + ") values (" + strings.Join(values, ", ") + ") returning id",
		q.arguments, nil
}

// update changes a row.
func update(ctx context.Context, a *asked) (any, error) {
	in, m, err := a.change()
	if err != nil {
		return nil, err
	}
	q := &query{}
	var sets []string
	for _, f := range changed(m, in.Values) {
		value, err := q.value(f, in.Values[f.Name])
		if err != nil {
			return nil, err
		}
		sets = append(sets, pg.Ident(f.Column)+" = "+value)
	}
	if len(sets) == 0 {
		return nil, wrong("no value has changed")
	}
	statement := "update " + table(m) + " set " + strings.Join(sets, ", ") + " where id = " + q.argument(in.ID, "text") + " returning id"
	return a.one(ctx, "update a row of "+m.Name, m, in, statement, q.arguments)
}

// remove deletes a row.
func remove(ctx context.Context, a *asked) (any, error) {
	in, m, err := a.change()
	if err != nil {
		return nil, err
	}
	if len(in.Values) > 0 {
		return nil, wrong("a deletion takes only the id of the row")
	}
	return a.one(ctx, "delete a row of "+m.Name, m, in, "delete from "+table(m)+" where id = $1 returning id", []any{in.ID})
}

// change reads a change, whose values are of fields that can be changed.
func (a *asked) change() (in changeInput, m *schema.Model, err error) {
	if err = a.read(&in); err != nil {
		return in, nil, err
	}
	if m, err = a.model(in.Model); err != nil {
		return in, nil, err
	}
	return in, m, mayChange(m, in.Values, func(f *schema.Field) bool { return fieldOf(f).Editable })
}

// mayChange finds the first value of an unknown field, or of one that cannot be changed
// directly.
func mayChange(m *schema.Model, values map[string]any, isEditable func(*schema.Field) bool) error {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		switch f := m.Field(name); {
		case f != nil && f.Computed != nil:
			return &docs.WrongError{Field: name, Message: name + " is computed and cannot be set"}
		case f != nil && f.FK != nil:
			return &docs.WrongError{Field: name, Message: fmt.Sprintf("%s has no column %s: give %s the id of a row", m.Name, name, f.FK.Name)}
		case f == nil || !f.HasColumn():
			return wrong("%s has no field %s", m.Name, name)
		case f.Type.Kind.IsPrepared():
			return &docs.WrongError{Field: name, Message: fmt.Sprintf("a %s cannot be set directly: change %s with an action", f.Type.Kind, name)}
		case !isEditable(f):
			return &docs.WrongError{Field: name, Message: name + " is set by the database and cannot be changed"}
		}
	}
	return nil
}

// changed lists the fields that a change gives values, in the order of the model.
func changed(m *schema.Model, values map[string]any) []*schema.Field {
	return slices.DeleteFunc(slices.Clone(m.Fields), func(f *schema.Field) bool {
		_, isGiven := values[f.Name]
		return !isGiven
	})
}

// value writes a value for the column of a field.
func (q *query) value(f *schema.Field, value any) (string, error) {
	cast := lower.CastType(f.Type.Kind)
	isList := f.Type.Array || f.Type.Kind == expr.Vector
	switch value := value.(type) {
	case nil:
		return "null", nil
	case string:
		if !isList && isMember(f, value) {
			return q.argument(value, cast), nil
		}
	case bool:
		if !isList {
			return q.argument(fmt.Sprint(value), cast), nil
		}
	case json.Number:
		if !isList {
			return q.argument(value.String(), cast), nil
		}
	case []any:
		texts := make([]string, len(value))
		for i, v := range value {
			switch v.(type) {
			case string, bool, json.Number:
				if texts[i] = fmt.Sprint(v); !isMember(f, texts[i]) {
					return "", notOf(f, v)
				}
			default:
				return "", &docs.WrongError{Field: f.Name, Message: "each entry must be a text or a number"}
			}
		}
		if isList {
			q.arguments = append(q.arguments, texts)
			return fmt.Sprintf("$%d::text[]::%s[]", len(q.arguments), strings.TrimSuffix(cast, "[]")), nil
		}
	}
	return "", notOf(f, value)
}

// notOf is the error for a value that a field cannot have.
func notOf(f *schema.Field, value any) error {
	return &docs.WrongError{Field: f.Name, Message: fmt.Sprintf("%v is not a value of %s", value, f.Type)}
}

// isMember tells whether an enum has a value. A field of another type has any.
func isMember(f *schema.Field, value string) bool {
	return f.Enum == nil || slices.ContainsFunc(f.Enum.Values, func(v *schema.EnumValue) bool { return v.Name == value })
}

// isMisfit tells whether a statement failed because a text does not have the form of a type.
func isMisfit(err error) bool { return strings.HasPrefix(refusal.SQLState(err), "22") }

// misfitting returns the error of the first value that does not have the form of its field's type, else err.
func (a *asked) misfitting(ctx context.Context, m *schema.Model, values map[string]any, err error) error {
	for _, f := range changed(m, values) {
		q := &query{}
		value, invalid := q.value(f, values[f.Name])
		if invalid != nil {
			return invalid
		}
		if _, failed := a.conn.Exec(ctx, "select "+value, q.arguments...); isMisfit(failed) {
			return notOf(f, values[f.Name])
		}
	}
	return err
}

// one runs a statement that changes one row and answers with its id.
func (a *asked) one(ctx context.Context, doing string, m *schema.Model, in changeInput, statement string, arguments []any) (any, error) {
	var changed []string
	err := pgx.BeginFunc(ctx, a.conn, func(tx pgx.Tx) error {
		result, err := tx.Query(ctx, statement, arguments...)
		if err != nil {
			return err
		}
		changed, err = pgx.CollectRows(result, pgx.RowTo[string])
		return err
	})
	switch {
	case isMisfit(err):
		return nil, a.misfitting(ctx, m, in.Values, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", doing, err)
	case len(changed) == 0:
		return nil, wrong("%s has no row with the id %s", m.Name, in.ID)
	}
	return struct {
		ID string `json:"id"`
	}{changed[0]}, nil
}
