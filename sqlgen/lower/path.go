package lower

import (
	"fmt"
	"maps"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// tableAlias is a row that an expression has come to: its id, and the alias of its table once that has been joined.
type tableAlias struct {
	model *model.Model
	name  string  // empty means not joined: only the id is known
	id    pg.Expr // may be null: then the row does not exist
}

// rowOf is a row whose table is in the query under its own name.
func rowOf(m *model.Model) tableAlias {
	return tableAlias{model: m, name: m.Table, id: pg.Col(m.Table, "id")}
}

// joins are the tables on a path, in order. The sub-select reads from the first, so its condition becomes part of the
// where.
type joins struct {
	aliases map[string]bool // names taken in this query and those around it
	list    []pg.Join

	isVisible func(tableAlias) pg.Expr // the condition for rows on the path; nil means all
}

func newJoins(aliases map[string]bool) *joins {
	return &joins{aliases: maps.Clone(aliases)}
}

// add joins a model's view and returns its alias: the table's name, with a number if it is taken.
func (j *joins) add(m *model.Model, on func(alias string) pg.Expr) string {
	alias := m.Table
	for n := 2; j.aliases[alias]; n++ {
		alias = fmt.Sprintf("%s_%d", m.Table, n)
	}
	j.aliases[alias] = true
	view := pg.Ref(relatedSchema, m.Table)
	view.Alias = alias
	j.list = append(j.list, pg.Join{Kind: "join", With: view, On: on(alias)})
	return alias
}

// query returns the query over the joined tables under a condition.
func (j *joins) query(columns []pg.Output, condition pg.Expr) *pg.Select {
	first := j.list[0]
	return &pg.Select{
		Columns: columns,
		From:    first.With,
		Joins:   j.list[1:],
		Where:   pg.AllOf(first.On, condition),
	}
}

// row makes sure that the table of a row is joined.
func (j *joins) row(at tableAlias) tableAlias {
	if at.name == "" {
		id := at.id
		at.name = j.add(at.model, func(alias string) pg.Expr { return pg.Eq(pg.Col(alias, "id"), id) })
		at.id = pg.Col(at.name, "id")
	}
	return at
}

// follow goes from a row along a relation. A to-one with a column needs no join to know the target's id; the other side
// of a relation is found by its foreign key.
func (j *joins) follow(at tableAlias, f *model.Field) tableAlias {
	if f.FK != nil {
		at = j.row(at)
		return tableAlias{model: f.Target, id: pg.Col(at.name, f.FK.Column)}
	}
	alias := j.add(f.Target, func(alias string) pg.Expr {
		refers := pg.Eq(pg.Col(alias, f.Inverse.FK.Column), at.id)
		if j.isVisible == nil {
			return refers
		}
		return pg.AllOf(refers, j.isVisible(tableAlias{model: f.Target, name: alias, id: pg.Col(alias, "id")}))
	})
	return tableAlias{model: f.Target, name: alias, id: pg.Col(alias, "id")}
}

// value returns the value of a scalar field of a row.
func (j *joins) value(at tableAlias, f *model.Field) pg.Expr {
	if f.Name == "id" {
		return at.id
	}
	return pg.Col(j.row(at).name, f.Column)
}

// field returns the field of a path's step.
func field(s expr.Step) *model.Field {
	f, ok := s.(*model.Field)
	if !ok {
		panic(fmt.Sprintf("lower: the step %s of a path is no field of a model", s.StepName()))
	}
	return f
}
