package lower

import (
	"slices"
	"strconv"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// unionViews lowers each arm of the unions that actions read to a view: the rows of the arm, with a column for each field
// of the union.
func (l *lowering) unionViews() []*pg.View {
	var views []*pg.View
	for _, u := range l.schema.Unions {
		isRead := func(a *model.Action) bool { return a.Union == u && !isClosed(a) }
		if !slices.ContainsFunc(l.schema.Actions, isRead) {
			continue
		}
		for _, arm := range armsOf(u) {
			views = append(views, &pg.View{
				Schema: relatedSchema,
				Name:   arm.view,
				Title:  "union " + u.Name + ", arm " + arm.Name,
				Query:  arm.query(),
			})
		}
	}
	return views
}

// query selects the rows of the arm. A left join leads to the row at the end of each to-one: Postgres leaves out those
// whose columns a reader of the view does not ask for, and starts from the other end where a condition is on one.
func (a arm) query() *pg.Select {
	x := a.row(whereLogic, inQuery, noInput)
	x.outer = &outerJoins{joins: newJoins(x.aliases), rows: map[string]tableAlias{"": *x.row}}
	q := &pg.Select{
		From:  pg.Ref(relatedSchema, a.Model.Table),
		Where: a.row(whereLogic, inQuery, noInput).allHold(a.wheres()),
	}
	for _, f := range a.union.Fields {
		q.Columns = append(q.Columns, pg.Output{Value: a.column(x, f), As: f.Column})
	}
	q.Columns = append(q.Columns, pg.Output{Value: pg.As(pg.Lit(strconv.Itoa(a.number)), "bigint"), As: armColumn})
	for _, arm := range armsOf(a.union) {
		for _, f := range arm.looksBehind() {
			if name, isOwn := arm.columnOf(f); !isOwn && arm.number == a.number {
				q.Columns = append(q.Columns, pg.Output{Value: pg.Col(a.Model.Table, f.Column), As: name})
			} else if !isOwn { // all views have the same columns
				q.Columns = append(q.Columns, pg.Output{Value: pg.As(pg.Null(), variableType(f.Type)), As: name})
			}
		}
	}
	for _, j := range x.outer.joins.list {
		j.Kind = "left join"
		q.Joins = append(q.Joins, j)
	}
	return q
}

// outerJoins are the tables at the ends of to-ones from a row, each joined once.
type outerJoins struct {
	joins *joins
	rows  map[string]tableAlias // by the steps that lead to them
}

// value is the value at the end of a path through to-ones, null if one of them leads nowhere.
func (o *outerJoins) value(p *expr.Path) pg.Expr {
	at := ""
	for _, s := range p.Steps {
		f := field(s)
		if !f.IsRelation() && f.Name != "id" {
			return pg.Col(o.joined(at).name, f.Column)
		}
		if f.IsRelation() {
			at = o.follow(at, f)
		}
	}
	return o.rows[at].id
}

func (o *outerJoins) follow(at string, f *model.Field) string {
	next := at + "." + f.Name
	if _, known := o.rows[next]; !known {
		from := o.rows[at]
		if f.FK != nil {
			from = o.joined(at)
		}
		o.rows[next] = o.joins.follow(from, f)
	}
	return next
}

func (o *outerJoins) joined(at string) tableAlias {
	o.rows[at] = o.joins.row(o.rows[at])
	return o.rows[at]
}

// unionRows are the rows of a union as those of a model, whose fields are the columns of the views of all arms.
type unionRows struct {
	model *model.Model
}

func rowsOf(u *model.Union) unionRows {
	m := &model.Model{Name: u.Name, Table: u.Table}
	for _, f := range u.Fields {
		column := unionKey(f)
		column.Model = m
		m.Fields = append(m.Fields, column)
	}
	return unionRows{m}
}

// value is the column of a field of the union.
func (r unionRows) value(f *model.UnionField) expr.Node {
	return expr.RowPath(r.model.Name, []expr.Step{r.model.Field(f.Name)}, f.Span)
}

// over returns an expression over the union as one over the columns of its views.
func (r unionRows) over(n expr.Node) expr.Node {
	return expr.Substitute(n, func(p *expr.Path) expr.Node { return r.value(unionField(p)) })
}

// overArm is over for the view of one arm. What the arm gives to all of its rows is in place of the column.
func (r unionRows) overArm(a arm, n expr.Node) expr.Node {
	return expr.Substitute(n, func(p *expr.Path) expr.Node { return r.valueIn(a, unionField(p)) })
}

func (r unionRows) valueIn(a arm, f *model.UnionField) expr.Node {
	if l, ok := a.value(f).(*expr.Literal); ok && l.Value != nil {
		return l
	}
	return r.value(f)
}

// expression prepares to lower expressions over the columns of the views.
func (r unionRows) expression(l logic, value func(expr.Input) pg.Expr) expression {
	row := rowOf(r.model)
	return newExpression(l, inQuery, &row, value)
}

// from is the view of an arm, under the name of the union.
func (a arm) from() *pg.TableRef {
	return &pg.TableRef{Schema: relatedSchema, Name: a.view, Alias: a.union.Table}
}

// allColumns are the columns of the view of an arm.
func (a arm) allColumns() pg.Output { return pg.Output{Value: allColumns(a.union.Table)} }

// looksBehind are the fields of the arm's model that lists compare with several values of the caller, to look for rows
// behind each of them.
func (a arm) looksBehind() []*model.Field {
	var fields []*model.Field
	for _, action := range a.union.Actions {
		if action.Kind != model.List {
			continue
		}
		for _, w := range waysByPolicy(a.Model, action.Rules, a.over) {
			if w.oneOf != nil && !slices.Contains(fields, w.oneOf) {
				fields = append(fields, w.oneOf)
			}
		}
	}
	return fields
}

// columnOf is the column of the arm's view that holds a field of its model: that of a field of the union, or one more.
func (a arm) columnOf(f *model.Field) (name string, isOwn bool) {
	for _, own := range a.union.Fields {
		if p, ok := a.value(own).(*expr.Path); ok && p.Root == expr.RootRow && len(p.Steps) == 1 && storedAs(field(p.Steps[0])) == f {
			return own.Column, true
		}
	}
	return numberedColumn(a.number-1, f.Column), false
}

// underRowSecurity joins the table of the arm's rows to their view: row security keeps back the rows that the caller may
// not have.
func (a arm) underRowSecurity() pg.Join {
	return pg.Join{Kind: "join", With: a.from(), On: pg.Eq(pg.Col(a.union.Table, "id"), pg.Col(a.Model.Table, "id"))}
}
