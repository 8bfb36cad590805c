package explain

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// store reads rows on demand, each once. The interpreter takes no errors from rows: the
// first one is kept, and later reads are null.
type store struct {
	ctx    context.Context
	tx     pgx.Tx
	models map[string]*model.Model
	rows   map[rowKey]*row
	isFull bool // whether a query left out rows beyond its limit
	err    error
}

type rowKey struct {
	model *model.Model
	id    string
}

func newStore(ctx context.Context, tx pgx.Tx, s *model.Schema) *store {
	st := &store{ctx: ctx, tx: tx, models: map[string]*model.Model{}, rows: map[rowKey]*row{}}
	for _, m := range s.Models {
		st.models[m.Name] = m
	}
	return st
}

// fail keeps the first error.
func (s *store) fail(what string, err error) {
	if s.err == nil && err != nil {
		s.err = fmt.Errorf("%s: %w", what, err)
	}
}

// row returns the row of a model with an id, without a check that it exists.
func (s *store) row(m *model.Model, id string) *row {
	key := rowKey{m, id}
	if s.rows[key] == nil {
		s.rows[key] = &row{store: s, model: m, id: id, related: map[string][]expr.Row{}}
	}
	return s.rows[key]
}

// existing returns the row of a model that has an id, nil if there is none.
func (s *store) existing(m *model.Model, id string) *row {
	r := s.row(m, id)
	if r.load(); r.values == nil {
		return nil
	}
	return r
}

// ids returns the result of a query for ids.
func (s *store) ids(query string, args ...any) []string {
	if s.err != nil {
		return nil
	}
	rows, err := s.tx.Query(s.ctx, query, args...)
	if err != nil {
		s.fail("look for rows", err)
		return nil
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	s.fail("look for rows", err)
	return ids
}

// row is a row of a model as the interpreter sees it.
type row struct {
	store   *store
	model   *model.Model
	id      string
	loaded  bool
	values  map[string]any // by field; nil if the row does not exist
	related map[string][]expr.Row
}

// ID returns the row's id.
func (r *row) ID() string { return r.id }

// Value returns the value of a field. For a Password, Secret, File or Vector it is true
// if there is one: no more is ever read.
func (r *row) Value(field string) any {
	r.load()
	return r.values[field]
}

// load reads the row.
func (r *row) load() {
	if r.loaded || r.store.err != nil {
		return
	}
	r.loaded = true
	var names, columns []string
	for _, f := range r.model.Fields {
		if f.HasColumn() {
			names = append(names, f.Name)
			columns = append(columns, readable(f))
		}
	}
	query := "select " + strings.Join(columns, ", ") + " from " + view(r.model) + " as t where t.id = $1"
	rows, err := r.store.tx.Query(r.store.ctx, query, r.id)
	if err != nil {
		r.store.fail("read a row of "+r.model.Name, err)
		return
	}
	values, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
	if errors.Is(err, pgx.ErrNoRows) {
		return
	}
	if err != nil {
		r.store.fail("read a row of "+r.model.Name, err)
		return
	}
	r.values = map[string]any{}
	for i, name := range names {
		r.values[name] = values[i]
	}
}

// view is the view through which rows of a model are read.
func view(m *model.Model) string { return pg.Qualified("related", m.Table) }

// readable is the value of a field's column, of a row t, in the form of a literal.
func readable(f *model.Field) string {
	column := "t." + pg.Ident(f.Column)
	if f.Type.Kind.IsOpaque() {
		return "case when " + column + " is not null then true end"
	}
	return lower.LiteralOf(f.Type, column)
}

// Related returns the rows that a relation leads to, in the order of their ids.
func (r *row) Related(field string) []expr.Row {
	if rows, known := r.related[field]; known {
		return rows
	}
	f := r.model.Field(field)
	var ids []string
	if f.FK != nil {
		if id, ok := r.Value(f.FK.Name).(string); ok {
			ids = []string{id}
		}
	} else {
		ids = r.store.ids("select t.id from "+view(f.Target)+" as t where t."+pg.Ident(f.Inverse.FK.Column)+" = $1 order by t.id", r.id)
	}
	var rows []expr.Row
	for _, id := range ids {
		rows = append(rows, r.store.row(f.Target, id))
	}
	r.related[field] = rows
	return rows
}
