package list

import (
	"slices"
	"strconv"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/call"
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// ListRows are the rows of a list as those of one model. Those of a union are in the views of all arms, whose columns are
// the fields of the union.
type ListRows struct {
	model *model.Model
	union *model.Union // nil for rows of a model
}

// RowsOf returns the rows among which an action finds its own.
func RowsOf(a *model.Action) ListRows {
	if a.Union == nil {
		return ListRows{model: a.Model}
	}
	m := &model.Model{Name: a.Union.Name, Table: a.Union.Table}
	for _, f := range a.Union.Fields {
		column := value.UnionKey(f)
		column.Model = m
		m.Fields = append(m.Fields, column)
	}
	return ListRows{m, a.Union}
}

// Value is the column of a field of the union.
func (r ListRows) Value(f *model.UnionField) expr.Node {
	return expr.RowPath(r.model.Name, []expr.Step{r.model.Field(f.Name)}, f.Span)
}

// Over returns an expression of the list's action as one over its rows.
func (r ListRows) Over(n expr.Node) expr.Node {
	if r.union == nil {
		return n
	}
	return expr.Substitute(n, func(p *expr.Path) expr.Node { return r.Value(value.UnionField(p)) })
}

// overArm is over for the view of one arm. What the arm gives to all of its rows is in place of the column.
func (r ListRows) overArm(a value.Arm, n expr.Node) expr.Node {
	return expr.Substitute(n, func(p *expr.Path) expr.Node { return r.valueIn(a, value.UnionField(p)) })
}

func (r ListRows) valueIn(a value.Arm, f *model.UnionField) expr.Node {
	if l, ok := a.Value(f).(*expr.Literal); ok && l.Value != nil {
		return l
	}
	return r.Value(f)
}

// Expression prepares to lower expressions over the rows.
func (r ListRows) Expression(l value.Logic, v func(expr.Input) pg.Expr) value.Expression {
	row := value.RowOf(r.model)
	return value.NewExpression(l, value.InQuery, &row, v)
}

// Filters returns the implicit inputs of a list.
func (r ListRows) Filters(a *model.Action) []Filter {
	var list []Filter
	for _, in := range a.Reads {
		switch {
		case in.Explicit:
		case r.union != nil:
			list = append(list, Filter{in, r.Value(in.Union)})
		default:
			list = append(list, Filter{in, listPath(r.model, in)})
		}
	}
	return list
}

// source is where rows of a list come from: the view of its model, or that of an arm of its union, under the name of the
// union.
type source struct {
	model *model.Model
	arm   *value.Arm // nil for the rows of a model
}

// sourcesOf are the sources of a list.
func sourcesOf(a *model.Action) []source {
	if a.Union == nil {
		return []source{{model: a.Model}}
	}
	var list []source
	for _, arm := range value.ArmsOf(a.Union) {
		list = append(list, source{arm.Model, &arm})
	}
	return list
}

// from is the view.
func (s source) from() *pg.TableRef {
	if s.arm == nil {
		return pg.Ref(value.RelatedSchema, s.model.Table)
	}
	return from(*s.arm)
}

// text is the view as text.
func (s source) text() pg.Expr {
	if s.arm == nil {
		return pg.Str(pg.Qualified(value.RelatedSchema, s.model.Table))
	}
	return pg.Str(pg.Qualified(value.RelatedSchema, s.arm.View) + " as " + pg.Ident(s.arm.Union.Table))
}

// over returns an expression of the list's action as one over rows of the model.
func (s source) over(n expr.Node) expr.Node {
	if s.arm == nil {
		return n
	}
	return s.arm.Over(n)
}

// shown is a condition on a row of the model as one on a row of the view.
func (s source) shown(condition pg.Expr) pg.Expr {
	if s.arm == nil {
		return condition
	}
	return pg.Replace(condition, func(e pg.Expr) pg.Expr {
		if c, ok := e.(*pg.ColumnRef); ok && c.Table == s.model.Table {
			return pg.Col(s.arm.Union.Table, columnOf(*s.arm, c.Name))
		}
		return nil
	})
}

// UnionViews lowers each arm of the unions that actions read to a view: the rows of the arm, with a column for each field
// of the union.
func (l *Lowering) UnionViews() []*pg.View {
	var views []*pg.View
	for _, u := range l.Schema.Unions {
		isRead := func(a *model.Action) bool { return a.Union == u && !rule.IsClosed(a) }
		if !slices.ContainsFunc(l.Schema.Actions, isRead) {
			continue
		}
		for _, arm := range value.ArmsOf(u) {
			title := "union " + u.Name + ", arm " + arm.Name
			views = append(views, &pg.View{Schema: value.RelatedSchema, Name: arm.View, Title: title, Query: Query(arm)})
		}
	}
	return views
}

// Query selects the rows of the arm. A left join leads to the row at the end of each to-one: Postgres leaves out those
// whose columns a reader of the view does not ask for, and starts from the other end where a condition is on one.
func Query(a value.Arm) *pg.Select {
	x := a.Row(value.WhereLogic, value.InQuery, value.NoInput)
	x.Outer = &value.OuterJoins{Joins: value.NewJoins(x.Aliases), Rows: map[string]value.TableAlias{"": *x.Row}}
	q := &pg.Select{
		From:  pg.Ref(value.RelatedSchema, a.Model.Table),
		Where: a.Row(value.WhereLogic, value.InQuery, value.NoInput).AllHold(a.Conditions()),
	}
	for _, f := range a.Union.Fields {
		q.Columns = append(q.Columns, pg.Output{Value: a.Column(x, f), As: f.Column})
	}
	q.Columns = append(q.Columns, pg.Output{Value: pg.As(pg.Lit(strconv.Itoa(a.Number)), "bigint"), As: value.ArmColumn})
	for _, column := range lookedAt(a) {
		q.Columns = append(q.Columns, pg.Output{Value: pg.Col(a.Model.Table, column), As: columnOf(a, column)})
	}
	for _, j := range x.Outer.Joins.List {
		j.Kind = "left join"
		q.Joins = append(q.Joins, j)
	}
	return q
}

// from is the view of an arm, under the name of the union.
func from(a value.Arm) *pg.TableRef {
	return &pg.TableRef{Schema: value.RelatedSchema, Name: a.View, Alias: a.Union.Table}
}

// columnOf is the column of the arm's view that has a column of its model: that of a field of the union, or one more.
func columnOf(a value.Arm, column string) string {
	for _, f := range a.Union.Fields {
		if own := a.OwnField(f); own != nil && own.Column == column && own.Type.Kind == f.Type.Kind {
			return f.Column
		}
	}
	return call.NumberedColumn(a.Number-1, column)
}

// lookedAt are the columns of the arm's model that the rules of lists look at and that no field of the union is.
func lookedAt(a value.Arm) []string {
	var columns []string
	for _, action := range a.Union.Actions {
		if action.Kind != model.List {
			continue
		}
		pg.Replace(admittedByPolicy(a.Model, action.Rules, a.Over).rule, func(e pg.Expr) pg.Expr {
			c, ok := e.(*pg.ColumnRef)
			if ok && c.Table == a.Model.Table && columnOf(a, c.Name) == call.NumberedColumn(a.Number-1, c.Name) && !slices.Contains(columns, c.Name) {
				columns = append(columns, c.Name)
			}
			return nil
		})
	}
	return columns
}

// underRowSecurity joins the table of the arm's rows to their view: row security keeps back the rows that the caller may
// not have.
func underRowSecurity(a value.Arm) pg.Join {
	return pg.Join{Kind: "join", With: from(a), On: pg.Eq(pg.Col(a.Union.Table, "id"), pg.Col(a.Model.Table, "id"))}
}
