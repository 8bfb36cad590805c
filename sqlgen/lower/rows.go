package lower

import (
	"slices"
	"strconv"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// listRows are the rows of a list as those of one model. Those of a union are in the views of all arms, whose columns are
// the fields of the union.
type listRows struct {
	model *model.Model
	union *model.Union // nil for rows of a model
}

func rowsOf(a *model.Action) listRows {
	if a.Union == nil {
		return listRows{model: a.Model}
	}
	m := &model.Model{Name: a.Union.Name, Table: a.Union.Table}
	for _, f := range a.Union.Fields {
		column := unionKey(f)
		column.Model = m
		m.Fields = append(m.Fields, column)
	}
	return listRows{m, a.Union}
}

// value is the column of a field of the union.
func (r listRows) value(f *model.UnionField) expr.Node {
	return expr.RowPath(r.model.Name, []expr.Step{r.model.Field(f.Name)}, f.Span)
}

// over returns an expression of the list's action as one over its rows.
func (r listRows) over(n expr.Node) expr.Node {
	if r.union == nil {
		return n
	}
	return expr.Substitute(n, func(p *expr.Path) expr.Node { return r.value(unionField(p)) })
}

// overArm is over for the view of one arm. What the arm gives to all of its rows is in place of the column.
func (r listRows) overArm(a arm, n expr.Node) expr.Node {
	return expr.Substitute(n, func(p *expr.Path) expr.Node { return r.valueIn(a, unionField(p)) })
}

func (r listRows) valueIn(a arm, f *model.UnionField) expr.Node {
	if l, ok := a.value(f).(*expr.Literal); ok && l.Value != nil {
		return l
	}
	return r.value(f)
}

// expression prepares to lower expressions over the rows.
func (r listRows) expression(l logic, value func(expr.Input) pg.Expr) expression {
	row := rowOf(r.model)
	return newExpression(l, inQuery, &row, value)
}

// filters returns the implicit inputs of a list.
func (r listRows) filters(a *model.Action) []filter {
	var list []filter
	for _, in := range a.Reads {
		switch {
		case in.Explicit:
		case r.union != nil:
			list = append(list, filter{in, r.value(in.Union)})
		default:
			list = append(list, filter{in, listPath(r.model, in)})
		}
	}
	return list
}

// source is where rows of a list come from: the view of its model, or that of an arm of its union, under the name of the
// union.
type source struct {
	model *model.Model
	arm   *arm // nil for the rows of a model
}

// sourcesOf are the sources of a list.
func sourcesOf(a *model.Action) []source {
	if a.Union == nil {
		return []source{{model: a.Model}}
	}
	var list []source
	for _, arm := range armsOf(a.Union) {
		list = append(list, source{arm.Model, &arm})
	}
	return list
}

// from is the view.
func (s source) from() *pg.TableRef {
	if s.arm == nil {
		return pg.Ref(relatedSchema, s.model.Table)
	}
	return s.arm.from()
}

// text is the view as text.
func (s source) text() pg.Expr {
	if s.arm == nil {
		return pg.Str(pg.Qualified(relatedSchema, s.model.Table))
	}
	return pg.Str(pg.Qualified(relatedSchema, s.arm.view) + " as " + pg.Ident(s.arm.union.Table))
}

// over returns an expression of the list's action as one over rows of the model.
func (s source) over(n expr.Node) expr.Node {
	if s.arm == nil {
		return n
	}
	return s.arm.over(n)
}

// shown is a condition on a row of the model as one on a row of the view.
func (s source) shown(condition pg.Expr) pg.Expr {
	if s.arm == nil {
		return condition
	}
	return pg.Replace(condition, func(e pg.Expr) pg.Expr {
		if c, ok := e.(*pg.ColumnRef); ok && c.Table == s.model.Table {
			return pg.Col(s.arm.union.Table, s.arm.columnOf(c.Name))
		}
		return nil
	})
}

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
			title := "union " + u.Name + ", arm " + arm.Name
			views = append(views, &pg.View{Schema: relatedSchema, Name: arm.view, Title: title, Query: arm.query()})
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
	for _, column := range a.lookedAt() {
		q.Columns = append(q.Columns, pg.Output{Value: pg.Col(a.Model.Table, column), As: a.columnOf(column)})
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

// from is the view of an arm, under the name of the union.
func (a arm) from() *pg.TableRef {
	return &pg.TableRef{Schema: relatedSchema, Name: a.view, Alias: a.union.Table}
}

// ownField is the field of the arm's model that a field of the union is, nil if it is anything else.
func (a arm) ownField(f *model.UnionField) *model.Field {
	if p, ok := a.value(f).(*expr.Path); ok && p.Root == expr.RootRow && len(p.Steps) == 1 {
		if own := storedAs(field(p.Steps[0])); own.Column != "" {
			return own
		}
	}
	return nil
}

// columnOf is the column of the arm's view that has a column of its model: that of a field of the union, or one more.
func (a arm) columnOf(column string) string {
	for _, f := range a.union.Fields {
		if own := a.ownField(f); own != nil && own.Column == column && own.Type.Kind == f.Type.Kind {
			return f.Column
		}
	}
	return numberedColumn(a.number-1, column)
}

// lookedAt are the columns of the arm's model that the rules of lists look at and that no field of the union is.
func (a arm) lookedAt() []string {
	var columns []string
	for _, action := range a.union.Actions {
		if action.Kind != model.List {
			continue
		}
		pg.Replace(admittedByPolicy(a.Model, action.Rules, a.over).rule, func(e pg.Expr) pg.Expr {
			c, ok := e.(*pg.ColumnRef)
			if ok && c.Table == a.Model.Table && a.columnOf(c.Name) == numberedColumn(a.number-1, c.Name) && !slices.Contains(columns, c.Name) {
				columns = append(columns, c.Name)
			}
			return nil
		})
	}
	return columns
}

// underRowSecurity joins the table of the arm's rows to their view: row security keeps back the rows that the caller may
// not have.
func (a arm) underRowSecurity() pg.Join {
	return pg.Join{Kind: "join", With: a.from(), On: pg.Eq(pg.Col(a.union.Table, "id"), pg.Col(a.Model.Table, "id"))}
}
