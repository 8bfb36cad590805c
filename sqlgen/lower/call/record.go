package call

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// WholeRow is the row of the action's table in a query. Its bare name could be that of a column.
func (b Builder) WholeRow() pg.Expr {
	return pg.As(&pg.Row{Values: []pg.Expr{&pg.AllFields{Value: pg.Var(pg.Ident(b.Table))}}}, RowType(b.Model))
}

// PageAlias is the alias of the ids of a page. A model may be called Page, and an
// alias must not hide its table.
func PageAlias(table string) string {
	if table == "page" {
		return "page_"
	}
	return "page"
}

// A function that answers a record answers the row, and the server writes the record: that costs Postgres a third of
// what making JSON does. The row has the type of the model's table. Embedded records are beside it, each as JSON, and
// the row is then a column of its own. If the record does not show the whole row, each member is a column, and so is
// each other value that a list is ordered by; the function does not read the rest. Rows of a union have no table, and
// their fields are columns too.

// AnswersRow tells whether the function of an action answers rows.
func AnswersRow(a *model.Action) bool {
	switch a.Kind {
	case model.Get, model.List, model.Create, model.Update:
		return true
	}
	return false
}

// answers is the type of the answer of an action's function.
func answers(a *model.Action) string {
	switch {
	case !AnswersRow(a) && a.Many:
		return "setof text"
	case !AnswersRow(a):
		return "text"
	case a.Union != nil:
		return answersOfUnion(a)
	case AnswersColumns(a):
		return tableOfColumns(AnsweredColumns(a))
	case len(a.Embeds) == 0 && answersSet(a):
		return "setof " + RowType(a.Model)
	case len(a.Embeds) == 0:
		return RowType(a.Model)
	}
	columns := []string{release.RowColumn + " " + RowType(a.Model)}
	for _, m := range relationsShown(a) {
		columns = append(columns, embedColumn(m)+" json")
	}
	return "table (" + strings.Join(columns, ", ") + ")"
}

// answersSet tells whether the function of an action answers any number of rows. One that answers the row that a
// statement finds or writes is such a function too: the row then goes to the answer without a variable in between,
// which costs less.
func answersSet(a *model.Action) bool {
	return AnswersRow(a) && (a.Kind == model.List || a.Many || a.Union != nil || len(a.Embeds) > 0 || AnswersColumns(a) ||
		!a.Custom && (a.Kind == model.Get || answersWritten(a)))
}

// answersWritten tells whether the function of a create or update answers the row as it is written: a whole row, in
// which no trigger computes a value once the statement has ended.
func answersWritten(a *model.Action) bool {
	return (a.Kind == model.Create || a.Kind == model.Update) && !a.Custom && !AnswersColumns(a) &&
		!slices.ContainsFunc(a.Model.Stored(), value.IsComputedFromRows)
}

// answersOfUnion is the type of the answer of a union action's function: a column for each field, and in a list the
// number of the arm, by which rows are ordered.
func answersOfUnion(a *model.Action) string {
	var columns []string
	for i, f := range a.Union.Fields {
		columns = append(columns, NumberedColumn(i, f.Column)+" "+value.VariableType(f.Type))
	}
	if a.Kind == model.List {
		columns = append(columns, value.ArmColumn+" bigint")
	}
	return "table (" + strings.Join(columns, ", ") + ")"
}

// NumberedColumn is the i-th column of a function's answer. No column of a table has such a name, so neither is
// mistaken for the other.
func NumberedColumn(i int, column string) string {
	const room = 57 // a name may be 63 bytes long
	return fmt.Sprintf("%s__%d", column[:min(len(column), room)], i+1)
}

// UnionMember is a field of a union as a member of the record.
func UnionMember(u *model.Union, name string) release.Member {
	for i, f := range u.Fields {
		if f.Name == name {
			return value.MemberOf(f.Name, NumberedColumn(i, f.Column), f.Type)
		}
	}
	panic("lower: the union " + u.Name + " has no field " + name)
}

// AnswersColumns tells whether the function of a model's action answers a column for each member of the record, and not
// the row.
func AnswersColumns(a *model.Action) bool { return a.Selected != nil || a.Model.HidesFields() }

// AnsweredColumn is a column in the answer of such a function.
type AnsweredColumn struct {
	name   string
	Member *model.Member // a column that only orders a list belongs to no record
}

// typ is the type of the column.
func (c AnsweredColumn) typ() string {
	if c.Member.Field.IsRelation() {
		return "json"
	}
	return value.VariableType(c.Member.Field.Type)
}

// AnsweredColumns returns the columns in the answer of such a function: the members of the record, then the other
// values that a list is ordered by.
func AnsweredColumns(a *model.Action) []AnsweredColumn {
	shape := a.Shape()
	members := shape[:len(shape):len(shape)]
	if a.Kind == model.List {
		for _, f := range value.Sortable(a) {
			if shape.Member(f) == nil {
				members = append(members, &model.Member{Field: f})
			}
		}
	}
	columns := make([]AnsweredColumn, len(members))
	for i, m := range members {
		columns[i] = AnsweredColumn{NumberedColumn(i, model.SnakeForm(m.Field.Name)), m}
	}
	return columns
}

// tableOfColumns is the type of the answer of such a function.
func tableOfColumns(columns []AnsweredColumn) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = c.name + " " + c.typ()
	}
	return "table (" + strings.Join(list, ", ") + ")"
}

// AnsweredColumnOf is the column in which the function of a list answers a field.
func AnsweredColumnOf(a *model.Action, f *model.Field) string {
	if !AnswersColumns(a) {
		return f.Column
	}
	for _, c := range AnsweredColumns(a) {
		if c.Member.Field == f {
			return c.name
		}
	}
	panic("lower: " + a.Name + " does not answer " + f.Name)
}

// relationsShown returns the members of an action's record that are records themselves.
func relationsShown(a *model.Action) []*model.Member {
	return slices.DeleteFunc(slices.Clone(a.Shape()), func(m *model.Member) bool { return !m.Field.IsRelation() })
}

// embedColumn is the column of an embedded record beside the row.
func embedColumn(m *model.Member) string { return "v_" + model.SnakeForm(m.Field.Name) }

// AllColumns are the columns of the rows at an alias.
func AllColumns(alias string) pg.Expr { return &pg.AllFields{Value: pg.Var(pg.Ident(alias))} }

// AnswerColumns are the columns of the function's answer, for rows that are in the query under the name of their table.
func (b Builder) AnswerColumns() []pg.Output { return b.answerColumnsOf(value.RowOf(b.Model)) }

// answerColumnsOf are the columns of the function's answer for a row.
func (b Builder) answerColumnsOf(row value.TableAlias) []pg.Output {
	taken := map[string]bool{row.Name: true, b.Table: true, PageAlias(b.Table): true}
	value := func(m *model.Member) pg.Output {
		if m.Field.IsRelation() {
			return pg.Output{Value: value.Embedded(row, m, taken, b.recordAlias())}
		}
		return pg.Output{Value: pg.Col(row.Name, m.Field.Column)}
	}
	var columns []pg.Output
	switch {
	case AnswersColumns(b.Action):
		for _, c := range AnsweredColumns(b.Action) {
			columns = append(columns, value(c.Member))
		}
	case len(b.Action.Embeds) == 0:
		columns = []pg.Output{{Value: AllColumns(row.Name)}}
	default:
		columns = []pg.Output{{Value: b.WholeRow()}}
		for _, m := range relationsShown(b.Action) {
			columns = append(columns, value(m))
		}
	}
	return columns
}

// answerOne answers the row that a query finds, and runs statements if it finds none.
func (b *Builder) answerOne(comment string, from pg.From, where pg.Expr, otherwise ...pg.Statement) {
	b.Step("", b.findOne(comment, from, where, otherwise...)...)
}

// findOne is answerOne without its last statement, if that is one of its own, which it returns.
func (b *Builder) findOne(comment string, from pg.From, where pg.Expr, otherwise ...pg.Statement) []pg.Statement {
	query := &pg.Select{Columns: b.AnswerColumns(), From: from, Where: where}
	if answersSet(b.Action) {
		b.Step(comment, &pg.ReturnQuery{Query: query})
		if len(otherwise) > 0 {
			b.Step("", pg.IfThen(NothingFound, otherwise...))
		}
		return nil
	}
	result := b.resultRow()
	query.Into = []pg.Target{result}
	b.Step(comment, &pg.Query{Select: query})
	if len(otherwise) > 0 {
		b.Step("", pg.IfThen(isNoRow(result), otherwise...))
	}
	return []pg.Statement{&pg.Return{Value: result}}
}

// resultRow declares the variable that holds the answered row, or the needed columns of it.
func (b *Builder) resultRow() *pg.Variable {
	if AnswersColumns(b.Action) {
		return b.Own("v_result", "record", nil)
	}
	return b.Own("v_result", RowType(b.Model), nil)
}

// resultColumns are the columns of the row that the variable of resultRow holds: those that are answered, and those by
// which related rows are found.
func (b Builder) resultColumns() []pg.Expr {
	if !AnswersColumns(b.Action) {
		return []pg.Expr{AllColumns(b.Table)}
	}
	var columns []pg.Expr
	for _, f := range b.Model.Stored() {
		if isAnswered(b.Action, f) {
			columns = append(columns, pg.Col(b.Table, f.Column))
		}
	}
	return columns
}

// isAnswered tells whether the answer of an action needs a stored field of its row.
func isAnswered(a *model.Action, f *model.Field) bool {
	shape := a.Shape()
	return f.Name == "id" || shape.Member(f) != nil || f.FKOf != nil && shape.Member(f.FKOf) != nil
}

// holds tells whether a row variable holds a stored field of the row.
func (b Builder) holds(row *pg.Variable, f *model.Field) bool {
	return row.Type == RowType(b.Model) || isAnswered(b.Action, f)
}

// answerResult answers the row that the variable of resultRow holds.
func (b *Builder) answerResult(result *pg.Variable) {
	if !AnswersColumns(b.Action) {
		b.Step("", &pg.Return{Value: result})
		return
	}
	row := value.TableAlias{Model: b.Model, Name: result.Name, ID: result.Field("id")}
	b.Step("", &pg.ReturnQuery{Query: &pg.Select{Columns: b.answerColumnsOf(row)}})
}

// NothingFound tells, right behind a query, that no row was found.
var NothingFound = pg.Negate(pg.Var("found"))

// isNoRow tells whether a variable for a row of a table is empty.
func isNoRow(row *pg.Variable) pg.Expr { return pg.IsNull(row.Field("id")) }

// PublishedRecord returns the members of the record that an action answers, and its name; none if its function answers
// JSON.
func PublishedRecord(a *model.Action) (name string, members []release.Member) {
	if !AnswersRow(a) {
		return "", nil
	}
	if a.Union != nil {
		for _, f := range a.Union.Fields {
			members = append(members, UnionMember(a.Union, f.Name))
		}
		return a.Union.Name, members
	}
	name = a.Model.Name
	if len(a.Embeds) > 0 || a.Selected != nil {
		name = a.Name
	}
	for i, m := range a.Shape() {
		f := m.Field
		switch isColumn := AnswersColumns(a); {
		case f.IsRelation() && isColumn:
			members = append(members, release.Member{Name: f.Name, Column: NumberedColumn(i, model.SnakeForm(f.Name)), Type: release.JSONMember})
		case f.IsRelation():
			members = append(members, release.Member{Name: f.Name, Column: embedColumn(m), Type: release.JSONMember, Embedded: true})
		case isColumn:
			members = append(members, value.MemberOf(f.Name, NumberedColumn(i, f.Column), f.Type))
		default:
			members = append(members, value.MemberOf(f.Name, f.Column, f.Type))
		}
	}
	return name, members
}

// recordAlias is the alias of the query that makes a record.
func (b Builder) recordAlias() string { return value.RowAlias("record", b.Action) }
