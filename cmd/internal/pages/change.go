package pages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/server/docs"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// changeInput is a change of a row, without any of the model's rules but the constraints of
// its table: without id it makes a row, and without values it deletes one.
type changeInput struct {
	Model  string         `json:"model"`
	ID     string         `json:"id"`
	Values map[string]any `json:"values"` // a text each, null, a boolean, or a list of texts
}

// change makes, changes or deletes a row, and answers with its id.
func change(ctx context.Context, a *asked) (any, error) {
	var in changeInput
	if err := a.read(&in); err != nil {
		return nil, err
	}
	m, err := a.model(in.Model)
	if err != nil {
		return nil, err
	}
	if err := mayChange(m, in.Values, func(f *model.Field) bool { return fieldOf(f).Editable }); err != nil {
		return nil, err
	}
	q := &query{}
	columns, values, err := q.assigned(m, in.Values)
	if err != nil {
		return nil, err
	}
	statement := ""
	switch {
	case in.ID == "":
		statement = insertion(m, columns, values)
	case in.Values == nil:
		statement = "delete from " + table(m) + " where id = " + q.argument(in.ID, "text")
	case len(columns) == 0:
		return nil, wrong("no value has changed")
	default:
		statement = "update " + table(m) + " set (" + strings.Join(columns, ", ") + ") = row (" + strings.Join(values, ", ") +
			") where id = " + q.argument(in.ID, "text")
	}
	var changed string
	err = a.conn.QueryRow(ctx, statement+" returning id", q.arguments...).Scan(&changed)
	switch {
	case isMisfit(err):
		return nil, a.misfitting(ctx, m, in.Values, err)
	case errors.Is(err, pgx.ErrNoRows):
		return nil, wrong("%s has no row with the id %s", m.Name, in.ID)
	case err != nil:
		return nil, fmt.Errorf("change a row of %s: %w", m.Name, err)
	}
	return struct {
		ID string `json:"id"`
	}{changed}, nil
}

// Insert makes a row in a transaction of the owner, as the pages make one, whose values may
// also name its id, its times and its number of a sequence. Its error is an *docs.WrongError if the values are wrong, or
// if the database refuses them.
func Insert(ctx context.Context, tx pgx.Tx, compiled *sqlgen.Compiled, modelName string, values map[string]any) error {
	a := &asked{Compiled: compiled}
	m, err := a.model(modelName)
	if err != nil {
		return err
	}
	if err := mayChange(m, values, func(f *model.Field) bool { return f.BuiltIn || f.Sequence != nil || fieldOf(f).Editable }); err != nil {
		return err
	}
	q := &query{}
	columns, written, err := q.assigned(m, values)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, insertion(m, columns, written), q.arguments...); err != nil {
		return a.refuse(err)
	}
	return nil
}

// assigned lists the columns that given values change, with the values as SQL.
func (q *query) assigned(m *model.Model, given map[string]any) (columns, values []string, err error) {
	for _, f := range changed(m, given) {
		value, err := q.value(f, given[f.Name])
		if err != nil {
			return nil, nil, err
		}
		columns, values = append(columns, pg.Ident(f.Column)), append(values, value)
	}
	return columns, values, nil
}

// insertion is the statement that makes a row.
func insertion(m *model.Model, columns, values []string) string {
	if len(columns) == 0 {
		return "insert into " + table(m) + " default values"
	}
	return "insert into " + table(m) + " (" + strings.Join(columns, ", ") + ") values (" + strings.Join(values, ", ") + ")"
}

// mayChange finds the first value of an unknown field, or of one that cannot be changed
// directly.
func mayChange(m *model.Model, values map[string]any, isEditable func(*model.Field) bool) error {
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
func changed(m *model.Model, values map[string]any) []*model.Field {
	return slices.DeleteFunc(slices.Clone(m.Fields), func(f *model.Field) bool {
		_, isGiven := values[f.Name]
		return !isGiven
	})
}

// value writes a value for the column of a field.
func (q *query) value(f *model.Field, val any) (string, error) {
	cast := value.CastType(f.Type.Kind)
	isList := f.Type.Array || f.Type.Kind == expr.Vector
	switch value := val.(type) {
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
	return "", notOf(f, val)
}

// notOf is the error for a value that a field cannot have.
func notOf(f *model.Field, value any) error {
	return &docs.WrongError{Field: f.Name, Message: fmt.Sprintf("%v is not a value of %s", value, f.Type)}
}

// isMember tells whether an enum has a value. A field of another type has any.
func isMember(f *model.Field, value string) bool {
	return f.Enum == nil || slices.ContainsFunc(f.Enum.Values, func(v *model.EnumValue) bool { return v.Name == value })
}

// isMisfit tells whether a statement failed because a text does not have the form of a type.
func isMisfit(err error) bool { return strings.HasPrefix(refusal.SQLState(err), "22") }

// misfitting returns the error of the first value that does not have the form of its field's type, else err.
func (a *asked) misfitting(ctx context.Context, m *model.Model, values map[string]any, err error) error {
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
