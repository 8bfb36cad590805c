package value

import (
	"fmt"
	"maps"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// joinsFrom returns the joins for a path from a root.
func (x Expression) joinsFrom(root expr.Root) *joins {
	j := NewJoins(x.Aliases)
	if x.Written == nil || root != expr.RootIdentity {
		return j
	}
	j.isVisible = func(at TableAlias) pg.Expr {
		var conditions []pg.Expr
		for _, l := range x.Written.Inserted() {
			if l.Model == at.Model {
				conditions = append(conditions, x.isOther(at, l, j.Aliases))
			}
		}
		return pg.AllOf(conditions...)
	}
	return j
}

// isOther is the condition that a row was not inserted at a level.
func (x Expression) isOther(at TableAlias, l *Level, aliases map[string]bool) pg.Expr {
	j := NewJoins(aliases)
	end := *x.Row
	for _, f := range l.Path {
		end = j.Follow(end, f)
	}
	if len(j.List) == 0 {
		return pg.Op(at.ID, "is distinct from", end.ID)
	}
	return pg.Negate(&pg.Exists{Query: j.Query(nil, pg.Eq(end.ID, at.ID))})
}

// TableAlias is a row that an expression has come to: its id, and the alias of its table once that has been joined.
type TableAlias struct {
	Model *model.Model
	Name  string  // empty means not joined: only the id is known
	ID    pg.Expr // may be null: then the row does not exist
}

// LeadsSomewhere tells whether a to-one of the row, which has a column, is null or leads to a row that is there.
func (x Expression) LeadsSomewhere(f *model.Field) pg.Expr {
	j := NewJoins(x.Aliases)
	j.row(j.Follow(*x.Row, f))
	there := pg.Expr(&pg.Exists{Query: j.Query(nil, pg.True())})
	if f.Optional {
		there = pg.AnyOf(pg.IsNull(pg.Col(x.Row.Name, f.FK.Column)), there)
	}
	return there
}

// RowOf is a row whose table is in the query under its own name.
func RowOf(m *model.Model) TableAlias {
	return TableAlias{Model: m, Name: m.Table, ID: pg.Col(m.Table, "id")}
}

// joins are the tables on a path, in order. The sub-select reads from the first, so its condition becomes part of the
// where.
type joins struct {
	Aliases map[string]bool // names taken in this query and those around it
	List    []pg.Join

	isVisible func(TableAlias) pg.Expr // the condition for rows on the path; nil means all
}

// NewJoins begins joins whose aliases differ from those that are taken.
func NewJoins(aliases map[string]bool) *joins {
	return &joins{Aliases: maps.Clone(aliases)}
}

// add joins a model's view and returns its alias: the table's name, with a number if it is taken.
func (j *joins) add(m *model.Model, on func(alias string) pg.Expr) string {
	alias := m.Table
	for n := 2; j.Aliases[alias]; n++ {
		alias = fmt.Sprintf("%s_%d", m.Table, n)
	}
	j.Aliases[alias] = true
	view := pg.Ref(RelatedSchema, m.Table)
	view.Alias = alias
	j.List = append(j.List, pg.Join{Kind: "join", With: view, On: on(alias)})
	return alias
}

// Query returns the query over the joined tables under a condition.
func (j *joins) Query(columns []pg.Output, condition pg.Expr) *pg.Select {
	first := j.List[0]
	return &pg.Select{
		Columns: columns,
		From:    first.With,
		Joins:   j.List[1:],
		Where:   pg.AllOf(first.On, condition),
	}
}

// row makes sure that the table of a row is joined.
func (j *joins) row(at TableAlias) TableAlias {
	if at.Name == "" {
		id := at.ID
		at.Name = j.add(at.Model, func(alias string) pg.Expr { return pg.Eq(pg.Col(alias, "id"), id) })
		at.ID = pg.Col(at.Name, "id")
	}
	return at
}

// Follow goes from a row along a relation. A to-one with a column needs no join to know the target's id; the other side
// of a relation is found by its foreign key.
func (j *joins) Follow(at TableAlias, f *model.Field) TableAlias {
	if f.FK != nil {
		at = j.row(at)
		return TableAlias{Model: f.Target, ID: pg.Col(at.Name, f.FK.Column)}
	}
	alias := j.add(f.Target, func(alias string) pg.Expr {
		refers := pg.Eq(pg.Col(alias, f.Inverse.FK.Column), at.ID)
		if j.isVisible == nil {
			return refers
		}
		return pg.AllOf(refers, j.isVisible(TableAlias{Model: f.Target, Name: alias, ID: pg.Col(alias, "id")}))
	})
	return TableAlias{Model: f.Target, Name: alias, ID: pg.Col(alias, "id")}
}

// value returns the value of a scalar field of a row.
func (j *joins) value(at TableAlias, f *model.Field) pg.Expr {
	if f.Name == "id" {
		return at.ID
	}
	return pg.Col(j.row(at).Name, f.Column)
}

// Field returns the field of a path's step.
func Field(s expr.Step) *model.Field {
	f, ok := s.(*model.Field)
	if !ok {
		panic(fmt.Sprintf("lower: the step %s of a path is no field of a model", s.StepName()))
	}
	return f
}
