package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// A function that answers a record answers the row, and the server writes the record: that costs Postgres a third of
// what making JSON does. The row has the type of the model's table. Embedded records are beside it, each as JSON, and
// the row is then a column of its own. If the record does not show the whole row, each member is a column, and so is
// each other value that a list is ordered by; the function does not read the rest. Rows of a union have no table, and
// their fields are columns too.

// answersRow tells whether the function of an action answers rows.
func answersRow(a *model.Action) bool {
	switch a.Kind {
	case model.Get, model.List, model.Create, model.Update:
		return true
	}
	return false
}

// answers is the type of the answer of an action's function.
func answers(a *model.Action) string {
	switch {
	case !answersRow(a):
		return "text"
	case a.Union != nil:
		return answersOfUnion(a)
	case answersColumns(a):
		return tableOfColumns(answeredColumns(a))
	case len(a.Embeds) == 0 && answersSet(a):
		return "setof " + rowType(a.Model)
	case len(a.Embeds) == 0:
		return rowType(a.Model)
	}
	columns := []string{release.RowColumn + " " + rowType(a.Model)}
	for _, m := range relationsShown(a) {
		columns = append(columns, embedColumn(m)+" json")
	}
	return "table (" + strings.Join(columns, ", ") + ")"
}

// answersSet tells whether the function of an action answers any number of rows. One that answers the row that a
// statement finds or writes is such a function too: the row then goes to the answer without a variable in between,
// which costs less.
func answersSet(a *model.Action) bool {
	return answersRow(a) && (a.Kind == model.List || a.Union != nil || len(a.Embeds) > 0 || answersColumns(a) ||
		!a.Custom && (a.Kind == model.Get || answersWritten(a)))
}

// answersWritten tells whether the function of a create or update answers the row as it is written: a whole row, in
// which no trigger computes a value once the statement has ended.
func answersWritten(a *model.Action) bool {
	return (a.Kind == model.Create || a.Kind == model.Update) && !a.Custom && !answersColumns(a) &&
		!slices.ContainsFunc(a.Model.Stored(), isComputedFromRows)
}

// answersOfUnion is the type of the answer of a union action's function: a column for each field, and in a list the
// number of the arm, by which rows are ordered.
func answersOfUnion(a *model.Action) string {
	var columns []string
	for i, f := range a.Union.Fields {
		columns = append(columns, numberedColumn(i, f.Column)+" "+variableType(f.Type))
	}
	if a.Kind == model.List {
		columns = append(columns, armColumn+" bigint")
	}
	return "table (" + strings.Join(columns, ", ") + ")"
}

// numberedColumn is the i-th column of a function's answer. No column of a table has such a name, so neither is
// mistaken for the other.
func numberedColumn(i int, column string) string {
	const room = 57 // a name may be 63 bytes long
	return fmt.Sprintf("%s__%d", column[:min(len(column), room)], i+1)
}

// unionMember is a field of a union as a member of the record.
func unionMember(u *model.Union, name string) release.Member {
	for i, f := range u.Fields {
		if f.Name == name {
			return memberOf(f.Name, numberedColumn(i, f.Column), f.Type)
		}
	}
	panic("lower: the union " + u.Name + " has no field " + name)
}

// answersColumns tells whether the function of a model's action answers a column for each member of the record, and not
// the row.
func answersColumns(a *model.Action) bool { return a.Selected != nil || a.Model.HidesFields() }

// answeredColumn is a column in the answer of such a function.
type answeredColumn struct {
	name   string
	member *model.Member // a column that only orders a list belongs to no record
}

// typ is the type of the column.
func (c answeredColumn) typ() string {
	if c.member.Field.IsRelation() {
		return "json"
	}
	return variableType(c.member.Field.Type)
}

// answeredColumns returns the columns in the answer of such a function: the members of the record, then the other
// values that a list is ordered by.
func answeredColumns(a *model.Action) []answeredColumn {
	shape := a.Shape()
	members := shape[:len(shape):len(shape)]
	if a.Kind == model.List {
		for _, f := range sortable(a) {
			if shape.Member(f) == nil {
				members = append(members, &model.Member{Field: f})
			}
		}
	}
	columns := make([]answeredColumn, len(members))
	for i, m := range members {
		columns[i] = answeredColumn{numberedColumn(i, model.SnakeForm(m.Field.Name)), m}
	}
	return columns
}

// tableOfColumns is the type of the answer of such a function.
func tableOfColumns(columns []answeredColumn) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = c.name + " " + c.typ()
	}
	return "table (" + strings.Join(list, ", ") + ")"
}

// answeredColumnOf is the column in which the function of a list answers a field.
func answeredColumnOf(a *model.Action, f *model.Field) string {
	if !answersColumns(a) {
		return f.Column
	}
	for _, c := range answeredColumns(a) {
		if c.member.Field == f {
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

// allColumns are the columns of the rows at an alias.
func allColumns(alias string) pg.Expr { return &pg.AllFields{Value: pg.Var(pg.Ident(alias))} }

// answerColumns are the columns of the function's answer, for rows that are in the query under the name of their table.
func (b builder) answerColumns() []pg.Output { return b.answerColumnsOf(rowOf(b.model)) }

// answerColumnsOf are the columns of the function's answer for a row.
func (b builder) answerColumnsOf(row tableAlias) []pg.Output {
	taken := map[string]bool{row.name: true, b.table: true, pageAlias(b.table): true}
	value := func(m *model.Member) pg.Output {
		if m.Field.IsRelation() {
			return pg.Output{Value: embedded(row, m, taken, b.recordAlias())}
		}
		return pg.Output{Value: pg.Col(row.name, m.Field.Column)}
	}
	var columns []pg.Output
	switch {
	case answersColumns(b.action):
		for _, c := range answeredColumns(b.action) {
			columns = append(columns, value(c.member))
		}
	case len(b.action.Embeds) == 0:
		columns = []pg.Output{{Value: allColumns(row.name)}}
	default:
		columns = []pg.Output{{Value: b.wholeRow()}}
		for _, m := range relationsShown(b.action) {
			columns = append(columns, value(m))
		}
	}
	return columns
}

// answerOne answers the row that a query finds, and runs statements if it finds none.
func (b *builder) answerOne(comment string, from pg.From, where pg.Expr, otherwise ...pg.Statement) {
	query := &pg.Select{Columns: b.answerColumns(), From: from, Where: where}
	if answersSet(b.action) {
		b.step(comment, &pg.ReturnQuery{Query: query})
		if len(otherwise) > 0 {
			b.step("", pg.IfThen(nothingFound, otherwise...))
		}
		return
	}
	result := b.resultRow()
	query.Into = []pg.Target{result}
	b.step(comment, &pg.Query{Select: query})
	if len(otherwise) > 0 {
		b.step("", pg.IfThen(isNoRow(result), otherwise...))
	}
	b.step("", &pg.Return{Value: result})
}

// resultRow declares the variable that holds the answered row, or the needed columns of it.
func (b *builder) resultRow() *pg.Variable {
	if answersColumns(b.action) {
		return b.own("v_result", "record", nil)
	}
	return b.own("v_result", rowType(b.model), nil)
}

// resultColumns are the columns of the row that the variable of resultRow holds: those that are answered, and those by
// which related rows are found.
func (b builder) resultColumns() []pg.Expr {
	if !answersColumns(b.action) {
		return []pg.Expr{allColumns(b.table)}
	}
	var columns []pg.Expr
	for _, f := range b.model.Stored() {
		if isAnswered(b.action, f) {
			columns = append(columns, pg.Col(b.table, f.Column))
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
func (b builder) holds(row *pg.Variable, f *model.Field) bool {
	return row.Type == rowType(b.model) || isAnswered(b.action, f)
}

// answerResult answers the row that the variable of resultRow holds.
func (b *builder) answerResult(result *pg.Variable) {
	if !answersColumns(b.action) {
		b.step("", &pg.Return{Value: result})
		return
	}
	row := tableAlias{model: b.model, name: result.Name, id: result.Field("id")}
	b.step("", &pg.ReturnQuery{Query: &pg.Select{Columns: b.answerColumnsOf(row)}})
}

// nothingFound tells, right behind a query, that no row was found.
var nothingFound = pg.Negate(pg.Var("found"))

// isNoRow tells whether a variable for a row of a table is empty.
func isNoRow(row *pg.Variable) pg.Expr { return pg.IsNull(row.Field("id")) }

// publishedOrder returns the order of a list, and the order that requests may choose.
func publishedOrder(a *model.Action) (order, sortable []release.SortKey) {
	if a.Kind != model.List || !answersRow(a) {
		return nil, nil
	}
	published := func(f *model.Field) release.SortKey {
		return release.SortKey{Member: memberOf(f.Name, answeredColumnOf(a, f), f.Type), Nullable: f.Optional}
	}
	if a.Union != nil {
		published = func(f *model.Field) release.SortKey {
			if f.Name == armColumn {
				return release.SortKey{Member: memberOf(f.Name, f.Column, f.Type)}
			}
			return release.SortKey{Member: unionMember(a.Union, f.Name), Nullable: f.Optional}
		}
		for _, f := range a.UnionSortable {
			sortable = append(sortable, published(unionKey(f)))
		}
	}
	for _, k := range ownOrder(a) {
		key := published(k.field)
		key.Descending, key.Follows = k.descending, k.follows
		order = append(order, key)
	}
	for _, f := range a.Sortable {
		sortable = append(sortable, published(f))
	}
	return order, sortable
}

// publishedRecord returns the members of the record that an action answers, and its name; none if its function answers
// JSON.
func publishedRecord(a *model.Action) (name string, members []release.Member) {
	if !answersRow(a) {
		return "", nil
	}
	if a.Union != nil {
		for _, f := range a.Union.Fields {
			members = append(members, unionMember(a.Union, f.Name))
		}
		return a.Union.Name, members
	}
	name = a.Model.Name
	if len(a.Embeds) > 0 || a.Selected != nil {
		name = a.Name
	}
	for i, m := range a.Shape() {
		f := m.Field
		switch isColumn := answersColumns(a); {
		case f.IsRelation() && isColumn:
			members = append(members, release.Member{Name: f.Name, Column: numberedColumn(i, model.SnakeForm(f.Name)), Type: release.JSONMember})
		case f.IsRelation():
			members = append(members, release.Member{Name: f.Name, Column: embedColumn(m), Type: release.JSONMember, Embedded: true})
		case isColumn:
			members = append(members, memberOf(f.Name, numberedColumn(i, f.Column), f.Type))
		default:
			members = append(members, memberOf(f.Name, f.Column, f.Type))
		}
	}
	return name, members
}
